/**
 * When those who work in the practices come: a day from 7 to 17 o'clock as a Poisson process
 * (https://en.wikipedia.org/wiki/Poisson_point_process) whose rate changes by the hour. At 8 o'clock, when the practices open, most
 * come at once.
 */
import type { Random } from '../../packages/server/src/synthetic/random.ts';

interface Stretch {
  /** In hours of the day. */
  readonly until: number;
  /** In proportion to the others. */
  readonly rate: number;
}

export const opensAt = 7;
export const hours = 10;

const stretches: readonly Stretch[] = [
  { until: 8, rate: 0.5 },
  { until: 8.25, rate: 3 },
  { until: 10, rate: 1.2 },
  { until: 12, rate: 1 },
  { until: 13, rate: 0.5 },
  { until: 15, rate: 1.1 },
  { until: 16, rate: 0.9 },
  { until: 17, rate: 0.6 },
];

const mean =
  stretches.reduce(
    (sum, { until, rate }, index) => sum + rate * (until - (stretches[index - 1]?.until ?? opensAt)),
    0,
  ) / hours;

/** The rate at that share of the day ÷ the mean of the day. */
export function computeRate(share: number): number {
  const hour = opensAt + share * hours;
  const stretch = stretches.find(({ until }) => hour < until) ?? stretches.at(-1);
  return (stretch?.rate ?? 0) / mean;
}

/** Whether that share of the day lies in the burst of 8 o'clock. */
export function isBurst(share: number): boolean {
  return computeRate(share) >= computeRate((8 - opensAt) / hours);
}

/** The moments of a day of so many seconds, in ms from its begin. @param perSecond arrivals, in the mean */
export function* scheduleArrivals(seconds: number, perSecond: number, random: Random): Generator<number> {
  const most = perSecond * computeRate((8 - opensAt) / hours);
  for (let atMs = 0; ; ) {
    atMs += (-Math.log(1 - random.next()) / most) * 1000;
    if (atMs >= seconds * 1000) return;
    // Thinning: of the arrivals of a constant rate as many are kept as the rate of the moment says.
    if (random.chance((computeRate(atMs / 1000 / seconds) * perSecond) / most)) yield atMs;
  }
}
