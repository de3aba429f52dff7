/**
 * The event loop, shared in slices. Work that may be long asks for its next slice; one is given per turn of the loop,
 * so that requests that are cheap are answered between any two. Applications come one after another, and the firms of
 * each.
 */
import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers';
import { setTimeout as delay } from 'node:timers/promises';
import { openFairQueue, type TurnOf } from './fair-queue.ts';

export interface Slices {
  /** Resolves when it is the turn of `of`, in a turn of the event loop in which no other slice begins. */
  next(of: TurnOf): Promise<void>;
  /**
   * As `next`, for work that has taken many slices: before each of them the event loop has as much time for everything else
   * as it was busy since the last one began, up to `restMaxMs`.
   */
  nextOfLong(of: TurnOf): Promise<void>;
  /** Resolves as `work` does, which takes many slices and much memory: no other such work is under way meanwhile. */
  alone<T>(of: TurnOf, work: () => Promise<T>): Promise<T>;
}

/** Waiting work has been admitted already, so none is refused. */
const unlimited = {
  ofFirmMax: Number.POSITIVE_INFINITY,
  ofApplicationMax: Number.POSITIVE_INFINITY,
  allMax: Number.POSITIVE_INFINITY,
  what: 'slices',
  retrySeconds: 1,
};

/** Long work makes progress however busy the event loop is with other work. */
const restMaxMs = 200;

/** Rests below the resolution of timers are none. */
const restMinMs = 1;

/** The slices of one event loop. */
export function openSlices(): Slices {
  const inTurn = openFairQueue(unlimited);
  const next: Slices['next'] = (of) => inTurn(of, () => new Promise((resolve) => setImmediate(resolve)));
  const longInTurn = openFairQueue(unlimited);
  const rest = openRest();
  const nextOfLong: Slices['nextOfLong'] = (of) =>
    longInTurn(of, async () => {
      await rest();
      await next(of);
    });
  const alone = openFairQueue(unlimited);
  return {
    next,
    nextOfLong,
    alone: (of, work) =>
      alone(of, async () => {
        await next(of);
        return await work();
      }),
  };
}

/** @returns a function that resolves when the event loop was idle as long as it was busy since the last call resolved */
function openRest(): () => Promise<void> {
  let beganMs = performance.now();
  let began = performance.eventLoopUtilization();
  return async () => {
    const { active } = performance.eventLoopUtilization(began);
    const restMs = Math.min(restMaxMs, 4 * active - (performance.now() - beganMs));
    if (restMs >= restMinMs) await delay(restMs);
    beganMs = performance.now();
    began = performance.eventLoopUtilization();
  };
}
