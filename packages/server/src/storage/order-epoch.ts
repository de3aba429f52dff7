/**
 * The epoch of the change order. Changes are ordered by (epoch, transaction id, sequence); transaction ids may start again
 * after a restore, a fail-over or the move of a shard, so whoever does that raises the epoch before anything is written.
 */
import type { Queryable } from '../database/database.ts';
import { sql } from '../database/sql.ts';

/** Raises the epoch and returns it. `owner` is a connection of the owner role: the server itself may not. */
export async function raiseOrderEpoch(owner: Queryable): Promise<number> {
  const [row] = await owner.query<{ epoch: number }>(
    sql`UPDATE order_epoch SET epoch = epoch + 1 WHERE only_row RETURNING epoch`,
  );
  if (row === undefined) throw new Error('order_epoch has lost its only row');
  return row.epoch;
}
