/**
 * What each entry is answered with (https://hl7.org/fhir/R4/http.html#transaction-response): status, location, ETag and
 * time of the version. Reads return their resource; writes return theirs, or an OperationOutcome, only where Prefer asks.
 */
import { toInstant } from '../base/clock.ts';
import { PraxisError } from '../base/errors.ts';
import { makeUuid } from '../base/ids.ts';
import { type BundleEntry, buildBundleText, countBodyBytes } from '../engine/bundle-text.ts';
import type { FhirResponse, InteractionContext, Preferences } from '../engine/context.ts';
import { buildErrorOutcome, buildOmittedOutcome } from '../engine/outcome.ts';
import { formatEtag } from '../engine/preconditions.ts';
import type { EntryRequest } from './entry-request.ts';
import type { ResponseBudget } from './response-budget.ts';

/** The preferences of entries: without one, writes return nothing, since the sender has what it sent. */
export function resolveEntryPreferences(prefer: Preferences): Preferences {
  return { ...prefer, return: prefer.return ?? 'minimal' };
}

/** The entry of the answer for `entry`, whose call was answered with `response`. */
export function buildAnsweredEntry(
  context: InteractionContext,
  entry: EntryRequest,
  response: FhirResponse,
  prefer: Preferences,
): BundleEntry {
  const { status, body, versionId, lastUpdatedMs, location } = response;
  const facts = {
    status: statusText(status),
    ...(location === undefined ? {} : { location }),
    ...(versionId === undefined ? {} : { etag: formatEtag(versionId) }),
    ...(lastUpdatedMs === undefined ? {} : { lastModified: toInstant(lastUpdatedMs) }),
  };
  if (response.isLeftOut) return { response: { ...facts, outcome: buildOmittedOutcome() } };
  if (body === undefined || entry.method === 'HEAD') return { response: facts };
  if (entry.method !== 'GET' && prefer.return === 'OperationOutcome') return { response: { ...facts, outcome: body } };
  const id = entry.method === 'GET' ? entry.id : (response.id ?? '');
  const isResource = id !== '' && !noResources.has(entry.interaction);
  const fullUrl = isResource ? { fullUrl: `${context.baseUrl}/${entry.type}/${id}` } : {};
  return { ...fullUrl, resource: body, response: facts };
}

/** What is answered with something other than the resource of the path. */
const noResources: ReadonlySet<string> = new Set(['history-instance', 'operation']);

/** The entry of the answer for one that failed; where there is no room, it tells the first problem alone. */
export function buildRefusedEntry(error: PraxisError, responseBudget: ResponseBudget): BundleEntry {
  const outcome = buildErrorOutcome(error);
  const { more: _more, ...first } = error.details;
  const isRoom = responseBudget.tryReserve(countBodyBytes(outcome));
  const told = isRoom ? outcome : buildErrorOutcome(new PraxisError(error.code, first));
  return { response: { status: statusText(error.status), outcome: told } };
}

/** The whole answer; `entries` in the order of those that were sent. */
export function buildBundleResponse(
  context: InteractionContext,
  type: 'batch-response' | 'transaction-response',
  entries: readonly BundleEntry[],
): FhirResponse {
  const lastUpdated = toInstant(context.clock.now());
  return { status: 200, body: buildBundleText({ type, id: makeUuid(), lastUpdated, links: [], entries }) };
}

/** Reason phrases (RFC 9110 §15), which R4 wants behind the number. */
const reasons: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  204: 'No Content',
  304: 'Not Modified',
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  410: 'Gone',
  412: 'Precondition Failed',
  422: 'Unprocessable Content',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

function statusText(status: number): string {
  const reason = reasons[status];
  return reason === undefined ? String(status) : `${status} ${reason}`;
}
