/**
 * Whose connections of a lane are: no application takes so many that none is left for who comes next (docs/decisions/0240).
 */
import { openRecentUse, type RecentUse } from '../../base/recent-use.ts';
import type { TurnOrder } from '../../base/turn-queue.ts';
import type { FirmValue } from './statement-queue.ts';

/** Application number of what the service does by itself, such as jobs and the reading of access. */
export const serviceApplication = 0;

/** For whom a statement is sent. */
export interface Asker {
  readonly application: number;
  readonly firm: FirmValue;
  /** Told how long the database worked for it, without waiting, in ms (shared-time.ts). */
  readonly onDatabaseTime?: ((ms: number) => void) | undefined;
}

/** An application may hold as many times the connections that it leaves free. */
const timesTheFree = 2;

/** The database has worked for longer than most requests need, in ms of `SharedTime`. */
export const longMs = 50;

/** Of all connections, the part that may work long for one application while others come, but two in any case. */
const partOfLong = 1 / 4;
const longMin = 2;

/** Who has taken a connection within this time still comes. */
const presentMs = 10_000;

export class Shares {
  readonly order: TurnOrder;
  readonly #connectionsMax: number;
  readonly #use: RecentUse = openRecentUse();
  readonly #held = new Map<number, number>();
  readonly #longMax: number;
  readonly #longHeldBy: (application: number) => number;
  readonly #now: () => number;
  #heldByAll = 0;
  /** The last two applications that took a connection, and when. */
  #last = { application: serviceApplication, atMs: Number.NEGATIVE_INFINITY };
  #lastOther = this.#last;

  /**
   * @param isShared connections take statements of several callers at once, so nobody holds one
   * @param longHeldBy how many connections an application holds for which the database has worked longer than `longMs`
   */
  constructor(
    connectionsMax: number,
    isShared: boolean,
    longHeldBy: (application: number) => number,
    now: () => number = () => performance.now(),
  ) {
    this.#connectionsMax = connectionsMax;
    this.#longMax = Math.max(longMin, Math.floor(connectionsMax * partOfLong));
    this.#longHeldBy = longHeldBy;
    this.#now = now;
    const useOf = (application: number): number => this.#use.of(application);
    this.order = isShared ? { useOf } : { useOf, mayServe: (application) => this.mayTake(application) };
  }

  /**
   * The first of an application is never refused; of 12 one alone may hold 8, and two of them 5 and 4. While others come, it
   * gets no further one as long as the database works for three of its statements that are long.
   */
  mayTake(application: number): boolean {
    const held = this.heldBy(application);
    if (held === 0) return true;
    const left = this.#connectionsMax - this.#heldByAll - 1;
    if (held + 1 > timesTheFree * left) return false;
    if (held < this.#longMax || application === serviceApplication || this.#isAlone(application)) return true;
    return this.#longHeldBy(application) < this.#longMax;
  }

  heldBy(application: number): number {
    return this.#held.get(application) ?? 0;
  }

  take({ application }: Asker): void {
    if (application !== serviceApplication) {
      if (application !== this.#last.application) this.#lastOther = this.#last;
      this.#last = { application, atMs: this.#now() };
    }
    this.#held.set(application, this.heldBy(application) + 1);
    this.#heldByAll += 1;
  }

  giveBack({ application }: Asker): void {
    const left = this.heldBy(application) - 1;
    if (left === 0) this.#held.delete(application);
    else this.#held.set(application, left);
    this.#heldByAll -= 1;
  }

  #isAlone(application: number): boolean {
    const other = this.#last.application === application ? this.#lastOther : this.#last;
    return this.#now() - other.atMs > presentMs;
  }

  /** The database has worked so long for it. */
  used(asker: Asker, ms: number): void {
    this.#use.add(asker.application, ms);
    asker.onDatabaseTime?.(ms);
  }
}
