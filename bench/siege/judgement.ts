/** What has to hold in a siege, and what of it does not. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Attack } from '../../packages/server/test/support/worst-cases.ts';
import type { Struck } from './attacks.ts';
import type { Caller } from './caller.ts';
import { type Figures, isError } from './figures.ts';
import type { Beats } from './pulse.ts';
import { type Deed, identifierSystem, type Victim } from './victim.ts';

/** What has to hold. */
const bounds = {
  /** Longest silence of /health/live, in ms, without faults. */
  silenceMs: 250,
  /** p99 of the practice under siege ÷ alone. */
  p99Ratio: 10,
  /** Goodput under siege ÷ alone. */
  goodputRatio: 0.9,
  /** Units of rate per request under siege ÷ alone. */
  unitsRatio: { min: 0.9, max: 1.1 },
} as const;

export interface Phase {
  readonly figures: Figures;
  readonly deeds: readonly Deed[];
  readonly unitsPerRequest: number;
  readonly pulse: readonly Beats[];
  /** How many workers there were. */
  readonly workers: number;
  /** Longest delay of the siege's own event loop, in ms. */
  readonly ownDelayMs: number;
}

/** What a machine that is too slow for all that is asked of it makes of a request. */
const ofSlowness: ReadonlySet<number> = new Set([0, 429, 503]);

/** The bounds that are broken, in words. @param isUntimed those of time are not judged, nor what slowness alone explains */
export function brokenBounds(alone: Phase, siege: Phase, isUntimed: boolean): string[] {
  const errors = siege.deeds.filter(isError);
  const broken: string[] = [];
  for (const worker of unseen(siege)) broken.push(`worker ${worker} never answered /health/live`);
  const judged = errors.filter(({ status }) => !isUntimed || !ofSlowness.has(status));
  const alike = Map.groupBy(judged, ({ kind, status }) => `${kind} of the practice: ${status}`);
  for (const [what, those] of alike) broken.push(`${what}, ${those.length} times: ${those[0]?.said}`);
  if (isUntimed) return broken;
  const p99 = siege.figures.p99Ms / alone.figures.p99Ms;
  const goodput = siege.figures.goodput / alone.figures.goodput;
  const units = siege.unitsPerRequest / alone.unitsPerRequest;
  for (const { worker, longestMs } of siege.pulse)
    if (longestMs > bounds.silenceMs)
      broken.push(`/health/live of worker ${worker} was silent for ${Math.round(longestMs)} ms`);
  if (p99 > bounds.p99Ratio) broken.push(`p99 of the practice is ${p99.toFixed(1)} times that alone`);
  if (goodput < bounds.goodputRatio) broken.push(`goodput of the practice is ${goodput.toFixed(2)} of that alone`);
  if (units < bounds.unitsRatio.min || units > bounds.unitsRatio.max)
    broken.push(`the practice pays ${units.toFixed(2)} times the units that it pays alone`);
  return broken;
}

/** Workers are numbered from 1. */
function unseen({ pulse, workers }: Phase): readonly string[] {
  const seen = new Set(pulse.map(({ worker }) => worker));
  return Array.from({ length: workers }, (_, number) => String(number + 1)).filter((worker) => !seen.has(worker));
}

/** An attack may be refused; it may not break anything. */
export function faultsOfAttacks(attacks: readonly Attack[], struck: readonly Struck[], isUntimed: boolean): string[] {
  const broken = struck.filter(({ status }) => status === 500 || (status === 0 && !isUntimed));
  const named = new Map(broken.map(({ name, status, said }) => [`${name}: ${status}`, said]));
  const sent = new Set(struck.map(({ name }) => name));
  const unsent = isUntimed ? [] : attacks.filter(({ name }) => !sent.has(name)).map(({ name }) => name);
  return [
    ...[...named].map(([what, said]) => `attack ${what} ${said}`),
    ...(unsent.length === 0 ? [] : [`never sent: ${unsent.join(', ')}`]),
  ];
}

/** Each acknowledged create is there once; none that was not acknowledged is there twice. */
export async function lostWrites(caller: Caller, victim: Victim): Promise<string[]> {
  const broken: string[] = [];
  const all = [
    ...victim.acknowledged.map((value) => [value, 1] as const),
    ...victim.uncertain.map((value) => [value, 0] as const),
  ];
  for (const [value, min] of all) {
    broken.push(...judgeCreate(value, await countOf(caller, identifierSystem, value), min));
  }
  console.log(
    `writes: ${victim.acknowledged.length} acknowledged, ${victim.uncertain.length} uncertain, all looked up`,
  );
  return broken;
}

/** @param found how many there are @param min how many there must be */
export function judgeCreate(value: string, found: number, min: number): string[] {
  if (found < min) return [`an acknowledged create is lost: ${value}`];
  return found > 1 ? [`a create took effect ${found} times: ${value}`] : [];
}

/** How many patients with an identifier there are; who has used up the minute waits for the next one. */
export async function countOf(caller: Caller, system: string, value: string): Promise<number> {
  for (;;) {
    const path = `Patient?identifier=${system}|${value}&_summary=count`;
    const { status, body } = await caller.send({ method: 'GET', path });
    if (status === 200) return JSON.parse(body).total;
    if (status !== 429) throw new Error(`looking up a create: ${status} ${body}`);
    await delay(1_000);
  }
}
