/**
 * Which firms have something to look at on their waiting lists, asked over all firms by the job that makes offers
 * (offering.ts).
 */
import type { Queryable } from '../../database/database.ts';
import { type Sql, sql } from '../../database/sql.ts';
import { encodeIntegerArray } from '../../storage/index-arrays.ts';
import { isKept } from '../../tenancy/firms.ts';

/** A firm to look at, and the reasons. */
export interface DueFirm {
  readonly id: number;
  readonly environment: string;
  readonly prefix: string;
  readonly ids: readonly number[];
}

/** Reasons that are read at once, at most. */
const dueMax = 1_000;

/** Firms whose lists are to be looked at, in the order of the first reason. @param paused firms that are left out */
export async function listDueFirms(query: Queryable, nowMs: number, paused: Sql): Promise<readonly DueFirm[]> {
  return await query.query<DueFirm>(sql`
    SELECT f.id, e.name AS environment, f.prefix, d.ids FROM (
      SELECT firm, array_agg(id) AS ids, min(due) AS first
      FROM (SELECT id, firm, due FROM waitlist_due WHERE due <= ${nowMs}::bigint AND firm NOT IN ${paused} ORDER BY due LIMIT ${dueMax}) near
      GROUP BY firm) d
    JOIN firm f ON f.id = d.firm JOIN environment e ON e.id = f.environment WHERE ${isKept} ORDER BY d.first`);
}

/** Forgets reasons that were looked after. Those that came meanwhile stay. */
export async function settleDue(query: Queryable, { ids }: DueFirm): Promise<void> {
  await query.query(sql`DELETE FROM waitlist_due WHERE id = ANY (${encodeIntegerArray(ids)}::bigint[])`);
}
