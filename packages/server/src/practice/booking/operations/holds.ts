/**
 * $hold, $renew and $release: a free slot that an application keeps for a moment (docs/decisions/0189). R4 has no operations
 * for this; those of the Argonaut Scheduling guide hold by booking a pending appointment, which shows a patient's wish to
 * all who read appointments before it is one.
 */

import { toInstant } from '../../../base/clock.ts';
import { buildOperationRequest } from '../../../base/worst-case.ts';
import type { FhirResponse, InteractionContext } from '../../../engine/context.ts';
import { requireGrants } from '../../../engine/rights/denials.ts';
import { readTextInput } from '../../../operations/input.ts';
import { declareInput, declareOutput, type Operation, type OperationParameter } from '../../../operations/operation.ts';
import { buildParametersResponse } from '../../../operations/result.ts';
import { requireOfferedSlot } from '../../calendars/slots/offered-slot.ts';
import { requireSlotGrants } from '../../calendars/slots/slot-grants.ts';
import type { OfferedSlot } from '../../calendars/slots/slots.ts';
import { formatInstant } from '../../calendars/zone.ts';
import { type HeldSlot, holdSlot, renewalsMax, renewHold, toHoldOwner } from '../holding.ts';
import type { Hold } from '../holds.ts';
import { giveUpPlaces } from '../reserve.ts';
import { buildReservationContext, requireHold } from './placing-context.ts';

const results: readonly OperationParameter[] = [
  declareOutput('hold', 'id', 'The hold, for $renew, $release and Appointment/$book.'),
  declareOutput('slot', 'Reference', 'The held slot.'),
  declareOutput('start', 'instant', 'When the slot starts.'),
  declareOutput('end', 'instant', 'When it ends.'),
  declareOutput('expires', 'instant', 'When the hold expires.'),
  declareOutput('renewalsLeft', 'integer', 'How often it can be renewed.'),
  declareOutput('actor', 'Reference', 'Whose time is held: practitioner, rooms and equipment.', { max: '*' }),
];

/** Who may search for slots by all that a hold tells may keep one: it takes no more than a booking, and ends by itself. */
function declareOperation(name: string) {
  return {
    name,
    url: `https://praxis.health/fhir/OperationDefinition/${name}`,
    types: ['Slot'],
    affectsState: true,
    authorize(context: Pick<InteractionContext, 'policy'>): void {
      requireGrants(context, 'Slot', 's');
      requireSlotGrants(context, `Slot/$${name}`);
    },
  };
}

export const hold: Operation = {
  ...declareOperation('hold'),
  worstCase: {
    because: 'one slot that many want',
    request: ({ slot }) => buildOperationRequest(`Slot/${slot}/$hold`, []),
  },
  levels: ['instance'],
  parameters: results,
  async answer(context, request) {
    const judged = await requireOfferedSlot(context, request.id);
    return heldResponse(judged.slot, await holdSlot(buildReservationContext(context), judged));
  },
};

export const renew = operationOnHold('renew', results, async (context, found) => {
  const judged = await requireOfferedSlot(context, found.slot);
  return heldResponse(judged.slot, await renewHold(buildReservationContext(context), judged, found));
});

export const release = operationOnHold('release', [], async (context, { id }) => {
  await giveUpPlaces(buildReservationContext(context), { owner: toHoldOwner(id), replaces: [] });
  return { status: 204 };
});

function operationOnHold(
  name: string,
  outputs: readonly OperationParameter[],
  answer: (context: InteractionContext, hold: Hold) => Promise<FhirResponse>,
): Operation {
  return {
    ...declareOperation(name),
    worstCase: {
      because: 'a hold that is nowhere',
      request: ({ next }) => buildOperationRequest(`Slot/$${name}`, [{ name: 'hold', valueId: `siege-${next()}` }]),
    },
    levels: ['type'],
    parameters: [declareInput('hold', 'id', 'A hold of this application.', { min: 1 }), ...outputs],
    answer: async (context, { input }) =>
      answer(context, await requireHold(context, readTextInput(input, 'hold') ?? '')),
  };
}

function heldResponse({ id, startMs, endMs, timeZone }: OfferedSlot, { hold: made, actors }: HeldSlot): FhirResponse {
  return buildParametersResponse([
    { name: 'hold', type: 'id', value: made.id },
    { name: 'slot', type: 'Reference', value: { reference: `Slot/${id}` } },
    { name: 'start', type: 'instant', value: formatInstant(timeZone, startMs) },
    { name: 'end', type: 'instant', value: formatInstant(timeZone, endMs) },
    { name: 'expires', type: 'instant', value: toInstant(made.expiresMs) },
    { name: 'renewalsLeft', type: 'integer', value: renewalsMax - made.renewals },
    ...actors.map((reference) => ({ name: 'actor', type: 'Reference', value: { reference } })),
  ]);
}
