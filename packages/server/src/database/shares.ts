/**
 * Whose connections of a lane are: no application takes so many that none is left for who comes next (docs/decisions/0240).
 */
import { openRecentUse, type RecentUse } from '../base/recent-use.ts';
import type { TurnOrder } from '../base/turn-queue.ts';
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

export class Shares {
  readonly order: TurnOrder;
  readonly #connectionsMax: number;
  readonly #use: RecentUse = openRecentUse();
  readonly #held = new Map<number, number>();
  #heldByAll = 0;

  /** @param isShared connections take statements of several callers at once, so nobody holds one */
  constructor(connectionsMax: number, isShared: boolean) {
    this.#connectionsMax = connectionsMax;
    const useOf = (application: number): number => this.#use.of(application);
    this.order = isShared ? { useOf } : { useOf, mayServe: (application) => this.mayTake(application) };
  }

  /** The first of an application is never refused; of 12 one alone may hold 8, and two of them 5 and 4. */
  mayTake(application: number): boolean {
    const held = this.heldBy(application);
    const left = this.#connectionsMax - this.#heldByAll - 1;
    return held === 0 || held + 1 <= timesTheFree * left;
  }

  heldBy(application: number): number {
    return this.#held.get(application) ?? 0;
  }

  take({ application }: Asker): void {
    this.#held.set(application, this.heldBy(application) + 1);
    this.#heldByAll += 1;
  }

  giveBack({ application }: Asker): void {
    const left = this.heldBy(application) - 1;
    if (left === 0) this.#held.delete(application);
    else this.#held.set(application, left);
    this.#heldByAll -= 1;
  }

  /** The database has worked so long for it. */
  used(asker: Asker, ms: number): void {
    this.#use.add(asker.application, ms);
    asker.onDatabaseTime?.(ms);
  }
}
