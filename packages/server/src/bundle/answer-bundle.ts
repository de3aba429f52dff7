/**
 * POST of a Bundle to the base: batch and transaction (https://hl7.org/fhir/R4/http.html#transaction).
 *
 * What is checked, in this order: that the body is such a Bundle, of a size that is taken, each entry a request that exists;
 * then the rights of the whole and of each entry; then the resources in it. So a refusal of access tells nothing of data.
 */
import { type Budget, isJsonObject, type JsonObject, type JsonValue } from '@praxis/fhir';
import { fail, type PraxisError } from '../base/errors.ts';
import type { FhirRequest, FhirResponse, InteractionContext, Preferences } from '../engine/context.ts';
import { requireGrants } from '../engine/rights/denials.ts';
import { requireResource } from '../engine/write/build-write.ts';
import { withIdempotency } from '../engine/write/idempotency.ts';
import { authorizeEntry } from './answer-entry.ts';
import { runBatch } from './batch.ts';
import type { BundleRate } from './bundle-rate.ts';
import { withPlaceholders } from './bundle-skeleton.ts';
import { carryingOutEntries, entryLimits } from './entry-budget.ts';
import { listConditionalReferences } from './entry-links.ts';
import { runForEntry } from './entry-problem.ts';
import { type EntryRequest, readEntry } from './entry-request.ts';
import { buildAnsweredEntry, buildBundleResponse, resolveEntryPreferences } from './entry-response.ts';
import { requireDistinctUrls } from './identities.ts';
import type { ResponseBudget } from './response-budget.ts';
import { runTransactionBundle } from './transaction.ts';
import { requireTransactionRight } from './transaction-right.ts';

export interface BundleOptions {
  /** Entries at most. */
  readonly entriesMax: number;
  /** Makes anything thrown an error that may be told, and logs what is a fault of the server. */
  readonly faultOf: (error: unknown) => PraxisError;
  readonly rate: BundleRate;
  readonly responseBudget: ResponseBudget;
  /** Whether nobody is there any longer to be answered. */
  readonly isAbandoned: () => boolean;
}

/**
 * 200 with a Bundle that answers every entry, in order.
 * @throws PraxisError for a batch: `resource-type-mismatch`, `bundle-invalid`, `bundle-too-large`, `resource-invalid` of the
 *   Bundle itself; for a transaction also whatever an entry fails with, `answer-too-large`, or `unavailable` (there is no
 *   room for the answer, nobody is there to be answered), in which case nothing was changed
 */
export async function answerBundle(
  context: InteractionContext,
  request: FhirRequest,
  options: BundleOptions,
): Promise<FhirResponse> {
  return await withIdempotency(context, { ...request, type: 'Bundle' }, (once) => answerOnce(once, request, options));
}

async function answerOnce(
  context: InteractionContext,
  request: FhirRequest,
  options: BundleOptions,
): Promise<FhirResponse> {
  const bundle = requireBundle(await request.body(), options.entriesMax, context.budget);
  const { responseBudget, isAbandoned } = options;
  responseBudget.empty(); // of a run that was undone
  // Entries wait for nothing: each would hold up those behind it.
  const { pause: _pause, ...inside } = context;
  const prefer = resolveEntryPreferences(request.prefer);
  const entries = entriesOf(bundle);
  if (bundle.type === 'transaction') return await answerTransaction(inside, bundle, entries, { ...options, prefer });
  const answers = await runBatch(inside, entries, {
    prefer,
    charging: options.rate.ofBatch,
    responseBudget,
    isAbandoned,
    faultOf: options.faultOf,
    isOneTransaction: request.idempotency !== undefined,
  });
  return buildBundleResponse(context, 'batch-response', answers);
}

async function answerTransaction(
  context: InteractionContext,
  bundle: JsonObject,
  entries: readonly JsonObject[],
  { prefer, rate, responseBudget, isAbandoned }: BundleOptions & { readonly prefer: Preferences },
): Promise<FhirResponse> {
  const requests: EntryRequest[] = [];
  for (const [index, entry] of entries.entries()) {
    await context.budget.breathe(carryingOutEntries);
    requests.push(await runForEntry(index, async () => readEntry(context, entry, index)));
  }
  requireTransactionRight(context, requests);
  for (const request of requests) {
    await context.budget.breathe(carryingOutEntries);
    await runForEntry(request.index, async () => authorize(context, request, prefer));
  }
  const references = listConditionalReferences(requests);
  for (const { index, type } of references) {
    await runForEntry(index, async () => requireGrants(context, type, 's'));
  }
  requireDistinctUrls(requests);
  requireResource(bundle, 'Bundle', context.budget);
  rate.searches(references.map(({ criteria }) => criteria));
  return await runTransactionBundle(context, requests, {
    prefer,
    charging: rate.ofTransaction,
    responseBudget,
    isAbandoned,
    answer: (answered) => {
      const answers = answered.map(({ entry, response }) => buildAnsweredEntry(context, entry, response, prefer));
      return buildBundleResponse(context, 'transaction-response', answers);
    },
  });
}

/** @throws PraxisError `access-denied`, `method-not-allowed`, `operation-unknown` */
function authorize(context: InteractionContext, entry: EntryRequest, prefer: Preferences): void {
  authorizeEntry(context, entry, prefer);
  if (entry.ifNoneExist !== undefined) requireGrants(context, entry.type, 's');
}

const typesTaken: ReadonlySet<string> = new Set(['batch', 'transaction']);

/** The Bundle; each of its entries has added to the budget. */
function requireBundle(body: JsonValue, entriesMax: number, budget: Budget): JsonObject {
  if (!isJsonObject(body) || body.resourceType !== 'Bundle') {
    return fail('resource-type-mismatch', {
      diagnostics:
        'resourceType must be Bundle: the base takes a batch or a transaction, other resources go to their type',
      expression: ['resourceType'],
    });
  }
  if (typeof body.type === 'string' && !typesTaken.has(body.type)) {
    fail('bundle-invalid', {
      diagnostics:
        'Bundle.type must be batch or transaction here; other Bundles, such as documents, are stored by POST to Bundle',
      expression: ['Bundle.type'],
    });
  }
  const count = Array.isArray(body.entry) ? body.entry.length : 0;
  if (count > entriesMax) {
    fail('bundle-too-large', {
      diagnostics: `Bundle.entry has ${count} entries; at most ${entriesMax} are taken: send several Bundles`,
      expression: ['Bundle.entry'],
    });
  }
  budget.extend({ steps: count * entryLimits.steps, ms: count * entryLimits.ms });
  requireResource(withPlaceholders(body), 'Bundle', budget);
  return body;
}

function entriesOf({ entry }: JsonObject): readonly JsonObject[] {
  return Array.isArray(entry) ? entry.filter(isJsonObject) : [];
}
