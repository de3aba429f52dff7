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
import type { Operation, OperationParameter, OperationRequest } from '../../../operations/operation.ts';
import { buildParametersResponse } from '../../../operations/result.ts';
import { requireOfferedSlot } from '../../calendars/offered-slot.ts';
import { requireSlotGrants } from '../../calendars/slot-grants.ts';
import type { OfferedSlot } from '../../calendars/slots.ts';
import { formatInstant } from '../../calendars/zone.ts';
import { type HeldSlot, holdMs, holdSlot, renewalsMax, renewHold, toHoldOwner } from '../holding.ts';
import { giveUpPlaces } from '../reserve.ts';
import { buildReservationContext, requireHold } from './placing-context.ts';

const out = (name: string, type: string, documentation: string, max: 1 | '*' = 1): OperationParameter => ({
  name,
  use: 'out',
  min: 1,
  max,
  type,
  documentation,
});

const results: readonly OperationParameter[] = [
  out('hold', 'id', 'The hold, for $renew, $release and Appointment/$book.'),
  out('slot', 'Reference', 'The slot that is held.'),
  out('start', 'instant', 'When the slot begins.'),
  out('end', 'instant', 'When it ends.'),
  out('expires', 'instant', 'When the hold ends by itself.'),
  out('renewalsLeft', 'integer', 'How often it can be renewed.'),
  out('actor', 'Reference', 'Whose time is held: practitioner, rooms and equipment.', '*'),
];

const named: OperationParameter = {
  name: 'hold',
  use: 'in',
  min: 1,
  max: 1,
  type: 'id',
  documentation: 'A hold of this application.',
};

const shared = { types: ['Slot'], affectsState: true } as const;

export const hold: Operation = {
  ...shared,
  name: 'hold',
  url: 'https://praxis.health/fhir/OperationDefinition/hold',
  worstCase: {
    because: 'one slot that many want',
    request: ({ slot }) => buildOperationRequest(`Slot/${slot}/$hold`, []),
  },
  authorize: (context) => authorize(context, 'Slot/$hold'),
  levels: ['instance'],
  parameters: results,
  async answer(context, request) {
    const judged = await requireOfferedSlot(context, request.id);
    return heldResponse(judged.slot, await holdSlot(buildReservationContext(context), judged));
  },
};

export const renew: Operation = {
  ...shared,
  name: 'renew',
  url: 'https://praxis.health/fhir/OperationDefinition/renew',
  worstCase: {
    because: 'a hold that is nowhere',
    request: ({ next }) => buildOperationRequest('Slot/$renew', [{ name: 'hold', valueId: `siege-${next()}` }]),
  },
  authorize: (context) => authorize(context, 'Slot/$renew'),
  levels: ['type'],
  parameters: [named, ...results],
  async answer(context, request) {
    const found = await requireHold(context, holdOf(request));
    const judged = await requireOfferedSlot(context, found.slot);
    return heldResponse(judged.slot, await renewHold(buildReservationContext(context), judged, found));
  },
};

export const release: Operation = {
  ...shared,
  name: 'release',
  url: 'https://praxis.health/fhir/OperationDefinition/release',
  worstCase: {
    because: 'a hold that is nowhere',
    request: ({ next }) => buildOperationRequest('Slot/$release', [{ name: 'hold', valueId: `siege-${next()}` }]),
  },
  authorize: (context) => authorize(context, 'Slot/$release'),
  levels: ['type'],
  parameters: [named],
  async answer(context, request) {
    const { id } = await requireHold(context, holdOf(request));
    await giveUpPlaces(buildReservationContext(context), { owner: toHoldOwner(id), replaces: [] });
    return { status: 204 };
  },
};

/** Who may search for slots by all that a hold tells may keep one: it takes no more than a booking, and ends by itself. */
function authorize(context: Pick<InteractionContext, 'policy'>, what: string): void {
  requireGrants(context, 'Slot', 's');
  requireSlotGrants(context, what);
}

function holdOf({ input }: OperationRequest): string {
  return readTextInput(input, 'hold') ?? '';
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

/** For the documentation of other operations, in minutes. */
export const holdMinutes = holdMs / 60_000;
