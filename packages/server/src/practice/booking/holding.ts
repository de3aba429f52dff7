/**
 * Holds: a free slot that an application keeps for a moment, while somebody decides or fills in a form. A hold ends by
 * itself; it can be renewed a few times, released, or become an appointment (docs/decisions/0189).
 */
import { fail } from '../../base/errors.ts';
import { makeUuid } from '../../base/ids.ts';
import { toPractitionerReference } from '../calendars/slots/free-slots.ts';
import type { SlotRules } from '../calendars/slots/offered-slot.ts';
import type { OfferedSlot } from '../calendars/slots/slots.ts';
import { formatInstant } from '../calendars/zone.ts';
import type { Booking, BookingRules } from './booking.ts';
import { countHolds, type Hold } from './holds.ts';
import type { PlaceOwner } from './occupancy.ts';
import { type Reservation, type ReservationContext, reserve, withReservation } from './reserve.ts';

/** How long a hold lasts from when it is made or renewed, in milliseconds. */
export const holdMs = 5 * 60 * 1000;

/** How often it can be renewed. */
export const renewalsMax = 3;

/** Holds that an application may have at one firm at one time. */
export const holdsMax = 20;

/** Places that a transaction has taken on a slot, which an appointment brings along where it is stored. */
export interface ClaimedPlaces {
  /** Whose time it takes, as Type/id: practitioner, rooms, equipment. */
  readonly actors: readonly string[];
  /** Who takes part: those whose time it takes, and the place of the calendar. */
  readonly participants: readonly string[];
  /** What the appointment has to say for the places to be its own; if it says something else it is judged anew. */
  readonly booking: Booking;
  /** Whose time is known to be kept. */
  readonly bookable: BookingRules['bookable'];
}

export interface HeldSlot extends Pick<ClaimedPlaces, 'actors'> {
  readonly hold: Hold;
}

/** @throws PraxisError `slot-taken`, `slot-missing`, `rule-broken` when the application holds too many */
export async function holdSlot(context: ReservationContext, judged: SlotRules): Promise<HeldSlot> {
  requireComing(context, judged.slot);
  if ((await countHolds(context.store, context.scope, context.nowMs)) >= holdsMax)
    fail('rule-broken', {
      diagnostics: `The application holds ${holdsMax} slots of this practice already: book or release one of them`,
    });
  const hold = { id: makeUuid(), slot: judged.slot.id, expiresMs: context.nowMs + holdMs, renewals: 0 };
  return await keep(context, judged, hold);
}

/** @throws PraxisError `rule-broken` when it was renewed as often as can be, or the slot has begun */
export async function renewHold(context: ReservationContext, judged: SlotRules, hold: Hold): Promise<HeldSlot> {
  requireComing(context, judged.slot);
  if (hold.renewals >= renewalsMax)
    fail('rule-broken', {
      diagnostics: `The hold was renewed ${renewalsMax} times, the most there can be: book it before ${new Date(hold.expiresMs).toISOString()}`,
      expression: ['hold'],
    });
  const renewed = { ...hold, expiresMs: context.nowMs + holdMs, renewals: hold.renewals + 1 };
  return await keep(context, judged, renewed);
}

export function toHoldOwner(hold: string): PlaceOwner {
  return `hold/${hold}`;
}

/**
 * Takes the places of a slot for an owner: only inside a transaction, which the caller undoes unless it returns.
 * @throws NotReserved; PraxisError `rule-broken` where the slot has begun, `slot-missing`, `conflict`
 */
export async function claimSlot(
  context: ReservationContext,
  judged: SlotRules,
  owner: Pick<Reservation, 'owner' | 'replaces' | 'expiresMs' | 'hold'>,
): Promise<ClaimedPlaces> {
  requireComing(context, judged.slot);
  const { calendar, type, startMs, endMs, id } = judged.slot;
  const [place, own] = [`Location/${calendar.location}`, toPractitionerReference(calendar)];
  const booking = { startMs, endMs, types: [type.code], actors: [place, own], slots: [id] };
  const actors = await reserve(context, { ...owner, booking, judged });
  const [practitioner = own, ...others] = actors;
  const participants = [practitioner, place, ...others];
  const said = { ...booking, actors: [...new Set(participants)].sort() };
  return { actors, participants, booking: said, bookable: judged.rules.bookable };
}

/** @throws PraxisError `rule-broken` */
function requireComing({ nowMs }: ReservationContext, { startMs, timeZone }: OfferedSlot): void {
  if (startMs > nowMs) return;
  fail('rule-broken', {
    diagnostics: `The slot began at ${formatInstant(timeZone, startMs)}: only coming ones can be taken`,
  });
}

async function keep(context: ReservationContext, judged: SlotRules, hold: Hold): Promise<HeldSlot> {
  const owner = { owner: toHoldOwner(hold.id), replaces: [], expiresMs: hold.expiresMs, hold };
  return await withReservation(context, async (inside) => {
    const { actors } = await claimSlot(inside, judged, owner);
    return { hold, actors };
  });
}
