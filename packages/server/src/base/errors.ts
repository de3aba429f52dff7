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
  'path-unknown': { status: 404, issue: 'not-found', meaning: 'The path does not follow the path grammar.' },
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
    meaning: 'A planned brown-out of the legacy flow: it returns at the time that is given.',
  },
  'firm-forbidden': { status: 403, issue: 'forbidden', meaning: 'No such firm has authorised this application.' },
  'rate-exceeded': { status: 429, issue: 'throttled', meaning: 'Too many requests in the current minute, or at once.' },
  'type-unknown': { status: 404, issue: 'not-supported', meaning: 'The resource type has no endpoint.' },
  'method-not-allowed': {
    status: 405,
    issue: 'not-supported',
    meaning: 'The path exists, the method does not apply to it.',
  },
  'method-unknown': { status: 501, issue: 'not-supported', meaning: 'The method is none that HTTP knows.' },
  'operation-unknown': { status: 404, issue: 'not-supported', meaning: 'No such operation is served at this path.' },
  'access-denied': { status: 403, issue: 'forbidden', meaning: 'No access entry of the token at this firm allows it.' },
  'role-missing': {
    status: 403,
    issue: 'forbidden',
    meaning: 'The role of the administrator, or an API token, does not allow this action.',
  },
  'not-acceptable': {
    status: 406,
    issue: 'not-supported',
    meaning: 'None of the media types in Accept or _format can be served.',
  },
  'media-type-unsupported': { status: 415, issue: 'not-supported', meaning: 'The Content-Type cannot be read.' },
  'body-too-large': { status: 413, issue: 'too-long', meaning: 'The body is larger than the limit.' },
  'uri-too-long': { status: 414, issue: 'too-long', meaning: 'The request line is longer than the limit.' },
  'request-malformed': { status: 400, issue: 'invalid', meaning: 'The HTTP request itself cannot be understood.' },
  'json-malformed': { status: 400, issue: 'structure', meaning: 'The body is not the JSON that FHIR allows.' },
  'xml-malformed': { status: 400, issue: 'structure', meaning: 'The body is not the XML that FHIR allows.' },
  'resource-invalid': {
    status: 400,
    issue: 'structure',
    meaning: 'The resource breaks the structure rules of its type.',
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
    meaning: 'A parameter of an operation is unknown, missing, repeated or of a wrong type or value.',
  },
  'cursor-invalid': {
    status: 400,
    issue: 'value',
    meaning: 'The page link was not made for this search and this caller.',
  },
  'feed-ended': {
    status: 410,
    issue: 'expired',
    meaning: 'The place in the change feed no longer holds: rights have changed or data was restored. Begin anew.',
  },
  'page-too-deep': {
    status: 400,
    issue: 'too-costly',
    meaning: 'page=N reaches too far: follow the next link instead.',
  },
  'invariant-broken': {
    status: 422,
    issue: 'invariant',
    meaning: 'Each element is right by itself, but they break a rule between elements.',
  },
  'search-parameter-unservable': {
    status: 422,
    issue: 'not-supported',
    meaning: 'An active SearchParameter defines what cannot be searched by here.',
  },
  'rule-broken': {
    status: 422,
    issue: 'business-rule',
    meaning: 'The resource is well-formed but breaks a business rule.',
  },
  'bundle-invalid': {
    status: 400,
    issue: 'invalid',
    meaning: 'The batch or transaction, or one of its entries, cannot be carried out as it stands.',
  },
  'bundle-too-large': { status: 413, issue: 'too-long', meaning: 'The batch or transaction has too many entries.' },
  'input-invalid': {
    status: 400,
    issue: 'invalid',
    meaning: 'A field of an administration request is unknown, missing or of another form.',
  },
  'patch-invalid': { status: 400, issue: 'invalid', meaning: 'The patch document is malformed.' },
  'patch-failed': {
    status: 422,
    issue: 'processing',
    meaning: 'The patch does not fit the resource; nothing was changed.',
  },
  'profile-unknown': {
    status: 422,
    issue: 'not-found',
    meaning: 'No profile with this URL is known, or one that this caller can see, or it has no usable snapshot.',
  },
  'value-set-unknown': {
    status: 404,
    issue: 'not-found',
    meaning: 'No value set with this URL is loaded, or one that this caller can see.',
  },
  'code-system-unknown': {
    status: 404,
    issue: 'not-found',
    meaning: 'No code system with this URL is loaded, or one that this caller can see.',
  },
  'code-unknown': { status: 404, issue: 'not-found', meaning: 'The code system has no such code.' },
  'value-set-invalid': {
    status: 422,
    issue: 'processing',
    meaning: 'The definition of a value set cannot be evaluated as it stands.',
  },
  'expansion-too-costly': {
    status: 422,
    issue: 'too-costly',
    meaning: 'The value set has more codes than can be listed.',
  },
  'labels-too-many': {
    status: 422,
    issue: 'too-costly',
    meaning: 'More profiles, tags and security labels are in use than $meta tells.',
  },
  'too-costly': {
    status: 422,
    issue: 'too-costly',
    meaning: 'The request takes more work than one may: the answer names the limit and what would cost less.',
  },
  'answer-too-large': {
    status: 422,
    issue: 'too-costly',
    meaning: 'What a Bundle asks for is more than one answer holds: ask in several.',
  },
  'resource-not-found': { status: 404, issue: 'not-found', meaning: 'No such resource can be seen by this caller.' },
  'resource-deleted': { status: 410, issue: 'deleted', meaning: 'The resource has been deleted.' },
  'link-ended': {
    status: 410,
    issue: 'expired',
    meaning: 'A URL of content is used up, has expired, or is no longer allowed: ask for another.',
  },
  'range-invalid': { status: 416, issue: 'value', meaning: 'The content ends before the range that is asked for.' },
  'precondition-failed': { status: 412, issue: 'conflict', meaning: 'If-Match does not name the current version.' },
  'key-reused': {
    status: 422,
    issue: 'conflict',
    meaning: 'The Idempotency-Key was used for another request.',
  },
  'slot-missing': {
    status: 422,
    issue: 'business-rule',
    meaning: 'By the calendar of a practitioner there is no slot for the appointment.',
  },
  'slot-taken': {
    status: 409,
    issue: 'conflict',
    meaning: 'The slot has been taken; further issues name free ones.',
  },
  conflict: { status: 409, issue: 'conflict', meaning: 'Another change came first.' },
  duplicate: { status: 409, issue: 'duplicate', meaning: 'A resource with this business key exists.' },
  'statement-timeout': { status: 503, issue: 'timeout', meaning: 'The query took longer than allowed: narrow it.' },
  unavailable: { status: 503, issue: 'transient', meaning: 'The service cannot answer now: try again.' },
  'stale-access': {
    status: 503,
    issue: 'transient',
    meaning: 'Access changed while the request ran (internal: re-authenticated and retried).',
  },
  internal: { status: 500, issue: 'exception', meaning: 'An unexpected fault; the request id finds it in the log.' },
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
}

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
