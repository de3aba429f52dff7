/**
 * history of all resources of a type, and of all resources (https://hl7.org/fhir/R4/http.html#history): versions newest
 * first, deletions included. All pages of a walk show the history of one moment (docs/decisions/0105).
 */
import { buildGetRequest } from '../../base/worst-case.ts';
import type { FhirRequest, FhirResponse, Interaction, InteractionContext } from '../context.ts';
import { type RightsContext, refuse } from '../rights/denials.ts';
import { requireOtherHistory } from '../search/refuse-mixed-audit-search.ts';
import { buildHistoryEntries, buildHistoryResponse } from './history-bundle.ts';
import { openPosition, sealPosition } from './history-cursor.ts';
import { readHistoryParameters } from './history-parameters.ts';

export const historyType: Interaction = {
  worstCase: {
    because: 'a page of large versions of long ago',
    request: () => buildGetRequest('Patient/_history?_count=1000&_since=1900-01-01T00:00:00Z'),
  },
  authorize: (context, { type }) => authorize(context, type),
  answer,
};

export const historySystem: Interaction = {
  worstCase: {
    because: 'a page of versions of all types',
    request: () => buildGetRequest('_history?_count=1000&_since=1900-01-01T00:00:00Z'),
  },
  rateUnits: 4,
  authorize: (context) => authorize(context, ''),
  answer,
};

/** Deletions and former versions would tell of rows that a narrower entry hides. */
function authorize(context: RightsContext, type: string): void {
  if (!context.policy.mayTypeHistory) refuse(context, `${type === '' ? 'System' : type} history`, ['acl/*']);
}

/**
 * A Bundle of type `history`; `next` continues with older versions.
 * @throws PraxisError `search-invalid`, `cursor-invalid`, `too-costly`
 */
async function answer(context: InteractionContext, request: FhirRequest): Promise<FhirResponse> {
  const { store, scope } = context;
  requireOtherHistory(request.type);
  const parameters = readHistoryParameters(context, request, '_cursor');
  const { period, count, cursor } = parameters;
  const asked = { type: request.type, period };
  const after = cursor === undefined ? {} : { after: openPosition(context, asked, cursor) };
  const walk = { ...period, limit: count, ...after };
  const { versions, next } =
    request.type === '' ? await store.systemHistory(scope, walk) : await store.typeHistory(scope, request.type, walk);
  const place = {
    path: request.type === '' ? '_history' : `${request.type}/_history`,
    parameters,
    position: cursor === undefined ? undefined : (['_cursor', cursor] as const),
    next: next && (['_cursor', sealPosition(context, asked, next)] as const),
  };
  return buildHistoryResponse(context, place, await buildHistoryEntries(context, versions, parameters));
}
