/**
 * Slots derived from a calendar: every start on the grid of each window, for each of its appointment types, that ends while
 * the window is open. Whether a slot is free is another question, which what is booked answers.
 */
import type { BudgetedWork, StepBudget } from '@praxis/fhir';
import type { Interval } from '../../booking/occupancy.ts';
import { type AppointmentTypeRule, type Calendar, type Holiday, type LocalPeriod, wholeDay } from '../calendar.ts';
import { computeWindows, type Window } from '../windows.ts';
import { type Day, dayMs, listStretches, minuteMs, type Stretch, toLocalDay, toWeekday } from '../zone.ts';
import { makeSlotIds, readSlotId, type SlotIds, slotStarts } from './slot-id.ts';

export interface OfferedSlot extends Interval {
  /** Computed from the slot, the same for ever: slot-id.ts. */
  readonly id: string;
  readonly calendar: Calendar;
  /** IANA name, of the calendar's location. */
  readonly timeZone: string;
  readonly type: AppointmentTypeRule;
  /** What an appointment here takes of the practitioner, with the buffers before and after. */
  readonly occupied: Interval;
  /** How many appointments the practitioner may have at once here. */
  readonly capacity: number;
}

/** Slots that start in [fromMs, toMs). */
export interface SlotRange {
  readonly fromMs: number;
  readonly toMs: number;
  /** Codes of the appointment types that are wanted; undefined: all. */
  readonly appointmentTypes?: ReadonlySet<string>;
  /**
   * When slots may start on a day of the week (0 = Sunday … 6 = Saturday) by the wall clock, in order and without overlap;
   * undefined: at any time. Slots at other times are not made.
   */
  readonly startsOn?: (weekday: number) => readonly LocalPeriod[];
}

/** What deriving slots is, for those whose budget it uses up. */
export const derivingSlots: BudgetedWork = {
  what: 'The search for slots',
  cheaper: 'name fewer days, appointment types, practitioners or locations',
};

/** Steps of a budget: a slot made, put in order and compared with what is taken. */
const stepsPerSlot = 10;
/** An appointment type in a window of a day. */
const stepsPerOffer = 5;

/**
 * The slots of the calendar day by day, those of one day in the order of start and of appointment types; none of one that is
 * not active.
 * @param timeZone IANA name, of the calendar's location
 * @param holidays of the calendar's location
 * @throws RangeError for a name that is no time zone; PraxisError `too-costly`
 */
export function* deriveSlots(
  calendar: Calendar,
  timeZone: string,
  holidays: readonly Holiday[],
  asked: SlotRange,
  budget: StepBudget,
): Generator<OfferedSlot> {
  const fromMs = Math.max(asked.fromMs, slotStarts.fromMs);
  const range = { ...asked, fromMs, toMs: Math.min(asked.toMs, slotStarts.toMs) };
  if (!calendar.active || range.fromMs >= range.toMs) return;
  const spend = (steps: number): void => budget.spend(steps, derivingSlots);
  const offers = calendar.appointmentTypes
    .filter(({ code }) => range.appointmentTypes?.has(code) ?? true)
    .map((type) => ({ calendar, timeZone, type, idAt: makeSlotIds(calendar.firm, calendar.number, type.code), spend }));
  const last = toLocalDay(timeZone, range.toMs - 1) + 1;
  for (let day = toLocalDay(timeZone, range.fromMs) - 1; day <= last; day += 1) {
    const starts = range.startsOn?.(toWeekday(day)) ?? anyStart;
    spend(1);
    if (starts.length === 0) continue;
    spend(stepsOfDay(calendar, holidays, day));
    const slots = computeWindows(calendar, holidays, day).flatMap((window) => {
      const stretches = startStretches(day, stretchesOfWindow(timeZone, day, window), starts, range);
      spend(1);
      if (stretches.length === 0) return [];
      spend(offers.length * stepsPerOffer);
      return offers
        .filter(({ type }) => window.appointmentTypes?.includes(type.code) ?? true)
        .flatMap((offer) => slotsOfWindow(offer, day, window, stretches));
    });
    yield* slots.sort((a, b) => a.startMs - b.startMs);
  }
}

const anyStart: readonly LocalPeriod[] = [wholeDay];

/** What it takes to tell when a day is open: each rule of the week is cut by each closure and extra opening of the day. */
function stepsOfDay({ weekly, exceptions }: Calendar, holidays: readonly Holiday[], day: Day): number {
  const { closures, openings } = exceptions.get(day) ?? { closures: [], openings: [] };
  const cuts = closures.length + openings.length;
  return 2 * (weekly.length + holidays.length) + cuts * (weekly.length + cuts);
}

/**
 * The slot of an id, or of a type and a start; undefined where the calendar derives no such slot. It costs no more than the
 * rules of a few days, which the limits of a calendar bound.
 * @param timeZone IANA name, of the calendar's location
 * @param holidays of the calendar's location
 */
export function deriveSlot(
  calendar: Calendar,
  timeZone: string,
  holidays: readonly Holiday[],
  asked: string | { readonly type: string; readonly startMs: number },
): OfferedSlot | undefined {
  const key = typeof asked === 'string' ? readSlotId(asked) : asked;
  if (key === undefined) return undefined;
  const range = { fromMs: key.startMs, toMs: key.startMs + 1 };
  return deriveSlots(calendar, timeZone, holidays, range, { spend: () => undefined }).find((slot) =>
    typeof asked === 'string' ? slot.id === asked : slot.type.code === asked.type,
  );
}

/** A window on a day: when its clocks run evenly, each with the moment at which what it belongs to closes. */
interface WindowStretch extends Stretch {
  /** The window is open without a break until then, also where the clocks are set in between. */
  readonly openUntilMs: number;
}

function stretchesOfWindow(timeZone: string, day: Day, window: Window): readonly WindowStretch[] {
  const midnight = day * dayMs;
  const fromLocalMs = midnight + window.fromMinutes * minuteMs;
  const toLocalMs = midnight + window.toMinutes * minuteMs;
  const made: WindowStretch[] = [];
  for (const stretch of listStretches(timeZone, fromLocalMs, toLocalMs).toReversed()) {
    const later = made.at(-1);
    made.push({ ...stretch, openUntilMs: later?.fromMs === stretch.toMs ? later.openUntilMs : stretch.toMs });
  }
  return made.reverse();
}

interface Offer extends Pick<OfferedSlot, 'calendar' | 'timeZone' | 'type'> {
  readonly idAt: SlotIds;
  readonly spend: (steps: number) => void;
}

/** @param stretches in which slots start */
function slotsOfWindow(
  { calendar, timeZone, type, idAt, spend }: Offer,
  day: Day,
  window: Window,
  stretches: readonly WindowStretch[],
): readonly OfferedSlot[] {
  const stepMs = (window.stepMinutes ?? type.minutes) * minuteMs;
  const gridMs = day * dayMs + window.gridMinutes * minuteMs;
  const slots: OfferedSlot[] = [];
  for (const { fromMs, toMs, offsetMs, openUntilMs } of stretches) {
    const first = gridMs - offsetMs + Math.ceil((fromMs - (gridMs - offsetMs)) / stepMs) * stepMs;
    for (let startMs = first; startMs < toMs; startMs += stepMs) {
      spend(stepsPerSlot);
      const endMs = startMs + type.minutes * minuteMs;
      if (endMs > openUntilMs) break;
      const occupied = {
        startMs: startMs - type.bufferBeforeMinutes * minuteMs,
        endMs: endMs + type.bufferAfterMinutes * minuteMs,
      };
      slots.push({ id: idAt(startMs), calendar, timeZone, type, startMs, endMs, occupied, capacity: window.capacity });
    }
  }
  return slots;
}

/** The parts of the window's stretches in which slots may start. */
function startStretches(
  day: Day,
  stretches: readonly WindowStretch[],
  starts: readonly LocalPeriod[],
  range: SlotRange,
): readonly WindowStretch[] {
  return stretches.flatMap((stretch) => {
    const midnightMs = day * dayMs - stretch.offsetMs;
    return starts.flatMap(({ fromMinutes, toMinutes }) => {
      const fromMs = Math.max(stretch.fromMs, range.fromMs, midnightMs + fromMinutes * minuteMs);
      const toMs = Math.min(stretch.toMs, range.toMs, midnightMs + toMinutes * minuteMs);
      return fromMs < toMs ? [{ ...stretch, fromMs, toMs }] : [];
    });
  });
}
