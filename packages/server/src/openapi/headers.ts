/**
 * Headers of answers (https://hl7.org/fhir/R4/http.html#general, RFC 9110).
 */

/** Of lists as lines; browsers may read them. */
export const listHeaders = ['Link', 'X-Total-Count', 'X-Omitted-Entries'] as const;

const headers: Readonly<Record<string, { readonly text: string; readonly example: string }>> = {
  Link: {
    text: 'NDJSON: the links of the Bundle (RFC 8288).',
    example: '<https://example.com/sandbox/firm/your-firm/pm/fhir/v2/Patient?_count=10>; rel="self"',
  },
  'X-Total-Count': { text: 'NDJSON: the total of the Bundle, if known.', example: '42' },
  'X-Omitted-Entries': { text: 'NDJSON: the number of entries without a resource.', example: '1' },
  'X-Request-Id': { text: 'The id of the request in the log.', example: '019aa5c4-2f1e-7c3a-9b57-3a4f5d1c2b6e' },
  'X-Worker': { text: 'The number of the worker process, on a node with several.', example: '1' },
  ETag: { text: 'The version, for If-Match and If-None-Match.', example: 'W/"3"' },
  'Last-Modified': { text: 'When the version was stored.', example: 'Sat, 21 Nov 2026 09:30:00 GMT' },
  Location: {
    text: 'The absolute URL of the stored version: …/{Type}/{id}/_history/{versionId}; of content, where its bytes are.',
    example: 'https://example.com/sandbox/firm/your-firm/pm/fhir/v2/Patient/1/_history/1',
  },
  'Content-Location': {
    text: 'The same as Location; of a bulk export, the URL that tells how far it is.',
    example: 'https://example.com/sandbox/firm/your-firm/pm/fhir/v2/Patient/1/_history/1',
  },
  'Idempotent-Replayed': {
    text: 'true: the response repeats that of an earlier request with the same Idempotency-Key.',
    example: 'true',
  },
  'X-Complete-Until': {
    text: 'For searches by `_lastUpdated` and for `$changes`: all changes before this time are visible.',
    example: '2026-11-21T09:30:00.000Z',
  },
  'WWW-Authenticate': {
    text: 'The error of the token (RFC 6750), or the missing entry.',
    example: 'Bearer error="insufficient_scope"',
  },
  Allow: { text: 'The methods that the path accepts.', example: 'GET, HEAD' },
  RateLimit: { text: 'What remains of each limit, and for how many seconds.', example: '"api-key";r=1249;t=60' },
  'RateLimit-Policy': { text: 'The limits: requests per window, in seconds.', example: '"api-key";q=1250;w=60' },
  'X-Progress': { text: 'How far a bulk export is.', example: '12 files planned' },
  Expires: { text: 'When a bulk export can be fetched no longer.', example: 'Sun, 22 Nov 2026 09:30:00 GMT' },
  'Retry-After': { text: 'Seconds to wait.', example: '60' },
};

/** What any answer to a caller with credentials tells of limits, where there are some. */
export const limitHeaders = ['RateLimit', 'RateLimit-Policy'] as const;

/** The headers as components. */
export function buildHeaderComponents(): Readonly<Record<string, object>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, { text, example }]) => [
      name,
      { description: text, schema: { type: 'string' }, example },
    ]),
  );
}
