/**
 * When every writer knows of a change that raised the access epochs of a firm. A write statement gets its transaction id
 * before it looks at the epoch (storage/statements.ts), so whoever saw the old one has an id below the first that was free
 * after the raise; once no transaction below that one runs, nobody writes by the old rights any more.
 * https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-PG-SNAPSHOT
 */
import type { Queryable } from '../database/database.ts';
import { sql } from '../database/sql.ts';

/**
 * Whether all transactions that may have written without knowing of the parameter have ended. The first call, in a
 * transaction after the raise, notes which these are. Transaction ids may start again with another order epoch (a restore
 * for instance): then everything is walked again.
 */
export async function isPassed(tx: Queryable, firm: number, id: number): Promise<boolean> {
  await tx.query(sql`
    UPDATE firm_search_parameter p
    SET barrier = pg_snapshot_xmax(pg_current_snapshot()), order_epoch = o.epoch,
        rid_done = 0, rid_max = NULL, resources_done = 0, resources_total = NULL
    FROM order_epoch o
    WHERE p.firm = ${firm} AND p.id = ${id} AND (p.barrier IS NULL OR p.order_epoch IS DISTINCT FROM o.epoch)`);
  const [row] = await tx.query<{ passed: boolean }>(sql`
    SELECT pg_snapshot_xmin(pg_current_snapshot()) >= barrier AS passed
    FROM firm_search_parameter WHERE firm = ${firm} AND id = ${id}`);
  return row?.passed ?? false;
}
