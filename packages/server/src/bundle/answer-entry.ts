/**
 * An entry of a batch or transaction at the door it goes to: that of the interactions, or that of the operations.
 */
import type { FhirResponse, InteractionContext, Preferences } from '../interactions/context.ts';
import { dispatch, interactions } from '../interactions/dispatch.ts';
import { answerOperation, authorizeOperation, type OperationCall } from '../operations/answer-operation.ts';
import { type CallOptions, entryCall } from './entry-call.ts';
import type { EntryRequest } from './entry-request.ts';

/** What the entry alone would be answered with. @throws PraxisError for every refusal */
export function answerEntry(
  context: InteractionContext,
  entry: EntryRequest,
  options: CallOptions,
): Promise<FhirResponse> {
  const { interaction } = entry;
  return interaction === 'operation'
    ? answerOperation(context, operationCall(entry, options))
    : dispatch(context, { ...entryCall(entry, options), interaction });
}

/** @throws PraxisError `access-denied`, `method-not-allowed`, `operation-unknown` */
export function authorizeEntry(context: InteractionContext, entry: EntryRequest, prefer: Preferences): void {
  const { interaction } = entry;
  if (interaction === 'operation') authorizeOperation(context, operationCall(entry, { prefer }));
  else interactions[interaction].authorize(context, { ...entryCall(entry, { prefer }), interaction });
}

function operationCall(entry: EntryRequest, options: CallOptions): OperationCall {
  return { ...entryCall(entry, options), operation: entry.operation, method: entry.method };
}
