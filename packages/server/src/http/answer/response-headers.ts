/**
 * Header names and values of answers (https://hl7.org/fhir/R4/http.html#general).
 */
import { toInstant } from '../../base/clock.ts';
import type { FhirResponse } from '../../engine/context.ts';
import { formatEtag } from '../../engine/preconditions.ts';

/** ETag, Last-Modified, Location and Content-Location of a FHIR answer, and up to when it is complete (decision 0172). */
export function buildResponseHeaders(response: FhirResponse): Record<string, string> {
  const headers: Record<string, string> = { ...response.headers };
  if (response.versionId !== undefined) headers.etag = formatEtag(response.versionId);
  if (response.lastUpdatedMs !== undefined) headers['last-modified'] = new Date(response.lastUpdatedMs).toUTCString();
  if (response.location !== undefined) {
    headers.location = response.location;
    headers['content-location'] = response.location;
  }
  if (response.completeUntilMs !== undefined) headers['x-complete-until'] = toInstant(response.completeUntilMs);
  if (response.isReplayed === true) headers['idempotent-replayed'] = 'true';
  return headers;
}
