/**
 * How far the heap of a worker grows between two collections of its old generation (docs/decisions/0305). V8 lets it grow to
 * four times what was left, and keeps the memory. A worker that has time to spare collects earlier and stays small; one that
 * has none collects seldom, so that no request waits for it.
 */
import { setFlagsFromString } from 'node:v8';

/** Share of a collection's remainder by which the heap may grow before the next, in per cent, in calm times. */
const calmGrowthPercent = 50;

/** Use of the event loop from which on there is no time to spare. */
const busyUse = 0.9;

/** For how long the event loop has to be calm. */
const calmAfterMs = 5_000;

export interface HeapGrowth {
  /** Tells how busy the event loop was since the last call: 0 to 1. */
  note(loopUse: number): void;
}

/**
 * Heaps grow as in calm times from the call on.
 * @param monotonic milliseconds that only ever grow
 */
export function openHeapGrowth(monotonic: () => number = () => performance.now()): HeapGrowth {
  let isCalm = true;
  let busyMs = Number.NEGATIVE_INFINITY;
  setGrowth(calmGrowthPercent);
  return {
    note(loopUse) {
      const nowMs = monotonic();
      if (loopUse >= busyUse) busyMs = nowMs;
      const wasCalm = isCalm;
      isCalm = nowMs - busyMs >= calmAfterMs;
      if (isCalm !== wasCalm) setGrowth(isCalm ? calmGrowthPercent : 0);
    },
  };
}

/** @param percent 0: as V8 decides */
function setGrowth(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}
