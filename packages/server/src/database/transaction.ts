/**
 * Transactions (https://www.postgresql.org/docs/current/transaction-iso.html) on a connection of their own, with the firm
 * set for the transaction only, repeated when the database asks for it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { PraxisError } from '../base/errors.ts';
import type { Connection, FirmValue } from './connection.ts';
import { answerGraceMs, type Lane } from './lane.ts';
import { pauseMs, runsMax } from './retry.ts';
import type { Sql } from './sql.ts';
import { type Condition, conditionOf, throwable } from './sqlstate.ts';

export interface Queryable {
  /** Rows of the statement; columns as in column-values.ts. */
  query<R>(statement: Sql): Promise<R[]>;
}

export interface TransactionOptions {
  /** Default `read committed`. */
  readonly isolation?: 'read committed' | 'repeatable read' | 'serializable';
  /** Instead of the database's statement timeout; 0 = no limit. */
  readonly statementTimeoutMs?: number;
}

/** How one run ended: with a value, or with the error to throw and what it was. */
type Ending<T> =
  | { readonly value: T }
  | { readonly error: unknown; readonly condition: Condition; readonly committing: boolean };

/**
 * Runs `work` in a transaction and commits; rolls back and rethrows when it throws. After a serialization failure, a
 * deadlock or a connection lost before COMMIT was sent, `work` runs again from its beginning, so it must have no effects
 * other than its statements.
 * @throws PraxisError `unavailable` when the connection was lost while committing: the outcome is then unknown
 */
export async function runTransaction<T>(
  lane: Lane,
  firm: FirmValue,
  work: (tx: Queryable) => Promise<T>,
  options: TransactionOptions,
): Promise<T> {
  for (let run = 1; ; run++) {
    const connection = await reserve(lane, firm);
    connection.answerMaxMs = answerMaxMs(options);
    const ending = await runOnce(connection, firm, work, options).finally(() => release(lane, connection));
    if ('value' in ending) return ending.value;
    const again =
      ending.condition === 'serialization' ||
      ending.condition === 'stale-plan' ||
      (ending.condition === 'lost' && !ending.committing);
    if (!again || run >= runsMax) throw ending.error;
    await delay(pauseMs(run));
  }
}

function reserve(lane: Lane, firm: FirmValue): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const take = (connection: Connection): void => {
      connection.reserved = true;
      resolve(connection);
    };
    lane.use(firm, take, reject);
  });
}

function release(lane: Lane, connection: Connection): void {
  connection.reserved = false;
  connection.answerMaxMs = undefined;
  lane.progressed();
}

function answerMaxMs({ statementTimeoutMs }: TransactionOptions): number | undefined {
  return statementTimeoutMs === 0 ? Number.POSITIVE_INFINITY : statementTimeoutMs && statementTimeoutMs + answerGraceMs;
}

async function runOnce<T>(
  connection: Connection,
  firm: FirmValue,
  work: (tx: Queryable) => Promise<T>,
  options: TransactionOptions,
): Promise<Ending<T>> {
  const tx = openTransaction(connection);
  try {
    // Awaited before the work begins: were BEGIN to fail alone, statements sent behind it would run outside of it.
    await connection.control(beginText(firm, options));
  } catch (error) {
    connection.retire();
    return { error: throwable(error, 'BEGIN'), condition: conditionOf(error), committing: false };
  }
  let value: T;
  try {
    value = await work(tx);
  } catch (error) {
    await rollBack(connection, tx);
    return { error, condition: tx.failure === undefined ? 'refused' : conditionOf(tx.failure), committing: false };
  }
  return await commit(connection, tx, value);
}

interface OpenTransaction extends Queryable {
  /** The first error of a statement, as pg threw it. */
  failure: unknown;
  ended: boolean;
}

function openTransaction(connection: Connection): OpenTransaction {
  const tx: OpenTransaction = {
    failure: undefined,
    ended: false,
    async query<R>(statement: Sql): Promise<R[]> {
      if (tx.ended) throw new Error('Transaction has ended: a statement was sent after its work returned');
      try {
        return (await connection.executeReserved(statement)) as R[];
      } catch (error) {
        tx.failure ??= error;
        throw throwable(error, statement.text);
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
    const condition = conditionOf(error);
    if (condition !== 'lost') return { error: throwable(error, 'COMMIT'), condition, committing: true };
    const diagnostics = 'Database connection was lost while committing: the change may or may not have been made';
    return { error: new PraxisError('unavailable', { diagnostics, cause: error }), condition, committing: true };
  }
  // A statement had failed and `work` went on regardless: PostgreSQL answers COMMIT with ROLLBACK.
  const failure = tx.failure ?? new Error('transaction was rolled back by the database');
  return { error: throwable(failure, 'COMMIT'), condition: conditionOf(failure), committing: false };
}

/** One message: BEGIN and the settings that hold until its end. `firm` is digits or nothing, so it needs no quoting. */
function beginText(firm: FirmValue, options: TransactionOptions): string {
  const isolation = (options.isolation ?? 'read committed').toUpperCase();
  const timeout =
    options.statementTimeoutMs === undefined
      ? ''
      : `, set_config('statement_timeout', '${Math.trunc(options.statementTimeoutMs)}', true)`;
  return `BEGIN ISOLATION LEVEL ${isolation}; SELECT set_config('praxis.firm', '${firm}', true)${timeout}`;
}
