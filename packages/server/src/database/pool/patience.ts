/**
 * How long statements may take of those whose statements have taken too long: half as long as the last one, for a while. So
 * the same slow search, sent again and again, does not hold connections for the whole limit each time (docs/decisions/0240).
 */
import { LRUCache } from 'lru-cache';
import { boundEntries } from '../../base/bounded-entries.ts';
import { type Asker, serviceApplication } from './shares.ts';

/** The limit is lowered to this part of the setting at most. */
const leastPart = 1 / 16;

/** Of the limit of a statement, what it may have taken of the database without being too costly itself. */
const costlyPart = 1 / 4;

/** So long after its last timeout a caller has the whole limit again. */
const forgetAfterMs = 60_000;

/** Callers that are remembered, at most. */
const callersMax = 10_000;

export class Patience {
  /** The statement timeout, in ms; 0 = none. */
  readonly wholeMs: number;
  readonly #now: () => number;
  /** By application and firm. */
  readonly #lowered = new LRUCache<string, { readonly limitMs: number; readonly untilMs: number }>(
    boundEntries(callersMax),
  );

  /** @param limitMs the statement timeout; 0 = none, and then nothing is lowered. @param now monotonic time in ms */
  constructor(limitMs: number, now: () => number = () => performance.now()) {
    this.wholeMs = limitMs;
    this.#now = now;
  }

  /**
   * Whether a statement that was ended by its limit is too costly itself: it had a good part of the database, or would have
   * taken as long on one of its own. Otherwise the database is busy with others.
   * @param limitMs that it was sent with; undefined: the whole one
   * @param workedMs how long the database worked for it, by `SharedTime`
   */
  isTooCostly({ application }: Asker, limitMs: number | undefined, workedMs: number): boolean {
    return application !== serviceApplication && workedMs > (limitMs ?? this.wholeMs) * costlyPart;
  }

  /** What a statement of the caller may take, in ms; undefined: the whole limit. */
  limitMs(asker: Asker): number | undefined {
    if (this.#lowered.size === 0) return undefined;
    const lowered = this.#lowered.get(nameOf(asker));
    if (lowered === undefined) return undefined;
    if (this.#now() < lowered.untilMs) return lowered.limitMs;
    this.#lowered.delete(nameOf(asker));
    return undefined;
  }

  /** A statement of the caller was ended by its limit, which it was sent with; undefined: the whole one. */
  timedOut(asker: Asker, limitMs: number | undefined): void {
    if (asker.application === serviceApplication || this.wholeMs === 0) return;
    const least = Math.ceil(this.wholeMs * leastPart);
    this.#lowered.set(nameOf(asker), {
      limitMs: Math.max(least, Math.floor((limitMs ?? this.wholeMs) / 2)),
      untilMs: this.#now() + forgetAfterMs,
    });
  }
}

function nameOf({ application, firm }: Asker): string {
  return `${application}/${firm}`;
}
