/**
 * The event loop, shared in slices. Work that may be long asks for its next slice; one is given per turn of the loop,
 * so that requests that are cheap are answered between any two. Applications come one after another, and the firms of
 * each.
 */
import { setImmediate } from 'node:timers';
import { openFairQueue, type TurnOf } from './fair-queue.ts';

export interface Slices {
  /** Resolves when it is the turn of `of`, in a turn of the event loop in which no other slice begins. */
  next(of: TurnOf): Promise<void>;
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

/** The slices of one event loop. */
export function openSlices(): Slices {
  const inTurn = openFairQueue(unlimited);
  const next: Slices['next'] = (of) => inTurn(of, () => new Promise((resolve) => setImmediate(resolve)));
  const alone = openFairQueue(unlimited);
  return {
    next,
    alone: (of, work) =>
      alone(of, async () => {
        await next(of);
        return await work();
      }),
  };
}
