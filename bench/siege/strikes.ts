/**
 * When faults are struck, and for how long what they break is excused: several in a burst that has one window, which lasts until 5 s
 * after what was hit is back; then a quiet time at least as long.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { openRandom, type Random } from '../../packages/server/src/synthetic/random.ts';
import { type Fault, faultsOf, type Struck } from './faults.ts';
import type { Hazards } from './hazards.ts';
import type { Installation } from './installation.ts';

/** Within it errors are excused. */
export type Window = readonly [fromMs: number, toMs: number];

export interface Strikes {
  readonly windows: readonly Window[];
  /** By name of the fault: how often. */
  readonly counts: ReadonlyMap<string, number>;
  /** By window: from the moment at which what was hit is back until the service says that it is ready, in ms. */
  readonly recoveriesMs: readonly number[];
  /** Share of the time that lies outside the windows. */
  readonly outside: number;
  /** Why faults were left out. */
  readonly leftOut: string | undefined;
}

export interface StrikeOptions {
  readonly count: number;
  /** For how long; longer when windows are longer than the time between two bursts allows. */
  readonly ms: number;
  /** Decides which faults come together, and when. */
  readonly seed: string;
  /** Is told of each burst. */
  readonly onBurst: (line: string) => void;
}

/** How long after what was hit is back its effects are excused, in ms. */
const excusedMs = 5_000;

/** Faults of one burst, all different, and the time within which they begin, in ms. */
const burstSize = 8;
const burstMs = 2_000;

/** The quiet time is longer than the window by this factor. */
const quietRatio = 1.1;

/** What was hit has to be back by then, and the service ready, in ms. */
const backMaxMs = 120_000;

/** Strikes `count` faults in the time. */
export async function strikeFaults(installation: Installation, options: StrikeOptions): Promise<Strikes> {
  const { count, ms, seed, onBurst } = options;
  const { hazards } = installation;
  if (hazards === undefined || count === 0) {
    await delay(ms);
    return { windows: [], counts: new Map(), recoveriesMs: [], outside: 1, leftOut: undefined };
  }
  const random = openRandom(seed);
  const faults = faultsOf(hazards);
  const counts = new Map<string, number>();
  const windows: Window[] = [];
  const recoveriesMs: number[] = [];
  const beganMs = performance.now();
  const bursts = Math.ceil(count / burstSize);
  let left = count;
  for (let burst = 0; burst < bursts; burst++) {
    const fromMs = performance.now();
    const chosen = random.sample(faults, Math.min(burstSize, left));
    left -= chosen.length;
    for (const { name } of chosen) counts.set(name, (counts.get(name) ?? 0) + 1);
    // A stream for each: which of them asks first is a matter of time.
    const streamOf = ({ name }: Fault): Random => openRandom(seed, burst, name);
    const struck = await Promise.all(
      chosen.map((fault) => strike(fault, { installation, hazards, random: streamOf(fault) })),
    );
    await untilBack(installation, hazards);
    const backMs = performance.now();
    await untilReady(installation.origin);
    const readyMs = performance.now();
    recoveriesMs.push(readyMs - backMs);
    const toMs = backMs + excusedMs;
    windows.push([fromMs, toMs]);
    const took = `struck ${seconds(backMs - fromMs)}, ready after ${seconds(readyMs - backMs)}`;
    onBurst(`${seconds(fromMs - beganMs)}: ${took}: ${struck.join('; ')}`);
    const quietMs = Math.max((toMs - fromMs) * quietRatio, ((burst + 1) * ms) / bursts - (toMs - beganMs));
    await delay(Math.max(0, toMs - performance.now()) + quietMs);
  }
  const excused = windows.reduce((sum, [from, to]) => sum + (to - from), 0);
  const outside = 1 - excused / (performance.now() - beganMs);
  return { windows, counts, recoveriesMs, outside, leftOut: leftOut(hazards) };
}

/** Whether what ended at `atMs` after `ms` touches a window. */
export function isExcused(windows: readonly Window[], { atMs, ms }: { readonly atMs: number; readonly ms: number }) {
  return windows.some(([from, to]) => atMs >= from && atMs - ms <= to);
}

/** @returns what was done when */
async function strike(fault: Fault, struck: Struck): Promise<string> {
  const afterMs = struck.random.integer(0, burstMs);
  await delay(afterMs);
  const fromMs = performance.now();
  await fault.strike(struck);
  return `${fault.name} (after ${seconds(afterMs)}, for ${seconds(performance.now() - fromMs)})`;
}

/** Waits until what was hit is back: the database answers by itself, and the port of the service does. */
async function untilBack({ origin }: Installation, hazards: Hazards): Promise<void> {
  await until(
    'what was hit was not back',
    async () => (await hazards.databaseAnswers()) && (await isWell(`${origin}/health/live`)),
  );
}

async function untilReady(origin: string): Promise<void> {
  await until('the service was not ready', () => isWell(`${origin}/health/ready`));
}

async function until(problem: string, look: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + backMaxMs;
  while (!(await look())) {
    if (performance.now() > endMs) throw new Error(`${problem} within ${backMaxMs / 1000} s`);
    await delay(100);
  }
}

async function isWell(url: string): Promise<boolean> {
  return await fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
    async (answer) => {
      await answer.arrayBuffer();
      return answer.ok;
    },
    () => false,
  );
}

function leftOut({ disk }: Hazards): string | undefined {
  return typeof disk === 'string' ? `no full disk, since none can be mounted here: ${disk}` : undefined;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
