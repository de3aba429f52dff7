/**
 * An entry of a batch or transaction at the door it goes to: that of the interactions, or that of the operations.
 */
import { countBodyBytes } from '../engine/bundle-text.ts';
import type { FhirCall, FhirResponse, InteractionContext, Preferences } from '../engine/context.ts';
import { dispatch, interactions } from '../engine/dispatch.ts';
import {
  answerOperation,
  authorizeOperation,
  type OperationCall,
  requireEntry,
} from '../operations/answer-operation.ts';
import { getOperationCost } from '../operations/registry.ts';
import type { Charging } from './bundle-rate.ts';
import { buildEntryCall, type CallOptions } from './entry-call.ts';
import type { EntryRequest } from './entry-request.ts';
import type { ResponseBudget } from './response-budget.ts';

export interface EntryOptions extends CallOptions {
  /** What the answer has to fit into. */
  readonly responseBudget: ResponseBudget;
}

/**
 * What the entry alone would be answered with, as far as there is room for it.
 * @throws PraxisError for every refusal, also `answer-too-large` or `unavailable`, with which a read ends that finds no room
 */
export function answerEntry(
  context: InteractionContext,
  entry: EntryRequest,
  options: EntryOptions,
): Promise<FhirResponse> {
  const { interaction } = entry;
  const { charging = uncharged, responseBudget } = options;
  const inside = { ...context, fitted: (response: FhirResponse) => fitted(context, entry, response, responseBudget) };
  if (interaction === 'operation') {
    requireEntry(entry);
    const call = charging(operationCall(entry, options), getOperationCost(entry));
    return answerOperation(inside, opened(entry, call, responseBudget));
  }
  const call = charging({ ...buildEntryCall(entry, options), interaction }, interactions[interaction]);
  return dispatch(inside, opened(entry, call, responseBudget));
}

/** The call, which does not read what there would be no room for. */
function opened<C extends Pick<FhirCall, 'open'>>(
  { method }: EntryRequest,
  call: C,
  responseBudget: ResponseBudget,
): C {
  if (method !== 'GET') return call;
  return {
    ...call,
    open: async () => {
      responseBudget.requireRemaining();
      return await call.open();
    },
  };
}

/**
 * What the Bundle has to keep of the answer until all are there. What a batch has done stays done, and its body is left out;
 * a read is nothing but its body.
 */
function fitted(
  { allOrNothing }: InteractionContext,
  { method }: EntryRequest,
  response: FhirResponse,
  responseBudget: ResponseBudget,
): FhirResponse {
  const { list: _list, ...answer } = response; // the same again, in parts
  const { body, ...facts } = answer;
  if (method === 'HEAD') return facts;
  if (responseBudget.tryReserve(countBodyBytes(body))) return answer;
  if (method === 'GET' || allOrNothing === true) responseBudget.requireRemaining();
  return { ...facts, isLeftOut: true };
}

/** @throws PraxisError `access-denied`, `method-not-allowed`, `operation-unknown` */
export function authorizeEntry(context: InteractionContext, entry: EntryRequest, prefer: Preferences): void {
  const { interaction } = entry;
  if (interaction === 'operation') {
    requireEntry(entry);
    authorizeOperation(context, operationCall(entry, { prefer }));
  } else interactions[interaction].authorize(context, { ...buildEntryCall(entry, { prefer }), interaction });
}

const uncharged: Charging = (call) => call;

function operationCall(entry: EntryRequest, options: CallOptions): OperationCall {
  return { ...buildEntryCall(entry, options), operation: entry.operation, method: entry.method };
}
