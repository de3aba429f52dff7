/**
 * Criteria of a conditional create, as clients write them (https://hl7.org/fhir/R4/http.html#ccreate): R4 wants what stands
 * behind the question mark; its own examples and its reference client send `Type?criteria`, relative or absolute.
 */

/**
 * The criteria alone, as they are written in a query; undefined where they are of another type or another server than
 * `type` at `baseUrl`.
 */
export function parseCriteria(text: string, type: string, baseUrl: string): string | undefined {
  const at = text.indexOf('?');
  const url = text.slice(0, Math.max(at, 0));
  if (at < 0 || !isUrl(url)) return text;
  return ['', type, `/${type}`, `${baseUrl}/${type}`].includes(url) ? text.slice(at + 1) : undefined;
}

/** Whether what stands before the question mark is no criterion with a question mark in its value. */
function isUrl(text: string): boolean {
  return /^(?:[A-Za-z]*$|\/|[A-Za-z][A-Za-z0-9+.-]*:\/\/)/.test(text);
}
