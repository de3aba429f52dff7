/**
 * Free slots: those of the calendars less what is taken, in an order that depends on nothing else: by start, then by number
 * of the calendar, then by code of the appointment type.
 */
import type { Budget } from '@praxis/fhir';
import type { StatementRunner } from '../../../storage/statement-runner.ts';
import type { TenantScope } from '../../../tenancy/scope.ts';
import { type BookableActor, findBookableActors, findBusyIntervals } from '../../booking/occupancy.ts';
import { type Depth, measureDepth } from '../busy.ts';
import type { AppointmentTypeRule, Calendar, Holiday, LocalPeriod } from '../calendar.ts';
import { dayMs, minuteMs } from '../zone.ts';
import { deriveSlots, derivingSlots, type OfferedSlot, type SlotRange } from './slots.ts';

/** A calendar with all that its slots are derived from. */
export interface ScheduledCalendar {
  readonly calendar: Calendar;
  /** IANA name, of the location. */
  readonly timeZone: string;
  /** Of the location. */
  readonly holidays: readonly Holiday[];
}

/** What is wanted: slots that start in [fromMs, toMs). */
export interface WantedSlots extends SlotRange {
  /** The last slot that was seen: only later ones. */
  readonly after?: SlotPlace;
  /** Whether no more slots of a calendar, by its number, are wanted. */
  readonly isDone?: (calendar: number) => boolean;
  /** Ends with `RestUnseen` while the budget has something left, for who can go on from there. */
  readonly endsEarly?: boolean;
}

/** The budget does not suffice for the rest of the time. */
export class RestUnseen extends Error {
  /** All slots that start before were found. */
  readonly fromMs: number;
  constructor(fromMs: number) {
    super('the rest is unseen');
    this.fromMs = fromMs;
  }
}

/** A place in the order of slots, such as that of a slot. */
export interface SlotPlace {
  readonly startMs: number;
  readonly calendar: Pick<Calendar, 'number'>;
  readonly type: Pick<AppointmentTypeRule, 'code'>;
}

/** Days of which it is asked together what is taken: one statement each. */
const daysAtOnce = 10;
/** Slots that are made and put in order at once, about. */
const slotsAtOnce = 5_000;
/** Time that is looked at together at least: calendars have no smaller step. */
const portionMsMin = 5 * minuteMs;
/** Steps of a budget that are left to the answer, where a walk ends early. */
export const stepsOfAnswer = 100_000;
/** Steps: an interval that is taken; an actor that a slot is compared with. */
const stepsPerTaken = 5;

export interface FreeSlotsContext {
  readonly scope: TenantScope;
  readonly store: StatementRunner;
  readonly nowMs: number;
  readonly budget: Budget;
}

/** The rooms and equipment that appointments of the calendars may need, and the practitioners themselves, as Type/id. */
export function listCalendarActors(calendars: readonly Pick<ScheduledCalendar, 'calendar'>[]): readonly string[] {
  const actors = calendars.flatMap(({ calendar }) => [
    toPractitionerReference(calendar),
    ...calendar.appointmentTypes.flatMap(({ needs }) => needs.flatMap(({ anyOf }) => anyOf)),
  ]);
  return [...new Set(actors)].sort();
}

export function toPractitionerReference({ practitioner }: Calendar): string {
  return `Practitioner/${practitioner}`;
}

/** Free slots in order, found as they are asked for. @throws PraxisError `stale-access`, `too-costly`; RestUnseen */
export async function* freeSlots(
  { scope, store, nowMs, budget }: FreeSlotsContext,
  calendars: readonly ScheduledCalendar[],
  wanted: WantedSlots,
): AsyncGenerator<OfferedSlot> {
  const actors = listCalendarActors(calendars);
  const bookable = await findBookableActors(store, scope, actors);
  const first = Math.max(wanted.fromMs, wanted.after?.startMs ?? wanted.fromMs);
  const portionMs = portionOf(calendars, wanted);
  let stepsOfPortion = 0;
  for (let fromMs = first; fromMs < wanted.toMs; fromMs += daysAtOnce * dayMs) {
    const toMs = Math.min(fromMs + daysAtOnce * dayMs, wanted.toMs);
    const around = { startMs: fromMs - dayMs, endMs: toMs + 2 * dayMs };
    const taken = await findBusyIntervals(store, scope, actors, around, nowMs);
    budget.spend(taken.length * stepsPerTaken, derivingSlots);
    const depth = measureDepth(taken);
    for (let atMs = fromMs; atMs < toMs; atMs += portionMs) {
      const before = budget.stepsLeft;
      if (wanted.endsEarly === true && atMs > first && before < 2 * stepsOfPortion + stepsOfAnswer)
        throw new RestUnseen(atMs);
      const range = { ...wanted, fromMs: atMs, toMs: Math.min(atMs + portionMs, toMs) };
      for (const slot of await candidates(calendars, range, budget)) {
        if (wanted.after !== undefined && compareSlots(slot, wanted.after) <= 0) continue;
        budget.spend(stepsOfNeeds(slot), derivingSlots);
        if (isFree(slot, depth, bookable)) yield slot;
      }
      stepsOfPortion = before - budget.stepsLeft;
    }
  }
}

/** All slots of the calendars in order, free or not. @throws PraxisError `too-costly` */
async function candidates(
  calendars: readonly ScheduledCalendar[],
  wanted: WantedSlots,
  budget: Budget,
): Promise<readonly OfferedSlot[]> {
  const slots: OfferedSlot[] = [];
  for (const { calendar, timeZone, holidays } of calendars) {
    if (wanted.isDone?.(calendar.number) === true) continue;
    for (const slot of deriveSlots(calendar, timeZone, holidays, wanted, budget)) slots.push(slot);
    await budget.breathe(derivingSlots);
  }
  return slots.sort(compareSlots);
}

/** Time that calendars make `slotsAtOnce` slots for at most, in ms: `daysAtOnce` at most. */
function portionOf(calendars: readonly ScheduledCalendar[], { appointmentTypes, startsOn }: SlotRange): number {
  const minutesOfDay = dayMs / minuteMs;
  const minutesOpen = Math.max(
    ...weekdays.map((day) => (startsOn === undefined ? minutesOfDay : minutesIn(startsOn(day)))),
  );
  let ofDay = 0;
  for (const { calendar } of calendars) {
    const openings = [...calendar.weekly, ...[...calendar.exceptions.values()].flatMap((each) => each.openings)];
    const step = openings.reduce((least, { stepMinutes }) => Math.min(least, stepMinutes ?? least), minutesOfDay);
    for (const { code, minutes } of calendar.appointmentTypes)
      if (appointmentTypes?.has(code) ?? true) ofDay += minutesOpen / Math.min(step, minutes);
  }
  const portion = Math.floor((dayMs * slotsAtOnce) / Math.max(1, ofDay) / portionMsMin) * portionMsMin;
  return Math.min(Math.max(portion, portionMsMin), daysAtOnce * dayMs);
}

const weekdays: readonly number[] = [0, 1, 2, 3, 4, 5, 6];

function minutesIn(periods: readonly LocalPeriod[]): number {
  return periods.reduce((minutes, { fromMinutes, toMinutes }) => minutes + toMinutes - fromMinutes, 0);
}

function stepsOfNeeds({ type }: OfferedSlot): number {
  return type.needs.reduce((actors, { anyOf }) => actors + anyOf.length, 0) * stepsPerTaken;
}

/** Whether an appointment could be booked there: the practitioner has room, and of each need one has. */
export function isFree(slot: OfferedSlot, depth: Depth, bookable: ReadonlyMap<string, BookableActor>): boolean {
  if (depth(toPractitionerReference(slot.calendar), slot.occupied) >= slot.capacity) return false;
  return slot.type.needs.every(({ anyOf }) =>
    anyOf.some((actor) => depth(actor, slot.occupied) < (bookable.get(actor)?.capacity ?? 0)),
  );
}

/** By start, then by number of the calendar, then by code of the appointment type. */
export function compareSlots(one: SlotPlace, other: SlotPlace): number {
  if (one.startMs !== other.startMs) return one.startMs - other.startMs;
  if (one.calendar.number !== other.calendar.number) return one.calendar.number - other.calendar.number;
  if (one.type.code === other.type.code) return 0;
  return one.type.code < other.type.code ? -1 : 1;
}
