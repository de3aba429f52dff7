/**
 * What a refused booking is told: that the slot is taken, from when until when, by nobody's name, and the next free slots
 * that would do as well.
 */
import type { ErrorDetails, ErrorIssue } from '../../base/errors.ts';
import {
  type FreeSlotsContext,
  freeSlots,
  type OfferedSlot,
  RestUnseen,
  type ScheduledCalendar,
} from '../calendars/free-slots.ts';
import { mergeSlots, restrictResources } from '../calendars/joint-availability.ts';
import { dayMs, formatInstant } from '../calendars/zone.ts';
import type { Booking, BookingClaim } from './booking.ts';
import type { Interval } from './occupancy.ts';

/** Free slots that a refusal names at most. */
export const alternativesMax = 5;

/** How far ahead they are sought, in days. */
const daysAhead = 90;

export interface Refused {
  readonly booking: Booking;
  readonly claim: BookingClaim;
  /** What stands in the way. */
  readonly blocked: Interval;
  readonly calendars: readonly ScheduledCalendar[];
}

/** @param maySeeSlots whether the caller may be told of free slots */
export async function describeTaken(
  context: FreeSlotsContext,
  refused: Refused,
  maySeeSlots: boolean,
): Promise<ErrorDetails> {
  const zone = zoneOf(refused);
  const from = formatInstant(zone, refused.blocked.startMs);
  const until = formatInstant(zone, refused.blocked.endMs);
  const start = formatInstant(zone, refused.booking.startMs);
  const taken = `The slot at ${start} is taken: nothing is free from ${from} to ${until}`;
  const expression = ['Appointment.start'];
  if (!maySeeSlots) return { diagnostics: `${taken}. With acl/slot_s this answer would name free slots`, expression };
  const { alternatives, isSeen } = await equivalentSlots(context, refused);
  if (alternatives.length === 0 && !isSeen)
    return {
      diagnostics: `${taken}. To look for free slots would cost more than one request may: $find does`,
      expression,
    };
  if (alternatives.length === 0)
    return { diagnostics: `${taken}, and no equivalent slot in the next ${daysAhead} days`, expression };
  const more = alternatives.map(alternativeIssue);
  return { diagnostics: `${taken}. The next free ones follow`, expression, more };
}

function alternativeIssue({ id, startMs, endMs, timeZone }: OfferedSlot): ErrorIssue {
  const display = `${formatInstant(timeZone, startMs)}/${formatInstant(timeZone, endMs)}`;
  return {
    severity: 'information',
    issue: 'informational',
    diagnostics: `Free: ${display}, Slot/${id}`,
    alternative: { reference: `Slot/${id}`, display },
  };
}

interface Equivalent {
  readonly alternatives: readonly OfferedSlot[];
  /** Whether all of the time was looked at, as far as alternatives were missing. */
  readonly isSeen: boolean;
}

/** The next free slots of the same practitioners, places and type: in order of start, at most `alternativesMax`. */
async function equivalentSlots(context: FreeSlotsContext, refused: Refused): Promise<Equivalent> {
  const { booking, claim } = refused;
  const fromMs = Math.max(booking.startMs, context.nowMs);
  const wanted = { fromMs, toMs: fromMs + daysAhead * dayMs, endsEarly: true };
  const walks = claim.slots.map((slot) => {
    const own = refused.calendars.filter(({ calendar }) => calendar.number === slot.calendar.number);
    const appointmentTypes = new Set([slot.type.code]);
    return freeSlots(
      context,
      own.map((each) => restrictResources(each, booking.actors)),
      { ...wanted, appointmentTypes },
    );
  });
  const alternatives: OfferedSlot[] = [];
  try {
    for await (const slot of mergeSlots(walks)) {
      alternatives.push(slot);
      if (alternatives.length === alternativesMax) break;
    }
  } catch (error) {
    if (!(error instanceof RestUnseen)) throw error;
    return { alternatives, isSeen: false };
  }
  return { alternatives, isSeen: true };
}

function zoneOf({ calendars, claim }: Refused): string {
  const number = claim.slots[0]?.calendar.number;
  return calendars.find(({ calendar }) => calendar.number === number)?.timeZone ?? 'UTC';
}
