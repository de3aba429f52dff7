/**
 * Stores a plan in one transaction, with what notes that it is stored. What is new goes by one statement for each table; what is on
 * top of another version goes by that which compares versions. What the database refuses, or what names content that is not there,
 * stops nothing else.
 */
import { getStoredText } from '../../access/disclosure.ts';
import { compilePolicy } from '../../access/policy.ts';
import { allEntry } from '../../access/registry.ts';
import { PraxisError } from '../../base/errors.ts';
import type { Sql } from '../../database/sql.ts';
import { isTooLate, StatementError } from '../../database/sqlstate.ts';
import { listHooks, type StoringContext } from '../../engine/hooks.ts';
import type { BuildWriteContext } from '../../engine/write/build-write.ts';
import { freeImportedAppointments, noteImportedAppointments } from '../../practice/booking/backfill-statements.ts';
import { holdsContent } from '../../practice/documents/content-urls.ts';
import { removeSubscription } from '../../practice/subscriptions/store.ts';
import type { ResourceStore, ResourceWrite, WriteOutcome } from '../../storage/store.ts';
import type { TenantScope } from '../../tenancy/scope.ts';
import { batchAttemptsMax, type Loader, withRights } from './loader.ts';
import { type ImportPlan, type PlannedItem, planBatch } from './plan-batch.ts';
import { describeProblem, type ImportProblem, makeProblem } from './problem.ts';

export interface StoredBatch {
  readonly stored: number;
  readonly skipped: number;
  readonly problems: readonly ImportProblem[];
  readonly notes: Readonly<Record<string, number>>;
}

/** Notes what was stored, inside of the transaction that stores it. */
export type NoteStored = (inside: ResourceStore, context: BuildWriteContext, batch: StoredBatch) => Promise<void>;

/** The operator's, who reaches every content. */
const unrestricted = compilePolicy([allEntry], [allEntry]);

/**
 * Stores what is planned, all of it or, after an error, nothing. What others have changed since is planned anew.
 * @throws PraxisError `unavailable` when the database is lost, and what `note` throws
 */
export async function storeBatch(loader: Loader, planned: ImportPlan, note: NoteStored): Promise<StoredBatch> {
  let plan = planned;
  let refused: readonly ImportProblem[] = [];
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await storeOnce(loader, plan, refused, note, attempt === batchAttemptsMax);
    } catch (error) {
      const isOvertaken = error instanceof Overtaken || isTaken(error) || isTooLate(error) || isConflict(error);
      if (isOvertaken && attempt < batchAttemptsMax) {
        plan = await replan(loader, plan);
      } else if (isRefusal(error)) {
        const found = await findRefused(loader, plan.items);
        if (found.length === 0) throw error;
        refused = [...refused, ...found.map(({ problem }) => problem)];
        const gone = new Set(found.map(({ item }) => item));
        plan = await replan(loader, { ...plan, items: plan.items.filter((item) => !gone.has(item)) });
        attempt = 0;
      } else throw error;
    }
  }
}

/** Others were faster with a version. */
class Overtaken extends Error {}

/** Whether a first version is there already. */
function isTaken(error: unknown): boolean {
  return error instanceof StatementError && error.constraint === 'resource_pkey';
}

function isConflict(error: unknown): boolean {
  return error instanceof PraxisError && error.code === 'conflict';
}

/** The database is well and something about the statement's values is not. */
function isRefusal(error: unknown): boolean {
  const isTooMuch = error instanceof PraxisError && (error.code === 'statement-timeout' || error.code === 'too-costly');
  return isTooMuch || (error instanceof StatementError && error.table !== 'import_range');
}

/** The same items on top of what there is now. */
async function replan(loader: Loader, { items, problems, skipped, notes }: ImportPlan): Promise<ImportPlan> {
  const plan = await planBatch(loader, items);
  // What the items are noted for is noted again, as often.
  return {
    items: plan.items,
    problems: [...problems, ...plan.problems],
    skipped: skipped + plan.skipped,
    notes: items.length === 0 ? notes : plan.notes,
  };
}

/** @param isLast whether a conflict is a problem of its resource now, rather than a reason to plan anew */
async function storeOnce(
  loader: Loader,
  { items, problems, skipped, notes }: ImportPlan,
  refused: readonly ImportProblem[],
  note: NoteStored,
  isLast: boolean,
): Promise<StoredBatch> {
  return await withRights(loader, (context) =>
    loader.platform.store.transaction(context.scope, async (inside) => {
      const lost = isLast ? await storeCompared(inside, context, items) : await storeAll(inside, context, items);
      const batch: StoredBatch = {
        stored: items.length - lost.length,
        skipped,
        problems: [...problems, ...refused, ...lost],
        notes,
      };
      await note(inside, context, batch);
      const effects = listEffects(
        context.scope,
        items.map(({ write }) => write),
      );
      if (effects.length > 0) await inside.change(context.scope, effects);
      return batch;
    }),
  );
}

/** What is kept beside the resources follows: times of appointments, and subscriptions, which an import ends. */
function listEffects(scope: TenantScope, writes: readonly ResourceWrite[]): readonly Sql[] {
  const appointments = writes.filter(({ type }) => type === 'Appointment');
  const later = appointments.filter(({ expectedVersion }) => expectedVersion > 0).map(({ id }) => id);
  return [
    ...(later.length === 0 ? [] : [freeImportedAppointments(scope.firm, later)]),
    ...(appointments.length === 0 ? [] : noteImportedAppointments(scope.firm)),
    ...writes.filter(({ type }) => type === 'Subscription').flatMap(({ id }) => removeSubscription(scope, id)),
  ];
}

/** Stores all, but for those that name content which they may not; returns why. @throws Overtaken */
async function storeAll(
  inside: ResourceStore,
  context: BuildWriteContext,
  items: readonly PlannedItem[],
): Promise<readonly ImportProblem[]> {
  const naming = items.filter(({ write }) => namesContent(write));
  const plain = items.filter(({ write }) => !namesContent(write)).map(({ write }) => write);
  const isFirst = ({ type, expectedVersion }: ResourceWrite): boolean =>
    expectedVersion === 0 && type !== 'SearchParameter';
  await inside.createMany(context.scope, plain.filter(isFirst));
  const later = plain.filter((write) => !isFirst(write));
  requireWritten(later.length === 0 ? [] : await inside.writeMany(context.scope, later));
  const lost: ImportProblem[] = [];
  for (const { write, origin } of naming) {
    const outcome = await storeWithContent(inside, context, write);
    if (outcome instanceof PraxisError) lost.push(makeProblem(origin, outcome));
    else requireWritten([outcome]);
  }
  return lost;
}

function requireWritten(outcomes: readonly WriteOutcome[]): void {
  if (outcomes.some(({ outcome }) => outcome === 'conflict')) throw new Overtaken();
}

function namesContent({ content }: ResourceWrite): boolean {
  return content !== null && holdsContent(getStoredText(content));
}

/** As an interaction stores it: it holds the content, or names none that is there. */
async function storeWithContent(
  inside: ResourceStore,
  context: BuildWriteContext,
  write: ResourceWrite,
): Promise<WriteOutcome | PraxisError> {
  const storing: StoringContext = { ...context, store: inside, policy: unrestricted };
  const store = listHooks('wrapStore', write.type).reduceRight<(at: StoringContext) => Promise<WriteOutcome>>(
    (work, wrap) => (at) => wrap(at, write, work),
    (at) => at.store.write(at.scope, write),
  );
  try {
    return await inside.transaction(context.scope, (nested) => store({ ...storing, store: nested }));
  } catch (error) {
    if (error instanceof PraxisError && (error.code === 'rule-broken' || error.code === 'duplicate')) return error;
    throw error;
  }
}

/** Stores what has the version that was planned; returns the others, which others change too often. */
async function storeCompared(
  inside: ResourceStore,
  context: BuildWriteContext,
  items: readonly PlannedItem[],
): Promise<readonly ImportProblem[]> {
  const plain = items.filter(({ write }) => !namesContent(write));
  const writes = plain.map(({ write }) => write);
  const outcomes = writes.length === 0 ? [] : await inside.writeMany(context.scope, writes);
  const lost = plain.filter((_, at) => outcomes[at]?.outcome === 'conflict').map(({ origin }) => tellOthers(origin));
  for (const { write, origin } of items.filter((item) => namesContent(item.write))) {
    const outcome = await storeWithContent(inside, context, write);
    if (outcome instanceof PraxisError) lost.push(makeProblem(origin, outcome));
    else if (outcome.outcome === 'conflict') lost.push(tellOthers(origin));
  }
  return lost;
}

function tellOthers(origin: string): ImportProblem {
  return describeProblem(origin, 'conflict', 'others were changing the resource at the same time');
}

interface Refused {
  readonly item: PlannedItem;
  readonly problem: ImportProblem;
}

/** Nothing that was tried is to stay. */
class Undone extends Error {}

/** Those whose values the database refuses, searched out by halving. */
async function findRefused(loader: Loader, items: readonly PlannedItem[]): Promise<readonly Refused[]> {
  try {
    await withRights(loader, ({ scope }) =>
      loader.platform.store.transaction(scope, async (inside) => {
        const writes = items.map(({ write }) => write);
        if (writes.length > 0) await inside.writeMany(scope, writes);
        throw new Undone();
      }),
    );
  } catch (error) {
    if (error instanceof Undone || isConflict(error)) return [];
    if (!isRefusal(error) || !(error instanceof Error)) throw error;
    const [only] = items;
    if (only !== undefined && items.length === 1)
      return [{ item: only, problem: describeProblem(only.origin, 'resource-invalid', error.message) }];
  }
  const middle = items.length >> 1;
  return [...(await findRefused(loader, items.slice(0, middle))), ...(await findRefused(loader, items.slice(middle)))];
}
