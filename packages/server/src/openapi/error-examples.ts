/**
 * One answer for each row of the errors table, as callers get it. Tests ask the service for them and compare.
 */
import { type ErrorCode, type ErrorDetails, errorTable, PraxisError } from '../base/errors.ts';

/** Rows that the API does not answer with: those of administration, and ids are matched by the grammar of paths. */
type NeverAnswered = 'duplicate' | 'input-invalid' | 'role-missing';

export type AnsweredCode = Exclude<ErrorCode, NeverAnswered>;

/** What is said of the problem, and of which element: everything else of an answer follows from the table. */
export const errorExamples: Readonly<Record<AnsweredCode, string | ErrorDetails>> = {
  'path-unknown':
    'No such path, environment, product or realm: did you mean Patient? FHIR is served at /{environment}/firm/{firm}/{product}/fhir/v2/{Type}, tokens at /auth/realms/{realm}/protocol/openid-connect/token, administration at /admin/api; all in the letters and case shown at /docs',
  'credentials-missing': 'Bearer token is missing: send the header Authorization: Bearer <access token>',
  'credentials-invalid': 'Bearer token is malformed: it is not a token of this service',
  'credentials-expired': 'Bearer token has expired: request a new one',
  'legacy-ended':
    'Legacy tokens ended at 2026-11-01T00:00:00Z: move to client credentials, which open the same, see https://example.com/migrate',
  'legacy-paused':
    'Legacy tokens are paused until 2026-11-21T10:00:00Z (planned brown-out): move to client credentials, which open the same',
  'firm-forbidden': 'Firm is not open to this application: no such firm has authorised it',
  'rate-exceeded':
    'The 1250 requests a minute of this API key are used up (costly ones count more than once): wait 60 s, until 2026-11-21T09:31:00.000Z',
  'type-unknown': 'Pacient is not a resource type with an endpoint in FHIR R4: did you mean Patient?',
  'method-not-allowed': 'This path takes POST',
  'upgrade-required': 'This path takes websockets alone: connect to it with wss, and send bind-with-token',
  'method-unknown': 'The method is none of HTTP: GET, HEAD, POST, PUT, PATCH and DELETE are taken, in upper case',
  'operation-unknown': '$book is not an operation of this path. Supported here: $everything, $export, $meta, $validate',
  'access-denied':
    'Patient read needs acl/pat_r; the application does not hold it: the operator of the service adds it, then the practice grants it',
  'not-acceptable':
    'Accept allows no media type that is served; application/fhir+json, application/fhir+xml and application/fhir+ndjson are',
  'media-type-unsupported':
    'Content-Type must be application/fhir+json (or application/json) or application/fhir+xml (or application/xml), not what was sent',
  'body-too-large': 'The body is larger than 5242880 bytes, the limit of one request',
  'uri-too-long': 'The path and query are longer than 16384 bytes: search by POST to _search instead',
  'request-malformed': 'The body is not UTF-8',
  'json-malformed': 'a key in double quotes is expected, not the end of the text (line 1, column 2)',
  'xml-malformed': '">" or white space is expected in <Patient> (line 1, column 9)',
  'resource-invalid': {
    issue: 'value',
    diagnostics: 'Patient.birthDate: "29.02.1980" must be a date as YYYY, YYYY-MM or YYYY-MM-DD',
    expression: ['Patient.birthDate'],
  },
  'resource-type-mismatch': inElement('resourceType', 'resourceType must be Patient, the type in the path'),
  'resource-id-mismatch': inElement(
    'id',
    'id is missing: the body of an update carries the id of the path. PUT replaces the whole resource: to change some elements only, use PATCH',
  ),
  'id-invalid': inElement('id', 'The id must be 1 to 64 characters of A–Z, a–z, 0–9, hyphen and dot'),
  'header-invalid': inElement('If-Match', 'If-Match must hold entity tags in double quotes such as W/"3"'),
  'search-invalid': inElement(
    'birthdate',
    'birthdate takes a date such as 2013, 2013-01, 2013-01-14 or 2013-01-14T10:00:00Z (also with an offset, +02:00), after one of eq, ne, gt, lt, ge, le, sa, eb, ap or none',
  ),
  'operation-parameter-invalid': inElement('count', 'count takes a value of type integer, such as 10'),
  'key-reused': inElement(
    'Idempotency-Key',
    'Idempotency-Key was used for another request (method, URL, preconditions or body differ): take a new key for each request',
  ),
  'feed-ended': inElement(
    'since',
    'The data was restored to a time before this position in the feed: discard the copy and start again without since',
  ),
  'export-ended': inElement(
    'job',
    'The rights of the token differ from those that the export was begun under: fetch it with a token of the same scope, or begin another one',
  ),
  'cursor-invalid': inElement(
    '_cursor',
    '_cursor belongs to another search or caller, or was altered: follow page links as they are, or begin again without it',
  ),
  'page-too-deep': inElement(
    'page',
    'page=300 begins beyond row 10000: follow the next links instead, which reach any depth',
  ),
  'invariant-broken': inElement(
    'Bundle.entry[0].resource',
    'Bundle.entry[0].resource is missing: every entry has one (bdl-5)',
  ),
  'search-parameter-unservable': inElement(
    'SearchParameter.type',
    'SearchParameter.type is special; number, date, string, token, reference, quantity, uri and composite can be indexed (with a status other than active, it is stored but not used in searches)',
  ),
  'rule-broken': inElement(
    'Composition',
    'The Composition refers to Patient/none, which is not known: a document has to hold all that its Composition refers to',
  ),
  'bundle-invalid': inElement(
    'Bundle.type',
    'Bundle.type must be batch or transaction here; other Bundles, such as documents, are stored by POST to Bundle',
  ),
  'bundle-too-large': inElement(
    'Bundle.entry',
    'Bundle.entry has 10001 entries; at most 10000 are taken: send several Bundles',
  ),
  'patch-invalid': 'Operation 1 must have op add, remove, replace, move, copy, test',
  'patch-failed': 'Operation 1 tests for another value than there is',
  'profile-unknown': inElement(
    'profile',
    'profile https://example.com/none cannot be validated against: no StructureDefinition of this canonical URL is known here',
  ),
  'value-set-unknown': 'There is no value set https://example.com/none here: neither in R4 nor among those you can see',
  'code-system-unknown':
    'There is no code system https://example.com/none here: neither in R4 nor among those you can see',
  'code-unknown': 'The code is not in the code system http://hl7.org/fhir/administrative-gender',
  'value-set-invalid': inElement(
    'ValueSet.compose',
    'The value set https://example.com/codes has no definition (compose) to go by',
  ),
  'expansion-too-costly':
    'The value set https://example.com/codes cannot be listed: more than 20000 codes have to be gone through; ask about one code with $validate-code',
  'labels-too-many': 'More than 500 profiles, tags and security labels are in use: search by the labels that you know',
  'too-costly':
    'The evaluation of the value set https://example.com/codes costs more than one request may: the limit is 2000000 steps of computing. Nothing was changed. To make it cheaper: use fewer includes and filters, and shorter regular expressions',
  'answer-too-large': inElement(
    'Bundle.entry[16]',
    'Bundle.entry[16]: The answer to the Bundle would be larger than 67108864 bytes with this entry: ask for it in another Bundle or alone',
  ),
  'resource-not-found': inElement('Patient', 'Patient/1 is not known'),
  'link-ended': 'This URL has expired: read the resource again to get another',
  'range-invalid': 'The content has 9 bytes, counted from 0: ask for a range within them',
  'resource-deleted': inElement('Patient', 'Patient/4 was deleted with version 2'),
  'precondition-failed': inElement(
    'If-Match',
    'If-Match does not name the current version, which is W/"1": read it again and repeat the change',
  ),
  'slot-missing': inElement(
    'Appointment.end',
    'An appointment of type NEW with Practitioner/12 takes 30 minutes: end must be 2026-12-01T09:30:00+01:00',
  ),
  'slot-taken': {
    diagnostics:
      'The slot at 2026-12-01T09:00:00+01:00 is taken: nothing is free from 2026-12-01T09:00:00+01:00 to 2026-12-01T09:30:00+01:00. The next free ones follow',
    expression: ['Appointment.start'],
    more: [
      {
        severity: 'information',
        issue: 'informational',
        diagnostics:
          'Free: 2026-12-01T10:00:00+01:00/2026-12-01T10:30:00+01:00, Slot/00000010-d7f1-8a8f-9e2c-6f0a3b9c1d2e',
        alternative: {
          reference: 'Slot/00000010-d7f1-8a8f-9e2c-6f0a3b9c1d2e',
          display: '2026-12-01T10:00:00+01:00/2026-12-01T10:30:00+01:00',
        },
      },
    ],
  },
  conflict: 'Patient/1 is being changed by others: read it again and repeat the change with If-Match',
  'statement-timeout': 'Query took longer than the service allows: narrow it',
  unavailable: 'Database is out of resources: try again later',
  'stale-access': 'Access of the application at the firm has changed: authenticate again',
  internal: 'An unexpected fault; the X-Request-Id of this answer finds it in the log',
};

function inElement(element: string, diagnostics: string): ErrorDetails {
  return { diagnostics, expression: [element] };
}

/** The error of an example. */
export function makeExampleError(code: AnsweredCode): PraxisError {
  const details = errorExamples[code];
  return new PraxisError(code, typeof details === 'string' ? { diagnostics: details } : details);
}

/** The rows that the API answers with, by status in ascending order. */
export function groupCodesByStatus(): ReadonlyMap<number, readonly AnsweredCode[]> {
  const codes = Object.keys(errorExamples).filter(isAnswered);
  const statuses = [...new Set(codes.map((code) => errorTable[code].status))].sort((one, other) => one - other);
  return new Map(statuses.map((status) => [status, codes.filter((code) => errorTable[code].status === status)]));
}

function isAnswered(code: string): code is AnsweredCode {
  return Object.hasOwn(errorExamples, code);
}
