/**
 * Holds: a free slot that an application keeps for a moment, while somebody decides or fills in a form. A hold ends by
 * itself; it can be renewed a few times, released, or become an appointment (docs/decisions/0189).
 */
import { fail } from '../../base/errors.ts';
import { newUuid } from '../../base/ids.ts';
import { type OfferedSlot, practitionerOf } from '../calendars/free-slots.ts';
import { instantText } from '../calendars/zone.ts';
import type { Booking } from './booking.ts';
import { countHolds, dropHold, type Hold, keepHold } from './holds.ts';
import { occupy } from './occupancy.ts';
import { type ReservationContext, withReservation } from './reserve.ts';

/** How long a hold lasts from when it is made or renewed, in milliseconds. */
export const holdMs = 5 * 60 * 1000;

/** How often it can be renewed. */
export const renewalsMax = 3;

/** Holds that an application may have at one firm at one time. */
export const holdsMax = 20;

export interface HeldSlot {
  readonly hold: Hold;
  /** Whose time it takes, as Type/id: practitioner, rooms, equipment. */
  readonly actors: readonly string[];
}

/** Who takes part in what is booked there: those whose time it takes, and the place. */
export function participantsAt({ calendar }: OfferedSlot, { actors }: HeldSlot): readonly string[] {
  const [practitioner = practitionerOf(calendar), ...others] = actors;
  return [practitioner, `Location/${calendar.location}`, ...others];
}

/** What an appointment on the slot takes. */
export function bookingOn({ calendar, type, startMs, endMs }: OfferedSlot): Booking {
  const actors = [`Location/${calendar.location}`, practitionerOf(calendar)];
  return { startMs, endMs, types: [type.code], actors };
}

/** @throws PraxisError `slot-taken`, `slot-missing`, `rule-broken` when the application holds too many */
export async function holdSlot(context: ReservationContext, slot: OfferedSlot): Promise<HeldSlot> {
  requireComing(context, slot);
  if ((await countHolds(context.store, context.scope, context.nowMs)) >= holdsMax) {
    fail('rule-broken', {
      diagnostics: `The application holds ${holdsMax} slots of this practice already: book or release one of them`,
    });
  }
  return await keep(context, slot, { id: newUuid(), slot: slot.id, expiresMs: context.nowMs + holdMs, renewals: 0 });
}

/** @throws PraxisError `rule-broken` when it was renewed as often as can be, or the slot has begun */
export async function renewHold(context: ReservationContext, slot: OfferedSlot, hold: Hold): Promise<HeldSlot> {
  requireComing(context, slot);
  if (hold.renewals >= renewalsMax) {
    fail('rule-broken', {
      diagnostics: `The hold was renewed ${renewalsMax} times, the most there can be: book it before ${new Date(hold.expiresMs).toISOString()}`,
      expression: ['hold'],
    });
  }
  return await keep(context, slot, { ...hold, expiresMs: context.nowMs + holdMs, renewals: hold.renewals + 1 });
}

/** Gives the slot back. */
export async function releaseHold({ store, scope, nowMs }: ReservationContext, hold: Hold): Promise<void> {
  await store.transaction(scope, async (inside) => {
    const owner = ownerOf(hold.id);
    await occupy(inside, scope, { owner, replaces: [], nowMs, expiresMs: undefined, forced: false, choices: [] });
    await dropHold(inside, scope, hold.id);
  });
}

export function ownerOf(hold: string): string {
  return `hold/${hold}`;
}

/** @throws PraxisError `rule-broken` */
export function requireComing({ nowMs }: Pick<ReservationContext, 'nowMs'>, { startMs, timeZone }: OfferedSlot): void {
  if (startMs > nowMs) return;
  fail('rule-broken', {
    diagnostics: `The slot began at ${instantText(timeZone, startMs)}: only coming ones can be taken`,
  });
}

/**
 * Takes the slot for a hold that its own transaction ends: between looking for rooms and storing who booked them.
 * @param replaces gives up what it has: the appointment that moves here
 * @param id of the hold, a new one
 */
export async function claimSlot(
  context: ReservationContext,
  slot: OfferedSlot,
  replaces: readonly string[] = [],
  id: string = newUuid(),
): Promise<HeldSlot> {
  requireComing(context, slot);
  const hold = { id, slot: slot.id, expiresMs: context.nowMs + holdMs, renewals: 0 };
  return await keep(context, slot, hold, replaces);
}

async function keep(
  context: ReservationContext,
  slot: OfferedSlot,
  hold: Hold,
  replaces: readonly string[] = [],
): Promise<HeldSlot> {
  const placement = { owner: ownerOf(hold.id), booking: bookingOn(slot), replaces, expiresMs: hold.expiresMs };
  return await withReservation(context, placement, async (inside, actors) => {
    await keepHold(inside, context.scope, hold);
    return { hold, actors };
  });
}
