/**
 * A group of connections that share one discipline: how many statements may be under way on each, and who waits when all
 * are busy. Waiting is bounded in number and time, so overload is answered at once instead of piling up: 429 to the
 * application that fills the queue, 503 to others. Who waits is served in turns (docs/decisions/0240).
 */
import { PraxisError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { TurnQueue } from '../../base/turn-queue.ts';
import { isConfigurationFault } from '../sqlstate.ts';
import type { Connection, FirmValue } from './connection.ts';
import type { Patience } from './patience.ts';
import { SharedTime } from './shared-time.ts';
import { type Asker, longMs, Shares, serviceApplication } from './shares.ts';

export interface PoolLimits {
  readonly connectionsMax: number;
  /** Statements under way on one connection; 1 = a connection serves one caller at a time. */
  readonly depthMax: number;
  readonly waitersMax: number;
  /** Of these, of one application. */
  readonly applicationWaitersMax: number;
  readonly waitMaxMs: number;
  /**
   * A connection whose head has not been answered after this time ends: the server or the network is stuck. Time in which
   * this process read nothing, since its event loop was busy, does not count.
   */
  readonly answerMaxMs: number;
  /** How long statements may take. */
  readonly patience: Patience;
  /** Longest time of one transaction, in ms; 0 = no limit. */
  readonly transactionMaxMs: number;
  /** When the database has answered on whichever connection of any lane, by performance.now(). */
  readonly answered: { lastMs: number };
}

export interface PoolState {
  readonly connections: number;
  readonly inFlight: number;
  readonly waiting: number;
}

interface Waiter {
  readonly asker: Asker;
  readonly give: (connection: Connection) => void;
  readonly refuse: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
  isWaiting: boolean;
}

/** Time beyond the statement timeout before a silent connection is given up. */
export const answerGraceMs = 5000;

/** Nothing is queued behind a statement that has been running longer: it is no short one, whatever was expected. */
const headAgeMaxMs = 25;
/** How much deeper a connection with the right firm may be than one that must be switched. */
const sameFirmBonus = 3;
const reconnectDelayMs = { first: 50, max: 1000 } as const;
const watchIntervalMs = 1000;

/** Retry-After where no connection is free; they are given back all the time. */
const retrySeconds = 1;

export class ConnectionPool {
  readonly limits: PoolLimits;
  readonly #connect: (lane: ConnectionPool) => Promise<Connection>;
  readonly #log: Log;
  readonly #connections: Connection[] = [];
  readonly #waiters = new TurnQueue<Waiter>();
  readonly #shares: Shares;
  /** Of lanes whose connections serve one caller at a time: what each caller takes of them can be told. */
  readonly #time: SharedTime | undefined;
  readonly #watch: NodeJS.Timeout;
  #opening = 0;
  #failures = 0;
  #lastFailure: unknown;
  #closed = false;
  #drained: (() => void) | undefined;

  constructor(limits: PoolLimits, connect: (lane: ConnectionPool) => Promise<Connection>, log: Log) {
    this.limits = limits;
    this.#connect = connect;
    this.#log = log;
    const isShared = limits.depthMax > 1;
    this.#shares = new Shares(limits.connectionsMax, isShared, (application) => this.#longHeldBy(application));
    this.#time = isShared ? undefined : new SharedTime();
    this.#watch = setInterval(() => this.#abandonStuck(), watchIntervalMs).unref();
  }

  /**
   * Calls `give` with a connection, at once or when it is the asker's turn; or `refuse` with `unavailable`, or
   * `rate-exceeded` when its application has or asks for too much at once. The caller sends its statement, or reserves
   * the connection, inside `give`.
   */
  use(asker: Asker, give: (connection: Connection) => void, refuse: (error: Error) => void): void {
    if (this.#closed) {
      refuse(unavailable('Service is shutting down'));
      return;
    }
    // Who waits either finds no connection or has its share: both are served when something is given back.
    const mayTake = this.#time === undefined || this.#shares.mayTake(asker.application);
    const connection = mayTake ? this.#pick(asker.firm) : undefined;
    if (mayTake && (connection === undefined || connection.inFlight > 0)) this.#grow();
    if (connection === undefined) this.#wait(asker, give, refuse);
    else this.#give(connection, asker, give);
  }

  /**
   * Calls `give` at once with a connection for a read that is bounded by its plan, where there is room: on half of the connections,
   * so that the others stay for what is short for sure.
   * @returns whether there was
   */
  useBounded(firm: FirmValue, give: (connection: Connection) => void): boolean {
    const { connectionsMax, depthMax } = this.limits;
    if (this.#closed || connectionsMax < 2) return false;
    const connection = this.#pick(firm, connectionsMax >> 1, depthMax / 2);
    if (connection === undefined || connection.inFlight > 0) this.#grow();
    if (connection !== undefined) give(connection);
    return connection !== undefined;
  }

  /** Adds a connection that was opened elsewhere. */
  adopt(connection: Connection): void {
    this.#connections.push(connection);
    this.#serve();
  }

  /** To be called after every answer on one of the lane's connections, and when its reservation ends. */
  progressed(connection: Connection): void {
    if (connection.usable) this.limits.answered.lastMs = performance.now();
    if (connection.holder !== undefined && connection.inFlight === 0 && !connection.reserved)
      this.#takeBack(connection);
    if (this.#waiters.size > 0) this.#serve();
    else if (this.#drained !== undefined && this.#isIdle()) this.#drained();
  }

  /** To be called when one of the lane's connections has ended. */
  ended(connection: Connection): void {
    const index = this.#connections.indexOf(connection);
    if (index >= 0) this.#connections.splice(index, 1);
    if (this.#waiters.size > 0) this.#grow();
    this.progressed(connection);
  }

  state(): PoolState {
    const inFlight = this.#connections.reduce((sum, connection) => sum + connection.inFlight, 0);
    return { connections: this.#connections.length, inFlight, waiting: this.#waiters.size };
  }

  /** Refuses who waits and what comes, waits for what is under way at most `drainMaxMs`, then ends all connections. */
  async close(drainMaxMs: number): Promise<void> {
    this.#closed = true;
    clearInterval(this.#watch);
    for (const waiter of [...this.#waiters]) this.#refuse(waiter, unavailable('Service is shutting down'));
    if (!this.#isIdle()) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, drainMaxMs);
        this.#drained = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    for (const connection of [...this.#connections]) {
      connection.reserved = false;
      if (connection.inFlight > 0) connection.abandon(new Error('closed while statements were under way'));
      else connection.retire();
    }
  }

  /** The connection that answers `firm` soonest: the least deep, one whose firm is already set where that is nearly so. */
  #pick(
    firm: FirmValue,
    among: number = this.#connections.length,
    depthMax: number = this.limits.depthMax,
  ): Connection | undefined {
    const nowMs = this.limits.depthMax > 1 ? performance.now() : 0;
    let best: Connection | undefined;
    let bestCost = Number.POSITIVE_INFINITY;
    for (let at = 0; at < among; at += 1) {
      const connection = this.#connections[at];
      if (connection === undefined) break;
      const { inFlight } = connection;
      if (!connection.usable || connection.reserved || inFlight >= depthMax) continue;
      if (inFlight > 0 && connection.headAgeMs(nowMs) > headAgeMaxMs) continue;
      const cost = inFlight + (connection.serves(firm) ? 0 : sameFirmBonus);
      if (cost < bestCost) [best, bestCost] = [connection, cost];
    }
    return best;
  }

  #serve(): void {
    for (;;) {
      const waiter = this.#waiters.next(this.#shares.order);
      const connection = waiter && this.#pick(waiter.asker.firm);
      if (waiter === undefined || connection === undefined) return;
      clearTimeout(waiter.timer);
      waiter.isWaiting = false;
      this.#waiters.serve(waiter.asker, waiter);
      this.#give(connection, waiter.asker, waiter.give);
    }
  }

  #give(connection: Connection, asker: Asker, give: Waiter['give']): void {
    if (this.#time !== undefined) {
      connection.holder = asker;
      connection.time = this.#time;
      this.#shares.take(asker);
    }
    give(connection);
  }

  #longHeldBy(application: number): number {
    let count = 0;
    for (const { holder, workedMs, workingMs } of this.#connections)
      if (holder?.application === application && workedMs + workingMs > longMs) count += 1;
    return count;
  }

  #takeBack(connection: Connection): void {
    const asker = connection.holder;
    if (asker === undefined) return;
    connection.holder = undefined;
    this.#shares.giveBack(asker);
    this.#shares.used(asker, connection.takeWorkedMs());
  }

  #wait(asker: Asker, give: Waiter['give'], refuse: Waiter['refuse']): void {
    const error = this.#noRoom(asker);
    if (error !== undefined) return refuse(error);
    const timer = setTimeout(() => {
      // Where the event loop was busy, answers have come meanwhile: they are read before anybody is refused.
      setImmediate(() => {
        if (waiter.isWaiting) this.#refuse(waiter, this.#waitedTooLong(asker));
      });
    }, this.limits.waitMaxMs);
    const waiter: Waiter = { asker, give, refuse, timer, isWaiting: true };
    this.#waiters.add(asker, waiter);
  }

  #noRoom({ application }: Asker): Error | undefined {
    const { waitersMax, applicationWaitersMax } = this.limits;
    if (application !== serviceApplication && this.#waiters.sizeOf(application) >= applicationWaitersMax)
      return tooMuchAtOnce();
    if (this.#waiters.size < waitersMax) return undefined;
    return noneFree('Too many requests are waiting for the database: try again');
  }

  #waitedTooLong({ application }: Asker): Error {
    // Where nobody was answered meanwhile it is the database that is slow, not what this application has sent.
    const othersWereAnswered = performance.now() - this.limits.answered.lastMs < this.limits.waitMaxMs;
    const holdsSome = application !== serviceApplication && this.#shares.heldBy(application) > 0;
    const isOwnFault = holdsSome && othersWereAnswered;
    if (isOwnFault && !this.#shares.mayTake(application)) return tooMuchAtOnce();
    return this.#connections.length === 0
      ? unavailable('Database cannot be reached: try again', this.#lastFailure)
      : noneFree('No database connection became free in time: try again');
  }

  #refuse(waiter: Waiter, error: Error): void {
    clearTimeout(waiter.timer);
    waiter.isWaiting = false;
    this.#waiters.remove(waiter.asker, waiter);
    waiter.refuse(error);
  }

  #grow(): void {
    if (this.#closed || this.#connections.length + this.#opening >= this.limits.connectionsMax) return;
    // While the database cannot be reached one attempt at a time is enough.
    if (this.#failures > 0 && this.#opening > 0) return;
    this.#opening++;
    this.#connect(this).then(
      (connection) => this.#opened(connection),
      (error: unknown) => this.#failedToOpen(error),
    );
  }

  #opened(connection: Connection): void {
    this.#opening--;
    if (this.#failures > 0) this.#log.info('database connected again');
    this.#failures = 0;
    if (this.#closed) connection.retire();
    else if (connection.usable) this.adopt(connection);
  }

  /** Keeps trying while somebody waits, each time a little later. */
  #failedToOpen(error: unknown): void {
    if (this.#failures++ === 0) this.#log.error({ err: error }, 'database cannot be connected');
    this.#lastFailure = error;
    if (isConfigurationFault(error)) {
      for (const waiter of [...this.#waiters]) this.#refuse(waiter, this.#waitedTooLong(waiter.asker));
    }
    const delayMs = Math.min(reconnectDelayMs.first * 2 ** (this.#failures - 1), reconnectDelayMs.max);
    setTimeout(() => {
      this.#opening--;
      if (this.#waiters.size > 0) this.#grow();
    }, delayMs).unref();
  }

  #abandonStuck(): void {
    const nowMs = performance.now();
    for (const connection of [...this.#connections]) {
      const answerMaxMs = connection.answerMaxMs ?? this.limits.answerMaxMs;
      // Of a time in which the event loop did not turn there is one look only, however long it was.
      const seenMs = connection.countLook() * watchIntervalMs;
      if (Math.min(connection.headAgeMs(nowMs), seenMs) > answerMaxMs)
        connection.abandon(new Error('database does not answer'));
    }
  }

  #isIdle(): boolean {
    return this.#connections.every((connection) => connection.inFlight === 0 && !connection.reserved);
  }
}

const headers = { 'retry-after': String(retrySeconds) };

function unavailable(diagnostics: string, cause?: unknown): PraxisError {
  return new PraxisError('unavailable', { diagnostics, cause, headers });
}

function noneFree(diagnostics: string): PraxisError {
  return new PraxisError('unavailable', { diagnostics, headers, limit: 'statements' });
}

function tooMuchAtOnce(): PraxisError {
  const diagnostics =
    'Too many requests of this application are waiting for the database: send another when one is answered';
  return new PraxisError('rate-exceeded', { diagnostics, headers, limit: 'application-statements' });
}
