/** When and how often something runs again after the database could not carry it out. */
import type { FailureKind } from './sqlstate.ts';

/** Runs in all, the first included. */
export const runsMax = 4;

const pauseUnitMs = 15;

/**
 * Whether a single statement may run again. After `serialization` and `stale-plan` it has certainly had no effect; after
 * `lost` it may have, so only what is idempotent is repeated.
 */
export function mayRunAgain(condition: FailureKind, idempotent: boolean): boolean {
  return condition === 'serialization' || condition === 'stale-plan' || (condition === 'lost' && idempotent);
}

/** Pause before the next run, growing and random, so that those who collided do not collide again. */
export function pauseMs(run: number): number {
  return pauseUnitMs * 2 ** (run - 1) * (0.5 + Math.random());
}
