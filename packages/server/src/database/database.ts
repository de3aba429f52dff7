/**
 * The database as the rest of the server sees it: statements, transactions, notifications. Every statement runs with a firm
 * set or with none (then tenant tables show nothing), see pool/connection.ts; row-level security
 * (https://www.postgresql.org/docs/current/ddl-rowsecurity.html) holds each statement to that firm.
 *
 * Two lanes of connections: short statements share a few pipelined connections (2–3 times the point reads per second, half
 * the CPU time per read, see docs/decisions/0010); everything else, transactions included, has a connection to itself, so
 * that a long statement delays nobody.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Log } from '../base/log.ts';
import { makeConnectionError } from './connection-fault.ts';
import { buildClientConfig, type DatabaseConnection } from './connection-settings.ts';
import { type NotificationHandler, openListener } from './listener.ts';
import { BoundedReads } from './pool/bounded-reads.ts';
import { Connection } from './pool/connection.ts';
import { answerGraceMs, ConnectionPool, type PoolState } from './pool/connection-pool.ts';
import { rolledBack } from './pool/multi-tenant-batch.ts';
import { Patience } from './pool/patience.ts';
import type { Row } from './pool/pipelined-query.ts';
import { openPreparedNames } from './pool/prepared-names.ts';
import { type Asker, serviceApplication } from './pool/shares.ts';
import { mayRunAgain, pauseMs, runsMax } from './retry.ts';
import { requireRowSecurity } from './roles.ts';
import { warnOfServer } from './session-settings.ts';
import { type Sql, sql } from './sql.ts';
import { classifyFailure, isConfigurationFault, toThrowable } from './sqlstate.ts';
import { type Queryable, runTransaction, type TransactionOptions } from './transaction.ts';

export type { ConnectionParts, DatabaseConnection } from './connection-settings.ts';
export type { NotificationHandler } from './listener.ts';
export { serviceApplication } from './pool/shares.ts';
export type { Queryable, TransactionOptions } from './transaction.ts';

export interface QueryOptions {
  /** A read, or a write whose repetition changes nothing: runs again after a lost connection. */
  readonly idempotent?: boolean;
  /**
   * Expected to take about a millisecond and to wait for no lock and no disk flush, such as a point read: shares a
   * pipelined connection. `mostly`: of most data it is, and it is idempotent; it shares one while those of its application
   * at its firm are short (docs/decisions/0305).
   */
  readonly short?: boolean | 'mostly';
}

/** Of a statement that reads a few rows by their key. */
export const pointRead: QueryOptions = { idempotent: true, short: true };

/** Of a statement that reads some rows by an index, by what is known of the kinds of its conditions. */
export const boundedRead: QueryOptions = { idempotent: true, short: 'mostly' };

/** For whom statements are sent; a `TenantScope` is one. Without it they are the service's own, a job's for instance. */
export type StatementsFor = Pick<Asker, 'application' | 'onDatabaseTime'>;

export interface FirmConnection extends Queryable {
  query<R>(statement: Sql, options?: QueryOptions): Promise<R[]>;
}

export interface Database extends FirmConnection {
  /** Statement without a firm: control-plane tables only, tenant tables show no rows. */
  query<R>(statement: Sql, options?: QueryOptions): Promise<R[]>;
  /**
   * A handle whose statements run as `firm` (0: as none, yet shown rows of that number); costs nothing, need not be
   * kept.
   */
  forFirm(firm: number, caller?: StatementsFor): FirmConnection;
  /** Runs `work` in a transaction as `firm` (or as none), see runTransaction for when it runs again. */
  transaction<T>(
    firm: number | undefined,
    work: (tx: Queryable) => Promise<T>,
    options?: TransactionOptions & { readonly caller?: StatementsFor },
  ): Promise<T>;
  /** Calls `handler` for every notification on `channel` until the result is called. */
  listen(channel: string, handler: NotificationHandler): Promise<() => Promise<void>>;
  /** Sends `payload` (less than 8,000 bytes) to every process that listens on `channel`. */
  notify(channel: string, payload: string): Promise<void>;
  /** Whether a statement is answered now. */
  isReachable(): Promise<boolean>;
  /** Connections, statements under way and callers waiting, per lane. */
  load(): { readonly shared: PoolState; readonly exclusive: PoolState };
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
  /** Longest time of one transaction, in ms; default 0 = no limit. */
  readonly transactionTimeoutMs?: number;
  readonly log: Log;
  /** Name in pg_stat_activity; default `praxis`. */
  readonly applicationName?: string;
  /** How long to try the first connection while the database cannot be reached; default 15,000 ms. */
  readonly connectWaitMaxMs?: number;
  /** Callers that may wait for a connection, per lane, of one application a quarter of them; default 1,000. */
  readonly waitersMax?: number;
  /** How long they wait; default 5,000 ms. */
  readonly waitMaxMs?: number;
}

const sharedConnectionsMax = 4;
const sharedDepthMax = 16;
const preparedTextsMax = 2000;
const drainMaxMs = 10_000;

/** Of those who may wait, one application's part. */
const waitersOfApplication = 1 / 4;

/**
 * Opens the database: connects once, trying again while it cannot be reached, and checks the role.
 * @throws StartError when trying again cannot help (wrong password, unknown database), or it could not be reached in time
 * @throws ConfigError for a role that could pass row-level security
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const config = buildClientConfig(options.connection, {
    applicationName: options.applicationName ?? 'praxis',
    statementTimeoutMs: options.statementTimeoutMs,
  });
  const names = openPreparedNames(preparedTextsMax);
  const connect = (lane: ConnectionPool): Promise<Connection> =>
    Connection.open(config, {
      names,
      sessionTransactionMaxMs: serverTransactionMaxMs(options),
      log: options.log,
      onProgress: (connection) => lane.progressed(connection),
      onEnd: (connection) => lane.ended(connection),
    });
  const lanes = openLanes(options, connect);
  const database = makeDatabase(lanes, config, options.log);
  try {
    lanes.exclusive.adopt(await firstConnection(() => connect(lanes.exclusive), options));
    if (options.rowSecurity !== 'bypassed') {
      await requireRowSecurity(database);
      await warnOfServer(database, options.log);
    }
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

interface Lanes {
  readonly shared: ConnectionPool;
  readonly exclusive: ConnectionPool;
}

/**
 * After this time the database itself ends a transaction, should this process not: the last statement may take its
 * time, too.
 */
function serverTransactionMaxMs({ transactionTimeoutMs = 0, statementTimeoutMs }: DatabaseOptions): number {
  return transactionTimeoutMs === 0 ? 0 : transactionTimeoutMs + statementTimeoutMs + answerGraceMs;
}

function openLanes(options: DatabaseOptions, connect: (lane: ConnectionPool) => Promise<Connection>): Lanes {
  const sharedMax = Math.max(1, Math.min(sharedConnectionsMax, Math.floor(options.poolMax / 4)));
  const { waitersMax = 1000, statementTimeoutMs } = options;
  const limits = {
    waitersMax,
    applicationWaitersMax: Math.ceil(waitersMax * waitersOfApplication),
    waitMaxMs: options.waitMaxMs ?? 5000,
    answerMaxMs: statementTimeoutMs === 0 ? Number.POSITIVE_INFINITY : statementTimeoutMs + answerGraceMs,
    patience: new Patience(statementTimeoutMs),
    transactionMaxMs: options.transactionTimeoutMs ?? 0,
    answered: { lastMs: performance.now() },
  };
  const shared = { ...limits, connectionsMax: sharedMax, depthMax: sharedDepthMax };
  const exclusive = { ...limits, connectionsMax: Math.max(1, options.poolMax - sharedMax), depthMax: 1 };
  return {
    shared: new ConnectionPool(shared, connect, options.log),
    exclusive: new ConnectionPool(exclusive, connect, options.log),
  };
}

function makeDatabase(lanes: Lanes, config: pg.ClientConfig, log: Log): Database {
  const listener = openListener({ ...config, pipeline: false }, log);
  const bounded = new BoundedReads();
  const run = <R>(asker: Asker, statement: Sql, { short = false, idempotent = false }: QueryOptions = {}) => {
    if (short === 'mostly') return runBounded(lanes, bounded, asker, statement) as Promise<R[]>;
    return runStatement(enter(short ? lanes.shared : lanes.exclusive), asker, statement, idempotent) as Promise<R[]>;
  };
  return {
    query: (statement, options) => run(withoutFirm, statement, options),
    forFirm(firm, caller) {
      const asker = askerOf(firm, caller);
      return { query: (statement, options) => run(asker, statement, options) };
    },
    transaction: (firm, work, { caller, ...options } = {}) =>
      runTransaction(lanes.exclusive, firm === undefined ? withoutFirm : askerOf(firm, caller), work, options),
    listen: (channel, handler) => listener.listen(channel, handler),
    async notify(channel, payload) {
      await run(withoutFirm, sql`SELECT pg_notify(${channel}, ${payload})`);
    },
    async isReachable() {
      const answer = run(withoutFirm, sql`SELECT 1`, { short: true });
      return await answer.then(() => true).catch(() => false);
    },
    load: () => ({ shared: lanes.shared.state(), exclusive: lanes.exclusive.state() }),
    async close() {
      await Promise.all([listener.close(), lanes.shared.close(drainMaxMs), lanes.exclusive.close(drainMaxMs)]);
    },
  };
}

/** How a statement comes to a connection, and what it may take there. */
interface Entrance {
  readonly patience: Patience;
  use(asker: Asker, give: (connection: Connection) => void, refuse: (error: Error) => void): void;
}

function enter(lane: ConnectionPool): Entrance {
  return { patience: lane.limits.patience, use: (...args) => lane.use(...args) };
}

/** Shares a connection where the asker may and there is room; has one to itself otherwise. */
function runBounded(lanes: Lanes, bounded: BoundedReads, asker: Asker, statement: Sql): Promise<Row[]> {
  let sharedOn: Connection | undefined;
  const entrance: Entrance = {
    patience: lanes.exclusive.limits.patience,
    use(_asker, give, refuse) {
      const share = (connection: Connection): void => {
        sharedOn = connection;
        bounded.began(asker);
        give(connection);
      };
      if (!bounded.mayShare(asker) || !lanes.shared.useBounded(asker.firm, share))
        lanes.exclusive.use(asker, give, refuse);
    },
  };
  return runStatement(entrance, asker, statement, true, () => {
    if (sharedOn === undefined) return undefined;
    const ms = sharedOn.headAgeMs(performance.now());
    sharedOn = undefined;
    bounded.ended(asker, ms);
    return ms;
  });
}

/**
 * @param answered called at each answer and error of the database, before the connection goes on to the next; tells how long the
 *   statement was at the head of a connection that it shared, in ms
 */
function runStatement(
  entrance: Entrance,
  asker: Asker,
  statement: Sql,
  idempotent: boolean,
  answered: () => number | undefined = () => undefined,
): Promise<Row[]> {
  const { patience } = entrance;
  return new Promise((resolve, reject) => {
    let run = 1;
    let mayShare = idempotent;
    let timeoutMs: number | undefined;
    let sentOn: Connection | undefined;
    const send = (connection: Connection): void => {
      sentOn = connection;
      timeoutMs = patience.limitMs(asker);
      connection.execute(asker.firm, statement, settle, mayShare, timeoutMs);
    };
    const settle = (error: unknown, rows: Row[]): void => {
      const headMs = answered();
      if (error === undefined) return resolve(rows);
      if (classifyFailure(error) === 'timeout') patience.timedOut(asker, timeoutMs);
      if (error === rolledBack) {
        mayShare = false;
        entrance.use(asker, send, reject);
      } else if (run < runsMax && mayRunAgain(classifyFailure(error), idempotent))
        setTimeout(() => entrance.use(asker, send, reject), pauseMs(run++));
      else
        reject(
          toThrowable(error, statement.text, patience.isTooCostly(asker, timeoutMs, headMs ?? sentOn?.lastMs ?? 0)),
        );
    };
    entrance.use(asker, send, reject);
  });
}

const withoutFirm: Asker = { application: serviceApplication, firm: '' };

function askerOf(firm: number, caller: StatementsFor | undefined): Asker {
  if (!Number.isSafeInteger(firm) || firm < 0) throw new TypeError(`${firm} is not the number of a firm`);
  return {
    application: caller?.application ?? serviceApplication,
    firm: String(firm),
    onDatabaseTime: caller?.onDatabaseTime,
  };
}

const firstConnectPauseMs = 100;

async function firstConnection(connect: () => Promise<Connection>, options: DatabaseOptions): Promise<Connection> {
  const deadlineMs = performance.now() + (options.connectWaitMaxMs ?? 15_000);
  for (;;) {
    try {
      return await connect();
    } catch (error) {
      if (isConfigurationFault(error) || performance.now() > deadlineMs)
        throw makeConnectionError(options.connection, error);
      options.log.debug({ err: error }, 'database cannot be reached yet');
      await delay(firstConnectPauseMs);
    }
  }
}
