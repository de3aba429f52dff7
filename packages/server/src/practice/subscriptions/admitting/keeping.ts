/** Events and the place that was come to, stored together: all or nothing, and once, whichever process looks. */
import type { Database, Queryable } from '../../../database/database.ts';
import { type Sql, sql } from '../../../database/sql.ts';
import { getTypeNumber } from '../../../search/numbers.ts';
import { encodeIntegerArray, encodeTextArray } from '../../../storage/index-arrays.ts';
import { buildInserts } from '../../../storage/statement-runner.ts';
import type { ChangePlace } from '../../../storage/store.ts';
import { tellHoldersAbout } from '../sockets/binding-store.ts';
import { unsearchable } from '../store.ts';
import type { Match } from './matching.ts';

/** How far the changes of a firm were looked at, and for which subscriptions. */
export interface FeedPlace {
  readonly firm: number;
  readonly revision: number;
  readonly place: ChangePlace;
}

/**
 * Events by subscription; `ended`: what stands in the place of the rights that its run began under, since it has ended; `bySocket`: a
 * process may hold a socket of it, and is told.
 */
export type Matched = readonly {
  readonly id: string;
  readonly matches: readonly Match[];
  readonly ended?: string;
  readonly bySocket: boolean;
}[];

/** All or nothing. False: another process was first, or the subscriptions of the firm changed meanwhile. */
export async function keepEvents(
  database: Database,
  feed: FeedPlace,
  end: ChangePlace,
  matched: Matched,
  nowMs: number,
): Promise<boolean> {
  const { firm } = feed;
  const move = movePlace(feed, end);
  if (matched.length === 0) return (await database.forFirm(firm).query(move)).length > 0;
  return await database.transaction(firm, async (tx) => {
    if ((await tx.query(move)).length === 0) return false;
    const given = matched.filter(({ matches }) => matches.length > 0);
    if (given.length > 0) await insertEvents(tx, firm, given);
    for (const mark of ['', unsearchable]) {
      const ended = matched.filter((each) => each.ended === mark).map(({ id }) => id);
      if (ended.length > 0) await endRights(tx, firm, ended, mark);
    }
    await makeDue(tx, firm, matched, nowMs);
    const bySocket = matched.filter((each) => each.bySocket).map(({ id }) => id);
    if (bySocket.length > 0) await tx.query(tellHoldersAbout(firm, bySocket, nowMs));
    return true;
  });
}

function movePlace({ firm, revision, place }: FeedPlace, end: ChangePlace): Sql {
  return sql`
    UPDATE subscription_feed SET epoch = ${end.epoch}, xid = ${end.xid}::xid8, seq = ${end.seq}, is_version = ${end.isVersion}
    WHERE firm = ${firm} AND revision = ${revision} AND epoch = ${place.epoch} AND xid = ${place.xid}::xid8 AND seq = ${place.seq}
    RETURNING firm`;
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
