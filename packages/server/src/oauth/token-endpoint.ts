/**
 * The two token endpoints (contract §4; https://www.rfc-editor.org/rfc/rfc6749#section-5): from the pieces of a POST to an
 * answer. Which grants each offers is `grants/list.ts`.
 */
import { PraxisError } from '../base/errors.ts';
import type { Environment } from '../tenancy/environments.ts';
import { readApiKeyHeader } from './api-key-header.ts';
import { OAuthError, type OAuthErrorCode, refuse } from './errors.ts';
import { parseForm } from './form.ts';
import type { Grant, Issued } from './grants/grant.ts';
import { clientGrants, legacyGrants } from './grants/list.ts';
import type { TokenService } from './token-service.ts';

/** A POST as it was received: every value of each header, in order. */
export interface TokenRequest {
  readonly contentType: readonly string[];
  readonly authorization: readonly string[];
  readonly apiKey: readonly string[];
  readonly body: Uint8Array;
}

export interface TokenReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string;
  /** For metrics, log and audit. */
  readonly record: TokenRecord;
  /** What failed on our side, for the log; the answer tells no detail of it. */
  readonly fault?: unknown;
}

export interface TokenRecord {
  /** The endpoint's grant that answered; undefined when the request named none of them. */
  readonly grantType: string | undefined;
  readonly outcome: 'issued' | 'issued-without-key' | OAuthErrorCode;
  readonly subject?: string;
  readonly application?: number;
}

export interface TokenEndpoints {
  /** POST {legacy_auth_url}; `environment` was found by the path. */
  legacy(
    place: { readonly environment: Environment; readonly firmPrefix: string },
    request: TokenRequest,
  ): Promise<TokenReply>;
  /** POST {auth_url}; the realm exists. */
  client(realm: string, request: TokenRequest): Promise<TokenReply>;
}

/** Answers of a token endpoint are never stored (RFC 6749 §5.1). */
const headers = {
  'content-type': 'application/json;charset=UTF-8',
  'cache-control': 'no-store',
  pragma: 'no-cache',
} as const;
const retryAfterSeconds = '1';

/** The token endpoints of `service`. Every request is answered; nothing is thrown. */
export function openTokenEndpoints(service: TokenService): TokenEndpoints {
  return {
    legacy: (place, request) => {
      const challenge = `ApiKey realm="${place.environment.name}", header="x-api-key"`;
      return answer(service, legacyGrants, challenge, request, { ...place, apiKey: readApiKeyHeader(request.apiKey) });
    },
    client: (realm, request) => {
      const challenge = `Basic realm="${realm}", charset="UTF-8"`;
      return answer(service, clientGrants, challenge, request, {
        realm,
        authorization: request.authorization,
        apiKey: readApiKeyHeader(request.apiKey),
      });
    },
  };
}

/**
 * The answer to a request that http refuses before its body is read, e.g. one that is too large.
 * @param description printable ASCII without `"` and `\`, useful words first
 */
export function refusedReply(code: OAuthErrorCode, description: string): TokenReply {
  return errorReply(new OAuthError(code, description), undefined, undefined);
}

async function answer<R>(
  service: TokenService,
  grants: readonly Grant<R>[],
  challenge: string,
  received: TokenRequest,
  request: R,
): Promise<TokenReply> {
  let grant: Grant<R> | undefined;
  try {
    const form = parseForm(received.contentType, received.body);
    const grantType = form.get('grant_type');
    if (grantType === undefined) refuse('invalid_request', 'grant_type is missing or empty');
    grant = grants.find((offered) => offered.grantType === grantType);
    if (!grant)
      refuse(
        'unsupported_grant_type',
        `grant_type must be ${grants.map((offered) => offered.grantType).join(' or ')} at this endpoint`,
      );
    return issuedReply(await grant.issue(service, request, form), grant.grantType);
  } catch (error) {
    if (error instanceof OAuthError) return errorReply(error, grant?.grantType, challenge);
    return { ...errorReply(toOAuthError(error), grant?.grantType, challenge), fault: error };
  }
}

function issuedReply(issued: Issued, grantType: string): TokenReply {
  const { subject, application, keyed } = issued;
  const outcome = keyed ? 'issued' : 'issued-without-key';
  return {
    status: 200,
    headers,
    body: JSON.stringify(issued.response),
    record: { grantType, outcome, subject, application },
  };
}

function errorReply(error: OAuthError, grantType: string | undefined, challenge: string | undefined): TokenReply {
  const { code, status } = error;
  // RFC 9110 §15.5.2: a 401 carries a challenge; RFC 6749 §5.2 asks for Basic where it is offered.
  const extra = {
    ...(status === 401 && challenge !== undefined ? { 'www-authenticate': challenge } : {}),
    ...(status === 503 ? { 'retry-after': retryAfterSeconds } : {}),
  };
  const body = JSON.stringify({ error: code, error_description: printable(error.description) });
  return { status, headers: { ...headers, ...extra }, body, record: { grantType, outcome: code } };
}

/** What the caller is told when we failed. */
function toOAuthError(error: unknown): OAuthError {
  if (error instanceof PraxisError && error.status === 503)
    return new OAuthError('temporarily_unavailable', 'The service cannot answer now: try again', error);
  return new OAuthError('server_error', 'An unexpected fault: the request id finds it in the log', error);
}

/** The characters that RFC 6749 §5.2 allows in `error_description`. */
function printable(text: string): string {
  return text.replaceAll('"', "'").replaceAll(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?');
}
