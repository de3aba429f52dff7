/**
 * Lanes: of the events that wait, those of one resource are in one lane and are told one after another, and lanes go on at the same
 * time (docs/decisions/0323). Which events lie in which lane, and how they are cut into notifications, depends on numbers alone, so
 * that a repetition has what the first attempt had.
 */
import type { SubscriptionDefinition } from '../definition.ts';
import type { SubscriptionEvent } from '../store.ts';

/** Events that are told in lanes before the next ones are looked at. */
const windowEventsMin = 100;
const windowEventsMax = 1_000;

/** Notifications that a process has under way in lanes beyond the first of each subscription. */
const extraMax = 64;

/** What is left of them, for all subscriptions that the process attends to. */
export interface LaneRoom {
  extra: number;
}

export function openLaneRoom(): LaneRoom {
  return { extra: extraMax };
}

/**
 * Runs `work` with so many lanes as there is room for: one always, and of the others half of what is left at most, so that no
 * subscription takes all.
 */
export async function withLanes<T>(room: LaneRoom, lanes: number, work: (atOnce: number) => Promise<T>): Promise<T> {
  const extra = Math.min(lanes - 1, Math.floor(room.extra / 2));
  room.extra -= extra;
  try {
    return await work(extra + 1);
  } finally {
    room.extra += extra;
  }
}

/** Events of a notification, and lanes: R4's own criteria send one resource a request, or say that something has changed, however much. */
export function computeShape({ topic, endpoint, content, maxCount, ...definition }: SubscriptionDefinition): {
  readonly max: number;
  readonly lanes: number;
} {
  // A socket takes one text at a time.
  const concurrency = endpoint === undefined ? 1 : (definition.concurrency ?? 1);
  if (topic !== undefined) return { max: maxCount, lanes: concurrency };
  return content === 'empty' ? { max: maxCount, lanes: 1 } : { max: 1, lanes: concurrency };
}

/** Events of one window. @param max events of a notification */
export function windowMax(lanes: number, max: number): number {
  return Math.min(windowEventsMax, Math.max(windowEventsMin, lanes * max));
}

/** The lane of a resource: the same for all of its events. */
export function computeLane({ rtype, id }: Pick<SubscriptionEvent, 'rtype' | 'id'>, lanes: number): number {
  // FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/
  let hash = 0x811c9dc5;
  for (const character of `${rtype}/${id}`) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return ((hash ^ (hash >>> 15)) >>> 0) % lanes;
}

export interface Window {
  readonly events: readonly SubscriptionEvent[];
  /** How far each lane is: number of its last event that was delivered. */
  readonly places: readonly number[];
  /** Events of a notification. */
  readonly max: number;
  /** Lanes that go on now: those whose next event is the oldest. */
  readonly atOnce: number;
}

/** One event, and others of the same lane. */
export type Batch = readonly [SubscriptionEvent, ...SubscriptionEvent[]];

/** What came of a batch. `last`: number of its last event that was accepted. Undefined: it is not known, so it is told again. */
export type Told<Failure> = { readonly last: number } | { readonly failed: Failure } | undefined;

export interface Ran<Failure> {
  readonly failed: readonly Failure[];
  /** Something was accepted. */
  readonly hasMoved: boolean;
  /** All of the window was. */
  readonly isDone: boolean;
}

/**
 * Tells the next events of lanes at the same time, one notification each: before the next ones rights are looked at again.
 * @throws what `tell` throws, when all have ended
 */
export async function runLanes<Failure>(
  { events, places, max, atOnce }: Window,
  tell: (batch: Batch, lane: number) => Promise<Told<Failure>>,
): Promise<Ran<Failure>> {
  const failed: Failure[] = [];
  let accepted = 0;
  const waiting = events.filter((event) => event.number > (places[computeLane(event, places.length)] ?? 0));
  const lanes = [...Map.groupBy(waiting, (event) => computeLane(event, places.length))].slice(0, atOnce);
  const run = async ([lane, ofLane]: readonly [number, readonly SubscriptionEvent[]]): Promise<void> => {
    const [first, ...others] = ofLane.slice(0, max);
    if (first === undefined) return;
    const told = await tell([first, ...others], lane);
    if (told === undefined) return;
    if ('failed' in told) failed.push(told.failed);
    else accepted += ofLane.filter(({ number }) => number <= told.last).length;
  };
  const settled = await Promise.allSettled(lanes.map(run));
  for (const each of settled) if (each.status === 'rejected') throw each.reason;
  return { failed, hasMoved: accepted > 0, isDone: accepted === waiting.length };
}
