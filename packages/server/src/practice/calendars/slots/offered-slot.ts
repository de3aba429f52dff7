/**
 * A slot that is derived from a calendar, by its id, as far as the caller may see it: for operations that hold or book it.
 */
import { boxStored } from '../../../access/disclosure.ts';
import type { Grant } from '../../../access/grants.ts';
import type { InteractionContext } from '../../../engine/context.ts';
import { refuseNotFound } from '../../../engine/rights/denials.ts';
import { compileCriterionTest } from '../../../engine/rights/disclosing.ts';
import type { StatementRunner } from '../../../storage/statement-runner.ts';
import type { StoredResource } from '../../../storage/store.ts';
import type { TenantScope } from '../../../tenancy/scope.ts';
import type { BookingRules } from '../../booking/booking.ts';
import { findBookableActors } from '../../booking/occupancy.ts';
import { toScheduledCalendars } from '../scheduled-calendars.ts';
import { readCalendars } from '../store.ts';
import { listSlotGrants } from './slot-grants.ts';
import { readSlotId } from './slot-id.ts';
import { type SlotStatus, toSlotResource } from './slot-resource.ts';
import { deriveSlot, type OfferedSlot } from './slots.ts';

/** A slot with the rules that it was derived by and is booked by. */
export interface SlotRules {
  readonly slot: OfferedSlot;
  /** Of its calendar, its practitioner and place, and the rooms and equipment of its appointment type. */
  readonly rules: BookingRules;
}

/** @throws PraxisError `resource-not-found`, also of slots that the caller may not search for by all that is told of them */
export async function requireOfferedSlot(context: InteractionContext, id: string): Promise<SlotRules> {
  const found = await findSlotRules(context.store, context.scope, id);
  if (found === undefined) return refuseNotFound('Slot', id);
  return compileSlotTest(context, listSlotGrants(context.policy))(found.slot) ? found : refuseNotFound('Slot', id);
}

/**
 * undefined: no calendar derives the slot. The practitioner's version is read with the calendar: what changes after that is
 * noticed when places are taken. Rooms and equipment have no rules but what stands in their row.
 */
export async function findSlotRules(
  store: StatementRunner,
  scope: TenantScope,
  id: string,
): Promise<SlotRules | undefined> {
  const number = readSlotId(id)?.calendar;
  if (number === undefined) return undefined;
  const documents = await readCalendars(store, scope, { number, withActors: [] });
  const calendars = toScheduledCalendars(scope, documents);
  const [scheduled] = calendars;
  const slot = scheduled && deriveSlot(scheduled.calendar, scheduled.timeZone, scheduled.holidays, id);
  if (slot === undefined) return undefined;
  const needed = [...new Set(slot.type.needs.flatMap(({ anyOf }) => anyOf))];
  const needs = await findBookableActors(store, scope, needed);
  return { slot, rules: { calendars, bookable: new Map([...documents.bookable, ...needs]) } };
}

/** Whether a free slot is open to the caller under one of the grants. */
export function compileSlotTest(context: InteractionContext, grants: readonly Grant[]): (slot: OfferedSlot) => boolean {
  if (grants.some(({ criteria }) => criteria.length === 0)) return () => true;
  return (slot) => {
    const test = compileCriterionTest(context, 'Slot', toStoredSlot(context, slot, 'free').content);
    return grants.some(({ criteria }) => criteria.every(test));
  };
}

/** As if it were stored. Its version is that of the calendar, which says nothing of its status: it is not told. */
export function toStoredSlot({ clock }: InteractionContext, slot: OfferedSlot, status: SlotStatus): StoredResource {
  return {
    type: 'Slot',
    id: slot.id,
    versionId: slot.calendar.version,
    lastUpdatedMs: clock.now(),
    deleted: false,
    content: boxStored(JSON.stringify(toSlotResource(slot, status))),
  };
}
