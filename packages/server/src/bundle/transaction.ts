/**
 * transaction (https://hl7.org/fhir/R4/http.html#transaction): all entries or none, in one database transaction.
 *
 * R4's order of work is DELETE, POST, PUT and PATCH, GET and HEAD; the order of the entries must not matter, so those
 * that depend on a search come after those of their kind that do not. Conditional references are resolved at the end,
 * when all is written, and yet each resource is written once, with its links in place: a run begins with what searches find
 * before it, and when the end shows that something was found elsewhere (an entry made it), all is undone and run again
 * with what was learned.
 */
import { fail } from '../base/errors.ts';
import { makeResourceId } from '../base/ids.ts';
import type { BundleEntry } from '../engine/bundle-text.ts';
import type { FhirResponse, InteractionContext, Preferences } from '../engine/context.ts';
import { answerEntry, type EntryOptions } from './answer-entry.ts';
import type { Charging } from './bundle-rate.ts';
import { carryingOutEntries } from './entry-budget.ts';
import {
  buildEntryLinks,
  type ConditionalReference,
  type EntryLinks,
  type Identity,
  listConditionalReferences,
} from './entry-links.ts';
import { runForEntry } from './entry-problem.ts';
import type { EntryRequest } from './entry-request.ts';
import { buildAnsweredEntry, buildBundleResponse } from './entry-response.ts';
import { gatherWrites } from './gathered-writes.ts';
import { requireDistinct, resolveIdentities } from './identities.ts';
import { type Located, locate, requireLocated } from './reference-search.ts';
import type { ResponseBudget } from './response-budget.ts';

/** Runs until what was assumed must hold; each run learns all that was wrong in it. */
const runsMax = 4;

/** What all entries of a Bundle are run by. */
export interface RunOptions {
  readonly prefer: Preferences;
  readonly charging: Charging;
  readonly responseBudget: ResponseBudget;
  /** Whether nobody is there any longer to be answered. */
  readonly isAbandoned: () => boolean;
}

interface Plan extends RunOptions {
  readonly entries: readonly EntryRequest[];
  readonly references: readonly ConditionalReference[];
  /** By index, for what an entry may create. */
  readonly newIds: readonly string[];
  /** Indices of entries that are counted: each counts once, however often it is run. */
  readonly charged: Set<number>;
}

/** What a run goes by. */
interface Knowledge {
  readonly identities: ReadonlyMap<number, Identity>;
  /** Conditional reference → `Type/id`. */
  readonly references: ReadonlyMap<string, string>;
}

/** Undoes a run that went by wrong assumptions. */
class Mistaken extends Error {
  readonly learned: Knowledge;

  constructor(learned: Knowledge) {
    super('A transaction is run again with what it has learned');
    this.learned = learned;
  }
}

/**
 * Carries out all entries or none, and answers every entry, in order.
 * @param entries authorised and valid
 * @throws PraxisError of the entry that failed, `bundle-invalid` (a resource occurs twice), `precondition-failed` (a
 *   conditional reference), `conflict`, `answer-too-large`, `unavailable`
 */
export async function runTransactionBundle(
  context: InteractionContext,
  entries: readonly EntryRequest[],
  options: RunOptions,
): Promise<FhirResponse> {
  const newIds = entries.map(() => makeResourceId(context.clock));
  const references = listConditionalReferences(entries);
  const plan: Plan = { ...options, entries, references, newIds, charged: new Set() };
  let known: Knowledge = { identities: new Map(), references: new Map() };
  const trailBefore = context.trail.length;
  for (let run = 1; run <= runsMax; run += 1) {
    try {
      return await context.store.transaction(context.scope, async (store) => {
        context.trail.length = trailBefore; // a run that is undone has shown nothing
        options.responseBudget.empty();
        const gathered = gatherWrites(context.scope, store);
        const inside: InteractionContext = { ...context, store: gathered.store, allOrNothing: true };
        const answers = await runOnce(inside, gathered.flush, plan, known);
        return buildBundleResponse(context, 'transaction-response', answers); // where this fails, nothing was changed
      });
    } catch (error) {
      if (!(error instanceof Mistaken)) throw error;
      known = error.learned;
    }
  }
  return fail('conflict', {
    diagnostics: 'Conditional entries or references find other resources in every run: name them by id or fullUrl',
  });
}

/** @throws PraxisError `unavailable`: nobody would learn what became of the entries that are still to do */
export function refuseForClientGone(): never {
  return fail('unavailable', {
    diagnostics: 'The connection was closed before all entries were carried out: nothing was changed',
  });
}

async function runOnce(
  context: InteractionContext,
  flush: () => Promise<void>,
  plan: Plan,
  known: Knowledge,
): Promise<readonly BundleEntry[]> {
  const { entries, references, newIds, prefer } = plan;
  const responses = new Map<number, FhirResponse>();
  const identities = await resolveIdentities(context, entries, newIds, known.identities);
  requireDistinct(entries, identities, newIds);
  const steps = inOrder(entries);
  const nothing = buildEntryLinks([], new Map(), new Map(), context.baseUrl);
  await carryOut(context, plan, steps.deletes, nothing, responses);
  const targets = await assumedTargets(context, references, known);
  const links = buildEntryLinks(entries, identities, targets, context.baseUrl);
  const comingResources = new Set([
    ...steps.writes.flatMap(({ index }) => identities.get(index) ?? []).map(({ type, id }) => `${type}/${id}`),
    ...targets.values(), // what is not found in the end undoes all
  ]);
  await carryOut({ ...context, comingResources }, plan, steps.writes, links, responses);
  await flush();
  const located = await locate(context, references);
  requireAssumed(plan, { identities, references: targets }, links, responses, located);
  requireLocated(references, located);
  await carryOut(context, plan, steps.reads, nothing, responses);
  return entries.flatMap((entry) => {
    const response = responses.get(entry.index);
    return response === undefined ? [] : [buildAnsweredEntry(context, entry, response, prefer)];
  });
}

async function carryOut(
  context: InteractionContext,
  { prefer, newIds, charging, charged, responseBudget, isAbandoned }: Plan,
  entries: readonly EntryRequest[],
  links: EntryLinks,
  responses: Map<number, FhirResponse>,
): Promise<void> {
  for (const entry of entries) {
    await context.budget.breathe(carryingOutEntries);
    if (isAbandoned()) refuseForClientGone();
    const { index } = entry;
    const resource = links.resource(entry);
    const newId = newIds[index];
    const options: EntryOptions = {
      prefer,
      responseBudget,
      ...(resource === undefined ? {} : { resource }),
      ...(newId === undefined ? {} : { newId }),
      ...(charged.has(index) ? {} : { charging }),
      patchLinks: (document) => links.patch(entry, document),
    };
    charged.add(index);
    responses.set(index, await runForEntry(index, () => answerEntry(context, entry, options)));
  }
}

/** What the conditional references are taken to lead to; where nothing is found yet, to an id that nothing has. */
async function assumedTargets(
  context: InteractionContext,
  references: readonly ConditionalReference[],
  known: Knowledge,
): Promise<ReadonlyMap<string, string>> {
  const unknown = references.filter(({ text }) => !known.references.has(text));
  const found = await locate(context, unknown);
  const place = makeResourceId(context.clock);
  const missing = unknown.map(({ text, type }) => [text, found.get(text)?.target ?? `${type}/${place}`] as const);
  return new Map([...known.references, ...missing]);
}

/** @throws Mistaken when links were written that lead elsewhere than they should */
function requireAssumed(
  { entries }: Plan,
  assumed: Knowledge,
  links: EntryLinks,
  responses: ReadonlyMap<number, FhirResponse>,
  located: ReadonlyMap<string, Located>,
): void {
  const identities = new Map(assumed.identities);
  let isMistaken = false;
  for (const { index, type } of entries) {
    const { id, versionId } = responses.get(index) ?? {};
    const identity = assumed.identities.get(index);
    if (id === undefined || identity === undefined) continue;
    const isOther = identity.id !== id || (links.versionsUsed.has(index) && (identity.versionId ?? 1) !== versionId);
    isMistaken ||= isOther;
    identities.set(index, { type, id, versionId });
  }
  const references = new Map(assumed.references);
  for (const [text, { target }] of located) {
    isMistaken ||= target !== undefined && target !== assumed.references.get(text);
    if (target !== undefined) references.set(text, target);
  }
  if (isMistaken) throw new Mistaken({ identities, references });
}

function inOrder(entries: readonly EntryRequest[]) {
  const ordered = entries.toSorted((a, b) => rankEntry(a) - rankEntry(b) || compare(lockOf(a), lockOf(b)));
  return {
    deletes: ordered.filter(({ method }) => method === 'DELETE'),
    writes: ordered.filter(({ method, resource }) => resource !== undefined || method === 'POST'),
    reads: ordered.filter(({ method }) => method === 'GET' || method === 'HEAD'),
  };
}

/**
 * What an entry keeps others from changing until the end; all transactions take these in the same order, so that few wait
 * for each other in a circle. New resources keep nobody waiting.
 */
function lockOf({ interaction, type, id, query, ifNoneExist }: EntryRequest): string {
  if (ifNoneExist !== undefined) return `${type}?${ifNoneExist}`;
  return interaction === 'create' ? '' : `${type}/${id}?${query}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** R4's order of methods. */
const methodRanks: Readonly<Record<string, number>> = { DELETE: 0, POST: 2, PUT: 4, PATCH: 4, GET: 6, HEAD: 6 };

/** The lower, the earlier; conditional entries follow the others of their method. */
export function rankEntry({ method, interaction, ifNoneExist }: EntryRequest): number {
  const isConditional = ifNoneExist !== undefined || interaction.startsWith('conditional-');
  return (methodRanks[method] ?? 0) + (isConditional ? 1 : 0);
}
