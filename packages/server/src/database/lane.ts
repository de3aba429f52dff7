/**
 * A group of connections that share one discipline: how many statements may be under way on each, and who waits when all
 * are busy. Waiting is bounded in number and time, so overload answers 503 at once instead of piling up.
 */
import { PraxisError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Connection, FirmValue } from './connection.ts';
import { isConfigurationFault } from './sqlstate.ts';

export interface LaneLimits {
  readonly connectionsMax: number;
  /** Statements under way on one connection; 1 = a connection serves one caller at a time. */
  readonly depthMax: number;
  readonly waitersMax: number;
  readonly waitMaxMs: number;
  /** A connection whose head has not been answered after this time ends: the server or the network is stuck. */
  readonly answerMaxMs: number;
}

export interface LaneState {
  readonly connections: number;
  readonly inFlight: number;
  readonly waiting: number;
}

interface Waiter {
  readonly firm: FirmValue;
  readonly give: (connection: Connection) => void;
  readonly refuse: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** Time beyond the statement timeout before a silent connection is given up. */
export const answerGraceMs = 5000;

/** Nothing is queued behind a statement that has been running longer: it is no short one, whatever was expected. */
const headAgeMaxMs = 25;
/** How much deeper a connection with the right firm may be than one that must be switched. */
const sameFirmBonus = 3;
const reconnectDelayMs = { first: 50, max: 1000 } as const;
const watchIntervalMs = 1000;

export class Lane {
  readonly #limits: LaneLimits;
  readonly #connect: (lane: Lane) => Promise<Connection>;
  readonly #log: Log;
  readonly #connections: Connection[] = [];
  readonly #waiters = new Set<Waiter>();
  readonly #watch: NodeJS.Timeout;
  #opening = 0;
  #failures = 0;
  #lastFailure: unknown;
  #closed = false;
  #drained: (() => void) | undefined;

  constructor(limits: LaneLimits, connect: (lane: Lane) => Promise<Connection>, log: Log) {
    this.#limits = limits;
    this.#connect = connect;
    this.#log = log;
    this.#watch = setInterval(() => this.#abandonStuck(), watchIntervalMs).unref();
  }

  /**
   * Calls `give` with a connection, at once or when one is free; or `refuse` with `unavailable`. The caller sends its
   * statement, or reserves the connection, inside `give`.
   */
  use(firm: FirmValue, give: (connection: Connection) => void, refuse: (error: Error) => void): void {
    if (this.#closed) {
      refuse(unavailable('Service is shutting down'));
      return;
    }
    const connection = this.#waiters.size > 0 ? undefined : this.#pick(firm);
    if (connection === undefined || connection.inFlight > 0) this.#grow();
    if (connection === undefined) this.#wait(firm, give, refuse);
    else give(connection);
  }

  /** Adds a connection that was opened elsewhere. */
  adopt(connection: Connection): void {
    this.#connections.push(connection);
    this.#serve();
  }

  /** To be called after every answer on one of the lane's connections, and when a reservation ends. */
  progressed(): void {
    if (this.#waiters.size > 0) this.#serve();
    else if (this.#drained !== undefined && this.#isIdle()) this.#drained();
  }

  /** To be called when one of the lane's connections has ended. */
  ended(connection: Connection): void {
    const index = this.#connections.indexOf(connection);
    if (index >= 0) this.#connections.splice(index, 1);
    if (this.#waiters.size > 0) this.#grow();
    this.progressed();
  }

  state(): LaneState {
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
  #pick(firm: FirmValue): Connection | undefined {
    const nowMs = this.#limits.depthMax > 1 ? performance.now() : 0;
    let best: Connection | undefined;
    let bestCost = Number.POSITIVE_INFINITY;
    for (const connection of this.#connections) {
      const { inFlight } = connection;
      if (!connection.usable || connection.reserved || inFlight >= this.#limits.depthMax) continue;
      if (inFlight > 0 && connection.headAgeMs(nowMs) > headAgeMaxMs) continue;
      const cost = inFlight + (connection.serves(firm) ? 0 : sameFirmBonus);
      if (cost < bestCost) [best, bestCost] = [connection, cost];
    }
    return best;
  }

  #serve(): void {
    for (const waiter of this.#waiters) {
      const connection = this.#pick(waiter.firm);
      if (connection === undefined) return;
      this.#leave(waiter);
      waiter.give(connection);
    }
  }

  #wait(firm: FirmValue, give: Waiter['give'], refuse: Waiter['refuse']): void {
    if (this.#waiters.size >= this.#limits.waitersMax) {
      refuse(unavailable('Too many requests are waiting for the database: try again'));
      return;
    }
    const timer = setTimeout(() => this.#refuse(waiter, this.#waitedTooLong()), this.#limits.waitMaxMs);
    const waiter: Waiter = { firm, give, refuse, timer };
    this.#waiters.add(waiter);
  }

  #waitedTooLong(): Error {
    return this.#connections.length === 0
      ? unavailable('Database cannot be reached: try again', this.#lastFailure)
      : unavailable('No database connection became free in time: try again');
  }

  #refuse(waiter: Waiter, error: Error): void {
    this.#leave(waiter);
    waiter.refuse(error);
  }

  #leave(waiter: Waiter): void {
    clearTimeout(waiter.timer);
    this.#waiters.delete(waiter);
  }

  #grow(): void {
    if (this.#closed || this.#connections.length + this.#opening >= this.#limits.connectionsMax) return;
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
      for (const waiter of [...this.#waiters]) this.#refuse(waiter, this.#waitedTooLong());
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
      const answerMaxMs = connection.answerMaxMs ?? this.#limits.answerMaxMs;
      if (connection.headAgeMs(nowMs) > answerMaxMs) connection.abandon(new Error('database does not answer'));
    }
  }

  #isIdle(): boolean {
    return this.#connections.every((connection) => connection.inFlight === 0 && !connection.reserved);
  }
}

function unavailable(diagnostics: string, cause?: unknown): PraxisError {
  return new PraxisError('unavailable', { diagnostics, cause });
}
