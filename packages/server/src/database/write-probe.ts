/** Whether writes succeed, tried every few seconds and not by the requests that ask for it (docs/decisions/0246). */
import { PraxisError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Database } from './database.ts';
import { sql } from './sql.ts';
import { StatementError } from './sqlstate.ts';

/** Pause between two tries of a process. */
const probePauseMs = 5_000;
/** How long a try may take: a wait for a connection and a slow disk included. */
const probeMaxMs = 10_000;

export interface WriteProbe {
  /** Why writes fail, in words for operators; undefined: the last try succeeded, or told nothing about writes. */
  problem(): string | undefined;
  /** For jobs/jobs.ts; every process tries for itself. Never fails. */
  readonly job: { readonly name: string; readonly pauseMs: number; run(): Promise<'done'> };
}

/** @param monotonic milliseconds that only ever grow */
export function openWriteProbe(database: Database, log: Log, monotonic = () => performance.now()): WriteProbe {
  let found: string | undefined;
  let beganMs: number | undefined;
  const note = (problem: string | undefined): void => {
    if (problem !== undefined && problem !== found) log.error({ problem }, 'writes fail: /health/ready is 503');
    if (problem === undefined && found !== undefined) log.info({}, 'writes succeed again');
    found = problem;
  };
  return {
    problem() {
      if (beganMs !== undefined && monotonic() - beganMs > probeMaxMs)
        return `A write to the database is under way for more than ${probeMaxMs / 1000} s`;
      return found;
    },
    job: {
      name: 'probe of writes',
      pauseMs: probePauseMs,
      async run() {
        beganMs = monotonic();
        try {
          await tryWriting(database);
          note(undefined);
        } catch (error) {
          note(problemOf(error));
        } finally {
          beganMs = undefined;
        }
        return 'done';
      },
    },
  };
}

/**
 * Writes a row, durably, and about half a megabyte to a temporary file: an update of a page that is there needs no space.
 * A row that another process is just writing is left to that process, so that none waits for another.
 */
async function tryWriting(database: Database): Promise<void> {
  await database.transaction(undefined, async (tx) => {
    await tx.query(sql`SELECT set_config('work_mem', '64kB', true)`);
    await tx.query(sql`SELECT count(*) FROM generate_series(1, 20000)`);
    await tx.query(sql`
      UPDATE write_probe SET written_at = now()
      WHERE only_row = (SELECT only_row FROM write_probe FOR UPDATE SKIP LOCKED)`);
  });
}

/** Conditions of the server in which writes fail, by SQLSTATE. */
const problems: Readonly<Record<string, string>> = {
  '53100': 'the disk of the database is full',
  '58030': 'the disk of the database reports errors',
  '25006': 'the database is read-only',
};

/** A connection that is lost or not to be had tells nothing about writes: readiness finds it by its reads. */
function problemOf(error: unknown): string | undefined {
  const told = error instanceof PraxisError ? error.details.cause : error;
  const [, state] = /SQLSTATE ([0-9A-Z]{5})/.exec(told instanceof Error ? told.message : '') ?? [];
  if (state === undefined) return undefined;
  const known = problems[state];
  if (known !== undefined) return `Writes fail: ${known}`;
  return error instanceof StatementError ? `Writes fail: the database refuses them (SQLSTATE ${state})` : undefined;
}
