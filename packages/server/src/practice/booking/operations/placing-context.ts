/** What operations that take time of others hand on. */
import type { InteractionContext } from '../../../engine/context.ts';
import { maySeeSlots } from '../../../engine/write/save-version.ts';
import { refuseParameter } from '../../../operations/parameter-problem.ts';
import { requireOfferedSlot, type SlotRules } from '../../calendars/offered-slot.ts';
import { findHold, type Hold } from '../holds.ts';
import type { ReservationContext } from '../reserve.ts';

export function buildReservationContext({
  scope,
  store,
  clock,
  policy,
  budget,
}: InteractionContext): ReservationContext {
  return { scope, store, nowMs: clock.now(), maySeeSlots: maySeeSlots(policy), budget };
}

/** @throws PraxisError `operation-parameter-invalid` for holds that have ended as for those of others */
export async function requireHold(context: InteractionContext, id: string): Promise<Hold> {
  const hold = await findHold(context.store, context.scope, id, context.clock.now());
  if (hold !== undefined) return hold;
  return refuseParameter(
    'hold',
    'is not the id of a hold of this application: it has ended, was released, or became an appointment; $hold makes a new one',
  );
}

/** The slot that a parameter names as Slot/id, absolute or by its id alone. @throws PraxisError `resource-not-found` */
export async function requireNamedSlot(context: InteractionContext, named: string): Promise<SlotRules> {
  const local = named.startsWith(`${context.baseUrl}/`) ? named.slice(context.baseUrl.length + 1) : named;
  return await requireOfferedSlot(context, local.startsWith('Slot/') ? local.slice('Slot/'.length) : local);
}
