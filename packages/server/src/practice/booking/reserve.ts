/**
 * Taking places: what wants time of those who are booked by rules is judged by the rules, placed and stored in one
 * transaction, or refused with what would do instead (docs/decisions/0188, 0189).
 */
import type { Budget } from '@praxis/fhir';
import { fail, PraxisError } from '../../base/errors.ts';
import type { ResourceStore } from '../../storage/store.ts';
import type { TenantScope } from '../../tenancy/scope.ts';
import { actorsOf, byActor } from '../calendars/free-slots.ts';
import { scheduledCalendars } from '../calendars/scheduled-calendars.ts';
import { type Refused, takenDetails } from './alternatives.ts';
import { type Booking, type BookingRules, claimOf } from './booking.ts';
import { findBookableActors, occupy } from './occupancy.ts';

export interface ReservationContext {
  readonly scope: TenantScope;
  readonly store: ResourceStore;
  readonly nowMs: number;
  /** Of the request, which seeks what would do instead. */
  readonly budget: Budget;
  /** Whether a refusal may name free slots. */
  readonly maySeeSlots: boolean;
}

export interface Reservation {
  /** Appointment/id, or hold/id: what it had before is given up. */
  readonly owner: string;
  /** undefined: it takes nothing any more. */
  readonly booking: Booking | undefined;
  /** Holds that it takes the place of: hold/id. */
  readonly replaces: readonly string[];
  /** When a hold ends. */
  readonly expiresMs?: number;
}

/** Attempts after a change of the calendars while something was judged by them. */
const attemptsMax = 5;

/** Why a transaction must be undone; nothing more: the rules have changed meanwhile. */
class NotReserved extends Error {
  readonly refused: Refused | undefined;
  constructor(refused?: Refused) {
    super('no place');
    this.refused = refused;
  }
}

/**
 * Takes places and runs `store` in the same transaction: both happen or neither does.
 * @param store is given the transaction and the actors that were taken; may run more than once
 * @throws PraxisError `slot-missing`, `slot-taken`, `conflict` when calendars are being changed all the time, and what
 *   `store` throws
 */
export async function withReservation<T>(
  context: ReservationContext,
  placement: Reservation,
  store: (inside: ResourceStore, actors: readonly string[]) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    try {
      return await context.store.transaction(context.scope, async (inside) =>
        store(inside, await reserve(context, inside, placement)),
      );
    } catch (error) {
      if (!(error instanceof NotReserved)) throw error;
      if (error.refused === undefined) continue;
      const details = await takenDetails(context, error.refused, context.maySeeSlots);
      throw new PraxisError('slot-taken', { ...details, cause: error });
    }
  }
  return fail('conflict', { diagnostics: 'The calendar is being changed: repeat the request' });
}

/** @throws NotReserved */
async function reserve(
  { scope, nowMs }: ReservationContext,
  inside: ResourceStore,
  { owner, booking, replaces, expiresMs }: Reservation,
): Promise<readonly string[]> {
  const rules = booking && (await rulesOf(inside, scope, booking));
  const claim = rules && claimOf(booking, rules);
  const choices = claim?.choices ?? [];
  const placed = await occupy(inside, scope, { owner, replaces, nowMs, expiresMs, forced: false, choices });
  if (placed.outcome === 'placed') return placed.actors;
  if (placed.outcome === 'changed' || !booking || !rules || !claim) throw new NotReserved();
  throw new NotReserved({ booking, claim, blocked: placed.blocked, calendars: rules.calendars });
}

/**
 * Of the practitioners, their versions are read before the calendars: what changes after that is noticed when places are
 * taken. Rooms and equipment have no rules but what stands in their row.
 */
async function rulesOf(inside: ResourceStore, scope: TenantScope, { actors }: Booking): Promise<BookingRules> {
  const named = await findBookableActors(inside, scope, actors);
  const practitioners = actors.filter((actor) => actor.startsWith('Practitioner/'));
  const calendars = await scheduledCalendars(inside, scope, practitioners);
  const needed = await findBookableActors(inside, scope, actorsOf(calendars));
  return { calendars, bookable: byActor([...needed, ...named]) };
}
