/**
 * Under which grants slots are found, held and booked by operations: their answers tell when a slot is, for what, with whom,
 * where, and whether it is taken.
 */
import type { Grant } from '../../../access/grants.ts';
import { searchGrants } from '../../../access/policy.ts';
import type { InteractionContext } from '../../../engine/context.ts';
import { refuse } from '../../../engine/rights/denials.ts';
import { getStandardParameters } from '../../../search/parameters.ts';

/** What those answers tell: whoever may not search by these is not told it by an operation, either. */
const toldParameters = ['appointment-type', 'identifier', 'start', 'status'];

/** The grants that reach all of it, each with the rows it is for; none: the operations are closed to the caller. */
export function listSlotGrants(policy: InteractionContext['policy']): readonly Grant[] {
  const own = getStandardParameters('Slot');
  const told = toldParameters.flatMap((code) => own.get(code)?.definition ?? []);
  return searchGrants(policy, 'Slot', told);
}

/** @throws PraxisError `access-denied`. @param what the operation, such as Slot/$find */
export function requireSlotGrants(context: Pick<InteractionContext, 'policy'>, what: string): void {
  if (listSlotGrants(context.policy).length === 0) refuse(context, what, ['acl/slot_s']);
}
