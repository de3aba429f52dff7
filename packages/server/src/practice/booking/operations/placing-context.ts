/** What operations that take time of others hand on. */
import type { InteractionContext } from '../../../engine/context.ts';
import { maySeeSlots } from '../../../engine/write/save-version.ts';
import { refuseParameter } from '../../../operations/parameter-problem.ts';
import { findHold, type Hold } from '../holds.ts';
import type { ReservationContext } from '../reserve.ts';

export function buildReservationContext(context: InteractionContext): ReservationContext {
  return { ...context, nowMs: context.clock.now(), maySeeSlots: maySeeSlots(context.policy) };
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
