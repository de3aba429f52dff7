/**
 * $write-outcome: what came of a request that was sent with an Idempotency-Key, for those who have lost its answer. R4 has
 * no operation for this; docs/decisions/0173 says why there is one.
 */

import { toInstant } from '../base/clock.ts';
import { buildGetRequest } from '../base/worst-case.ts';
import type { FhirResponse, InteractionContext } from '../engine/context.ts';
import { hashIdempotencyKey } from '../engine/write/idempotency.ts';
import { readTextInput } from './input.ts';
import type { Operation, OperationParameter, OperationRequest } from './operation.ts';
import { buildParametersResponse, type OutputParameter } from './result.ts';

const out = (name: string, min: number, type: string, documentation: string): OperationParameter => ({
  name,
  use: 'out',
  min,
  max: 1,
  type,
  documentation,
});

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
    {
      name: 'key',
      use: 'in',
      min: 1,
      max: 1,
      type: 'string',
      documentation: 'The key, with the quotes of the header or without them.',
    },
    out(
      'outcome',
      1,
      'code',
      'done: the request took effect, once. none: it has had no effect so far (it never came, was refused, or is under way): repeating it with the same key is safe.',
    ),
    out('status', 0, 'integer', 'The HTTP status that it was answered with.'),
    out('received', 0, 'instant', 'When it came.'),
    out('location', 0, 'uri', 'The header Location of the answer.'),
    out('versionId', 0, 'id', 'The version that the answer named.'),
    out('lastUpdated', 0, 'instant', 'When that version was stored.'),
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
