/**
 * Up to which lastUpdated every version there will ever be can be seen (docs/decisions/0172). A version has its time before
 * it is written, so a job sets a floor below which none is written any more, waits for those transactions to end that may
 * not have seen the floor, and calls it settled.
 */
import { type Database, pointRead, type Queryable } from '../database/database.ts';
import { sql } from '../database/sql.ts';
import type { DeclaredJob } from '../jobs/declared-job.ts';

/**
 * Pause between two steps: how much later than it could be a floor is settled. As long as transactions keep it from being
 * settled they are looked for once a second; otherwise a floor is set less often, a tenth of the lag.
 */
const lookPauseMs = 1_000;
const floorPauseMs = { max: 3_000, ofLag: 0.1 } as const;

/** The time of the service, and whether it may be believed at once (base/service-clock.ts). */
export interface FloorTime {
  now(): number;
  isSteady(): boolean;
}

export interface CompletenessOptions {
  readonly database: Database;
  readonly floorTime: FloorTime;
  /** 0: searches do not tell up to when they are complete. */
  readonly completeLagMs: number;
}

export const completenessJob: DeclaredJob<CompletenessOptions> = {
  worstCase: { harmless: 'two statements of a few rows, whatever is stored' },
  open: ({ database, floorTime, completeLagMs }) =>
    completeLagMs === 0 ? undefined : openCompletenessJob(database, floorTime, completeLagMs),
};

/**
 * A job (jobs/jobs.ts), which any number of processes may run. While the time is not steady the floor rises by no more than the
 * time that passed since this process last saw it: a clock that jumps takes nobody's floor along (docs/decisions/0245).
 * @param lagMs time between the clock and the floor: a version that is written later after its time is refused
 * @param monotonic milliseconds that only ever grow
 */
export function openCompletenessJob(
  database: Database,
  time: FloorTime,
  lagMs: number,
  monotonic: () => number = () => performance.now(),
) {
  let isSettled = false;
  let seen: { readonly floor: number; readonly atMs: number } | undefined;
  return {
    name: 'completeness of searches by time',
    get pauseMs() {
      return isSettled ? Math.max(lookPauseMs, Math.min(floorPauseMs.max, lagMs * floorPauseMs.ofLag)) : lookPauseMs;
    },
    async run(): Promise<'done'> {
      const wanted = time.now() - lagMs;
      const risen = seen === undefined || seen.floor === 0 ? 0 : seen.floor + (monotonic() - seen.atMs);
      const floor = time.isSteady() ? wanted : Math.min(wanted, Math.floor(risen));
      const raised = await raiseFloor(database, floor);
      // In transactions of their own: the fence is taken when the floor is committed, and what is below it looked for after that.
      await database.query(sql`SELECT praxis_fence_floor()`);
      const { settled } = await raiseFloor(database, 0);
      isSettled = settled === raised.floor;
      seen = { floor: raised.floor, atMs: monotonic() };
      return 'done';
    },
  };
}

/** The moment below which no version is written any more, in service time; 0: there is none yet. */
export async function readFloor(database: Database): Promise<number> {
  const [row] = await database.query<{ floor: number }>(sql`SELECT floor FROM completeness`, pointRead);
  return row?.floor ?? 0;
}

/** What a repair has found and left, in service time. */
export interface FloorRepair {
  /** How far ahead of the time the floor was; 0: there was nothing to repair. */
  readonly aheadMs: number;
  readonly floorMs: number;
}

/** Time between the clock and the floor that a repair leaves. */
const repairedLagMs = 60_000;

/**
 * Takes back a floor that lies in the future, because of which every write is refused, and what was said to be complete up to
 * it; atomic. A floor that lies in the past is left as it is.
 */
export async function repairFloor(database: Database, nowMs: number): Promise<FloorRepair> {
  return await database.transaction(undefined, async (tx: Queryable) => {
    const [row] = await tx.query<{ floor: number }>(sql`SELECT floor FROM completeness FOR UPDATE`);
    const floor = row?.floor ?? 0;
    if (floor <= nowMs) return { aheadMs: 0, floorMs: floor };
    const floorMs = nowMs - repairedLagMs;
    await tx.query(sql`
      UPDATE completeness SET floor = ${floorMs}::bigint, settled = LEAST(settled, ${floorMs}::bigint), fence = NULL, fence_epoch = NULL`);
    return { aheadMs: floor - nowMs, floorMs };
  });
}

/** Settles the floor where that is possible, and sets the next one. @returns both as they are then */
async function raiseFloor(database: Database, floor: number) {
  const [row] = await database.query<{ floor: number; settled: number }>(
    sql`SELECT floor, settled FROM praxis_raise_floor(${floor}::bigint)`,
  );
  return row ?? { floor: 0, settled: 0 };
}
