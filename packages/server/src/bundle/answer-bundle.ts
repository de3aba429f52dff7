/**
 * POST of a Bundle to the base: batch and transaction (https://hl7.org/fhir/R4/http.html#transaction).
 *
 * What is checked, in this order: that the body is such a Bundle, of a size that is taken, each entry a request that exists;
 * then the rights of the whole and of each entry; then the resources in it. So a refusal of access tells nothing of data.
 */
import { type Budget, isJsonObject, type JsonObject, type JsonValue } from '@praxis/fhir';
import { bundleEntries } from '../access/registry.ts';
import { fail } from '../base/errors.ts';
import type { FhirRequest, FhirResponse, InteractionContext, Preferences } from '../engine/context.ts';
import { refuse, requireGrants } from '../engine/rights/denials.ts';
import { requireResource } from '../engine/write/build-write.ts';
import { withIdempotency } from '../engine/write/idempotency.ts';
import { listObjects } from '../search/json-values.ts';
import { authorizeEntry } from './answer-entry.ts';
import { type BatchOptions, runBatch } from './batch.ts';
import type { BundleRate } from './bundle-rate.ts';
import { withPlaceholders } from './bundle-skeleton.ts';
import { carryingOutEntries, entryLimits } from './entry-budget.ts';
import { listConditionalReferences } from './entry-links.ts';
import { runForEntry } from './entry-problem.ts';
import { type EntryRequest, readEntry } from './entry-request.ts';
import { buildBundleResponse, resolveEntryPreferences } from './entry-response.ts';
import { requireDistinctUrls } from './identities.ts';
import { runTransactionBundle } from './transaction.ts';

export interface BundleOptions extends Pick<BatchOptions, 'faultOf' | 'responseBudget' | 'isAbandoned'> {
  /** Entries at most. */
  readonly entriesMax: number;
  readonly rate: BundleRate;
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
  options.responseBudget.empty(); // of a run that was undone
  // Entries wait for nothing: each would hold up those behind it.
  const { pause: _pause, ...inside } = context;
  const prefer = resolveEntryPreferences(request.prefer);
  const entries = listObjects(bundle, 'entry');
  if (bundle.type === 'transaction') return await answerTransaction(inside, bundle, entries, { ...options, prefer });
  const isOneTransaction = request.idempotency !== undefined;
  const charging = options.rate.ofBatch;
  const answers = await runBatch(inside, entries, { ...options, prefer, charging, isOneTransaction });
  return buildBundleResponse(context, 'batch-response', answers);
}

async function answerTransaction(
  context: InteractionContext,
  bundle: JsonObject,
  entries: readonly JsonObject[],
  options: BundleOptions & { readonly prefer: Preferences },
): Promise<FhirResponse> {
  const { prefer, rate } = options;
  const requests: EntryRequest[] = [];
  for (const [index, entry] of entries.entries()) {
    await context.budget.breathe(carryingOutEntries);
    requests.push(await runForEntry(index, async () => readEntry(context, entry, index)));
  }
  requireTransactionRight(context, requests);
  for (const request of requests) {
    await context.budget.breathe(carryingOutEntries);
    await runForEntry(request.index, async () => {
      authorizeEntry(context, request, prefer);
      if (request.ifNoneExist !== undefined) requireGrants(context, request.type, 's');
    });
  }
  const references = listConditionalReferences(requests);
  for (const { index, type } of references) await runForEntry(index, async () => requireGrants(context, type, 's'));
  requireDistinctUrls(requests);
  requireResource(bundle, 'Bundle', context.budget);
  rate.searches(references.map(({ criteria }) => criteria));
  return await runTransactionBundle(context, requests, { ...options, charging: rate.ofTransaction });
}

/**
 * Who may post a transaction (decision 0046): holders of `trans_bndl_post`, of a kind of Bundle that carries one of the
 * types it writes, or of `acl/*`. Every entry needs its own access entry beside that.
 * @throws PraxisError `access-denied` naming the access entries of which one is needed
 */
function requireTransactionRight(context: InteractionContext, entries: readonly EntryRequest[]): void {
  const writing = entries.filter(({ resource, interaction }) => resource !== undefined && interaction !== 'operation');
  const written = new Set(writing.map(({ type }) => type));
  const opening = bundleEntries.filter(({ payload }) => payload === undefined || written.has(payload));
  if (opening.some(({ code }) => context.policy.bundles.has(code))) return;
  const needed = opening.map(({ code }) => `acl/${code}`);
  refuse(context, 'Posting this transaction', needed);
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
