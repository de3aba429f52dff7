/**
 * $reconciliation: what came of a write that waited for the practice to accept it, for the application that made it. R4 has no
 * operation for this; docs/decisions/0197 says why there is one.
 */

import { fail } from '../../base/errors.ts';
import { buildGetRequest } from '../../base/worst-case.ts';
import type { FhirResponse, InteractionContext } from '../../engine/context.ts';
import { readTextInput } from '../../operations/input.ts';
import {
  declareInput,
  declareOutput,
  declareParts,
  type Operation,
  type OperationRequest,
} from '../../operations/operation.ts';
import { buildParametersResponse, type OutputParameter } from '../../operations/result.ts';
import { findProposalOutcome } from './shown.ts';

export const reconciliation: Operation = {
  name: 'reconciliation',
  url: 'https://praxis.health/fhir/OperationDefinition/reconciliation',
  worstCase: {
    because: 'an id that is nowhere',
    request: () => buildGetRequest('$reconciliation?id=siege'),
  },
  levels: ['system'],
  types: 'all',
  affectsState: false,
  parameters: [
    declareInput('id', 'string', 'The reconciliation id, which is the id of the Task.', { min: 1 }),
    declareOutput(
      'status',
      'code',
      'That of the Task: requested and in-progress wait; docs/integrate/states.md, Coverage intake.',
    ),
    declareOutput(
      'resource',
      'Reference',
      'What was to be changed, or was made. Its elements are read by the rights on its type.',
      { min: 0 },
    ),
    declareParts('field', 'An element that was proposed.', [
      declareOutput('path', 'string', 'For instance Coverage.period.'),
      declareOutput('decision', 'code', 'accepted, edited or rejected; absent: it is open.', { min: 0 }),
    ]),
  ],
  // It tells an application of its own proposals alone, and no values.
  authorize: () => undefined,
  answer,
};

/** 200 with Parameters. @throws PraxisError `resource-not-found`, also for proposals of others */
async function answer(context: InteractionContext, { input }: OperationRequest): Promise<FhirResponse> {
  const outcome = await findProposalOutcome(context, readTextInput(input, 'id') ?? '');
  if (outcome === undefined) {
    return fail('resource-not-found', {
      diagnostics: 'The application has no proposal with this reconciliation id',
      expression: ['id'],
    });
  }
  const { status, type, target, fields } = outcome;
  const parameters: OutputParameter[] = [{ name: 'status', type: 'code', value: status }];
  if (target !== undefined)
    parameters.push({ name: 'resource', type: 'Reference', value: { reference: `${type}/${target}` } });
  for (const { field, decision } of fields) {
    const parts: OutputParameter[] = [{ name: 'path', type: 'string', value: `${type}.${field}` }];
    if (decision !== undefined) parts.push({ name: 'decision', type: 'code', value: decision });
    parameters.push({ name: 'field', parts });
  }
  return buildParametersResponse(parameters);
}
