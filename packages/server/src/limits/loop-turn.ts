/** How long the thread has been held since the event loop last turned (docs/decisions/0302). */
import { performance } from 'node:perf_hooks';

/**
 * A function that tells for how long, in ms, the present turn of the event loop has lasted. It knows a turn from the first call in it,
 * so what comes before that is not counted.
 * @param nowMs by `performance.now()`
 */
export function watchLoopTurn(): (nowMs: number) => number {
  let turn = -1;
  let beganMs = 0;
  return (nowMs) => {
    const { loopCount } = performance.nodeTiming.uvMetricsInfo;
    if (loopCount !== turn) {
      turn = loopCount;
      beganMs = nowMs;
    }
    return nowMs - beganMs;
  };
}
