/**
 * Requests that take effect once: the key of a request and what it was answered with are written in the transaction of its
 * effect, so that there is either both or neither (docs/decisions/0173).
 */
import { fail } from '../base/errors.ts';
import type { Queryable } from '../database/database.ts';
import { type Sql, sql } from '../database/sql.ts';
import { isLockTimeout } from '../database/sqlstate.ts';
import { lockWaitMaxMs } from '../database/transaction.ts';
import type { DeclaredJob } from '../jobs/declared-job.ts';
import type { FirmWorkContext } from '../jobs/firm-work.ts';
import type { TenantScope } from '../tenancy/scope.ts';
import { forEachFirm } from './for-each-firm.ts';
import { type EpochRow, requireFresh } from './rows.ts';
import type { Ask, StatementRunner } from './statement-runner.ts';

/** How long a key is kept. */
export const keyKeptMs = 7 * 24 * 60 * 60 * 1000;

/** How long a request waits for another one with the same key before it is told to come again. */
const twinWaitMs = 2_000;

/** When it is told to come again, in seconds. */
const retrySeconds = 1;

/** What an answer said beside its body. */
export interface AnswerFacts {
  readonly id?: string;
  readonly versionId?: number;
  readonly lastUpdatedMs?: number;
  readonly location?: string;
  /** Whether there was a body, kept or not. */
  readonly hasBody?: boolean;
}

export interface KeyClaim {
  /** Keyed hash of the key, 32 bytes. */
  readonly key: Buffer;
  /** Keyed hash of what was asked for, 32 bytes. */
  readonly request: Buffer;
  /** Fingerprint of the caller's rights. */
  readonly policy: string;
  readonly atMs: number;
}

export interface AnswerToKeep {
  readonly status: number;
  readonly facts: AnswerFacts;
  /** Sealed; undefined: there was none, or it is not kept. */
  readonly body: Buffer | undefined;
}

/** What the request with the key was answered with. */
export type KeptAnswer = AnswerToKeep & Pick<KeyClaim, 'request' | 'policy' | 'atMs'>;

export type IdempotentOutcome<T> = { readonly answer: T } | { readonly kept: KeptAnswer };

/** What a store offers for such requests. */
export interface IdempotencyStore<Store> {
  /**
   * Runs `work` in a transaction that also keeps its answer under the key; or, where the key was used before, returns what
   * is kept. When `work` throws, the key stays unused. `work` may run more than once, as that of `transaction`.
   * @throws PraxisError `conflict` while another request with the key is under way
   */
  once<T>(
    scope: TenantScope,
    claim: KeyClaim,
    work: (store: Store) => Promise<{ readonly answer: T; readonly keep: AnswerToKeep }>,
  ): Promise<IdempotentOutcome<T>>;

  /** The answer that is kept under the key of this application at this firm. */
  keptAnswer(scope: TenantScope, key: Buffer, nowMs: number): Promise<KeptAnswer | undefined>;
}

type KeptRow = EpochRow &
  Omit<KeptAnswer, 'atMs' | 'body'> & { readonly at: number | null; readonly body: Buffer | null };

/** The key of the claim, taken; or what is kept under it. Inside a transaction only. @throws as `once` */
export async function claimKey(
  query: Queryable['query'],
  scope: TenantScope,
  claim: KeyClaim,
): Promise<KeptAnswer | undefined> {
  const claiming = [lockTimeout(twinWaitMs), claimStatement(scope, claim), lockTimeout(lockWaitMaxMs)];
  try {
    // By one round trip. Whether the rights are old tells what follows: the answer that is kept, or that is read.
    const [, claimed] = await Promise.all(claiming.map((statement) => query(statement)));
    if (claimed?.length === 1) return undefined;
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    fail('conflict', {
      diagnostics: 'Another request with this Idempotency-Key is under way: repeat this one to get its answer',
      headers: { 'retry-after': String(retrySeconds) },
      cause: error,
    });
  }
  return keptOf(requireFresh(await query<KeptRow>(keptStatement(scope, claim.key, claim.atMs)), scope));
}

/** Keeps the answer of a claim of this transaction. @throws PraxisError `stale-access` */
export async function keepAnswer(
  store: StatementRunner,
  scope: TenantScope,
  { key }: KeyClaim,
  { status, facts, body }: AnswerToKeep,
): Promise<void> {
  const kept = sql`
    UPDATE idempotency_key SET status = ${status}, facts = ${sql.json(facts)}, body = ${body ?? null}
    WHERE firm = ${scope.firm} AND application = ${scope.application} AND key = ${key}`;
  await store.change(scope, [kept]);
}

/** As `IdempotencyStore.keptAnswer`. */
export async function readKeptAnswer(ask: Ask, scope: TenantScope, key: Buffer, nowMs: number) {
  return keptOf(await ask<KeptRow>(scope, keptStatement(scope, key, nowMs)));
}

function keptOf([row]: readonly KeptRow[]): KeptAnswer | undefined {
  if (row === undefined || row.at === null) return undefined;
  const { epoch: _epoch, at, body, ...kept } = row;
  return { ...kept, atMs: at, body: body ?? undefined };
}

function lockTimeout(ms: number): Sql {
  return sql`SELECT set_config('lock_timeout', ${String(ms)}, true)`;
}

/** Waits for a transaction that has just written the same key. A row whose time is over is taken over. */
function claimStatement({ firm, application }: TenantScope, { key, request, policy, atMs }: KeyClaim): Sql {
  return sql`
    INSERT INTO idempotency_key (firm, application, key, at, request, policy)
    VALUES (${firm}, ${application}, ${key}, ${atMs}, ${request}, ${policy})
    ON CONFLICT (firm, application, key) DO UPDATE
      SET at = EXCLUDED.at, request = EXCLUDED.request, policy = EXCLUDED.policy, status = NULL, facts = NULL, body = NULL
      WHERE idempotency_key.at < ${atMs - keyKeptMs}
    RETURNING 1 AS claimed`;
}

function keptStatement({ firm, application }: TenantScope, key: Buffer, nowMs: number): Sql {
  return sql`
    SELECT e.epoch, k.at, k.status, k.request, k.policy, k.facts, k.body
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT at, status, request, policy, facts, body FROM idempotency_key
      WHERE firm = ${firm} AND application = ${application} AND key = ${key} AND at >= ${nowMs - keyKeptMs} OFFSET 0) k ON true
    WHERE e.firm = ${firm} AND e.application = ${application}`;
}

/** Keys that one statement takes away at most. */
const expiredMax = 1_000;
const expiryPauseMs = 3_600_000;

/** A job (jobs/jobs.ts): takes keys away whose time is over, firm by firm. */
export const idempotencyKeyExpiryJob: DeclaredJob<Pick<FirmWorkContext, 'database' | 'clock'>> = {
  worstCase: { harmless: 'deletes rows by their index, a bounded number at a time' },
  open: ({ database, clock }) => ({
    name: 'expiry of idempotency keys',
    pauseMs: expiryPauseMs,
    run: () =>
      forEachFirm(database, async (firm) => {
        const gone = await database.forFirm(firm).query(sql`
          DELETE FROM idempotency_key WHERE firm = ${firm} AND (application, key) IN (
            SELECT application, key FROM idempotency_key WHERE firm = ${firm} AND at < ${clock.now() - keyKeptMs} ORDER BY at LIMIT ${expiredMax})
          RETURNING 1 AS gone`);
        return gone.length === expiredMax;
      }),
  }),
};
