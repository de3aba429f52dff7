/** The database's clock, which all nodes share (docs/decisions/0245). */
import type { ClockReading, ServiceClock } from '../base/service-clock.ts';
import { type Database, pointRead } from './database.ts';
import { sql } from './sql.ts';

/** Pause between two readings of a node. */
const readingPauseMs = 1_000;

/** @throws PraxisError `unavailable` */
export async function readClock(database: Database): Promise<ClockReading> {
  const askedAtMs = performance.now();
  const statement = sql`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms`;
  const [row] = await database.query<{ ms: number }>(statement, pointRead);
  return { databaseMs: row?.ms ?? Number.NaN, askedAtMs, cameAtMs: performance.now() };
}

/** A job (jobs/jobs.ts) that every node runs for itself. */
export function openClockJob(database: Database, clock: ServiceClock) {
  return {
    name: "reading of the database's clock",
    pauseMs: readingPauseMs,
    async run(): Promise<'done'> {
      clock.learn(await readClock(database));
      return 'done';
    },
  };
}
