/**
 * Who may share connections for reads that are bounded by their plan (docs/decisions/0305): by how such reads of an asker went of
 * late. One that has taken long holds up nobody else for some time; many at once need many short ones before.
 */
import { LRUCache } from 'lru-cache';
import { boundEntries } from '../../base/bounded-entries.ts';
import type { Asker } from './shares.ts';

/** A statement took long when it was at the head of its connection for longer, in ms. */
export const shortMaxMs = 25;

/** For so many times the length of a long one, and no longer than that, no read of its asker shares a connection. */
const [apartTimes, apartMaxMs] = [20, 10_000];

/** Reads of one asker that share connections at once, at most. */
const atOnceMax = 16;

/** After so many short ones in a row, one more may be under way at once. */
const shortPerPlace = 8;

/** Askers that are remembered, at most. */
const askersMax = 10_000;

interface Standing {
  underWay: number;
  shortInRow: number;
  apartUntilMs: number;
}

export class BoundedReads {
  readonly #standings = new LRUCache<string, Standing>(boundEntries(askersMax));
  readonly #now: () => number;

  /** @param now monotonic time in ms */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether one more read of the asker may share a connection. */
  mayShare(asker: Asker): boolean {
    const { underWay, shortInRow, apartUntilMs } = this.#standingOf(asker);
    return underWay < Math.min(atOnceMax, 1 + shortInRow / shortPerPlace) && apartUntilMs <= this.#now();
  }

  /** To be called when a read is sent on a connection that is shared. */
  began(asker: Asker): void {
    this.#standingOf(asker).underWay += 1;
  }

  /** To be called once for each that began. @param ms for how long it was at the head of its connection */
  ended(asker: Asker, ms: number): void {
    const standing = this.#standingOf(asker);
    standing.underWay = Math.max(0, standing.underWay - 1);
    if (ms <= shortMaxMs) standing.shortInRow += 1;
    else {
      standing.shortInRow = 0;
      standing.apartUntilMs = this.#now() + Math.min(apartMaxMs, apartTimes * ms);
    }
  }

  #standingOf({ application, firm }: Asker): Standing {
    const name = `${firm}/${application}`;
    const known = this.#standings.get(name);
    if (known !== undefined) return known;
    const made = { underWay: 0, shortInRow: 0, apartUntilMs: 0 };
    this.#standings.set(name, made);
    return made;
  }
}
