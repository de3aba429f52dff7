/**
 * Errors of the token endpoints (https://www.rfc-editor.org/rfc/rfc6749#section-5.2), as one table. The data API's errors
 * are in `base/errors.ts`.
 */

interface OAuthErrorRow {
  readonly status: number;
  readonly meaning: string;
}

/** `error` code → HTTP status and meaning. */
export const oauthErrorTable = {
  invalid_request: { status: 400, meaning: 'The request is malformed, repeats a parameter, or lacks one.' },
  invalid_client: { status: 401, meaning: 'The API key or the client credentials are missing or wrong.' },
  invalid_grant: { status: 400, meaning: 'The username, password or refresh token is wrong, expired or revoked.' },
  unauthorized_client: { status: 400, meaning: 'The client may not use this grant.' },
  unsupported_grant_type: { status: 400, meaning: 'The endpoint does not offer this grant_type.' },
  invalid_scope: { status: 400, meaning: 'The scope contains an entry that the application does not have.' },
  // Not of RFC 6749 §5.2: who guesses secrets is slowed (RFC 6585 §4).
  too_many_attempts: {
    status: 429,
    meaning: 'Too many failed attempts for this account or from this address. Retry-After tells how long to wait.',
  },
  // Not of RFC 6749 §5.2: tokens count as requests do (RFC 6585 §4).
  rate_exceeded: {
    status: 429,
    meaning: 'This API key or address has used its requests of this minute. Retry-After tells how long to wait.',
  },
  // Not of RFC 6749 §5.2: what a client of the token endpoint gets when the server itself fails.
  temporarily_unavailable: { status: 503, meaning: 'The service is not available now. Try again.' },
  server_error: { status: 500, meaning: 'An unexpected error. The log has the details under the request ID.' },
} as const satisfies Record<string, OAuthErrorRow>;

export type OAuthErrorCode = keyof typeof oauthErrorTable;

/** Whether it is a code of the table. */
export function isOAuthErrorCode(code: string): code is OAuthErrorCode {
  return Object.hasOwn(oauthErrorTable, code);
}

/** What a refusal may say beside code and description. */
export interface OAuthErrorExtras {
  /** `error_uri`: a page for people. */
  readonly uri?: string;
  /** Retry-After of a 429 or 503. */
  readonly retryAfterSeconds?: number;
}

/** A refused token request; the token endpoint answers it. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  readonly code: OAuthErrorCode;
  /** For the caller: printable ASCII without `"` and `\`; useful words first, no secrets. */
  readonly description: string;
  readonly extras: OAuthErrorExtras;

  constructor(code: OAuthErrorCode, description: string, cause?: unknown, extras: OAuthErrorExtras = {}) {
    super(`${code}: ${description}`, { cause });
    this.code = code;
    this.description = description;
    this.extras = extras;
  }

  get status(): number {
    return oauthErrorTable[this.code].status;
  }
}

/** Refuses a token request with the error of the table row `code`. */
export function refuse(...refusal: ConstructorParameters<typeof OAuthError>): never {
  throw new OAuthError(...refusal);
}
