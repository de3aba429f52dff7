/**
 * How many workers get connections. On a full machine workers take processor time from each other: each answers a few requests
 * before another process runs on its core, with cold caches. Half of the workers then answer as much for less
 * (docs/decisions/0283, 0300). Large work of one caller delays the others of its event loop, so then all workers serve (0284).
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
  /** Some worker has work that takes very many slices of its event loop. */
  readonly hasLargeWork: boolean;
  /** Requests wait for a place in one of the workers that get connections. */
  readonly hasWaiting: boolean;
}

/** A machine with less idle time is full. */
const fullShare = 1 / 8;
/** A machine with more idle time has room for another worker: that one makes each request dearer, and is worth it beyond that. */
const roomyShare = 3 / 8;
/** Workers that use less are not what fills the machine. */
const usedCoresMin = 0.5;
/** Of the processor time that the workers could use: with more, half of them do not suffice. */
const packableShare = 0.75;
/** Event loops that are busy for more of the time have no room left. */
const saturatedShare = 0.95;
const looksMin = 2;
/** After the machine had room, or there was large work, for the last time. */
const quietMs = 30_000;
/** After half of the workers did not suffice. */
const insufficientMs = 300_000;

/** Decides it for one node. All workers get connections at first. */
export class Placement {
  readonly #workers: number;
  #isPacked = false;
  #fullLooks = 0;
  #saturatedLooks = 0;
  #busyAtMs = Number.NEGATIVE_INFINITY;
  #largeAtMs = Number.NEGATIVE_INFINITY;
  #spreadUntilMs = Number.NEGATIVE_INFINITY;

  constructor(workers: number) {
    this.#workers = workers;
  }

  /** @returns how many workers get connections from now on */
  decide(look: Look): number {
    const isRoomy = look.idleCores > look.cores * roomyShare;
    if (!isRoomy) this.#busyAtMs = look.nowMs;
    if (look.hasLargeWork) this.#largeAtMs = look.nowMs;
    this.#isPacked = this.#isPacked ? this.#suffices(look, isRoomy) : this.#isCrowded(look);
    return this.#isPacked ? Math.ceil(this.#workers / 2) : this.#workers;
  }

  /** Looks at an idle node say nothing about it. */
  #isCrowded({ nowMs, cores, idleCores, usedCores }: Look): boolean {
    if (this.#workers === 1 || nowMs < this.#spreadUntilMs || usedCores < usedCoresMin) return false;
    if (this.#hadLargeWork(nowMs)) return false;
    const isPackable = idleCores < cores * fullShare && usedCores <= this.#workers * packableShare;
    this.#fullLooks = isPackable ? this.#fullLooks + 1 : 0;
    if (this.#fullLooks < looksMin) return false;
    this.#fullLooks = 0;
    this.#saturatedLooks = 0;
    return true;
  }

  #suffices({ nowMs, loopUses, hasWaiting }: Look, isRoomy: boolean): boolean {
    if (this.#hadLargeWork(nowMs)) return false;
    const isSaturated = (isRoomy || hasWaiting) && loopUses.every((use) => use >= saturatedShare);
    this.#saturatedLooks = isSaturated ? this.#saturatedLooks + 1 : 0;
    if (this.#saturatedLooks >= looksMin) {
      this.#spreadUntilMs = nowMs + insufficientMs;
      return false;
    }
    return nowMs - this.#busyAtMs < quietMs;
  }

  #hadLargeWork(nowMs: number): boolean {
    return nowMs - this.#largeAtMs < quietMs;
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
