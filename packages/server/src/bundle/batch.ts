/**
 * batch (https://hl7.org/fhir/R4/http.html#brules): entries that have nothing to do with each other, each with its own
 * rights, its own outcome and its own database transaction (or, with an Idempotency-Key, its own part of one). They are
 * carried out one after another in the order of a transaction, and answered in their own.
 */
import type { JsonObject } from '@praxis/fhir';
import { fail, type PraxisError } from '../base/errors.ts';
import type { BundleEntry } from '../engine/bundle-text.ts';
import type { InteractionContext } from '../engine/context.ts';
import { CostlyParameters } from '../search/index/costly-parameters.ts';
import { answerEntry } from './answer-entry.ts';
import { carryingOutEntries } from './entry-budget.ts';
import { placeInEntry } from './entry-problem.ts';
import { type EntryRequest, readEntry } from './entry-request.ts';
import { buildAnsweredEntry, buildRefusedEntry } from './entry-response.ts';
import { withLinks } from './links.ts';
import { type RunOptions, rankEntry, refuseForClientGone } from './transaction.ts';

export interface BatchOptions extends RunOptions {
  /** Makes anything thrown an error that may be told, and logs what is a fault of the server. */
  readonly faultOf: (error: unknown) => PraxisError;
  /** All runs in one transaction, and what an entry that fails has done is undone alone. */
  readonly isOneTransaction: boolean;
}

/**
 * The entries of the answer. When nobody is there any longer to be answered, entries that were carried out remain so and
 * the others are not.
 * @throws PraxisError `stale-access` and CostlyParameters, before anything is done; `unavailable` where all is undone that was done for nobody
 */
export async function runBatch(
  context: InteractionContext,
  entries: readonly JsonObject[],
  options: BatchOptions,
): Promise<readonly BundleEntry[]> {
  // A batch cannot be repeated with new rights once an entry is carried out, so their age is looked at first.
  await context.store.currentVersions(context.scope, []);
  const answers: BundleEntry[] = entries.map(() => ({}));
  const requests: EntryRequest[] = [];
  let isBegun = false; // an entry has been carried out
  const attempt = async (index: number, work: () => Promise<void>): Promise<void> => {
    try {
      await context.budget.breathe(carryingOutEntries);
      await work();
    } catch (error) {
      if (error instanceof CostlyParameters) {
        if (options.isOneTransaction || !isBegun) throw error;
        await context.store.failParameters(context.scope, error.failed);
      }
      answers[index] = buildRefusedEntry(placeInEntry(options.faultOf(error), index), options.responseBudget);
    }
  };
  for (const [index, entry] of entries.entries()) {
    await attempt(index, async () => void requests.push(readEntry(context, entry, index)));
  }
  const urns = new Set(requests.map(({ fullUrl }) => fullUrl ?? '').filter((url) => url.startsWith('urn:')));
  for (const entry of requests.toSorted((a, b) => rankEntry(a) - rankEntry(b))) {
    if (options.isAbandoned()) {
      if (options.isOneTransaction) refuseForClientGone();
      break;
    }
    await attempt(entry.index, async () => {
      requireIndependent(entry, urns);
      const answer = (inside: InteractionContext) => answerEntry(inside, entry, options);
      const response = options.isOneTransaction
        ? await context.store.transaction(context.scope, (store) => answer({ ...context, store }))
        : await answer(context);
      isBegun = true;
      answers[entry.index] = buildAnsweredEntry(context, entry, response, options.prefer);
    });
  }
  return answers;
}

/** R4: entries of a batch must not refer to each other, since no id is known that such a link could become. */
function requireIndependent({ resource }: EntryRequest, urns: ReadonlySet<string>): void {
  if (resource === undefined || urns.size === 0) return;
  const target = (link: string): undefined => {
    if (urns.has(link)) {
      fail('bundle-invalid', {
        diagnostics:
          'The resource refers to an entry of the same batch: send entries that belong together as a transaction',
      });
    }
  };
  withLinks(resource, { types: new Set(), target });
}
