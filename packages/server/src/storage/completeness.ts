/**
 * Up to which lastUpdated every version there will ever be can be seen (docs/decisions/0172). A version has its time before
 * it is written, so a job sets a floor below which none is written any more, waits for those transactions to end that may
 * not have seen the floor, and calls it settled.
 */
import type { Database, Queryable } from '../database/database.ts';
import { type Sql, sql } from '../database/sql.ts';

/** Pause between two steps: how much later than it could be a floor is settled. */
const stepPauseMs = 1_000;

/**
 * A job (jobs/jobs.ts), which any number of processes may run.
 * @param lagMs time between the clock and the floor: a version that is written later after its time is refused
 */
export function completenessSteps(database: Database, now: () => number, lagMs: number) {
  return {
    name: 'completeness of searches by time',
    pauseMs: stepPauseMs,
    async run(): Promise<'done'> {
      const floor = now() - lagMs;
      await underLock(database, settleStatement(floor));
      await underLock(database, fenceStatement());
      return 'done';
    },
  };
}

/** The statement's snapshot is taken once the row is held, so it sees what those before it have committed. */
async function underLock(database: Database, statement: Sql): Promise<void> {
  await database.transaction(undefined, async (tx: Queryable) => {
    await tx.query(sql`SELECT only_row FROM completeness FOR UPDATE`);
    await tx.query(statement);
  });
}

/** What lies below the fence has ended: the floor is settled, and the next one is set. At first there is no fence. */
function settleStatement(floor: number): Sql {
  return sql`
    UPDATE completeness c SET settled = c.floor, floor = GREATEST(c.floor, ${floor}::bigint), fence = NULL, fence_epoch = NULL
    FROM order_epoch o
    WHERE (c.floor > c.settled OR c.floor < ${floor}::bigint)
      AND (c.floor = c.settled OR c.fence_epoch < o.epoch OR c.fence <= pg_snapshot_xmin(pg_current_snapshot()))`;
}

/** Every transaction that read another floor than the committed one has an id below those to come. */
function fenceStatement(): Sql {
  return sql`
    UPDATE completeness c SET fence = pg_snapshot_xmax(pg_current_snapshot()), fence_epoch = o.epoch
    FROM order_epoch o WHERE c.fence IS NULL AND c.floor > c.settled`;
}
