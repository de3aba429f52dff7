/** When faults are struck, and for how long what they break is excused. */
import { setTimeout as delay } from 'node:timers/promises';
import { faults } from './faults.ts';
import type { Installation } from './installation.ts';

/** Within it errors are excused; from the first fault of a burst until some time after its dependency is back. */
export type Window = readonly [fromMs: number, toMs: number];

/** How long after a fault its effects are excused, in ms. */
const excusedMs = 5_000;

/** Spreads the faults over `ms`. At least half of it lies outside the windows, or the rest of the faults is left out. */
export async function strikeFaults(installation: Installation, count: number, ms: number): Promise<readonly Window[]> {
  const windows: Window[] = [];
  const endsMs = performance.now() + ms;
  const pauseMs = ms / Math.max(1, count);
  for (let number = 0; number < count && performance.now() < endsMs; number++) {
    const fault = faults[number % faults.length];
    if (fault === undefined) break;
    const fromMs = performance.now();
    await fault.strike(installation);
    await untilReady(installation.origin);
    windows.push([fromMs, performance.now() + excusedMs]);
    await delay(Math.max(excusedMs * 2, pauseMs - (performance.now() - fromMs)));
  }
  await delay(Math.max(0, endsMs - performance.now()));
  if (count > 0) console.log(`faults: ${windows.length}`);
  return windows;
}

/** Whether what ended at `atMs` after `ms` touches a window. */
export function isExcused(windows: readonly Window[], { atMs, ms }: { readonly atMs: number; readonly ms: number }) {
  return windows.some(([from, to]) => atMs >= from && atMs - ms <= to);
}

async function untilReady(origin: string): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    const isReady = await fetch(`${origin}/health/ready`).then(
      (answer) => answer.ok,
      () => false,
    );
    if (isReady) return;
    await delay(100);
  }
  throw new Error('the service did not become ready again within a minute');
}
