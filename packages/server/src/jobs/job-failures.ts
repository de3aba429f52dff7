/**
 * Which jobs have failed for which firms, as rows that all processes go by (docs/decisions/0219): a job pauses at a firm after
 * a failure, ever longer, and is parked after several until an operator releases it.
 */
import type { Queryable } from '../database/database.ts';
import { type Sql, sql } from '../database/sql.ts';

/** Failures in a row after which a job is parked. */
export const failuresMax = 5;

/** Pause after the first failure, in ms; each further one makes it four times as long. */
const pauseMs = 10_000;

export interface JobFailure {
  readonly job: string;
  readonly environment: string;
  readonly prefix: string;
  /** In a row. */
  readonly failures: number;
  /** Code of the last error; holds no value of the firm. */
  readonly reason: string;
  readonly failedMs: number;
  /** null: parked. */
  readonly retryMs: number | null;
}

/** A firm at which a job has failed since it last succeeded. */
export interface FailedFirm {
  readonly firm: number;
  readonly retryMs: number | null;
}

/** Where a job has failed. */
export async function listFailedFirms(query: Queryable, job: string): Promise<readonly FailedFirm[]> {
  return await query.query<FailedFirm>(
    sql`SELECT firm, retry_at AS "retryMs" FROM job_failure WHERE job = ${job} ORDER BY firm`,
  );
}

/** Numbers of the firms at which the job pauses or is parked, for `NOT IN` of the statement that looks for its work. */
export function selectPausedFirms(job: string, nowMs: number): Sql {
  return sql`(SELECT firm FROM job_failure WHERE job = ${job} AND (retry_at IS NULL OR retry_at > ${nowMs}::bigint))`;
}

/**
 * Counts a failure, unless another process has just counted it.
 * @returns what it led to; `known`: it is counted already
 */
export async function noteJobFailure(
  query: Queryable,
  job: string,
  firm: number,
  { reason, nowMs }: { readonly reason: string; readonly nowMs: number },
): Promise<'pauses' | 'parked' | 'known'> {
  const [row] = await query.query<{ parked: boolean }>(sql`
    INSERT INTO job_failure AS j (job, firm, failures, reason, failed_at, retry_at)
    VALUES (${job}, ${firm}, 1, ${reason}, ${nowMs}::bigint, ${nowMs + pauseMs}::bigint)
    ON CONFLICT (job, firm) DO UPDATE SET failures = j.failures + 1, reason = excluded.reason, failed_at = excluded.failed_at,
      retry_at = CASE WHEN j.failures + 1 < ${failuresMax} THEN excluded.failed_at + ${pauseMs} * 4 ^ j.failures END
    WHERE j.retry_at <= excluded.failed_at
    RETURNING retry_at IS NULL AS parked`);
  if (row === undefined) return 'known';
  return row.parked ? 'parked' : 'pauses';
}

/** Forgets the failures: the job succeeded, or an operator lets it go on. Whether there were any. */
export async function releaseJob(query: Queryable, job: string, firm: number): Promise<boolean> {
  const rows = await query.query(sql`DELETE FROM job_failure WHERE job = ${job} AND firm = ${firm} RETURNING firm`);
  return rows.length > 0;
}

/** What has failed and not succeeded since, by environment, firm and job. @param firm its number; absent: of all firms */
export async function listJobFailures(query: Queryable, firm?: number): Promise<readonly JobFailure[]> {
  return await query.query<JobFailure>(sql`
    SELECT j.job, e.name AS environment, f.prefix, j.failures, j.reason, j.failed_at AS "failedMs", j.retry_at AS "retryMs"
    FROM job_failure j JOIN firm f ON f.id = j.firm JOIN environment e ON e.id = f.environment
    WHERE ${firm ?? null}::int IS NULL OR j.firm = ${firm ?? null}::int
    ORDER BY e.name, f.prefix, j.job`);
}
