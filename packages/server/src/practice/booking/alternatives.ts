/**
 * What a refused booking is told: that the slot is taken, from when until when, by nobody's name, and the next free slots
 * that would do as well.
 */
import type { ErrorDetails, ErrorIssue } from '../../base/errors.ts';
import { mergeSlots, restrictResources } from '../calendars/joint-availability.ts';
import { type FreeSlotsContext, freeSlots, RestUnseen, type ScheduledCalendar } from '../calendars/slots/free-slots.ts';
import type { OfferedSlot } from '../calendars/slots/slots.ts';
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
  const zone = refused.claim.slots[0]?.timeZone ?? 'UTC';
  const from = formatInstant(zone, refused.blocked.startMs);
  const until = formatInstant(zone, refused.blocked.endMs);
  const start = formatInstant(zone, refused.booking.startMs);
  const taken = `The slot at ${start} is taken: nothing is free from ${from} to ${until}`;
  const tell = (rest: string): ErrorDetails => ({ diagnostics: `${taken}${rest}`, expression: ['Appointment.start'] });
  if (!maySeeSlots) return tell('. With acl/slot_s this answer would name free slots');
  const { alternatives, isSeen } = await equivalentSlots(context, refused);
  if (alternatives.length > 0)
    return { ...tell('. The next free ones follow'), more: alternatives.map(alternativeIssue) };
  if (isSeen) return tell(`, and no equivalent slot in the next ${daysAhead} days`);
  return tell('. To look for free slots would cost more than one request may: $find does');
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

/**
 * The next free slots of the same practitioners, places and type: in order of start, at most `alternativesMax`.
 * @returns `isSeen`: whether all of the time was looked at, as far as alternatives were missing
 */
async function equivalentSlots(context: FreeSlotsContext, { booking, claim, calendars }: Refused) {
  const fromMs = Math.max(booking.startMs, context.nowMs);
  const toMs = fromMs + daysAhead * dayMs;
  const walks = claim.slots.map(({ calendar: { number }, type }) => {
    const own = calendars
      .filter(({ calendar }) => calendar.number === number)
      .map((each) => restrictResources(each, booking.actors));
    return freeSlots(context, own, { fromMs, toMs, endsEarly: true, appointmentTypes: new Set([type.code]) });
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
