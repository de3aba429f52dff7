/**
 * Admission: the changes of a firm become events of its subscriptions, in the order of the change feed and never past the oldest
 * transaction under way (docs/decisions/0170, 0308). Events and the place that was come to are stored together, so an event is
 * given once, whichever process looks.
 */
import { PraxisError } from '../../base/errors.ts';
import type { Database, Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { InteractionContext } from '../../engine/context.ts';
import { jobLimits } from '../../limits/budgets.ts';
import { CostlyParameters } from '../../search/index/costly-parameters.ts';
import { getTypeNumber } from '../../search/numbers.ts';
import { encodeIntegerArray, encodeTextArray } from '../../storage/index-arrays.ts';
import { buildInserts } from '../../storage/statement-runner.ts';
import type { Change, ChangePlace, ChangesPage } from '../../storage/store.ts';
import { getFirm, isKept } from '../../tenancy/firms.ts';
import { openOperatorScope } from '../../tenancy/operator.ts';
import type { TenantScope } from '../../tenancy/scope.ts';
import { type ActingServices, openContext } from './acting.ts';
import { buildMatchKey, findEvents, type Match } from './matching.ts';
import { type SubscriptionState, unsearchable } from './store.ts';

/** Changes that are looked at at once. */
const changesMax = 500;

/** A firm with subscriptions that admit events, and how far its changes were looked at. */
export interface Feed {
  readonly firm: number;
  readonly environment: string;
  readonly prefix: string;
  readonly revision: number;
  readonly place: ChangePlace;
}

interface FeedRow extends Pick<Feed, 'firm' | 'environment' | 'prefix' | 'revision'> {
  readonly epoch: number;
  readonly xid: string;
  readonly seq: number;
  readonly isVersion: boolean;
}

/** The firms whose changes are looked at. */
export async function listFeeds(database: Database): Promise<readonly Feed[]> {
  const rows = await database.query<FeedRow>(sql`
    SELECT d.firm, e.name AS environment, f.prefix, d.revision, d.epoch, d.xid::text AS xid, d.seq, d.is_version AS "isVersion"
    FROM subscription_feed d JOIN firm f ON f.id = d.firm JOIN environment e ON e.id = f.environment
    WHERE d.admitting > 0 AND ${isKept} ORDER BY d.firm`);
  return rows.map(({ epoch, xid, seq, isVersion, ...feed }) => ({ ...feed, place: { epoch, xid, seq, isVersion } }));
}

/** What a process knows of the subscriptions of a firm. */
export interface Admitting extends Pick<SubscriptionState, 'id' | 'application' | 'entries' | 'policy' | 'definition'> {
  readonly key: string;
}

/** What a process remembers of firms: read again where it is old. */
export interface Known {
  /** Subscriptions that admit events, as of one revision. */
  readonly lists: Map<number, { readonly revision: number; readonly list: readonly Admitting[] }>;
  readonly scopes: Map<number, TenantScope>;
}

/** Nothing is known yet. */
export function openKnown(): Known {
  return { lists: new Map(), scopes: new Map() };
}

/**
 * Looks at the next changes of a firm.
 * @returns `more`: there are more; `moved`: some were looked at; `still`: there was nothing new; `raced`: another process was first
 */
export async function admitNext(
  services: ActingServices,
  feed: Feed,
  known: Known,
): Promise<'more' | 'moved' | 'still' | 'raced'> {
  const { database, clock } = services;
  const subscriptions = await listAdmitting(database, feed, known);
  const types = [...new Set(subscriptions.map(({ definition }) => definition.type))];
  const compared = subscriptions.filter(({ definition }) => definition.topic !== undefined);
  const page = await readChanges(services, feed, known, {
    after: feed.place,
    limit: changesMax,
    types,
    comparedTypes: [...new Set(compared.map(({ definition }) => definition.type))],
  });
  // A restore has taken back what was looked at: from here on, all that there is to come is new.
  if (page === undefined) return (await restartFeed(database, feed)) ? 'moved' : 'raced';
  if (isSamePlace(page.end, feed.place)) return 'still';
  const matches = page.changes.length === 0 ? [] : await matchAll(services, feed.firm, subscriptions, page.changes);
  const isKept = await keepEvents(database, feed, page.end, matches, clock.now());
  if (!isKept) return 'raced';
  return page.hasMore ? 'more' : 'moved';
}

/** The changes as the operator of the service sees them: whose they are to be shown to is asked later. */
async function readChanges(
  { database, clock, store }: ActingServices,
  { firm, environment, prefix }: Feed,
  { scopes }: Known,
  page: ChangesPage,
) {
  const scope =
    scopes.get(firm) ?? (await openOperatorScope(database, clock, await getFirm(database, environment, prefix)));
  scopes.set(firm, scope);
  try {
    return await store.changes(scope, page);
  } catch (error) {
    scopes.delete(firm); // where its rights are old they are read again at the next look
    throw error;
  }
}

function isSamePlace(left: ChangePlace, right: ChangePlace): boolean {
  return left.epoch === right.epoch && left.xid === right.xid && left.seq === right.seq;
}

async function listAdmitting(
  database: Database,
  { firm, revision }: Feed,
  known: Known,
): Promise<readonly Admitting[]> {
  const remembered = known.lists.get(firm);
  if (remembered?.revision === revision) return remembered.list;
  const rows = await database.forFirm(firm).query<Omit<Admitting, 'key'>>(sql`
    SELECT id, application, entries, policy, definition FROM subscription WHERE firm = ${firm} AND admits ORDER BY id`);
  const list = rows.map((row) => ({ ...row, key: buildMatchKey(row.definition) }));
  known.lists.set(firm, { revision, list });
  return list;
}

/** Events by subscription; `ended`: what stands in the place of the rights that its run began under, since it has ended. */
type Matched = readonly { readonly id: string; readonly matches: readonly Match[]; readonly ended?: string }[];

/** Subscriptions of one application with the same rights that ask the same are looked at once. */
async function matchAll(
  services: ActingServices,
  firm: number,
  subscriptions: readonly Admitting[],
  changes: readonly Change[],
): Promise<Matched> {
  const changed = new Set(changes.map(({ now }) => now.type));
  const concerned = subscriptions.filter(({ definition }) => changed.has(definition.type));
  const contexts = new Map<string, InteractionContext | undefined>();
  const found = new Map<string, readonly Match[] | undefined>();
  const matched: { id: string; matches: readonly Match[]; ended?: string }[] = [];
  for (const { id, application, entries, policy, definition, key } of concerned) {
    const rights = JSON.stringify([application, entries]);
    if (!contexts.has(rights)) contexts.set(rights, await openContext(services, { firm, application, entries }));
    const context = contexts.get(rights);
    if (context === undefined || context.policy.fingerprint !== policy) {
      matched.push({ id, matches: [], ended: '' });
      continue;
    }
    const group = `${rights} ${key}`;
    if (!found.has(group)) found.set(group, await findEventsOf(services, context, definition, changes));
    const matches = found.get(group);
    if (matches === undefined) matched.push({ id, matches: [], ended: unsearchable });
    else if (matches.length > 0) matched.push({ id, matches });
  }
  return matched;
}

/** Undefined: the search of its criteria is refused now, or takes too long. That is no concern of the others of the firm. */
async function findEventsOf(
  services: ActingServices,
  context: InteractionContext,
  definition: SubscriptionState['definition'],
  changes: readonly Change[],
): Promise<readonly Match[] | undefined> {
  try {
    const budget = services.openBudget(context.scope, jobLimits);
    return await findEvents({ ...context, budget }, definition, changes);
  } catch (error) {
    if (error instanceof CostlyParameters) await services.store.failParameters(context.scope, error.failed);
    // A parameter of the firm's that is gone, or a search that costs too much: its run ends, so that nothing is left out unseen.
    const isOwn = error instanceof PraxisError && (error.status < 500 || error.code === 'statement-timeout');
    if (isOwn && error.code !== 'stale-access') return undefined;
    throw error;
  }
}

/** All or nothing. False: another process was first, or the subscriptions of the firm changed meanwhile. */
async function keepEvents(
  database: Database,
  { firm, place, revision }: Feed,
  end: ChangePlace,
  matched: Matched,
  nowMs: number,
): Promise<boolean> {
  return await database.transaction(firm, async (tx) => {
    const moved = await tx.query(sql`
      UPDATE subscription_feed SET epoch = ${end.epoch}, xid = ${end.xid}::xid8, seq = ${end.seq}, is_version = ${end.isVersion}
      WHERE firm = ${firm} AND revision = ${revision} AND epoch = ${place.epoch} AND xid = ${place.xid}::xid8 AND seq = ${place.seq}
      RETURNING firm`);
    if (moved.length === 0) return false;
    const given = matched.filter(({ matches }) => matches.length > 0);
    if (given.length > 0) await insertEvents(tx, firm, given);
    for (const mark of ['', unsearchable]) {
      const ended = matched.filter((each) => each.ended === mark).map(({ id }) => id);
      if (ended.length > 0) await endRights(tx, firm, ended, mark);
    }
    if (matched.length > 0) await makeDue(tx, firm, matched, nowMs);
    return true;
  });
}

async function insertEvents(tx: Queryable, firm: number, given: Matched): Promise<void> {
  const counts = encodeIntegerArray(given.map(({ matches }) => matches.length));
  const numbered = await tx.query<{ id: string; events: number }>(sql`
    UPDATE subscription s SET events = events + g.count
    FROM unnest(${encodeTextArray(given.map(({ id }) => id))}::text[], ${counts}::int[]) AS g(id, count)
    WHERE s.firm = ${firm} AND s.id = g.id RETURNING s.id, s.events`);
  const last = new Map(numbered.map(({ id, events }) => [id, events]));
  const rows = given.flatMap(({ id, matches }) => {
    const first = (last.get(id) ?? 0) - matches.length + 1;
    return matches.map(({ kind, change: { now } }, at) => {
      const { type, id: resource, versionId, lastUpdatedMs } = now;
      return sql`(${firm}, ${id}, ${first + at}, ${lastUpdatedMs}, ${getTypeNumber(type)}, ${resource}, ${versionId}, ${kind})`;
    });
  });
  const into = sql`subscription_event (firm, subscription, number, at, rtype, id, vid, kind)`;
  for (const statement of buildInserts(into, rows)) await tx.query(statement);
}

/** What was changed under other rights was not admitted: the run has ended, though the rights may come back. */
async function endRights(tx: Queryable, firm: number, ids: readonly string[], mark: string): Promise<void> {
  await tx.query(
    sql`UPDATE subscription SET policy = ${mark} WHERE firm = ${firm} AND id = ANY (${encodeTextArray(ids)}::text[])`,
  );
}

/** Something is to be done for them, of those that wait for another attempt at its time. */
async function makeDue(tx: Queryable, firm: number, matched: Matched, nowMs: number): Promise<void> {
  const ids = encodeTextArray(matched.map(({ id }) => id));
  await tx.query(sql`
    UPDATE subscription_due d SET due = COALESCE(s.retry, ${nowMs}) FROM subscription s
    WHERE d.firm = ${firm} AND d.id = ANY (${ids}::text[]) AND s.firm = ${firm} AND s.id = d.id
      AND s.status = 'active' AND d.due > COALESCE(s.retry, ${nowMs})`);
}

async function restartFeed(database: Database, { firm, revision }: Feed): Promise<boolean> {
  const rows = await database.forFirm(firm).query(sql`
    UPDATE subscription_feed f SET epoch = o.epoch, xid = pg_snapshot_xmin(pg_current_snapshot()), seq = 0, is_version = false
    FROM order_epoch o WHERE f.firm = ${firm} AND f.revision = ${revision} RETURNING f.firm`);
  return rows.length > 0;
}
