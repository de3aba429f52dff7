/**
 * Every error the server can answer, as one table. `http/answer/errors.ts` alone maps them to responses.
 * FHIR: OperationOutcome (https://hl7.org/fhir/R4/operationoutcome.html), issue types
 * (https://hl7.org/fhir/R4/valueset-issue-type.html). OAuth errors live in `oauth/errors.ts` (RFC 6749 §5.2).
 */

interface ErrorRow {
  readonly status: number;
  /** FHIR IssueType code. */
  readonly issue: string;
  readonly meaning: string;
}

/** Error code → HTTP status, FHIR issue type, meaning. `docs/integrate/errors.md` is generated from it. */
export const errorTable = {
  'path-unknown': {
    status: 404,
    issue: 'not-found',
    meaning: 'The path does not follow the path grammar, or its environment, product or realm does not exist.',
  },
  'credentials-missing': {
    status: 401,
    issue: 'login',
    meaning: 'The Bearer token or the x-api-key header is missing.',
  },
  'credentials-invalid': {
    status: 401,
    issue: 'login',
    meaning: 'The token or the API key is wrong, expired or revoked.',
  },
  'credentials-expired': { status: 401, issue: 'expired', meaning: 'The token has expired: request a new one.' },
  'legacy-ended': {
    status: 401,
    issue: 'expired',
    meaning: 'The legacy flow has ended: request a token by client credentials.',
  },
  'legacy-paused': {
    status: 503,
    issue: 'transient',
    meaning: 'The legacy flow is paused by a planned brown-out. `Retry-After` tells when it returns.',
  },
  'firm-forbidden': {
    status: 403,
    issue: 'forbidden',
    meaning:
      'The firm does not exist, or does not authorise this application: it never did, or it has suspended or revoked it.',
  },
  'rate-exceeded': {
    status: 429,
    issue: 'throttled',
    meaning: 'Too many requests in this minute, or too many at once.',
  },
  'type-unknown': { status: 404, issue: 'not-supported', meaning: 'The resource type has no endpoint.' },
  'method-not-allowed': {
    status: 405,
    issue: 'not-supported',
    meaning: 'The path exists, the method does not apply to it.',
  },
  'upgrade-required': {
    status: 426,
    issue: 'not-supported',
    meaning: 'The path takes websockets alone.',
  },
  'method-unknown': { status: 501, issue: 'not-supported', meaning: 'HTTP defines no such method.' },
  'operation-unknown': { status: 404, issue: 'not-supported', meaning: 'This path has no such operation.' },
  'access-denied': {
    status: 403,
    issue: 'forbidden',
    meaning: 'No access entry of the token allows this at the firm.',
  },
  'role-missing': {
    status: 403,
    issue: 'forbidden',
    meaning: 'The role of the administrator or of the API token does not allow this action.',
  },
  'not-acceptable': {
    status: 406,
    issue: 'not-supported',
    meaning: 'The service has none of the media types in Accept or _format.',
  },
  'media-type-unsupported': {
    status: 415,
    issue: 'not-supported',
    meaning: 'The service cannot read this Content-Type.',
  },
  'body-too-large': { status: 413, issue: 'too-long', meaning: 'The body is larger than the limit.' },
  'uri-too-long': { status: 414, issue: 'too-long', meaning: 'The request line is longer than the limit.' },
  'request-malformed': { status: 400, issue: 'invalid', meaning: 'The HTTP request is malformed.' },
  'json-malformed': { status: 400, issue: 'structure', meaning: 'The body is not valid FHIR JSON.' },
  'xml-malformed': { status: 400, issue: 'structure', meaning: 'The body is not valid FHIR XML.' },
  'resource-invalid': {
    status: 400,
    issue: 'structure',
    meaning: 'The resource does not have the structure of its type.',
  },
  'resource-type-mismatch': {
    status: 400,
    issue: 'invalid',
    meaning: 'resourceType differs from the type in the path.',
  },
  'resource-id-mismatch': {
    status: 400,
    issue: 'invalid',
    meaning: 'The id in the body is missing or differs from the path.',
  },
  'id-invalid': { status: 400, issue: 'value', meaning: 'The id does not fit [A-Za-z0-9\\-\\.]{1,64}.' },
  'header-invalid': { status: 400, issue: 'value', meaning: 'A request header has a malformed value.' },
  'search-invalid': {
    status: 400,
    issue: 'invalid',
    meaning: 'A search parameter, modifier, prefix or value is wrong.',
  },
  'operation-parameter-invalid': {
    status: 400,
    issue: 'invalid',
    meaning: 'A parameter of the operation is unknown, missing or repeated, or its type or value is wrong.',
  },
  'cursor-invalid': {
    status: 400,
    issue: 'value',
    meaning: 'The page link belongs to another search or another caller.',
  },
  'feed-ended': {
    status: 410,
    issue: 'expired',
    meaning:
      'The position in the change feed is no longer valid: rights have changed, or data was restored. Start again.',
  },
  'export-ended': {
    status: 410,
    issue: 'expired',
    meaning: 'The bulk export was begun under other rights than those of the token. Begin another one.',
  },
  'page-too-deep': {
    status: 400,
    issue: 'too-costly',
    meaning: 'page=N reaches too far. Follow the next link instead.',
  },
  'invariant-broken': {
    status: 422,
    issue: 'invariant',
    meaning: 'Each element is valid, but together they break an invariant of the type.',
  },
  'search-parameter-unservable': {
    status: 422,
    issue: 'not-supported',
    meaning: 'The service cannot index what this active SearchParameter defines.',
  },
  'rule-broken': {
    status: 422,
    issue: 'business-rule',
    meaning: 'The resource is well-formed but breaks a business rule.',
  },
  'bundle-invalid': {
    status: 400,
    issue: 'invalid',
    meaning: 'The batch or transaction, or one of its entries, is malformed.',
  },
  'bundle-too-large': { status: 413, issue: 'too-long', meaning: 'The batch or transaction has too many entries.' },
  'input-invalid': {
    status: 400,
    issue: 'invalid',
    meaning: 'A field of the administration request is unknown, missing or malformed.',
  },
  'patch-invalid': { status: 400, issue: 'invalid', meaning: 'The patch document is malformed.' },
  'patch-failed': {
    status: 422,
    issue: 'processing',
    meaning: 'The patch cannot be applied to the resource. Nothing has changed.',
  },
  'profile-unknown': {
    status: 422,
    issue: 'not-found',
    meaning: 'The profile does not exist, the caller may not see it, or it has no usable snapshot.',
  },
  'value-set-unknown': {
    status: 404,
    issue: 'not-found',
    meaning: 'The value set does not exist, or the caller may not see it.',
  },
  'code-system-unknown': {
    status: 404,
    issue: 'not-found',
    meaning: 'The code system does not exist, or the caller may not see it.',
  },
  'code-unknown': { status: 404, issue: 'not-found', meaning: 'The code system has no such code.' },
  'value-set-invalid': {
    status: 422,
    issue: 'processing',
    meaning: 'The service cannot evaluate the definition of the value set.',
  },
  'expansion-too-costly': {
    status: 422,
    issue: 'too-costly',
    meaning: 'The value set has too many codes to expand.',
  },
  'labels-too-many': {
    status: 422,
    issue: 'too-costly',
    meaning: 'Too many profiles, tags and security labels are in use for $meta.',
  },
  'too-costly': {
    status: 422,
    issue: 'too-costly',
    meaning: 'The request costs more than the limit. The answer names the limit and a cheaper way.',
  },
  'answer-too-large': {
    status: 422,
    issue: 'too-costly',
    meaning: 'The response to the Bundle is too large. Send several Bundles.',
  },
  'resource-not-found': {
    status: 404,
    issue: 'not-found',
    meaning: 'The resource does not exist, or the caller may not see it.',
  },
  'resource-deleted': { status: 410, issue: 'deleted', meaning: 'The resource has been deleted.' },
  'link-ended': {
    status: 410,
    issue: 'expired',
    meaning: 'The content URL was used, has expired or was revoked. Request a new one.',
  },
  'range-invalid': { status: 416, issue: 'value', meaning: 'The content ends before the requested range.' },
  'precondition-failed': {
    status: 412,
    issue: 'conflict',
    meaning: 'If-Match does not name the current version, or If-None-Exist matches several resources.',
  },
  'key-reused': {
    status: 422,
    issue: 'conflict',
    meaning: 'The Idempotency-Key was used for another request.',
  },
  'slot-missing': {
    status: 422,
    issue: 'business-rule',
    meaning: "The practitioner's calendar has no slot at the time of the appointment.",
  },
  'slot-taken': {
    status: 409,
    issue: 'conflict',
    meaning: 'The slot is taken. Further issues name free slots.',
  },
  conflict: { status: 409, issue: 'conflict', meaning: 'Another request changed the resource first.' },
  duplicate: { status: 409, issue: 'duplicate', meaning: 'The same resource or content already exists.' },
  'statement-timeout': { status: 503, issue: 'timeout', meaning: 'The query ran longer than the limit. Narrow it.' },
  unavailable: { status: 503, issue: 'transient', meaning: 'The service is not available now. Try again.' },
  'stale-access': {
    status: 503,
    issue: 'transient',
    meaning: 'The rights of the caller changed several times during the request. Try again.',
  },
  internal: {
    status: 500,
    issue: 'exception',
    meaning: 'An unexpected error. The log has the details under the request ID.',
  },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errorTable;

/** One problem, as an OperationOutcome issue will show it. */
export interface ErrorIssue {
  /** FHIR IssueType; defaults to the one of the error's row. */
  readonly issue?: string;
  /** For the caller: useful words first, names the element or parameter and the rule; no PHI, no secrets. */
  readonly diagnostics: string;
  /** FHIRPath-like element paths, e.g. `Patient.contact[0].gender`; or the parameter's name. */
  readonly expression?: readonly string[];
  /** Default `error`. */
  readonly severity?: 'error' | 'information';
  /** A resource that would do instead: as an extension of the issue. */
  readonly alternative?: { readonly reference: string; readonly display: string };
}

export interface ErrorDetails extends ErrorIssue {
  /** Further issues after the first. */
  readonly more?: readonly ErrorIssue[];
  readonly cause?: unknown;
  /** Extra response headers, e.g. WWW-Authenticate. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For the log only; never sent. */
  readonly log?: Readonly<Record<string, unknown>>;
  /** The limit that refuses, for metrics. */
  readonly limit?: LimitName;
}

/** Limits as the metric `praxis_limit_refusals_total` names them. */
export const limitNames = [
  'api-key',
  'keyless',
  'firm',
  'address',
  'administrator',
  'guesses',
  'application-requests',
  'requests',
  'application-statements',
  'statements',
  'work',
  'bodies',
  'answers',
  'connections',
  'websockets',
] as const;

export type LimitName = (typeof limitNames)[number];

/** The only error the server throws on purpose. */
export class PraxisError extends Error {
  override readonly name = 'PraxisError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, details: ErrorDetails) {
    super(`${code}: ${details.diagnostics}`, { cause: details.cause });
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return errorTable[this.code].status;
  }

  get issues(): readonly ErrorIssue[] {
    return [this.details, ...(this.details.more ?? [])];
  }
}

/** Throws the error of the table row `code`. */
export function fail(code: ErrorCode, details: ErrorDetails): never {
  throw new PraxisError(code, details);
}
