/**
 * $write-outcome: what came of a request that was sent with an Idempotency-Key, for those who have lost its answer. R4 has
 * no operation for this; docs/decisions/0173 says why there is one.
 */

import { toInstant } from '../base/clock.ts';
import { buildGetRequest } from '../base/worst-case.ts';
import type { FhirResponse, InteractionContext } from '../engine/context.ts';
import { hashIdempotencyKey } from '../engine/write/idempotency.ts';
import { readTextInput } from './input.ts';
import { declareInput, declareOutput, type Operation, type OperationRequest } from './operation.ts';
import { buildParametersResponse, type OutputParameter } from './result.ts';

export const writeOutcome: Operation = {
  name: 'write-outcome',
  url: 'https://praxis.health/fhir/OperationDefinition/write-outcome',
  worstCase: {
    because: 'a key that was never used',
    request: ({ next }) => buildGetRequest(`$write-outcome?key=siege-${next()}`),
  },
  levels: ['system'],
  types: 'all',
  affectsState: false,
  parameters: [
    declareInput('key', 'string', 'The key, with the quotes of the header or without them.', { min: 1 }),
    declareOutput(
      'outcome',
      'code',
      'done: the request took effect, once. none: it has had no effect so far (it never came, was refused, or is under way): repeating it with the same key is safe.',
    ),
    declareOutput('status', 'integer', 'The HTTP status of the response.', { min: 0 }),
    declareOutput('received', 'instant', 'When the request arrived.', { min: 0 }),
    declareOutput('location', 'uri', 'The header Location of the response.', { min: 0 }),
    declareOutput('versionId', 'id', 'The version in the response.', { min: 0 }),
    declareOutput('lastUpdated', 'instant', 'When that version was stored.', { min: 0 }),
  ],
  // It tells an application what itself was told before, of its own requests.
  authorize: () => undefined,
  answer,
};

/** 200 with Parameters; of other applications' keys as of those that were never used. */
async function answer(context: InteractionContext, { input }: OperationRequest): Promise<FhirResponse> {
  const key = hashIdempotencyKey(context, withoutQuotes(readTextInput(input, 'key') ?? ''));
  const kept = await context.store.keptAnswer(context.scope, key, context.clock.now());
  if (kept === undefined) return buildParametersResponse([{ name: 'outcome', type: 'code', value: 'none' }]);
  const { location, versionId, lastUpdatedMs } = kept.facts;
  const parameters: OutputParameter[] = [
    { name: 'outcome', type: 'code', value: 'done' },
    { name: 'status', type: 'integer', value: kept.status },
    { name: 'received', type: 'instant', value: toInstant(kept.atMs) },
  ];
  if (location !== undefined) parameters.push({ name: 'location', type: 'uri', value: location });
  if (versionId !== undefined) parameters.push({ name: 'versionId', type: 'id', value: String(versionId) });
  if (lastUpdatedMs !== undefined)
    parameters.push({ name: 'lastUpdated', type: 'instant', value: toInstant(lastUpdatedMs) });
  return buildParametersResponse(parameters);
}

/** The key of a header as it was written (RFC 8941 §3.3.3): a quote or backslash inside has a backslash before it. */
function withoutQuotes(text: string): string {
  return /^"(?:[^"\\]|\\["\\])*"$/.test(text) ? text.slice(1, -1).replaceAll(/\\(["\\])/g, '$1') : text;
}
