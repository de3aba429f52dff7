/**
 * Free slots: those of the calendars less what is taken, in an order that depends on nothing else: by start, then by number
 * of the calendar, then by code of the appointment type.
 */
import type { BookableActor, OccupancyStore } from '../storage/occupancy.ts';
import type { TenantScope } from '../tenancy/scope.ts';
import { type Depth, depthOver } from './busy.ts';
import type { Calendar, Holiday } from './calendar.ts';
import { type CandidateSlot, slotsOf } from './slots.ts';
import { dayMs } from './zone.ts';

/** A calendar with all that its slots are derived from. */
export interface ScheduledCalendar {
  readonly calendar: Calendar;
  /** IANA name, of the location. */
  readonly timeZone: string;
  /** Of the location. */
  readonly holidays: readonly Holiday[];
}

export interface OfferedSlot extends CandidateSlot {
  readonly timeZone: string;
}

/** What is wanted: slots that start in [fromMs, toMs). */
export interface Wanted {
  readonly fromMs: number;
  readonly toMs: number;
  readonly appointmentTypes?: ReadonlySet<string>;
  /** The last slot that was seen: only later ones. */
  readonly after?: SlotPlace;
}

/** A place in the order of slots. */
export interface SlotPlace {
  readonly startMs: number;
  readonly calendar: number;
  readonly type: string;
}

/** Days that are looked at together: one statement each. */
const daysAtOnce = 10;

export interface FreeSlotsContext {
  readonly scope: TenantScope;
  readonly store: OccupancyStore;
  readonly nowMs: number;
}

/** The rooms and equipment that appointments of the calendars may need, and the practitioners themselves, as Type/id. */
export function actorsOf(calendars: readonly ScheduledCalendar[]): readonly string[] {
  const actors = calendars.flatMap(({ calendar }) => [
    practitionerOf(calendar),
    ...calendar.appointmentTypes.flatMap(({ needs }) => needs.flatMap(({ anyOf }) => anyOf)),
  ]);
  return [...new Set(actors)].sort();
}

export function practitionerOf({ practitioner }: Calendar): string {
  return `Practitioner/${practitioner}`;
}

/** Free slots in order, found as they are asked for. @throws PraxisError `stale-access` */
export async function* freeSlots(
  { scope, store, nowMs }: FreeSlotsContext,
  calendars: readonly ScheduledCalendar[],
  wanted: Wanted,
): AsyncGenerator<OfferedSlot> {
  const actors = actorsOf(calendars);
  const bookable = byActor(await store.bookableActors(scope, actors));
  const first = Math.max(wanted.fromMs, wanted.after?.startMs ?? wanted.fromMs);
  for (let fromMs = first; fromMs < wanted.toMs; fromMs += daysAtOnce * dayMs) {
    const period = { startMs: fromMs - dayMs, endMs: Math.min(fromMs + daysAtOnce * dayMs, wanted.toMs) + 2 * dayMs };
    const depth = depthOver(await store.busyIntervals(scope, actors, period, nowMs));
    const slots = candidates(calendars, {
      ...wanted,
      fromMs,
      toMs: Math.min(fromMs + daysAtOnce * dayMs, wanted.toMs),
    });
    for (const slot of slots) if (isAfter(slot, wanted.after) && isFree(slot, depth, bookable)) yield slot;
  }
}

/** All slots of the calendars in order, free or not. */
export function candidates(calendars: readonly ScheduledCalendar[], wanted: Wanted): readonly OfferedSlot[] {
  return calendars
    .flatMap(({ calendar, timeZone, holidays }) =>
      [...slotsOf(calendar, timeZone, holidays, wanted)].map((slot) => ({ ...slot, timeZone })),
    )
    .sort((one, other) => compare(placeOf(one), placeOf(other)));
}

export function placeOf({ startMs, calendar, type }: CandidateSlot): SlotPlace {
  return { startMs, calendar: calendar.number, type: type.code };
}

/** Whether an appointment could be booked there: the practitioner has room, and of each need one has. */
export function isFree(slot: CandidateSlot, depth: Depth, bookable: ReadonlyMap<string, BookableActor>): boolean {
  if (depth(practitionerOf(slot.calendar), slot.occupied) >= slot.capacity) return false;
  return slot.type.needs.every(({ anyOf }) =>
    anyOf.some((actor) => depth(actor, slot.occupied) < (bookable.get(actor)?.capacity ?? 0)),
  );
}

export function byActor(actors: readonly BookableActor[]): ReadonlyMap<string, BookableActor> {
  return new Map(actors.map((each) => [each.actor, each]));
}

function isAfter(slot: CandidateSlot, after: SlotPlace | undefined): boolean {
  return after === undefined || compare(placeOf(slot), after) > 0;
}

function compare(one: SlotPlace, other: SlotPlace): number {
  if (one.startMs !== other.startMs) return one.startMs - other.startMs;
  if (one.calendar !== other.calendar) return one.calendar - other.calendar;
  return one.type < other.type ? -1 : one.type > other.type ? 1 : 0;
}
