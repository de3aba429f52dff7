/** Delays of this process's own event loop: what it was late by itself is not blamed on the service. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

const everyMs = 5;
/** Timers are late by so much without any reason. */
const usualMs = 5;
/** Delays that are remembered; older ones concern nothing that is under way. */
const rememberedMax = 1000;

export interface OwnDelay {
  /** How long this event loop stood still between two readings of performance.now(), in ms. */
  within(fromMs: number, toMs: number): number;
  /** The longest delay since the last call, in ms. */
  take(): number;
  stop(): void;
}

export function openOwnDelay(): OwnDelay {
  const delays: (readonly [fromMs: number, toMs: number])[] = [];
  const histogram = monitorEventLoopDelay({ resolution: everyMs });
  histogram.enable();
  let lastMs = performance.now();
  const look = (): void => {
    const nowMs = performance.now();
    if (nowMs - lastMs > everyMs + usualMs) delays.push([lastMs + everyMs, nowMs]);
    if (delays.length > rememberedMax) delays.shift();
    lastMs = nowMs;
  };
  const timer = setInterval(look, everyMs).unref();
  return {
    within(fromMs, toMs) {
      look();
      let sum = 0;
      for (const [from, to] of delays) sum += Math.max(0, Math.min(to, toMs) - Math.max(from, fromMs));
      return sum;
    },
    take() {
      const longestMs = histogram.max / 1e6;
      histogram.reset();
      return longestMs;
    },
    stop() {
      clearInterval(timer);
      histogram.disable();
    },
  };
}
