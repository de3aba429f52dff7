/**
 * Jobs that work firm by firm. The failure of one firm's work ends nobody else's: it is counted, tried again after a pause,
 * and parked after several failures in a row (docs/decisions/0219).
 */
import type { Clock } from '../base/clock.ts';
import { PraxisError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Database } from '../database/database.ts';
import type { Sql } from '../database/sql.ts';
import { StatementError } from '../database/sqlstate.ts';
import { listFailedFirms, noteJobFailure, releaseJob, selectPausedFirms } from './job-failures.ts';
import type { Progress } from './jobs.ts';

export interface FirmWorkContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'jobsParked'>;
}

/** What a job does for each firm that has work. */
export interface FirmWork<F extends { readonly id: number }> {
  readonly job: string;
  /** Firms with work, but for those of `paused`. */
  firms(paused: Sql): Promise<readonly F[]>;
  /** Does one portion; what it had not finished when it failed is done again. */
  work(firm: F): Promise<Progress>;
}

/** Time between two looks at the failures while there are none and no work is, in ms. */
const failuresLookMs = 10_000;

/**
 * The portion of a job that works firm by firm: one for each firm, and how much is left for those whose work went well.
 * While there is nothing to do it costs the one statement that looks for work.
 * It throws what ends all work alike, such as `unavailable` while the database is away: it is nobody's failure.
 */
export function workFirmByFirm<F extends { readonly id: number }>(
  context: FirmWorkContext,
  { job, firms, work }: FirmWork<F>,
): () => Promise<Progress> {
  const { database, clock, metrics } = context;
  let lookAgainAtMs = 0;
  return async () => {
    const due = await firms(selectPausedFirms(job, clock.now()));
    if (due.length === 0 && performance.now() < lookAgainAtMs) return 'done';
    const failed = await listFailedFirms(database, job);
    metrics.jobsParked.set({ job_name: job }, failed.filter(({ retryMs }) => retryMs === null).length);
    // Where some have failed others may release them at any time.
    lookAgainAtMs = failed.length + due.length > 0 ? 0 : performance.now() + failuresLookMs;
    let state: Progress = 'done';
    const faults: unknown[] = [];
    for (const firm of due) {
      try {
        const progress = await work(firm);
        state = pickBusier(state, progress);
        // Who waits for another process has not succeeded.
        const isDone = progress !== 'waiting' && failed.some((each) => each.firm === firm.id);
        if (isDone) await releaseJob(database, job, firm.id);
      } catch (error) {
        if (isOfService(error)) faults.push(error);
        else await noteFailure(context, job, firm.id, error);
      }
    }
    if (faults.length > 0) throw faults[0];
    return state;
  };
}

const order: readonly Progress[] = ['done', 'waiting', 'more'];

/** The one of two states that has more to do. */
export function pickBusier(left: Progress, right: Progress): Progress {
  return order.indexOf(left) < order.indexOf(right) ? right : left;
}

async function noteFailure(
  { database, clock, log, metrics }: FirmWorkContext,
  job: string,
  firm: number,
  error: unknown,
): Promise<void> {
  const reason = reasonOf(error);
  const outcome = await noteJobFailure(database, job, firm, { reason, nowMs: clock.now() });
  if (outcome === 'known') return;
  const isParked = outcome === 'parked';
  if (isParked) metrics.jobsParked.inc({ job_name: job });
  const message = isParked ? 'a job is parked for a firm until it is released' : 'a job failed for a firm and pauses';
  log.error({ job, firm, reason, err: error }, message);
}

/** Whether it says something of the state of the service, or of what others do at that moment, rather than of the firm's data. */
function isOfService(error: unknown): boolean {
  if (!(error instanceof PraxisError) || error.code === 'statement-timeout') return false;
  return error.status === 503 || error.code === 'conflict' || error.code === 'rate-exceeded';
}

/** For operators and the firm: what went wrong, without a value of the firm. */
function reasonOf(error: unknown): string {
  if (error instanceof StatementError) return `the database refused a statement (SQLSTATE ${error.sqlState})`;
  if (!(error instanceof PraxisError)) return `internal error (${error instanceof Error ? error.name : 'unknown'})`;
  return error.code === 'too-costly' ? error.message : error.code;
}
