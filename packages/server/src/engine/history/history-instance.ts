/**
 * history of one resource (https://hl7.org/fhir/R4/http.html#history): versions newest first, deletions included.
 */

import { describeNextStep, listGrantingEntries } from '../../access/explain.ts';
import { buildGetRequest, makeLargePatient } from '../../base/worst-case.ts';
import type { FhirRequest, FhirResponse, Interaction, InteractionContext } from '../context.ts';
import { seesAllRows } from '../read/read.ts';
import { denyAccess, refuseNotFound, requireGrants } from '../rights/denials.ts';
import { buildHistoryEntries, buildHistoryResponse } from './history-bundle.ts';
import { type HistoryParameters, historyRowsMax, readHistoryParameters } from './history-parameters.ts';

export const historyInstance: Interaction = {
  worstCase: {
    because: 'versions of a large resource',
    stored: () => [makeLargePatient('siege-large', 1_000)],
    request: () => buildGetRequest('Patient/siege-updated/_history?_count=1000'),
  },
  authorize: (context, request) => requireGrants(context, request.type, 'r'),
  answer,
};

/**
 * A Bundle of type `history`; `next` continues with older versions. Versions outside the caller's row criteria are left
 * out, deletions too unless the caller has no row criteria.
 * @throws PraxisError `search-invalid`, `resource-not-found`, `access-denied` (`_at` under row criteria), `too-costly`
 */
async function answer(context: InteractionContext, request: FhirRequest): Promise<FhirResponse> {
  const { type, id } = request;
  const parameters = readHistoryParameters(context, request, '_before');
  const { period, count, beforeVersion } = parameters;
  if (period.currentAfterMs !== undefined && !seesAllRows(context, type)) {
    const entries = listGrantingEntries(context.policy, type, 'r');
    denyAccess(
      `_at on ${type} needs read access to all its rows (${entries.join(' or ')} without a limit on rows; ${describeNextStep(context.policy, entries)}): it tells when a version was followed by one outside of them`,
    );
  }
  const page = { ...period, limit: count, ...(beforeVersion === undefined ? {} : { beforeVersion }) };
  const { versions, hasMore } = await context.store.history(context.scope, type, id, page);
  const last = hasMore ? versions.at(-1) : undefined;
  const entries = await buildHistoryEntries(context, versions, parameters);
  if (entries.length === 0 && beforeVersion === undefined) await requireKnown(context, request, parameters);
  const place = {
    path: `${type}/${id}/_history`,
    parameters,
    position: beforeVersion === undefined ? undefined : (['_before', String(beforeVersion)] as const),
    next: last && (['_before', String(last.versionId)] as const),
  };
  return buildHistoryResponse(context, place, entries);
}

/** A history is empty where a resource is known that has no version in the period; others are not found. */
async function requireKnown(
  context: InteractionContext,
  { type, id }: FhirRequest,
  parameters: HistoryParameters,
): Promise<void> {
  const newest = await context.store.history(context.scope, type, id, { limit: historyRowsMax });
  if ((await buildHistoryEntries(context, newest.versions, parameters)).length === 0) refuseNotFound(type, id);
}
