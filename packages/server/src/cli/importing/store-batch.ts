/**
 * Stores a plan in one transaction, with what notes that it is stored. Where all is new, that is one statement (docs/decisions/0324).
 * Else what is new goes by one statement for each table, and what is on top of another version by that which compares versions. What
 * the database refuses, or what names content that is not there, stops nothing else.
 */
import { getStoredText } from '../../access/disclosure.ts';
import { compilePolicy } from '../../access/policy.ts';
import { allEntry } from '../../access/registry.ts';
import { PraxisError } from '../../base/errors.ts';
import { type Sql, sql } from '../../database/sql.ts';
import { isTooLate, StatementError } from '../../database/sqlstate.ts';
import { listHooks, type StoringContext } from '../../engine/hooks.ts';
import type { BuildWriteContext } from '../../engine/write/build-write.ts';
import { freeImportedAppointments, noteImportedAppointments } from '../../practice/booking/backfill-statements.ts';
import { holdsContent } from '../../practice/documents/content-urls.ts';
import { removeSubscription } from '../../practice/subscriptions/store.ts';
import type { ResourceStore, ResourceWrite, WriteOutcome } from '../../storage/store.ts';
import type { TenantScope } from '../../tenancy/scope.ts';
import { UsageError } from '../command.ts';
import { findRefused } from './find-refused.ts';
import { batchAttemptsMax, type Loader, withRights } from './loader.ts';
import {
  expectOld,
  getResourceName,
  type ImportItem,
  type ImportPlan,
  type PlannedItem,
  planBatch,
} from './plan-batch.ts';
import { describeProblem, type ImportProblem, makeProblem } from './problem.ts';
import { isConflict, isRefusedValue } from './refusals.ts';
import { isTakenOver } from './runs.ts';

export interface StoredBatch {
  readonly stored: number;
  readonly skipped: number;
  readonly problems: readonly ImportProblem[];
  readonly notes: Readonly<Record<string, number>>;
}

/** What notes a batch that is stored: an expression for a statement of its transaction, whose value is a number. */
export type NoteStored = (context: BuildWriteContext, batch: StoredBatch) => Sql;

/** A batch, and the value of what notes it. */
export interface NotedBatch extends StoredBatch {
  readonly noted: number;
}

/** The operator's, who reaches every content. */
const unrestricted = compilePolicy([allEntry], [allEntry]);

/** An item of a plan, and why it is not stored. */
interface Lost {
  readonly item: ImportItem;
  readonly problem: ImportProblem;
}

/**
 * Stores what is planned, all of it or, after an error, nothing. What others have changed since is planned anew.
 * @param problems what was wrong before the plan was made, which is told with the rest
 * @throws PraxisError `unavailable` when the database is lost; UsageError when another process has taken the import over
 */
export async function storeBatch(
  loader: Loader,
  planned: ImportPlan,
  problems: readonly ImportProblem[],
  note: NoteStored,
): Promise<NotedBatch> {
  let plan = planned;
  const refused = new Map<ImportItem, ImportProblem>();
  for (let attempt = 1; ; attempt += 1) {
    const isLast = attempt === batchAttemptsMax;
    try {
      const told = [...problems, ...plan.problems, ...refused.values()];
      return await storeOnce(loader, plan, told, note, isLast);
    } catch (error) {
      const lost = await findLost(loader, plan, error, isLast);
      for (const { item, problem } of lost) refused.set(item, problem);
      if (lost.length > 0) attempt = 0;
      const left = planned.given.filter((item) => !refused.has(item));
      plan = await planBatch(loader, left);
    }
  }
}

/** What is to be left out of the next plan: nothing where others were faster. @throws Error where another plan is of no use */
async function findLost(loader: Loader, plan: ImportPlan, error: unknown, isLast: boolean): Promise<readonly Lost[]> {
  if (isTakenOver(error))
    throw new UsageError('another process goes on with this import, or it was cancelled: this one has ended');
  if (error instanceof LostBefore) return error.lost;
  const isThere = error instanceof Overtaken || isTaken(error);
  if (isThere) expectOld(loader);
  if (!isLast && (isThere || isTooLate(error) || isConflict(error))) return [];
  const found = isRefusedValue(error) ? await findRefused(loader, plan.items) : [];
  if (found.length === 0) throw error;
  return found;
}

/** Others were faster with a version. */
class Overtaken extends Error {}

/** Some are not stored, and the versions behind them were planned on top of them. */
class LostBefore extends Error {
  readonly lost: readonly Lost[];

  constructor(lost: readonly Lost[]) {
    super('versions are to be planned anew');
    this.lost = lost;
  }
}

/** Whether a first version is there already. */
function isTaken(error: unknown): boolean {
  return error instanceof StatementError && error.constraint === 'resource_pkey';
}

/** @param isLast whether a conflict is a problem of its resource now, rather than a reason to plan anew */
async function storeOnce(
  loader: Loader,
  plan: ImportPlan,
  problems: readonly ImportProblem[],
  note: NoteStored,
  isLast: boolean,
): Promise<NotedBatch> {
  const { store } = loader.platform;
  const { items, skipped, notes } = plan;
  const makeBatch = (lost: readonly Lost[]): StoredBatch => ({
    stored: items.length - lost.length,
    skipped,
    problems: [...problems, ...lost.map(({ problem }) => problem)],
    notes,
  });
  return await withRights(loader, async (context) => {
    if (!isLast && isAllNew(items)) {
      const batch = makeBatch([]);
      return { ...batch, noted: await createAll(store, context, items, note(context, batch)) };
    }
    return await store.transaction(context.scope, async (inside) => {
      const lost = await storeItems(inside, context, items, isLast);
      if (hasLaterVersions(plan, lost)) throw new LostBefore(lost);
      const batch = makeBatch(lost);
      const gone = new Set(lost.map(({ item }) => item));
      const written = items.filter(({ item }) => !gone.has(item)).map(({ write }) => write);
      const noting = sql`SELECT ${note(context, batch)} AS noted`;
      const [row] = await inside.change<{ noted: number }>(context.scope, [
        noting,
        ...listEffects(context.scope, written),
      ]);
      return { ...batch, noted: row?.noted ?? 0 };
    });
  });
}

/** Whether one statement stores all, with all that follows from it. */
function isAllNew(items: readonly PlannedItem[]): boolean {
  const isPlain = (write: ResourceWrite): boolean =>
    isFirst(write) && write.type !== 'Subscription' && !namesContent(write);
  return items.length > 0 && items.every(({ write }) => isPlain(write));
}

/** One statement, which is the whole transaction: it waits for nothing that this thread is busy with. */
async function createAll(
  store: ResourceStore,
  { scope }: BuildWriteContext,
  items: readonly PlannedItem[],
  noting: Sql,
): Promise<number> {
  const writes = items.map(({ write }) => write);
  const hasAppointments = writes.some(({ type }) => type === 'Appointment');
  const also = hasAppointments ? sql`CASE WHEN ${noteImportedAppointments(scope.firm)} THEN ${noting} END` : noting;
  return await store.createMany(scope, writes, also);
}

/** Whether another version of one of them is behind it. */
function hasLaterVersions({ given }: ImportPlan, lost: readonly Lost[]): boolean {
  return lost.some(({ item }) => {
    const name = getResourceName(item);
    return given.slice(given.indexOf(item) + 1).some((other) => getResourceName(other) === name);
  });
}

/** What is kept beside the resources follows: times of appointments, and subscriptions, which an import ends. */
function listEffects(scope: TenantScope, writes: readonly ResourceWrite[]): readonly Sql[] {
  const appointments = writes.filter(({ type }) => type === 'Appointment');
  const later = appointments.filter(({ expectedVersion }) => expectedVersion > 0).map(({ id }) => id);
  return [
    ...(later.length === 0 ? [] : [freeImportedAppointments(scope.firm, later)]),
    ...(appointments.length === 0 ? [] : [sql`SELECT ${noteImportedAppointments(scope.firm)} AS noted`]),
    ...writes.filter(({ type }) => type === 'Subscription').flatMap(({ id }) => removeSubscription(scope, id)),
  ];
}

/**
 * Stores all, but for those that name content which they may not; returns these. Of a resource of which a version names content,
 * the versions are stored one after another.
 * @throws Overtaken, unless `isLast`: then those are returned, too, which others have changed
 */
async function storeItems(
  inside: ResourceStore,
  context: BuildWriteContext,
  items: readonly PlannedItem[],
  isLast: boolean,
): Promise<readonly Lost[]> {
  const naming = new Set(items.filter(({ write }) => namesContent(write)).map(({ item }) => getResourceName(item)));
  const single = items.filter(({ item }) => naming.has(getResourceName(item)));
  const together = naming.size === 0 ? items : items.filter(({ item }) => !naming.has(getResourceName(item)));
  const lost = [...(await storeTogether(inside, context, together, isLast))];
  for (const { item, write } of single) {
    if (lost.some((before) => getResourceName(before.item) === getResourceName(item))) continue; // planned on top of it
    const outcome = namesContent(write)
      ? await storeWithContent(inside, context, write)
      : await inside.write(context.scope, write);
    if (outcome instanceof PraxisError) lost.push({ item, problem: makeProblem(item.origin, outcome) });
    else if (outcome.outcome === 'conflict') lost.push(tellOthers(item, isLast));
  }
  return lost;
}

async function storeTogether(
  inside: ResourceStore,
  { scope }: BuildWriteContext,
  items: readonly PlannedItem[],
  isLast: boolean,
): Promise<readonly Lost[]> {
  // On the last attempt, what others have stored meanwhile stops nothing else.
  const isNew = ({ write }: PlannedItem): boolean => !isLast && isFirst(write);
  const created = items.filter(isNew).map(({ write }) => write);
  if (created.length > 0) await inside.createMany(scope, created);
  const compared = items.filter((item) => !isNew(item));
  const writes = compared.map(({ write }) => write);
  const outcomes = writes.length === 0 ? [] : await inside.writeMany(scope, writes);
  return compared.filter((_, at) => outcomes[at]?.outcome === 'conflict').map(({ item }) => tellOthers(item, isLast));
}

/** What the statement for new resources takes. */
function isFirst({ type, expectedVersion }: ResourceWrite): boolean {
  return expectedVersion === 0 && type !== 'SearchParameter';
}

/** @throws Overtaken unless it is the last attempt */
function tellOthers(item: ImportItem, isLast: boolean): Lost {
  if (!isLast) throw new Overtaken();
  const words = 'others were changing the resource at the same time';
  return { item, problem: describeProblem(item.origin, 'conflict', words) };
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
