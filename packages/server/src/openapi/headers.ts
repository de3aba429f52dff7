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
  'X-Total-Count': { text: 'NDJSON: the total of the Bundle, where it is known.', example: '42' },
  'X-Omitted-Entries': { text: 'NDJSON: entries of the Bundle that hold no resource.', example: '1' },
  'X-Request-Id': { text: 'Finds the request in the log.', example: '019aa5c4-2f1e-7c3a-9b57-3a4f5d1c2b6e' },
  'X-Worker': { text: 'Number of the process that answered, on a node that has several.', example: '1' },
  ETag: { text: 'The version; If-Match and If-None-Match take it.', example: 'W/"3"' },
  'Last-Modified': { text: 'When the version was stored.', example: 'Sat, 21 Nov 2026 09:30:00 GMT' },
  Location: {
    text: 'The version that was stored, absolute: …/{Type}/{id}/_history/{versionId}.',
    example: 'https://example.com/sandbox/firm/your-firm/pm/fhir/v2/Patient/1/_history/1',
  },
  'Content-Location': {
    text: 'As Location.',
    example: 'https://example.com/sandbox/firm/your-firm/pm/fhir/v2/Patient/1/_history/1',
  },
  'Idempotent-Replayed': {
    text: 'true: the answer was given before, to a request with the same Idempotency-Key.',
    example: 'true',
  },
  'X-Complete-Until': {
    text: 'Of searches by `_lastUpdated` and of `$changes`: nothing last updated before this moment is yet to come.',
    example: '2026-11-21T09:30:00.000Z',
  },
  'WWW-Authenticate': {
    text: 'What is wrong with the token (RFC 6750), or which entry is missing.',
    example: 'Bearer error="insufficient_scope"',
  },
  Allow: { text: 'The methods that the path takes.', example: 'GET, HEAD' },
  RateLimit: { text: 'What is left of each limit, and for how many seconds.', example: '"api-key";r=1249;t=60' },
  'RateLimit-Policy': { text: 'The limits, by requests in a window of seconds.', example: '"api-key";q=1250;w=60' },
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
