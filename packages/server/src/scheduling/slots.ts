/**
 * Slots derived from a calendar: every start on the grid of each window, for each of its appointment types, that ends while
 * the window is open. Whether a slot is free is another question, which what is booked answers.
 */
import type { AppointmentTypeRule, Calendar, Holiday } from './calendar.ts';
import { readSlotId, type SlotIds, slotIds, slotStarts } from './slot-id.ts';
import { type Window, windowsOf } from './windows.ts';
import { type Day, dayAt, dayMs, minuteMs, type Stretch, stretchesOf } from './zone.ts';

export interface CandidateSlot {
  /** Computed from the slot, the same for ever: slot-id.ts. */
  readonly id: string;
  readonly calendar: Calendar;
  readonly type: AppointmentTypeRule;
  readonly startMs: number;
  readonly endMs: number;
  /** What an appointment here takes of the practitioner, with the buffers before and after. */
  readonly occupied: OccupiedInterval;
  /** How many appointments the practitioner may have at once here. */
  readonly capacity: number;
}

/** From a moment up to but without another, in milliseconds since 1970. */
export interface OccupiedInterval {
  readonly startMs: number;
  readonly endMs: number;
}

/** Slots that start in [fromMs, toMs). */
export interface SlotRange {
  readonly fromMs: number;
  readonly toMs: number;
  /** Codes of the appointment types that are wanted; undefined: all. */
  readonly appointmentTypes?: ReadonlySet<string>;
}

/**
 * The slots of the calendar day by day, those of one day in the order of start and of appointment types; none of one that is
 * not active.
 * @param timeZone IANA name, of the calendar's location
 * @param holidays of the calendar's location
 * @throws RangeError for a name that is no time zone
 */
export function* slotsOf(
  calendar: Calendar,
  timeZone: string,
  holidays: readonly Holiday[],
  asked: SlotRange,
): Generator<CandidateSlot> {
  const fromMs = Math.max(asked.fromMs, slotStarts.fromMs);
  const range = { ...asked, fromMs, toMs: Math.min(asked.toMs, slotStarts.toMs) };
  if (!calendar.active || range.fromMs >= range.toMs) return;
  const offers = calendar.appointmentTypes
    .filter(({ code }) => range.appointmentTypes?.has(code) ?? true)
    .map((type) => ({ type, idAt: slotIds(calendar.firm, calendar.number, type.code) }));
  const last = dayAt(timeZone, range.toMs - 1) + 1;
  for (let day = dayAt(timeZone, range.fromMs) - 1; day <= last; day += 1) {
    const slots = windowsOf(calendar, holidays, day).flatMap((window) => {
      const stretches = stretchesOfWindow(timeZone, day, window);
      return offers
        .filter(({ type }) => window.appointmentTypes?.includes(type.code) ?? true)
        .flatMap((offer) => slotsOfWindow({ calendar, day, window, stretches, offer, range }));
    });
    yield* slots.sort((a, b) => a.startMs - b.startMs);
  }
}

/**
 * The slot of an id, or of a type and a start; undefined where the calendar derives no such slot.
 * @param timeZone IANA name, of the calendar's location
 * @param holidays of the calendar's location
 */
export function slotAt(
  calendar: Calendar,
  timeZone: string,
  holidays: readonly Holiday[],
  asked: string | { readonly type: string; readonly startMs: number },
): CandidateSlot | undefined {
  const key = typeof asked === 'string' ? readSlotId(asked) : asked;
  if (key === undefined) return undefined;
  const range = { fromMs: key.startMs, toMs: key.startMs + 1 };
  for (const slot of slotsOf(calendar, timeZone, holidays, range)) {
    if (typeof asked === 'string' ? slot.id === asked : slot.type.code === asked.type) return slot;
  }
  return undefined;
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
  for (const stretch of stretchesOf(timeZone, fromLocalMs, toLocalMs).toReversed()) {
    const later = made.at(-1);
    made.push({ ...stretch, openUntilMs: later?.fromMs === stretch.toMs ? later.openUntilMs : stretch.toMs });
  }
  return made.reverse();
}

interface WindowOffer {
  readonly calendar: Calendar;
  readonly day: Day;
  readonly window: Window;
  readonly stretches: readonly WindowStretch[];
  readonly offer: { readonly type: AppointmentTypeRule; readonly idAt: SlotIds };
  readonly range: SlotRange;
}

function slotsOfWindow({ calendar, day, window, stretches, offer, range }: WindowOffer): readonly CandidateSlot[] {
  const { type, idAt } = offer;
  const stepMs = (window.stepMinutes ?? type.minutes) * minuteMs;
  const gridMs = day * dayMs + window.gridMinutes * minuteMs;
  const slots: CandidateSlot[] = [];
  for (const { fromMs, toMs, offsetMs, openUntilMs } of stretches) {
    const earliest = Math.max(fromMs, range.fromMs);
    const first = gridMs - offsetMs + Math.ceil((earliest - (gridMs - offsetMs)) / stepMs) * stepMs;
    for (let startMs = first; startMs < Math.min(toMs, range.toMs); startMs += stepMs) {
      const endMs = startMs + type.minutes * minuteMs;
      if (endMs > openUntilMs) break;
      const occupied = {
        startMs: startMs - type.bufferBeforeMinutes * minuteMs,
        endMs: endMs + type.bufferAfterMinutes * minuteMs,
      };
      slots.push({ id: idAt(startMs), calendar, type, startMs, endMs, occupied, capacity: window.capacity });
    }
  }
  return slots;
}
