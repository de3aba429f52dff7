/**
 * Transactions (https://www.postgresql.org/docs/current/transaction-iso.html) on a connection of their own, with the firm
 * set for the transaction only, repeated when the database asks for it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { PraxisError } from '../base/errors.ts';
import type { Connection } from './pool/connection.ts';
import { answerGraceMs, type ConnectionPool, type PoolLimits } from './pool/connection-pool.ts';
import { type Asker, serviceApplication } from './pool/shares.ts';
import { mayRunAgain, pauseMs, runsMax } from './retry.ts';
import type { Sql } from './sql.ts';
import { classifyFailure, type FailureKind, toThrowable } from './sqlstate.ts';

export interface Queryable {
  /** Rows of the statement; columns as in column-values.ts. */
  query<R>(statement: Sql): Promise<R[]>;
}

export interface TransactionOptions {
  /** Default `read committed`. */
  readonly isolation?: 'read committed' | 'repeatable read' | 'serializable';
  /** Instead of the database's statement timeout; 0 = no limit, and none of the whole transaction. */
  readonly statementTimeoutMs?: number;
}

/** Retry-After for a transaction that waited too long. */
const retrySeconds = 5;

type Work<T> = (tx: Queryable) => Promise<T>;

/** How one run ended: with a value, or with the error to throw and what it was. */
type Ending<T> =
  | { readonly value: T }
  | { readonly error: unknown; readonly condition: FailureKind; readonly committing: boolean };

/**
 * Runs `work` in a transaction and commits; rolls back and rethrows when it throws. After a serialization failure, a
 * deadlock or a connection lost before COMMIT was sent, `work` runs again from its beginning, so it must have no effects
 * other than its statements.
 * @throws PraxisError `unavailable` when the connection was lost while committing: the outcome is then unknown;
 *   `too-costly` or `unavailable` when it was open too long, and nothing was changed (docs/decisions/0244)
 */
export async function runTransaction<T>(
  lane: ConnectionPool,
  asker: Asker,
  work: Work<T>,
  options: TransactionOptions,
): Promise<T> {
  const { patience, transactionMaxMs } = lane.limits;
  for (let attempt = 1; ; attempt++) {
    const connection = await reserve(lane, asker);
    connection.answerMaxMs = answerMaxMs(options);
    const limitMs = options.statementTimeoutMs ?? patience.limitMs(asker);
    const limits = limitMs === undefined ? options : { ...options, statementTimeoutMs: limitMs };
    const inTime = options.statementTimeoutMs === 0 ? work : within(transactionMaxMs, connection, work);
    const isTooCostly = (): boolean => patience.isTooCostly(asker, limitMs, connection.lastMs);
    const run: Run = { begin: beginText(asker, lane.limits, limits), isTooCostly };
    const ending = await runOnce(connection, run, inTime).finally(() => release(lane, connection));
    if ('value' in ending) return ending.value;
    if (ending.condition === 'timeout') patience.timedOut(asker, limitMs);
    if (!mayRunAgain(ending.condition, !ending.committing) || attempt >= runsMax) throw ending.error;
    await delay(pauseMs(attempt));
  }
}

function reserve(lane: ConnectionPool, asker: Asker): Promise<Connection> {
  const { promise, resolve, reject } = Promise.withResolvers<Connection>();
  const take = (connection: Connection): void => {
    connection.reserved = true;
    resolve(connection);
  };
  lane.use(asker, take, reject);
  return promise;
}

function release(lane: ConnectionPool, connection: Connection): void {
  connection.reserved = false;
  connection.answerMaxMs = undefined;
  lane.progressed(connection);
}

/**
 * `work`, given up when it lasts longer than `maxMs` (0 = any time): an open transaction holds back the change feed of all
 * firms (docs/decisions/0170). What it sends later is refused, since the transaction has ended then.
 */
function within<T>(maxMs: number, connection: Connection, work: Work<T>): Work<T> {
  if (maxMs === 0) return work;
  return async (tx) => {
    const tooLong = Promise.withResolvers<never>();
    const timer = setTimeout(() => tooLong.reject(openTooLong(maxMs, connection.workedMs)), maxMs);
    const working = work(tx);
    working.catch(() => undefined); // told by the race, or too late
    try {
      return await Promise.race([working, tooLong.promise]);
    } finally {
      clearTimeout(timer);
    }
  };
}

const headers = { 'retry-after': String(retrySeconds) };

/**
 * @param workedMs how long the database worked for it; was it most of the time, then the transaction is what was too
 * long
 */
function openTooLong(maxMs: number, workedMs: number): PraxisError {
  const what = `The transaction was not done after ${maxMs / 1000} s, the limit, and nothing was changed`;
  return workedMs > maxMs / 2
    ? new PraxisError('too-costly', { diagnostics: `${what}: send fewer changes at once` })
    : new PraxisError('unavailable', { diagnostics: `${what}: try again`, headers });
}

function answerMaxMs({ statementTimeoutMs }: TransactionOptions): number | undefined {
  return statementTimeoutMs === 0 ? Number.POSITIVE_INFINITY : statementTimeoutMs && statementTimeoutMs + answerGraceMs;
}

interface Run {
  /** Text of BEGIN and the settings. */
  readonly begin: string;
  /** Whether the timeout of the last statement is its own fault. */
  readonly isTooCostly: () => boolean;
}

async function runOnce<T>(connection: Connection, run: Run, work: Work<T>): Promise<Ending<T>> {
  const tx = openTransaction(connection, run);
  try {
    // Awaited before the work begins: were BEGIN to fail alone, statements sent behind it would run outside of it.
    await connection.control(run.begin);
  } catch (error) {
    connection.retire();
    return { error: toThrowable(error, 'BEGIN'), condition: classifyFailure(error), committing: false };
  }
  let value: T;
  try {
    value = await work(tx);
  } catch (error) {
    await rollBack(connection, tx);
    return { error, condition: tx.failure === undefined ? 'refused' : classifyFailure(tx.failure), committing: false };
  }
  return await commit(connection, tx, value);
}

interface OpenTransaction extends Queryable {
  /** The first error of a statement, as pg threw it. */
  failure: unknown;
  ended: boolean;
}

function openTransaction(connection: Connection, { isTooCostly }: Run): OpenTransaction {
  const tx: OpenTransaction = {
    failure: undefined,
    ended: false,
    async query<R>(statement: Sql): Promise<R[]> {
      if (tx.ended) throw new Error('Transaction has ended: a statement was sent after its work returned');
      try {
        return (await connection.executeReserved(statement)) as R[];
      } catch (error) {
        tx.failure ??= error;
        throw toThrowable(error, statement.text, isTooCostly());
      }
    },
  };
  return tx;
}

async function rollBack(connection: Connection, tx: OpenTransaction): Promise<void> {
  tx.ended = true;
  try {
    await connection.control('ROLLBACK');
  } catch {
    connection.abandon(new Error('rollback failed'));
  }
}

async function commit<T>(connection: Connection, tx: OpenTransaction, value: T): Promise<Ending<T>> {
  tx.ended = true;
  try {
    const tag = await connection.control('COMMIT');
    if (tag === 'COMMIT') return { value };
  } catch (error) {
    const condition = classifyFailure(error);
    if (condition !== 'lost') return { error: toThrowable(error, 'COMMIT'), condition, committing: true };
    const diagnostics = 'Database connection was lost while committing: the change may or may not have been made';
    return { error: new PraxisError('unavailable', { diagnostics, cause: error }), condition, committing: true };
  }
  // A statement had failed and `work` went on regardless: PostgreSQL answers COMMIT with ROLLBACK.
  const failure = tx.failure ?? new Error('transaction was rolled back by the database');
  return { error: toThrowable(failure, 'COMMIT'), condition: classifyFailure(failure), committing: false };
}

/**
 * How long statements of a caller's transaction wait for a lock of another one, in ms: then the answer is `conflict`.
 * Waiting takes a connection, and what is waited for is the work of others.
 */
export const lockWaitMaxMs = 3_000;

/** One message: BEGIN and the settings that hold until its end. `firm` is digits or nothing, so it needs no quoting. */
function beginText({ application, firm }: Asker, { patience }: PoolLimits, options: TransactionOptions): string {
  const isolation = (options.isolation ?? 'read committed').toUpperCase();
  const { statementTimeoutMs } = options;
  const settings: [string, number][] = [];
  if (statementTimeoutMs !== undefined) settings.push(['statement_timeout', statementTimeoutMs]);
  const limitMs = statementTimeoutMs ?? patience.wholeMs;
  if (application !== serviceApplication && limitMs > 0)
    settings.push(['lock_timeout', Math.min(lockWaitMaxMs, limitMs / 2)]);
  const more = settings.map(([name, ms]) => `, set_config('${name}', '${Math.trunc(ms)}', true)`).join('');
  return `BEGIN ISOLATION LEVEL ${isolation}; SELECT set_config('praxis.firm', '${firm}', true)${more}`;
}
