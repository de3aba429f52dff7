/** What the operations that book have in common of their parameters. */
import type { JsonObject, JsonValue } from '@praxis/fhir';
import type { InteractionContext } from '../../../engine/context.ts';
import { readTextInput } from '../../../operations/input.ts';
import type { OperationInput } from '../../../operations/operation.ts';
import { refuseParameter } from '../../../operations/parameter-problem.ts';
import { listObjects } from '../../../search/json-values.ts';
import { requireOfferedSlot, type SlotRules } from '../../calendars/slots/offered-slot.ts';
import { toHoldOwner } from '../holding.ts';
import type { PlaceOwner } from '../occupancy.ts';
import { requireHold } from './placing-context.ts';

/** Rate units of what is done to all appointments of a series, which may be a hundred. */
export const seriesUnits = 9;

/** The first parameter of the name in a Parameters body that nothing has checked. */
export function findBodyParameter(body: JsonValue, name: string): JsonObject | undefined {
  return listObjects(body, 'parameter').find((each) => each['name'] === name);
}

/** A reference without the address of this server. */
export function stripBaseUrl({ baseUrl }: InteractionContext, reference: string): string {
  return reference.startsWith(`${baseUrl}/`) ? reference.slice(baseUrl.length + 1) : reference;
}

export interface WantedSlot {
  readonly judged: SlotRules;
  /** The hold that it was kept by. */
  readonly replaces: readonly PlaceOwner[];
}

/**
 * Reads which of the parameters `slot` and `hold` names a slot.
 * @param what it is, for those who name none or two
 * @returns finds the slot: `slot` is Slot/id, absolute or the id alone
 * @throws PraxisError `operation-parameter-invalid`; what is returned that for a hold that has ended, and `resource-not-found`
 */
export function readWantedSlot(
  input: OperationInput,
  what: string,
): (context: InteractionContext) => Promise<WantedSlot> {
  const slot = readTextInput(input, 'slot');
  const held = readTextInput(input, 'hold');
  if ((slot === undefined) === (held === undefined))
    refuseParameter('slot', `or hold names ${what}: give one of both, such as slot=Slot/…`);
  return async (context) => {
    const hold = held === undefined ? undefined : await requireHold(context, held);
    const named = stripBaseUrl(context, hold?.slot ?? slot ?? '');
    const judged = await requireOfferedSlot(context, named.startsWith('Slot/') ? named.slice('Slot/'.length) : named);
    return { judged, replaces: hold === undefined ? [] : [toHoldOwner(hold.id)] };
  };
}
