/**
 * One answer for each row of the errors table, as callers get it. Tests ask the service for them and compare.
 */
import { type ErrorCode, type ErrorDetails, errorTable, PraxisError } from '../base/errors.ts';

/** Rows that the API does not answer with: those of administration, and ids are matched by the grammar of paths. */
type NeverAnswered = 'duplicate' | 'input-invalid' | 'role-missing';

export type AnsweredCode = Exclude<ErrorCode, NeverAnswered>;

/** What is said of the problem: everything else of an answer follows from the table. */
export const errorExamples: Readonly<Record<AnsweredCode, ErrorDetails>> = {
  'path-unknown': {
    diagnostics:
      'No such path: FHIR is served at /{environment}/firm/{firm}/{product}/fhir/v2/{Type}, tokens at /auth/realms/{realm}/protocol/openid-connect/token, administration at /admin/api; all in the letters and case shown at /docs',
  },
  'credentials-missing': {
    diagnostics: 'Bearer token is missing: send the header Authorization: Bearer <access token>',
  },
  'credentials-invalid': { diagnostics: 'Bearer token is malformed: it is not a token of this service' },
  'credentials-expired': { diagnostics: 'Bearer token has expired: request a new one' },
  'legacy-ended': {
    diagnostics:
      'Legacy tokens ended at 2026-11-01T00:00:00Z: move to client credentials, which open the same, see https://example.com/migrate',
  },
  'legacy-paused': {
    diagnostics:
      'Legacy tokens are paused until 2026-11-21T10:00:00Z (planned brown-out): move to client credentials, which open the same',
  },
  'firm-forbidden': { diagnostics: 'Firm is not open to this application: no such firm has authorised it' },
  'rate-exceeded': {
    diagnostics:
      'The 1250 requests a minute of this API key are used up (costly ones count more than once): wait 60 s, until 2026-11-21T09:31:00.000Z',
  },
  'type-unknown': { diagnostics: 'Pacient is not a resource type with an endpoint in FHIR R4' },
  'method-not-allowed': { diagnostics: 'This path takes POST' },
  'method-unknown': {
    diagnostics: 'The method is none of HTTP: GET, HEAD, POST, PUT, PATCH and DELETE are taken, in upper case',
  },
  'operation-unknown': {
    diagnostics: '$book is no operation of this path; served here: $meta, $everything, $validate are',
  },
  'access-denied': {
    diagnostics:
      'Patient read needs acl/pat_r; the application does not hold it: the operator of the service adds it, then the practice grants it',
  },
  'not-acceptable': {
    diagnostics:
      'Accept allows no media type that is served; application/fhir+json, application/fhir+xml and application/fhir+ndjson are',
  },
  'media-type-unsupported': {
    diagnostics:
      'Content-Type must be application/fhir+json (or application/json) or application/fhir+xml (or application/xml), not what was sent',
  },
  'body-too-large': { diagnostics: 'The body is larger than 5242880 bytes, the limit of one request' },
  'uri-too-long': { diagnostics: 'The path and query are longer than 16384 bytes: search by POST to _search instead' },
  'request-malformed': { diagnostics: 'The body is not UTF-8' },
  'json-malformed': { diagnostics: 'a key in double quotes is expected, not the end of the text (line 1, column 2)' },
  'xml-malformed': { diagnostics: '">" or white space is expected in <Patient> (line 1, column 9)' },
  'resource-invalid': {
    issue: 'value',
    diagnostics: 'Patient.birthDate: "29.02.1980" must be a date as YYYY, YYYY-MM or YYYY-MM-DD',
    expression: ['Patient.birthDate'],
  },
  'resource-type-mismatch': {
    diagnostics: 'resourceType must be Patient, the type in the path',
    expression: ['resourceType'],
  },
  'resource-id-mismatch': {
    diagnostics:
      'id is missing: the body of an update carries the id of the path. PUT replaces the whole resource: to change some elements only, use PATCH',
    expression: ['id'],
  },
  'id-invalid': {
    diagnostics: 'The id must be 1 to 64 characters of A–Z, a–z, 0–9, hyphen and dot',
    expression: ['id'],
  },
  'header-invalid': {
    diagnostics: 'If-Match must hold entity tags in double quotes such as W/"3"',
    expression: ['If-Match'],
  },
  'search-invalid': {
    diagnostics:
      'birthdate takes a date such as 2013, 2013-01, 2013-01-14 or 2013-01-14T10:00:00Z (also with an offset, +02:00), after one of eq, ne, gt, lt, ge, le, sa, eb, ap or none',
    expression: ['birthdate'],
  },
  'operation-parameter-invalid': {
    diagnostics: 'count takes a value of type integer, such as 10',
    expression: ['count'],
  },
  'key-reused': {
    diagnostics:
      'Idempotency-Key was used for another request (method, URL, preconditions or body differ): take a new key for each request',
    expression: ['Idempotency-Key'],
  },
  'feed-ended': {
    diagnostics:
      'Data was restored from before this place in the feed, so changes that it told were taken back: begin anew without since, and give up the copy',
    expression: ['since'],
  },
  'cursor-invalid': {
    diagnostics:
      '_cursor belongs to another search or caller, or was altered: follow page links as they are, or begin again without it',
    expression: ['_cursor'],
  },
  'page-too-deep': {
    diagnostics: 'page=300 begins beyond row 10000: follow the next links instead, which reach any depth',
    expression: ['page'],
  },
  'invariant-broken': {
    diagnostics: 'Bundle.entry[0].resource is missing: every entry has one (bdl-5)',
    expression: ['Bundle.entry[0].resource'],
  },
  'search-parameter-unservable': {
    diagnostics:
      'SearchParameter.type is special; number, date, string, token, reference, quantity, uri and composite can be indexed (with another status than active it is stored, and not searched by)',
    expression: ['SearchParameter.type'],
  },
  'rule-broken': {
    diagnostics:
      'The Composition refers to Patient/none, which is not known: a document has to hold all that its Composition refers to',
    expression: ['Composition'],
  },
  'bundle-invalid': {
    diagnostics:
      'Bundle.type must be batch or transaction here; other Bundles, such as documents, are stored by POST to Bundle',
    expression: ['Bundle.type'],
  },
  'bundle-too-large': {
    diagnostics: 'Bundle.entry has 10001 entries; at most 10000 are taken: send several Bundles',
    expression: ['Bundle.entry'],
  },
  'patch-invalid': { diagnostics: 'Operation 1 must have op add, remove, replace, move, copy, test' },
  'patch-failed': { diagnostics: 'Operation 1 tests for another value than there is' },
  'profile-unknown': {
    diagnostics:
      'profile https://example.com/none cannot be validated against: no StructureDefinition of this canonical URL is known here',
    expression: ['profile'],
  },
  'value-set-unknown': {
    diagnostics: 'There is no value set https://example.com/none here: neither in R4 nor among those you can see',
  },
  'code-system-unknown': {
    diagnostics: 'There is no code system https://example.com/none here: neither in R4 nor among those you can see',
  },
  'code-unknown': { diagnostics: 'The code is not in the code system http://hl7.org/fhir/administrative-gender' },
  'value-set-invalid': {
    diagnostics: 'The value set https://example.com/codes has no definition (compose) to go by',
    expression: ['ValueSet.compose'],
  },
  'expansion-too-costly': {
    diagnostics:
      'The value set https://example.com/codes cannot be listed: more than 20000 codes have to be gone through; ask about one code with $validate-code',
  },
  'labels-too-many': {
    diagnostics: 'More than 500 profiles, tags and security labels are in use: search by the labels that you know',
  },
  'too-costly': {
    diagnostics:
      'The evaluation of the value set https://example.com/codes costs more than one request may: the limit is 2000000 steps of computing. Nothing was changed. To make it cheaper: use fewer includes and filters, and shorter regular expressions',
  },
  'answer-too-large': {
    diagnostics:
      'Bundle.entry[16]: The answer to the Bundle would be larger than 67108864 bytes with this entry: ask for it in another Bundle or alone',
    expression: ['Bundle.entry[16]'],
  },
  'resource-not-found': { diagnostics: 'Patient/1 is not known', expression: ['Patient'] },
  'link-ended': { diagnostics: 'This URL has expired: read the resource again to get another' },
  'range-invalid': { diagnostics: 'The content has 9 bytes, counted from 0: ask for a range within them' },
  'resource-deleted': { diagnostics: 'Patient/4 was deleted with version 2', expression: ['Patient'] },
  'precondition-failed': {
    diagnostics: 'If-Match does not name the current version, which is W/"1": read it again and repeat the change',
    expression: ['If-Match'],
  },
  'slot-missing': {
    diagnostics:
      'An appointment of type NEW with Practitioner/12 takes 30 minutes: end must be 2026-12-01T09:30:00+01:00',
    expression: ['Appointment.end'],
  },
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
  conflict: { diagnostics: 'Patient/1 is being changed by others: read it again and repeat the change with If-Match' },
  'statement-timeout': { diagnostics: 'Query took longer than the service allows: narrow it' },
  unavailable: { diagnostics: 'Database is out of resources: try again later' },
  'stale-access': { diagnostics: 'Access of the application at the firm has changed: authenticate again' },
  internal: { diagnostics: 'An unexpected fault; the X-Request-Id of this answer finds it in the log' },
};

/** The error of an example. */
export function makeExampleError(code: AnsweredCode): PraxisError {
  return new PraxisError(code, errorExamples[code]);
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
