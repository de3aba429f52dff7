/**
 * Taking places: what wants time of those who are booked by rules is judged by the rules, placed and stored in one
 * transaction, or refused with what would do instead (docs/decisions/0188, 0189, 0250).
 */
import { fail, PraxisError } from '../../base/errors.ts';
import type { ResourceStore } from '../../storage/store.ts';
import type { TenantScope } from '../../tenancy/scope.ts';
import { toScheduledCalendars } from '../calendars/scheduled-calendars.ts';
import { type FreeSlotsContext, listCalendarActors } from '../calendars/slots/free-slots.ts';
import type { SlotRules } from '../calendars/slots/offered-slot.ts';
import { readCalendars } from '../calendars/store.ts';
import { describeTaken, type Refused } from './alternatives.ts';
import { type Booking, type BookingRules, buildClaim } from './booking.ts';
import type { Hold } from './holds.ts';
import { findBookableActors, occupy, type PlaceOwner } from './occupancy.ts';

/** Its budget is that of the request, which seeks what would do instead. */
export interface ReservationContext extends FreeSlotsContext {
  readonly store: ResourceStore;
  /** Whether a refusal may name free slots. */
  readonly maySeeSlots: boolean;
}

export interface Reservation {
  /** Appointment/id, or hold/id: what it had before is given up. */
  readonly owner: PlaceOwner;
  /** undefined: it takes nothing any more. */
  readonly booking: Booking | undefined;
  /** Others that give up what they have: Appointment/id, or hold/id of holds that end with that. */
  readonly replaces: readonly PlaceOwner[];
  /** When a hold or an offer ends. */
  readonly expiresMs?: number | undefined;
  /** The hold that is made or renewed. */
  readonly hold?: Hold | undefined;
  /** The slot that the booking stands on, judged already. */
  readonly judged?: SlotRules;
}

/** Attempts after a change of the calendars while something was judged by them. */
const attemptsMax = 5;

/** There is no room; the transaction, or what this owner has taken in it, must be undone. */
export class NotReserved extends Error {
  readonly refused: Refused;
  constructor(refused: Refused) {
    super('no place');
    this.refused = refused;
  }
}

/**
 * Runs `work`, which takes places, in one transaction: all of it happens or nothing does.
 * @param work is given the context inside the transaction; may run more than once
 * @throws PraxisError `slot-taken`, and what `work` throws
 */
export async function withReservation<T>(
  context: ReservationContext,
  work: (inside: ReservationContext) => Promise<T>,
): Promise<T> {
  try {
    return await context.store.transaction(context.scope, (store) => work({ ...context, store }));
  } catch (error) {
    throw error instanceof NotReserved ? await toSlotTaken(context, error) : error;
  }
}

/** What the caller is told; asked once the places are given up again. */
export async function toSlotTaken(context: ReservationContext, error: NotReserved): Promise<PraxisError> {
  const details = await describeTaken(context, error.refused, context.maySeeSlots);
  return new PraxisError('slot-taken', { ...details, cause: error });
}

/**
 * Takes places. Only inside a transaction, which the caller undoes unless it returns.
 * @returns the actors that were taken, practitioners first
 * @throws NotReserved; PraxisError `slot-missing`, `conflict` when calendars are being changed all the time
 */
export async function reserve(
  { scope, store, nowMs }: ReservationContext,
  { owner, booking, replaces, expiresMs, hold, judged }: Reservation,
): Promise<readonly string[]> {
  const taking = { owner, replaces, nowMs, expiresMs, forced: false, ...(hold && { hold }) };
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const known = attempt === 1 ? judged : undefined;
    const rules = known?.rules ?? (booking && (await readRules(store, scope, booking)));
    const claim = booking && rules && buildClaim(booking, rules, known && [known.slot]);
    const choices = claim?.choices ?? [];
    const placed = await occupy(store, scope, { ...taking, choices });
    if (placed.outcome === 'placed') return placed.actors;
    if (placed.outcome === 'taken' && booking && rules && claim)
      throw new NotReserved({ booking, claim, blocked: placed.blocked, calendars: rules.calendars });
  }
  return fail('conflict', { diagnostics: 'The calendar is being changed: repeat the request' });
}

/** Gives up what the owner and others have taken. */
export async function giveUpPlaces(
  { scope, store, nowMs }: ReservationContext,
  owner: Pick<Reservation, 'owner' | 'replaces'>,
): Promise<void> {
  await occupy(store, scope, { ...owner, nowMs, expiresMs: undefined, forced: false, choices: [] });
}

/**
 * Of the practitioners, their versions are read with the calendars: what changes after that is noticed when places are taken.
 * Rooms and equipment have no rules but what stands in their row.
 */
async function readRules(store: ResourceStore, scope: TenantScope, { actors }: Booking): Promise<BookingRules> {
  const practitioners = actors.flatMap((actor) => /^Practitioner\/(.+)$/.exec(actor)?.[1] ?? []);
  const documents = await readCalendars(store, scope, { practitioners, withActors: actors });
  const calendars = toScheduledCalendars(scope, documents);
  const asked = new Set(actors);
  const needed = listCalendarActors(calendars).filter((actor) => !asked.has(actor));
  const needs = await findBookableActors(store, scope, needed);
  return { calendars, bookable: new Map([...documents.bookable, ...needs]) };
}
