/**
 * Counters per minute that all processes share. Each counts in memory, so counting costs no statement, and exchanges what
 * it has counted with the others through the database a few times a second; between two exchanges a limit can be passed by
 * what the other processes let through in that time.
 */
import type { Clock } from '../base/clock.ts';
import type { Database } from '../database/database.ts';
import { sql } from '../database/sql.ts';

/** Minutes since 1970: all processes agree on where a window begins. */
const windowMs = 60_000;

/** Subjects counted at once by one process; beyond it the oldest are forgotten. */
const subjectsMax = 100_000;

/** Time between two exchanges, in ms. */
const exchangeMs = 500;

/** Subjects that one statement exchanges, at most. */
const exchangedMax = 5_000;

export interface SharedCounters {
  /** Adds `units` to what the subject has used in this minute; returns the sum, with what is known of other processes. */
  add(subject: string, units: number): number;
  /** When this minute ends, in ms since 1970. */
  endMs(): number;
  /** The exchange with other processes, as a job (jobs/jobs.ts). */
  readonly exchange: { readonly name: string; readonly pauseMs: number; run(): Promise<'done' | 'more'> };
}

interface Counter {
  minute: number;
  /** By all processes, as far as known. */
  used: number;
  /** Of these, what the others do not know yet. */
  untold: number;
}

export function openSharedCounters(database: Database, clock: Clock): SharedCounters {
  const counters = new Map<string, Counter>();
  const minuteNow = (): number => Math.floor(clock.now() / windowMs);
  let cleanedMinute = 0;
  return {
    add(subject, units) {
      const minute = minuteNow();
      let counter = counters.get(subject);
      if (counter === undefined || counter.minute !== minute) {
        counter = { minute, used: 0, untold: 0 };
        counters.delete(subject);
        counters.set(subject, counter);
        if (counters.size > subjectsMax) forgetOldest(counters);
      }
      counter.used += units;
      counter.untold += units;
      return counter.used;
    },
    endMs: () => (minuteNow() + 1) * windowMs,
    exchange: {
      name: 'rate counters',
      pauseMs: exchangeMs,
      async run() {
        const minute = minuteNow();
        if (cleanedMinute !== minute) await database.query(sql`DELETE FROM rate_counter WHERE minute < ${minute - 1}`);
        cleanedMinute = minute;
        const told = [...counters]
          .filter(([, each]) => each.minute === minute && each.untold > 0)
          .slice(0, exchangedMax);
        if (told.length === 0) return 'done';
        const given = told.map(([subject, counter]) => ({ subject, counter, units: counter.untold }));
        for (const { counter, units } of given) counter.untold -= units;
        const rows = await exchanged(database, minute, given);
        for (const { subject, used } of rows) {
          const counter = counters.get(subject);
          if (counter?.minute === minute) counter.used = used + counter.untold;
        }
        return told.length === exchangedMax ? 'more' : 'done';
      },
    },
  };
}

/** Adds the units to the common counters, in the order of the subjects so that two processes never wait in a circle. */
async function exchanged(
  database: Database,
  minute: number,
  given: readonly { readonly subject: string; readonly units: number }[],
): Promise<readonly { readonly subject: string; readonly used: number }[]> {
  return await database.query(sql`
    INSERT INTO rate_counter AS c (subject, minute, used)
    SELECT subject, ${minute}, units
    FROM unnest(${given.map(({ subject }) => subject)}::text[], ${given.map(({ units }) => units)}::bigint[]) AS n(subject, units)
    ORDER BY subject
    ON CONFLICT (subject) DO UPDATE SET
      minute = greatest(c.minute, EXCLUDED.minute),
      used = CASE WHEN c.minute = EXCLUDED.minute THEN c.used + EXCLUDED.used
                  WHEN c.minute < EXCLUDED.minute THEN EXCLUDED.used ELSE c.used END
    RETURNING c.subject, CASE WHEN c.minute = ${minute} THEN c.used ELSE 0 END AS used`);
}

function forgetOldest(counters: Map<string, unknown>): void {
  const [oldest] = counters.keys();
  if (oldest !== undefined) counters.delete(oldest);
}
