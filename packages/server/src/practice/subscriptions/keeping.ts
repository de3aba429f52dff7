/** Events and the place that was come to, stored together: all or nothing, and once, whichever process looks. */
import type { Database, Queryable } from '../../database/database.ts';
import { type Sql, sql } from '../../database/sql.ts';
import { getTypeNumber } from '../../search/numbers.ts';
import { encodeIntegerArray, encodeTextArray } from '../../storage/index-arrays.ts';
import type { ChangePlace } from '../../storage/store.ts';
import type { Match } from './matching.ts';
import { unsearchable } from './store.ts';

/** How far the changes of a firm were looked at, and for which subscriptions. */
export interface FeedPlace {
  readonly firm: number;
  readonly revision: number;
  readonly place: ChangePlace;
}

/** Events by subscription; `ended`: what stands in the place of the rights that its run began under, since it has ended. */
export type Matched = readonly { readonly id: string; readonly matches: readonly Match[]; readonly ended?: string }[];

/** All or nothing. False: another process was first, or the subscriptions of the firm changed meanwhile. */
export async function keepEvents(
  database: Database,
  feed: FeedPlace,
  end: ChangePlace,
  matched: Matched,
  nowMs: number,
): Promise<boolean> {
  const given = matched.filter(({ matches }) => matches.length > 0);
  const keep = (query: Queryable): Promise<readonly object[]> =>
    query.query(given.length === 0 ? movePlace(feed, end) : giveEvents(feed, end, given, nowMs));
  const ended = matched.filter((each) => each.ended !== undefined);
  if (ended.length === 0) return (await keep(database.forFirm(feed.firm))).length > 0;
  return await database.transaction(feed.firm, async (tx) => {
    if ((await keep(tx)).length === 0) return false;
    for (const mark of ['', unsearchable]) {
      const ids = ended.filter((each) => each.ended === mark).map(({ id }) => id);
      if (ids.length > 0) await endRights(tx, feed.firm, ids, mark, nowMs);
    }
    return true;
  });
}

function movePlace({ firm, revision, place }: FeedPlace, end: ChangePlace): Sql {
  return sql`
    UPDATE subscription_feed SET epoch = ${end.epoch}, xid = ${end.xid}::xid8, seq = ${end.seq}, is_version = ${end.isVersion}
    WHERE firm = ${firm} AND revision = ${revision} AND epoch = ${place.epoch} AND xid = ${place.xid}::xid8 AND seq = ${place.seq}
    RETURNING firm`;
}

/**
 * One statement, so that a look costs one round trip and one commit. Who gives a subscription back holds its row meanwhile, so the
 * events are numbered after that and the due time of then is what is compared. What waits for another attempt is due at its time.
 */
function giveEvents(feed: FeedPlace, end: ChangePlace, given: Matched, nowMs: number): Sql {
  const ids = encodeTextArray(given.map(({ id }) => id));
  const counts = encodeIntegerArray(given.map(({ matches }) => matches.length));
  const events = given.flatMap(({ matches }, of) =>
    matches.map(({ kind, change: { now } }, at) => ({ of: of + 1, nth: at + 1, kind, ...now })),
  );
  const numbersOf = (value: (event: (typeof events)[number]) => number): string =>
    encodeIntegerArray(events.map(value));
  return sql`
    WITH moved AS (${movePlace(feed, end)}),
    numbered AS (
      UPDATE subscription s SET events = s.events + g.count
      FROM moved m CROSS JOIN unnest(${ids}::text[], ${counts}::int[]) WITH ORDINALITY AS g(id, count, nth)
      WHERE s.firm = m.firm AND s.id = g.id RETURNING s.firm, s.id, s.events - g.count AS before, s.status, s.retry, g.nth),
    given AS (
      INSERT INTO subscription_event (firm, subscription, number, at, rtype, id, vid, kind)
      SELECT n.firm, n.id, n.before + e.nth, e.at, e.rtype, e.id, e.vid, e.kind
      FROM numbered n JOIN unnest(${numbersOf(({ of }) => of)}::int[], ${numbersOf(({ nth }) => nth)}::int[],
        ${numbersOf(({ lastUpdatedMs }) => lastUpdatedMs)}::bigint[], ${numbersOf(({ type }) => getTypeNumber(type))}::smallint[],
        ${encodeTextArray(events.map(({ id }) => id))}::text[], ${numbersOf(({ versionId }) => versionId)}::int[],
        ${encodeTextArray(events.map(({ kind }) => kind))}::text[]) AS e(of, nth, at, rtype, id, vid, kind) ON e.of = n.nth),
    due AS (
      UPDATE subscription_due d SET due = COALESCE(n.retry, ${nowMs}) FROM numbered n
      WHERE d.firm = n.firm AND d.id = n.id AND n.status = 'active' AND d.due > COALESCE(n.retry, ${nowMs}))
    SELECT firm FROM moved`;
}

/** What was changed under other rights was not admitted: the run has ended, though the rights may come back. */
async function endRights(
  tx: Queryable,
  firm: number,
  ids: readonly string[],
  mark: string,
  nowMs: number,
): Promise<void> {
  const those = encodeTextArray(ids);
  await tx.query(sql`UPDATE subscription SET policy = ${mark} WHERE firm = ${firm} AND id = ANY (${those}::text[])`);
  await tx.query(sql`
    UPDATE subscription_due d SET due = COALESCE(s.retry, ${nowMs}) FROM subscription s
    WHERE d.firm = ${firm} AND d.id = ANY (${those}::text[]) AND s.firm = ${firm} AND s.id = d.id
      AND s.status = 'active' AND d.due > COALESCE(s.retry, ${nowMs})`);
}
