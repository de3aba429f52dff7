/**
 * SearchParameter/$status: how the search parameters stand that the firm has defined for itself. R4 has no operation for
 * this; docs/decisions/0130 says why there is one.
 */

import { explainDenial } from '../access/explain.ts';
import { canReadAll } from '../access/policy.ts';
import { buildGetRequest } from '../base/worst-case.ts';
import type { FhirResponse, InteractionContext } from '../engine/context.ts';
import { denyAccess, refuseNotFound } from '../engine/rights/denials.ts';
import type { ParameterStanding } from '../storage/store.ts';
import { readTextInput } from './input.ts';
import { declareInput, declareOutput, declareParts, type Operation, type OperationRequest } from './operation.ts';
import { buildParametersResponse, type OutputParameter } from './result.ts';

export const searchParameterStatus: Operation = {
  name: 'status',
  url: 'https://praxis.health/fhir/OperationDefinition/SearchParameter-status',
  worstCase: {
    because: 'as many parameters as a practice has',
    request: () => buildGetRequest('SearchParameter/$status'),
  },
  levels: ['type', 'instance'],
  types: ['SearchParameter'],
  affectsState: false,
  parameters: [
    declareInput('url', 'uri', 'Only the parameters with this canonical URL.'),
    declareParts('parameter', 'One per active SearchParameter, and per earlier definition that is being removed.', [
      declareOutput('url', 'uri', 'Its canonical URL.'),
      declareOutput('resource', 'string', 'Its id.'),
      declareOutput(
        'state',
        'code',
        'indexing, active (can be searched by), failed (costs too much: a new version begins anew), dropping or refused.',
      ),
      declareOutput('percent', 'integer', 'How much of the stored data is indexed, in percent.'),
      declareOutput('reason', 'string', 'Why it is refused, failed or paused.', { min: 0 }),
    ]),
  ],
  authorize(context) {
    // It tells of all of them at once, so it is for those who may read all of all.
    if (canReadAll(context.policy, 'SearchParameter')) return;
    denyAccess(explainDenial(context.policy, 'SearchParameter', 'r').diagnostics);
  },
  answer,
};

/** @throws PraxisError `resource-not-found` for an instance that defines nothing */
async function answer(context: InteractionContext, request: OperationRequest): Promise<FhirResponse> {
  const url = readTextInput(request.input, 'url');
  const { place } = request;
  const id = place.level === 'instance' ? place.id : undefined;
  const standings = (await context.store.parameterStandings(context.scope)).filter(
    (each) => (url === undefined || each.url === url) && (id === undefined || each.resourceId === id),
  );
  if (id !== undefined && standings.length === 0) return refuseNotFound('SearchParameter', id);
  return buildParametersResponse(standings.map(outputOf));
}

function outputOf({ url, resourceId, state, percent, reason }: ParameterStanding): OutputParameter {
  return {
    name: 'parameter',
    parts: [
      { name: 'url', type: 'uri', value: url },
      { name: 'resource', type: 'string', value: resourceId },
      { name: 'state', type: 'code', value: state },
      { name: 'percent', type: 'integer', value: percent },
      ...(reason === null ? [] : [{ name: 'reason', type: 'string', value: reason }]),
    ],
  };
}
