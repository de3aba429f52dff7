/** Events and the place that was come to, stored together: all or nothing, and once, whichever process looks. */
import { forgetValue } from '../../../access/disclosure.ts';
import type { Database, Queryable } from '../../../database/database.ts';
import { type Sql, sql } from '../../../database/sql.ts';
import { getTypeNumber } from '../../../search/numbers.ts';
import { encodeIntegerArray, encodeTextArray } from '../../../storage/index-arrays.ts';
import type { ChangePlace, StoredResource } from '../../../storage/store.ts';
import type { SubscriptionDefinition } from '../definition.ts';
import { type Accepted, encodeAccepted } from '../delivering/attempts.ts';
import { computeShape } from '../delivering/lanes.ts';
import { tellHoldersAbout } from '../sockets/binding-store.ts';
import { otherRights, type SubscriptionEvent, type SubscriptionState, stateColumns, unsearchable } from '../store.ts';
import type { Match } from './matching.ts';

/** How far the changes of a firm were looked at, and for which subscriptions. */
export interface FeedPlace {
  readonly firm: number;
  readonly revision: number;
  readonly place: ChangePlace;
}

/**
 * Events by subscription; `ended`: what stands in the place of the rights that its run began under, since it has ended; `definition`: what
 * it asks for. Where that names no endpoint, a process may hold a socket of it, and is told. `epoch`: of the rights by which the events
 * were found.
 */
export type Matched = readonly {
  readonly id: string;
  readonly matches: readonly Match[];
  readonly ended?: string;
  readonly epoch?: number;
  readonly application: number;
  readonly definition: SubscriptionDefinition;
}[];

/** A subscription with nothing but these events to tell, which the process has taken to tell them at once. */
export interface Admitted {
  readonly state: SubscriptionState;
  /** Those of its next notification. */
  readonly events: readonly SubscriptionEvent[];
  /** Of the events, where contents are told, until they were shown: what then waits to be noted is small. */
  versions: readonly StoredResource[] | undefined;
  /** The rights of this moment, or of a later one. */
  readonly rights: { readonly epoch: number; readonly nowMs: number };
}

/** What one admission has done. */
export interface Kept {
  /** What was taken. */
  readonly admitted: readonly Admitted[];
  /** Subscriptions of which the acceptance was noted; the others stand otherwise than the process knew. */
  readonly noted: ReadonlySet<string>;
}

/** When, and until when the process has what it takes, as of `claimDue`; undefined: it takes nothing. */
interface Admitting {
  readonly nowMs: number;
  readonly takenUntilMs: number | undefined;
  /** What is noted with it, and given back. */
  readonly accepted: readonly Accepted[];
}

/**
 * All or nothing. Events are numbered in their order, and those that one process tells at once are its next notification from now on
 * (docs/decisions/0332).
 * @returns undefined: another process was first, or the subscriptions of the firm changed meanwhile
 */
export async function keepEvents(
  database: Database,
  feed: FeedPlace,
  end: ChangePlace,
  matched: Matched,
  when: Admitting,
): Promise<Kept | undefined> {
  const { firm } = feed;
  const query = database.forFirm(firm);
  if (matched.length === 0)
    return (await query.query(movePlace(feed, end))).length > 0 ? { admitted: [], noted: new Set() } : undefined;
  const ended = matched.filter((each) => each.ended !== undefined);
  const bySocket = matched.filter(({ definition }) => definition.endpoint === undefined).map(({ id }) => id);
  const portions = cutPortions(matched.filter(({ matches }) => matches.length > 0));
  if (portions.length === 1 && ended.length === 0 && bySocket.length === 0)
    return await admitPortions(query, feed, end, portions, when);
  return await database.transaction(firm, async (tx) => {
    const kept = await admitPortions(tx, feed, end, portions.length === 0 ? [[]] : portions, when);
    if (kept === undefined) return undefined;
    for (const mark of [otherRights, unsearchable]) {
      const ids = ended.filter((each) => each.ended === mark).map(({ id }) => id);
      if (ids.length > 0) await endRights(tx, firm, ids, mark, when.nowMs);
    }
    if (bySocket.length > 0) await tx.query(tellHoldersAbout(firm, bySocket, when.nowMs));
    return kept;
  });
}

/** All of several in a transaction. Undefined: the first has found another place. */
async function admitPortions(
  query: Queryable,
  feed: FeedPlace,
  end: ChangePlace,
  portions: readonly Matched[],
  when: Admitting,
): Promise<Kept | undefined> {
  const all: Admitted[] = [];
  const noted = new Set<string>();
  for (const [at, portion] of portions.entries()) {
    // The first has moved the place, which nobody else moves until all is done, and noted what was accepted.
    const place = at === 0 ? feed.place : end;
    const accepted = at === 0 ? when.accepted : [];
    const [moved, ...taken] = await query.query<SubscriptionState>(
      admitEvents({ ...feed, place }, end, portion, { ...when, accepted }),
    );
    if (moved === undefined) return undefined;
    for (const id of moved.entries ?? []) noted.add(id);
    all.push(...readAdmitted(taken, portion, when.nowMs));
  }
  return { admitted: all, noted };
}

/** Events of one statement: what many subscriptions are told of many changes are several. */
const portionEventsMax = 10_000;

function cutPortions(given: Matched): readonly Matched[] {
  const portions: Matched[number][][] = [];
  let events = 0;
  for (const each of given) {
    events += each.matches.length;
    const last = portions.at(-1);
    if (last !== undefined && events <= portionEventsMax) last.push(each);
    else {
      portions.push([each]);
      events = each.matches.length;
    }
  }
  return portions;
}

function movePlace({ firm, revision, place }: FeedPlace, end: ChangePlace): Sql {
  return sql`
    UPDATE subscription_feed SET epoch = ${end.epoch}, xid = ${end.xid}::xid8, seq = ${end.seq}, is_version = ${end.isVersion ? 't' : 'f'}
    WHERE firm = ${firm} AND revision = ${revision} AND epoch = ${place.epoch} AND xid = ${place.xid}::xid8 AND seq = ${place.seq}
    RETURNING firm`;
}

function admitEvents(
  { firm, revision, place }: FeedPlace,
  end: ChangePlace,
  given: Matched,
  { nowMs, takenUntilMs, accepted }: Admitting,
): Sql {
  const events = given.flatMap(({ id, matches }) =>
    matches.map(({ kind, change: { now } }, at) => ({ ...now, of: id, back: matches.length - 1 - at, kind })),
  );
  const cuts = given.map(({ definition }) => (takenUntilMs === undefined ? 0 : findCut(definition)));
  return sql`
    SELECT ${stateColumns} FROM praxis_admit_events(
      in_firm => ${firm}, in_revision => ${revision},
      in_from_epoch => ${place.epoch}, in_from_xid => ${place.xid}::xid8, in_from_seq => ${place.seq},
      in_to_epoch => ${end.epoch}, in_to_xid => ${end.xid}::xid8, in_to_seq => ${end.seq}, in_to_is_version => ${end.isVersion ? 't' : 'f'},
      in_now => ${nowMs}, in_leased => ${takenUntilMs ?? 0},
      in_id => ${encodeTextArray(given.map(({ id }) => id))}::text[],
      in_count => ${encodeIntegerArray(given.map(({ matches }) => matches.length))}::int[], in_max => ${encodeIntegerArray(cuts)}::int[],
      in_access_epoch => ${encodeIntegerArray(given.map(({ epoch }) => epoch ?? 0))}::bigint[],
      in_of => ${encodeTextArray(events.map(({ of }) => of))}::text[], in_back => ${encodeIntegerArray(events.map(({ back }) => back))}::int[],
      in_at => ${encodeIntegerArray(events.map(({ lastUpdatedMs }) => lastUpdatedMs))}::bigint[],
      in_rtype => ${encodeIntegerArray(events.map(({ type }) => getTypeNumber(type)))}::smallint[],
      in_resource => ${encodeTextArray(events.map(({ id }) => id))}::text[],
      in_vid => ${encodeIntegerArray(events.map(({ versionId }) => versionId))}::int[],
      in_kind => ${encodeTextArray(events.map(({ kind }) => kind))}::text[],
      ${encodeAccepted(accepted)})`;
}

/** How many events one notification tells at once; 0: a process with a socket tells them, or they go in lanes. */
export function findCut(definition: SubscriptionDefinition): number {
  const { max, lanes } = computeShape(definition);
  return definition.endpoint === undefined || lanes > 1 ? 0 : max;
}

function readAdmitted(taken: readonly SubscriptionState[], given: Matched, nowMs: number): readonly Admitted[] {
  return taken.map((state) => {
    const { matches = [], epoch = 0 } = given.find(({ id }) => id === state.id) ?? {};
    const first = state.events - matches.length + 1;
    const told = matches.slice(0, (state.batchEnd ?? 0) - state.delivered);
    return {
      state,
      events: told.map(({ kind, change: { now } }, at) => ({
        number: first + at,
        atMs: now.lastUpdatedMs,
        rtype: getTypeNumber(now.type),
        id: now.id,
        vid: now.versionId,
        kind,
      })),
      versions: state.definition.content === 'full-resource' ? told.flatMap(keepVersion) : [],
      rights: { epoch, nowMs },
    };
  });
}

/** The text alone is kept: as a rule it is sent as it is. */
function keepVersion({ change: { now } }: Match): readonly StoredResource[] {
  if (now.deleted) return [];
  forgetValue(now.content);
  return [now];
}

/** What was changed under other rights was not admitted: the run has ended, though the rights may come back. It is looked at now. */
async function endRights(
  tx: Queryable,
  firm: number,
  ids: readonly string[],
  mark: string,
  nowMs: number,
): Promise<void> {
  const list = encodeTextArray(ids);
  await tx.query(sql`UPDATE subscription SET policy = ${mark} WHERE firm = ${firm} AND id = ANY (${list}::text[])`);
  await tx.query(sql`
    UPDATE subscription_due d SET due = COALESCE(s.retry, ${nowMs}) FROM subscription s
    WHERE d.firm = ${firm} AND d.id = ANY (${list}::text[]) AND s.firm = ${firm} AND s.id = d.id
      AND s.status = 'active' AND d.due > COALESCE(s.retry, ${nowMs})`);
}
