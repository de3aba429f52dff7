/**
 * The database as the rest of the server sees it: statements, transactions, notifications. Every statement runs with a firm
 * set or with none (then tenant tables show nothing), see connection.ts; row-level security
 * (https://www.postgresql.org/docs/current/ddl-rowsecurity.html) holds each statement to that firm.
 *
 * Two lanes of connections: short statements share a few pipelined connections (2–3 times the point reads per second, half
 * the CPU time per read, see docs/decisions/0010); everything else, transactions included, has a connection to itself, so
 * that a long statement delays nobody.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { ConfigError } from '../base/config.ts';
import type { Log } from '../base/log.ts';
import { Connection, type FirmValue } from './connection.ts';
import { clientConfig, type DatabaseConnection, describeConnection } from './connection-settings.ts';
import { answerGraceMs, Lane, type LaneState } from './lane.ts';
import { type NotificationHandler, openListener } from './listener.ts';
import { preparedNames } from './prepared-names.ts';
import { mayRunAgain, pauseMs, runsMax } from './retry.ts';
import { requireRowSecurity } from './roles.ts';
import { rolledBack } from './run.ts';
import type { Row } from './segment.ts';
import { type Sql, sql } from './sql.ts';
import { conditionOf, isConfigurationFault, throwable } from './sqlstate.ts';
import { type Queryable, runTransaction, type TransactionOptions } from './transaction.ts';

export type { ConnectionParts, DatabaseConnection } from './connection-settings.ts';
export type { NotificationHandler } from './listener.ts';
export type { Queryable, TransactionOptions } from './transaction.ts';

export interface QueryOptions {
  /** A read, or a write whose repetition changes nothing: runs again after a lost connection. */
  readonly idempotent?: boolean;
  /**
   * Expected to take about a millisecond and to wait for no lock and no disk flush, such as a point read: shares a
   * pipelined connection.
   */
  readonly short?: boolean;
}

/** Of a statement that reads a few rows by their key. */
export const pointRead: QueryOptions = { idempotent: true, short: true };

export interface FirmConnection extends Queryable {
  query<R>(statement: Sql, options?: QueryOptions): Promise<R[]>;
}

export interface Database extends FirmConnection {
  /** Statement without a firm: control-plane tables only, tenant tables show no rows. */
  query<R>(statement: Sql, options?: QueryOptions): Promise<R[]>;
  /** A handle whose statements run as `firm` (0: as none, yet shown rows of that number); costs nothing, need not be kept. */
  forFirm(firm: number): FirmConnection;
  /** Runs `work` in a transaction as `firm` (or as none), see runTransaction for when it runs again. */
  transaction<T>(
    firm: number | undefined,
    work: (tx: Queryable) => Promise<T>,
    options?: TransactionOptions,
  ): Promise<T>;
  /** Calls `handler` for every notification on `channel` until the result is called. */
  listen(channel: string, handler: NotificationHandler): Promise<() => Promise<void>>;
  /** Sends `payload` (less than 8,000 bytes) to every process that listens on `channel`. */
  notify(channel: string, payload: string): Promise<void>;
  /** Whether a statement is answered now. */
  isReachable(): Promise<boolean>;
  /** Connections, statements under way and callers waiting, per lane. */
  load(): { readonly shared: LaneState; readonly exclusive: LaneState };
  /** Waits for what is under way (10 s at most), then ends all connections. */
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly connection: DatabaseConnection;
  /** `required` (default) refuses a role that could pass row-level security; only the owner's tools pass `bypassed`. */
  readonly rowSecurity?: 'required' | 'bypassed';
  /** Connections at most; at least 2 are used, and one more while listening. */
  readonly poolMax: number;
  /** Longest time of one statement; 0 = no limit. */
  readonly statementTimeoutMs: number;
  readonly log: Log;
  /** Name in pg_stat_activity; default `praxis`. */
  readonly applicationName?: string;
  /** How long to try the first connection while the database cannot be reached; default 15,000 ms. */
  readonly connectWaitMaxMs?: number;
  /** Callers that may wait for a connection, per lane; default 1,000. */
  readonly waitersMax?: number;
  /** How long they wait; default 5,000 ms. */
  readonly waitMaxMs?: number;
}

const sharedConnectionsMax = 4;
const sharedDepthMax = 16;
const preparedTextsMax = 2000;
const drainMaxMs = 10_000;

/**
 * Opens the database: connects once, trying again while it cannot be reached, and checks the role.
 * @throws ConfigError when trying again cannot help: wrong password, unknown database, a role that could pass row-level
 *   security; PraxisError `unavailable` when it could not be reached in time
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const config = clientConfig(options.connection, {
    applicationName: options.applicationName ?? 'praxis',
    statementTimeoutMs: options.statementTimeoutMs,
  });
  const names = preparedNames(preparedTextsMax);
  const connect = (lane: Lane): Promise<Connection> =>
    Connection.open(config, {
      names,
      log: options.log,
      onProgress: () => lane.progressed(),
      onEnd: (connection) => lane.ended(connection),
    });
  const lanes = openLanes(options, connect);
  const database = makeDatabase(lanes, config, options.log);
  try {
    lanes.exclusive.adopt(await firstConnection(() => connect(lanes.exclusive), options));
    if (options.rowSecurity !== 'bypassed') await requireRowSecurity(database);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

interface Lanes {
  readonly shared: Lane;
  readonly exclusive: Lane;
}

function openLanes(options: DatabaseOptions, connect: (lane: Lane) => Promise<Connection>): Lanes {
  const sharedMax = Math.max(1, Math.min(sharedConnectionsMax, Math.floor(options.poolMax / 4)));
  const limits = {
    waitersMax: options.waitersMax ?? 1000,
    waitMaxMs: options.waitMaxMs ?? 5000,
    answerMaxMs:
      options.statementTimeoutMs === 0 ? Number.POSITIVE_INFINITY : options.statementTimeoutMs + answerGraceMs,
  };
  return {
    shared: new Lane({ ...limits, connectionsMax: sharedMax, depthMax: sharedDepthMax }, connect, options.log),
    exclusive: new Lane(
      { ...limits, connectionsMax: Math.max(1, options.poolMax - sharedMax), depthMax: 1 },
      connect,
      options.log,
    ),
  };
}

function makeDatabase(lanes: Lanes, config: pg.ClientConfig, log: Log): Database {
  const listener = openListener({ ...config, pipeline: false }, log);
  const run = <R>(firm: FirmValue, statement: Sql, options: QueryOptions = {}): Promise<R[]> =>
    runStatement(
      options.short === true ? lanes.shared : lanes.exclusive,
      firm,
      statement,
      options.idempotent === true,
    ) as Promise<R[]>;
  return {
    query: (statement, options) => run('', statement, options),
    forFirm(firm) {
      const value = firmValue(firm);
      return { query: (statement, options) => run(value, statement, options) };
    },
    transaction: (firm, work, options = {}) =>
      runTransaction(lanes.exclusive, firm === undefined ? '' : firmValue(firm), work, options),
    listen: (channel, handler) => listener.listen(channel, handler),
    async notify(channel, payload) {
      await run('', sql`SELECT pg_notify(${channel}, ${payload})`);
    },
    isReachable: () =>
      run('', sql`SELECT 1`, { short: true }).then(
        () => true,
        () => false,
      ),
    load: () => ({ shared: lanes.shared.state(), exclusive: lanes.exclusive.state() }),
    async close() {
      await Promise.all([listener.close(), lanes.shared.close(drainMaxMs), lanes.exclusive.close(drainMaxMs)]);
    },
  };
}

function runStatement(lane: Lane, firm: FirmValue, statement: Sql, idempotent: boolean): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    let run = 1;
    let mayShare = idempotent;
    const send = (connection: Connection): void => connection.execute(firm, statement, settle, mayShare);
    const settle = (error: unknown, rows: Row[]): void => {
      if (error === undefined) resolve(rows);
      else if (error === rolledBack) {
        mayShare = false;
        lane.use(firm, send, reject);
      } else if (run < runsMax && mayRunAgain(conditionOf(error), idempotent))
        setTimeout(() => lane.use(firm, send, reject), pauseMs(run++));
      else reject(throwable(error, statement.text));
    };
    lane.use(firm, send, reject);
  });
}

function firmValue(firm: number): FirmValue {
  if (!Number.isSafeInteger(firm) || firm < 0) throw new TypeError(`${firm} is not the number of a firm`);
  return String(firm);
}

const firstConnectPauseMs = 100;

async function firstConnection(connect: () => Promise<Connection>, options: DatabaseOptions): Promise<Connection> {
  const where = describeConnection(options.connection);
  const deadlineMs = performance.now() + (options.connectWaitMaxMs ?? 15_000);
  for (;;) {
    try {
      return await connect();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (isConfigurationFault(error))
        throw new ConfigError(`Database ${where} refuses the connection: ${reason}`, { cause: error });
      if (performance.now() > deadlineMs)
        throw throwable(new Error(`Database ${where} cannot be reached: ${reason}`, { cause: error }), 'connect');
      options.log.debug({ reason }, 'database cannot be reached yet');
      await delay(firstConnectPauseMs);
    }
  }
}
