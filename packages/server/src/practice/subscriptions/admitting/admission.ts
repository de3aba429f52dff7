/**
 * Admission: the changes of a firm become events of its subscriptions, in the order of the change feed and never past the oldest
 * transaction under way (docs/decisions/0170, 0308). Events and the place that was come to are stored together, so an event is
 * given once, whichever process looks.
 */
import { PraxisError } from '../../../base/errors.ts';
import { type Database, pointRead } from '../../../database/database.ts';
import { sql } from '../../../database/sql.ts';
import type { InteractionContext } from '../../../engine/context.ts';
import { jobLimits } from '../../../limits/budgets.ts';
import { CostlyParameters } from '../../../search/index/costly-parameters.ts';
import type { Change, ChangePlace, ChangesPage } from '../../../storage/store.ts';
import { getFirm, isKept } from '../../../tenancy/firms.ts';
import { openOperatorScope } from '../../../tenancy/operator.ts';
import type { TenantScope } from '../../../tenancy/scope.ts';
import type { ActingServices, RecentRights } from '../acting.ts';
import { leaseMs } from '../delivering/due.ts';
import type { Attending } from '../delivering/sending.ts';
import { otherRights, type SubscriptionState, unsearchable } from '../store.ts';
import { type Candidates, indexCandidates } from './candidates.ts';
import { type FeedPlace, findCut, type Kept, keepEvents, type Matched } from './keeping.ts';
import { buildMatchKey, findEvents, type Match } from './matching.ts';

/** Changes that are looked at at once. */
const changesMax = 500;

/** What was taken is told at once where its admission took no longer, in ms: a good part of the lease is left then. */
const tellingMaxMs = 1_000;

/** A firm with subscriptions that admit events, and how far its changes were looked at. */
export interface Feed extends FeedPlace {
  readonly environment: string;
  readonly prefix: string;
}

/** The feeds of one moment. */
export interface Feeds {
  readonly feeds: readonly Feed[];
  /** Number of the next transaction that writes; it is given when it first writes, so none commits a version unseen. */
  readonly next: string;
  /** No transaction was under way that writes: all that any has written can be looked at. */
  readonly isSettled: boolean;
}

interface FeedRow extends Omit<Feed, 'place'>, ChangePlace, Omit<Feeds, 'feeds'> {}

/** The firms whose changes are looked at, by one cheap statement. */
export async function listFeeds(database: Database): Promise<Feeds> {
  const rows = await database.query<FeedRow>(
    sql`
    SELECT d.firm, e.name AS environment, f.prefix, d.revision, d.epoch, d.xid::text AS xid, d.seq, d.is_version AS "isVersion",
      pg_snapshot_xmax(s.now)::text AS next, pg_snapshot_xmin(s.now) = pg_snapshot_xmax(s.now) AS "isSettled"
    FROM (SELECT pg_current_snapshot() AS now OFFSET 0) s CROSS JOIN subscription_feed d
    JOIN firm f ON f.id = d.firm JOIN environment e ON e.id = f.environment
    WHERE d.admitting > 0 AND ${isKept} ORDER BY d.firm`,
    pointRead,
  );
  const [first] = rows;
  const feeds = rows.map(({ firm, environment, prefix, revision, epoch, xid, seq, isVersion }) => {
    return { firm, environment, prefix, revision, place: { epoch, xid, seq, isVersion } };
  });
  return { feeds, next: first?.next ?? '', isSettled: first?.isSettled ?? false };
}

/** Subscriptions of one application with the same rights that ask the same: they are looked at once. */
interface Group extends Pick<SubscriptionState, 'application' | 'entries' | 'definition'> {
  readonly members: Pick<SubscriptionState, 'id' | 'application' | 'policy' | 'definition'>[];
}

/** What a process remembers of firms: read again where it is old. */
export interface Known {
  /** Subscriptions that admit events, as of one revision. */
  readonly lists: Map<number, { readonly revision: number; readonly candidates: Candidates<Group> }>;
  readonly scopes: Map<number, TenantScope>;
  readonly rights: RecentRights;
}

/** Nothing is known yet. */
export function openKnown(rights: RecentRights): Known {
  return { lists: new Map(), scopes: new Map(), rights };
}

/**
 * Looks at the next changes of a firm, and has told at once what it can of those that become events.
 * @returns `more`: there are more; `moved`: some were looked at; `still`: there was nothing new; `raced`: another process was first
 */
export async function admitNext(
  services: ActingServices,
  feed: Feed,
  known: Known,
  sending: Attending,
): Promise<'more' | 'moved' | 'still' | 'raced'> {
  const { database } = services;
  const scope = await openFeedScope(services, feed, known);
  const candidates = await findCandidates(services, feed, scope, known);
  const page = await readChanges(services, feed, known, scope, {
    after: feed.place,
    limit: changesMax,
    types: candidates.types,
    comparedTypes: candidates.comparedTypes,
    withoutLater: !candidates.areOfLast,
  });
  // A restore has taken back what was looked at: from here on, all that there is to come is new.
  if (page === undefined) return (await restartFeed(database, feed)) ? 'moved' : 'raced';
  if (isSamePlace(page.end, feed.place)) return 'still';
  const matches = page.changes.length === 0 ? [] : await matchAll(services, feed, known, scope, page.changes);
  const isKept = await keepAndTell(services, feed, page.end, matches, sending);
  if (!isKept) return 'raced';
  return page.hasMore ? 'more' : 'moved';
}

/** False: as of `keepEvents`. Whatever comes of it, the places that were reserved are free again. */
async function keepAndTell(
  { database, clock }: ActingServices,
  feed: Feed,
  end: ChangePlace,
  matched: Matched,
  sending: Attending,
): Promise<boolean> {
  const told = matched.filter(({ matches, definition }) => matches.length > 0 && findCut(definition) > 0);
  const applications = told.map(({ application }) => application);
  const reserved = told.length === 0 ? undefined : sending.reserve(feed, applications);
  const nowMs = clock.now();
  const takenUntilMs = reserved === undefined ? undefined : nowMs + leaseMs;
  const done = told.length === 0 ? [] : sending.noting.take(feed.firm);
  let kept: Kept | undefined;
  try {
    const accepted = done.map((each) => each.accepted);
    kept = await keepEvents(database, feed, end, matched, { nowMs, takenUntilMs, accepted });
  } finally {
    // As it is noted where it was not noted yet, a failure that has changed something does no harm.
    if (kept === undefined) for (const each of done) void each.noteAlone();
    // What took long may be another process's by now: it is claimed when the lease is over, and read anew.
    reserved?.begin(clock.now() - nowMs > tellingMaxMs ? [] : (kept?.admitted ?? []));
  }
  if (kept === undefined) return false;
  const taken = new Set(kept.admitted.map(({ state }) => state.id));
  const left = new Set(matched.map(({ id }) => id).filter((id) => !taken.has(id)));
  // Of those without events the statement has given back what it has noted.
  const held = new Set(matched.flatMap(({ id, matches }) => (matches.length > 0 && !taken.has(id) ? [id] : [])));
  for (const { accepted, settle } of done)
    settle(kept.noted.has(accepted.id) ? { hasMore: false, isGivenBack: !held.has(accepted.id) } : undefined);
  sending.leave(feed.firm, [...left]);
  return true;
}

/** The changes are read as the operator of the service sees them: whom they are shown to is asked later. */
async function openFeedScope(
  { database, clock }: ActingServices,
  { firm, environment, prefix }: Feed,
  { scopes }: Known,
): Promise<TenantScope> {
  const scope =
    scopes.get(firm) ?? (await openOperatorScope(database, clock, await getFirm(database, environment, prefix)));
  scopes.set(firm, scope);
  return scope;
}

async function readChanges(
  { store }: ActingServices,
  { firm }: Feed,
  { scopes }: Known,
  scope: TenantScope,
  page: ChangesPage,
) {
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

async function findCandidates(
  services: ActingServices,
  feed: Feed,
  scope: TenantScope,
  known: Known,
): Promise<Candidates<Group>> {
  const { firm, revision } = feed;
  const remembered = known.lists.get(firm);
  if (remembered?.revision === revision) return remembered.candidates;
  type Row = Pick<SubscriptionState, 'id' | 'application' | 'entries' | 'policy' | 'definition'>;
  const rows = await services.database.forFirm(firm).query<Row>(sql`
    SELECT id, application, entries, policy, definition FROM subscription WHERE firm = ${firm} AND admits ORDER BY id`);
  const groups = new Map<string, Group>();
  for (const { id, policy, application, entries, definition } of rows) {
    const key = `${JSON.stringify([application, entries])} ${buildMatchKey(definition)}`;
    const group = groups.get(key) ?? { application, entries, definition, members: [] };
    groups.set(key, group);
    group.members.push({ id, application, policy, definition });
  }
  const candidates = indexCandidates([...groups.values()], placesOf(services, feed, scope));
  known.lists.set(firm, { revision, candidates });
  return candidates;
}

function placesOf({ baseUrlOf }: ActingServices, feed: Feed, { timeZone }: TenantScope) {
  return { timeZone, baseUrl: baseUrlOf(feed) };
}

/** Of those that changes may concern: what was shown to them, or would have been under the rights that their run began with. */
async function matchAll(
  services: ActingServices,
  feed: Feed,
  known: Known,
  scope: TenantScope,
  changes: readonly Change[],
): Promise<Matched> {
  const candidates = await findCandidates(services, feed, scope, known);
  const openBudget = () => services.openBudget(scope, jobLimits);
  const concerned = await candidates.find(changes, placesOf(services, feed, scope), openBudget);
  const matched: Matched[number][] = [];
  for (const [group, those] of concerned) {
    const context = await openRights(known.rights, feed, group);
    matched.push(...(await matchGroup(services, context, group, those, () => openNow(known.rights, feed, group))));
  }
  return matched;
}

/** @param openAgain the rights of now, where those that a search went by turn out to be old */
async function matchGroup(
  services: ActingServices,
  context: InteractionContext | undefined,
  group: Group,
  changes: readonly Change[],
  openAgain: () => Promise<InteractionContext | undefined>,
): Promise<Matched> {
  const isSame = ({ policy }: Group['members'][number]): boolean => context?.policy.fingerprint === policy;
  const ended = group.members
    .filter((member) => !isSame(member))
    .map((member) => ({ ...member, matches: [], ended: otherRights }));
  const members = group.members.filter(isSame);
  if (context === undefined || members.length === 0) return ended;
  try {
    const matches = await findEventsOf(services, context, group.definition, changes);
    if (matches === undefined)
      return [...ended, ...members.map((member) => ({ ...member, matches: [], ended: unsearchable }))];
    const { epoch } = context.scope;
    return matches.length === 0 ? ended : [...ended, ...members.map((member) => ({ ...member, matches, epoch }))];
  } catch (error) {
    if (!(error instanceof PraxisError) || error.code !== 'stale-access') throw error;
    const now = await openAgain();
    if (now?.scope.epoch === context.scope.epoch) throw error;
    return await matchGroup(services, now, group, changes, openAgain);
  }
}

/** The rights of a group; those of this moment where they seem to differ from those that a run began with. */
async function openRights(
  rights: RecentRights,
  { firm }: Feed,
  { application, entries, members }: Group,
): Promise<InteractionContext | undefined> {
  const context = await rights.open({ firm, application, entries });
  const isSame = members.every(({ policy }) => policy === context?.policy.fingerprint);
  return isSame ? context : await rights.openNow({ firm, application, entries });
}

async function openNow(rights: RecentRights, { firm }: Feed, { application, entries }: Group) {
  return await rights.openNow({ firm, application, entries });
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

async function restartFeed(database: Database, { firm, revision }: Feed): Promise<boolean> {
  const rows = await database.forFirm(firm).query(sql`
    UPDATE subscription_feed f SET epoch = o.epoch, xid = pg_snapshot_xmin(pg_current_snapshot()), seq = 0, is_version = false
    FROM order_epoch o WHERE f.firm = ${firm} AND f.revision = ${revision} RETURNING f.firm`);
  return rows.length > 0;
}
