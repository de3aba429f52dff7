/**
 * How many workers get connections. On a full machine workers take processor time from each other: each answers a few requests
 * before another process runs on its core, with cold caches. Half of the workers then answer as much for less
 * (docs/decisions/0283). Long work of one caller delays the others of its event loop, so then all workers serve (0284).
 */
import os from 'node:os';

/** What the processors did since the last look. */
export interface Look {
  /** By a clock that only moves forward. */
  readonly nowMs: number;
  readonly cores: number;
  /** Processor time that nobody used, in cores. */
  readonly idleCores: number;
  /** Share of the time in which the event loop was busy, of each worker that gets connections. */
  readonly loopUses: readonly number[];
  /** Processor time of all workers, in cores. */
  readonly usedCores: number;
  /** Some worker has work that takes many slices of its event loop. */
  readonly hasLongWork: boolean;
}

/** A machine with less idle time is full. */
const fullShare = 1 / 8;
/** Workers that use less are not what fills the machine. */
const usedCoresMin = 0.5;
/** Of the processor time that the workers could use: with more, half of them do not suffice. */
const packableShare = 0.75;
/** Event loops that are busy for more of the time have no room left. */
const saturatedShare = 0.95;
const looksMin = 2;
/** After the machine was full for the last time, or there was long work. */
const quietMs = 30_000;
/** After half of the workers did not suffice. */
const insufficientMs = 300_000;

/** Decides it for one node. All workers get connections at first. */
export class Placement {
  readonly #workers: number;
  #isPacked = false;
  #fullLooks = 0;
  #saturatedLooks = 0;
  #fullAtMs = Number.NEGATIVE_INFINITY;
  #longAtMs = Number.NEGATIVE_INFINITY;
  #spreadUntilMs = Number.NEGATIVE_INFINITY;

  constructor(workers: number) {
    this.#workers = workers;
  }

  /** @returns how many workers get connections from now on */
  decide(look: Look): number {
    const isFull = look.idleCores < look.cores * fullShare;
    if (isFull) this.#fullAtMs = look.nowMs;
    if (look.hasLongWork) this.#longAtMs = look.nowMs;
    if (this.#isPacked) this.#isPacked = this.#suffices(look, isFull);
    else this.#isPacked = this.#isCrowded(look, isFull);
    return this.#isPacked ? Math.ceil(this.#workers / 2) : this.#workers;
  }

  /** Looks at an idle node say nothing about it. */
  #isCrowded({ nowMs, usedCores }: Look, isFull: boolean): boolean {
    if (this.#workers === 1 || nowMs < this.#spreadUntilMs || usedCores < usedCoresMin) return false;
    if (this.#isLong(nowMs)) return false;
    const isPackable = isFull && usedCores <= this.#workers * packableShare;
    this.#fullLooks = isPackable ? this.#fullLooks + 1 : 0;
    if (this.#fullLooks < looksMin) return false;
    this.#fullLooks = 0;
    this.#saturatedLooks = 0;
    return true;
  }

  #suffices({ nowMs, loopUses }: Look, isFull: boolean): boolean {
    if (this.#isLong(nowMs)) return false;
    const isSaturated = !isFull && loopUses.every((use) => use >= saturatedShare);
    this.#saturatedLooks = isSaturated ? this.#saturatedLooks + 1 : 0;
    if (this.#saturatedLooks >= looksMin) {
      this.#spreadUntilMs = nowMs + insufficientMs;
      return false;
    }
    return nowMs - this.#fullAtMs < quietMs;
  }

  #isLong(nowMs: number): boolean {
    return nowMs - this.#longAtMs < quietMs;
  }
}

/** Returns the idle processor time of the machine since the last call, in cores. */
export function openIdleMeter(): () => number {
  let last = readIdle();
  return () => {
    const before = last;
    last = readIdle();
    const elapsedMs = last.atMs - before.atMs;
    return elapsedMs > 0 ? (last.idleMs - before.idleMs) / elapsedMs : 0;
  };
}

function readIdle(): { readonly idleMs: number; readonly atMs: number } {
  return { idleMs: os.cpus().reduce((sum, { times }) => sum + times.idle, 0), atMs: performance.now() };
}
