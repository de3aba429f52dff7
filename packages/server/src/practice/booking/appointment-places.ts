/**
 * Whoever has a calendar is booked by it: the version of an Appointment, the places it takes and what the waiting list keeps
 * of it are written together or not at all (docs/decisions/0188, 0202). Operations that take a slot bring its places along
 * (docs/decisions/0250).
 */
import type { Appointment } from '@praxis/fhir';
import { parseStored } from '../../access/disclosure.ts';
import { fail } from '../../base/errors.ts';
import type { BehaviourContext, VersionChange } from '../../resources/behaviour.ts';
import { commitUnlessConflict } from '../../resources/write-or-rollback.ts';
import type { ResourceStore, WriteOutcome } from '../../storage/store.ts';
import { readCalendars } from '../calendars/store.ts';
import { computeFreedTime, findLeftOffer, planWaitlistChange } from '../waiting-list/appointment-waitlist.ts';
import { type FreedTime, noteFreed } from '../waiting-list/store.ts';
import {
  type Booking,
  isSameBooking,
  listAppointmentActors,
  takesTime,
  toBooking,
  toLocalReference,
} from './booking.ts';
import type { ClaimedPlaces } from './holding.ts';
import { findBookableActors } from './occupancy.ts';
import { NotReserved, reserve, toSlotTaken } from './reserve.ts';

declare module '../../resources/behaviour.ts' {
  interface ChangeExtras {
    /** What the Appointment has taken already, in the transaction of this change. */
    readonly places?: ClaimedPlaces;
  }
}

/** As `Behaviour.store`. @throws PraxisError `slot-missing`, `slot-taken`, `conflict` */
export async function storeAppointment(
  context: BehaviourContext,
  change: VersionChange<'Appointment'>,
): Promise<WriteOutcome> {
  const { scope, store, clock, baseUrl } = context;
  const { write, extras } = change;
  const before = await withRoles(context, toBooking(change.before, baseUrl));
  const booking = await withRoles(context, toBooking(change.after, baseUrl));
  await requireTimes(context, change);
  const isSame = isSameBooking(before, booking);
  const left = await findLeftOffer(context, change, isSame);
  const listed = planWaitlistChange(context, change, left);
  const writeAll = async (inside: ResourceStore, freed: readonly FreedTime[]): Promise<WriteOutcome> => {
    const outcome = await inside.write(scope, write);
    if (outcome.outcome === 'conflict') return outcome;
    await listed?.(inside);
    if (freed.length > 0) await noteFreed(inside, scope, freed, clock.now());
    return outcome;
  };
  const { places } = extras;
  // Its places are its own already, and of the same transaction: after a conflict there is nothing to give back.
  if (places !== undefined && isSameBooking(places.booking, booking)) {
    const kept = await keptBefore(context, before, places);
    return await writeAll(store, computeFreedTime(before, booking, kept, clock.now()));
  }
  // Places of an offer end by themselves: whoever leaves it takes them anew, for good.
  const isSettled = isSame && places === undefined && left === undefined;
  const kept = isSettled ? [] : await keptActors(context, [before, booking]);
  if (kept.length === 0 && places === undefined && (isSettled || !(await standsOnSlot(context, booking)))) {
    if (listed === undefined) return await store.write(scope, write);
    return await commitUnlessConflict(store, scope, (inside) => writeAll(inside, []));
  }
  const freed = computeFreedTime(before, booking, kept, clock.now());
  const reserving = { ...context, nowMs: clock.now() };
  try {
    return await commitUnlessConflict(store, scope, async (inside) => {
      await reserve(
        { ...reserving, store: inside },
        { owner: `Appointment/${write.id}`, booking, replaces: [], expiresMs: extras.offer?.expiresMs },
      );
      return await writeAll(inside, freed);
    });
  } catch (error) {
    throw error instanceof NotReserved ? await toSlotTaken(reserving, error) : error;
  }
}

/** Those of the practitioners before whose time is kept, or more. */
async function keptBefore(
  context: BehaviourContext,
  before: Booking | undefined,
  { bookable }: ClaimedPlaces,
): Promise<readonly string[]> {
  const practitioners = before?.actors.filter((actor) => actor.startsWith('Practitioner/')) ?? [];
  const isKnown = practitioners.every((actor) => bookable.has(actor));
  return isKnown ? [...bookable.keys()] : await keptActors(context, [before]);
}

/** A PractitionerRole takes the time of its practitioner. */
async function withRoles(
  { scope, store, baseUrl }: BehaviourContext,
  booking: Booking | undefined,
): Promise<Booking | undefined> {
  const roles = booking?.actors.filter((actor) => actor.startsWith('PractitionerRole/')) ?? [];
  if (booking === undefined || roles.length === 0) return booking;
  const practitioners: string[] = [];
  for (const role of roles) {
    const found = await store.read(scope, 'PractitionerRole', role.slice('PractitionerRole/'.length));
    if (found === undefined || found.deleted) continue;
    const reference = parseStored(found.content).practitioner?.reference;
    practitioners.push(...[toLocalReference(reference ?? '', baseUrl) ?? []].flat());
  }
  return { ...booking, actors: [...new Set([...booking.actors, ...practitioners])].sort() };
}

/**
 * Whose time is kept is booked from when until when, or not at all.
 * @throws PraxisError `slot-missing`
 */
async function requireTimes(context: BehaviourContext, { before, after }: VersionChange<'Appointment'>): Promise<void> {
  if (after === undefined || !takesTime(after) || after.status === 'proposed') return;
  if (Date.parse(after.start ?? '') < Date.parse(after.end ?? '')) return;
  const actors = listAppointmentActors(after, context.baseUrl);
  if (actors.length === 0 || (before !== undefined && isSameText(before, after))) return;
  const [kept] = (await findBookableActors(context.store, context.scope, actors)).keys();
  if (kept === undefined) return;
  const isMissing = after.start === undefined || after.end === undefined;
  fail('slot-missing', {
    diagnostics: `${isMissing ? 'start or end is missing' : 'end is not after start'}: ${kept} is booked by slots, which have both`,
    expression: [after.start === undefined ? 'Appointment.start' : 'Appointment.end'],
  });
}

/** Whether nothing that times depend on was changed. */
function isSameText(before: Appointment, after: Appointment): boolean {
  return (['status', 'start', 'end', 'participant'] as const).every(
    (member) => JSON.stringify(before[member]) === JSON.stringify(after[member]),
  );
}

/** Whether it says that it stands on a slot of a firm that derives slots: that is judged, whoever takes part. */
async function standsOnSlot({ scope, store }: BehaviourContext, booking: Booking | undefined): Promise<boolean> {
  return booking?.slots !== undefined && (await readCalendars(store, scope)).calendars.length > 0;
}

/** Those of the participants whose time is kept. */
async function keptActors(
  { scope, store }: BehaviourContext,
  bookings: readonly (Booking | undefined)[],
): Promise<readonly string[]> {
  const actors = [...new Set(bookings.flatMap((booking) => booking?.actors ?? []))];
  return [...(await findBookableActors(store, scope, actors)).keys()];
}
