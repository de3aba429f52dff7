/**
 * A slot that is derived from a calendar, by its id, as far as the caller may see it: for operations that hold or book it.
 */
import { stored } from '../../access/disclosure.ts';
import type { Grant } from '../../access/grants.ts';
import type { InteractionContext } from '../../engine/context.ts';
import { notFound } from '../../engine/rights/denials.ts';
import { criterionTest } from '../../engine/rights/disclosing.ts';
import type { StoredResource } from '../../storage/store.ts';
import type { OfferedSlot } from './free-slots.ts';
import { scheduledCalendars } from './scheduled-calendars.ts';
import { slotGrants } from './slot-grants.ts';
import { readSlotId } from './slot-id.ts';
import { slotResource } from './slot-resource.ts';
import { slotAt } from './slots.ts';

/** @throws PraxisError `resource-not-found`, also of slots that the caller may not search for by all that is told of them */
export async function requireOfferedSlot(context: InteractionContext, id: string): Promise<OfferedSlot> {
  const number = readSlotId(id)?.calendar;
  const calendars = number === undefined ? [] : await scheduledCalendars(context.store, context.scope);
  const scheduled = calendars.find(({ calendar }) => calendar.number === number);
  const slot = scheduled && slotAt(scheduled.calendar, scheduled.timeZone, scheduled.holidays, id);
  if (scheduled === undefined || slot === undefined) return notFound('Slot', id);
  const offered = { ...slot, timeZone: scheduled.timeZone };
  return offeredTo(context, slotGrants(context.policy))(offered) ? offered : notFound('Slot', id);
}

/** Whether a free slot is open to the caller under one of the grants. */
export function offeredTo(context: InteractionContext, grants: readonly Grant[]): (slot: OfferedSlot) => boolean {
  if (grants.some(({ criteria }) => criteria.length === 0)) return () => true;
  return (slot) => {
    const test = criterionTest(context, 'Slot', offeredRow(context, slot).content);
    return grants.some(({ criteria }) => criteria.every(test));
  };
}

/** The free slot as if it were stored. */
export function offeredRow({ clock }: InteractionContext, slot: OfferedSlot): StoredResource {
  return {
    type: 'Slot',
    id: slot.id,
    versionId: slot.calendar.version,
    lastUpdatedMs: clock.now(),
    deleted: false,
    content: stored(JSON.stringify(slotResource(slot, slot.timeZone, 'free'))),
  };
}
