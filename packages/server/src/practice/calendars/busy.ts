/**
 * What is taken, as a search for free slots asks for it: how many intervals an actor has at the fullest instant of another
 * interval.
 */
import type { BusyInterval, Interval } from '../booking/occupancy.ts';

/** How many intervals the actor has at the fullest instant of the interval. */
export type Depth = (actor: string, interval: Interval) => number;

/** Width of the buckets that intervals are sorted into, in milliseconds. */
const bucketMs = 2 * 60 * 60 * 1000;

/** @param taken of all actors that will be asked about, over all intervals that will be asked about */
export function measureDepth(taken: readonly BusyInterval[]): Depth {
  const buckets = new Map<string, BusyInterval[]>();
  for (const interval of taken) {
    for (const bucket of bucketsOf(interval)) {
      const key = `${interval.actor} ${bucket}`;
      const there = buckets.get(key);
      if (there === undefined) buckets.set(key, [interval]);
      else there.push(interval);
    }
  }
  return (actor, interval) => {
    const near = new Set<BusyInterval>();
    for (const bucket of bucketsOf(interval))
      for (const other of buckets.get(`${actor} ${bucket}`) ?? []) if (overlap(other, interval)) near.add(other);
    return near.size < 2 ? near.size : fullest([...near], interval);
  };
}

export function overlap(one: Interval, other: Interval): boolean {
  return one.startMs < other.endMs && other.startMs < one.endMs;
}

/** The fullest instant is the first of the interval, or one at which another begins. */
function fullest(near: readonly Interval[], { startMs }: Interval): number {
  const instants = [startMs, ...near.map((other) => other.startMs).filter((start) => start > startMs)];
  const depths = instants.map((at) => near.filter((other) => other.startMs <= at && other.endMs > at).length);
  return Math.max(...depths);
}

function* bucketsOf({ startMs, endMs }: Interval): Generator<number> {
  for (let bucket = Math.floor(startMs / bucketMs); bucket * bucketMs < endMs; bucket += 1) yield bucket;
}
