/**
 * $reschedule: an appointment moves to another slot of its type (docs/decisions/0189). Its place is given up and the new one
 * taken at once: it may move by less than its own length, and it never has none.
 */

import type { Appointment, JsonObject, Patch } from '@praxis/fhir';
import { fail } from '../../../base/errors.ts';
import { buildOperationRequest } from '../../../base/worst-case.ts';
import type { FhirResponse, InteractionContext } from '../../../engine/context.ts';
import { requireGrants } from '../../../engine/rights/denials.ts';
import { requireValidId } from '../../../engine/write/build-write.ts';
import { buildPatchResponse, changeResource } from '../../../engine/write/patch.ts';
import { declareInput, declareOutput, type Operation, type OperationRequest } from '../../../operations/operation.ts';
import { requireSlotGrants } from '../../calendars/slots/slot-grants.ts';
import type { OfferedSlot } from '../../calendars/slots/slots.ts';
import { buildSettledAppointment } from '../../waiting-list/waitlist.ts';
import { listTypeCodes } from '../booking.ts';
import { claimSlot } from '../holding.ts';
import { findParticipants, type PlaceOwner } from '../occupancy.ts';
import { withReservation } from '../reserve.ts';
import { buildMovedAppointment, slotMembers } from './booked.ts';
import { readWantedSlot } from './parameters.ts';
import { buildReservationContext } from './placing-context.ts';

export const reschedule: Operation = {
  name: 'reschedule',
  url: 'https://praxis.health/fhir/OperationDefinition/reschedule',
  worstCase: {
    because: 'a slot that many want',
    request: ({ appointment, slot }) =>
      buildOperationRequest(`Appointment/${appointment}/$reschedule`, [{ name: 'slot', valueString: `Slot/${slot}` }]),
  },
  levels: ['instance'],
  types: ['Appointment'],
  affectsState: true,
  parameters: [
    declareInput('slot', 'string', 'The slot to move to, as Slot/id.'),
    declareInput('hold', 'id', 'A hold of this application, instead of slot.'),
    declareOutput('return', 'Appointment', 'The appointment after the change, as in the response to PATCH.'),
  ],
  authorize(context) {
    requireGrants(context, 'Slot', 's');
    requireGrants(context, 'Appointment', 'u');
    requireSlotGrants(context, 'Appointment/$reschedule');
  },
  answer,
};

/** Statuses in which there is a time to move. */
const movable: ReadonlySet<string> = new Set(['proposed', 'pending', 'booked']);

/**
 * 200 as a PATCH.
 * @throws PraxisError `slot-taken`, `slot-missing`, `rule-broken`, `resource-not-found`, `operation-parameter-invalid`, and as a
 *   PATCH
 */
async function answer(context: InteractionContext, request: OperationRequest): Promise<FhirResponse> {
  requireValidId(request.id);
  const findWanted = readWantedSlot(request.input, 'where it moves to');
  const row = await withReservation(buildReservationContext(context), async (reserving) => {
    const inside = { ...context, store: reserving.store };
    const { judged, replaces } = await findWanted(inside);
    const owner: PlaceOwner = `Appointment/${request.id}`;
    const before = await findParticipants(inside.store, context.scope, owner);
    const places = await claimSlot(reserving, judged, { owner, replaces });
    const patch: Patch = {
      touches: slotMembers.map((member) => ({ member, blind: false })),
      apply: (resource: Appointment) => moved(resource, judged.slot, before, places.participants),
    };
    return await changeResource(inside, request, patch, { extras: { places } });
  });
  return buildPatchResponse(context, request, row);
}

function moved(
  appointment: Appointment,
  slot: OfferedSlot,
  before: readonly string[],
  actors: readonly string[],
): JsonObject {
  const { status = '' } = appointment;
  if (!movable.has(status))
    fail('rule-broken', {
      diagnostics: `An appointment that is ${status} cannot be moved, only one that is ${[...movable].join(', ')}`,
      expression: ['Appointment.status'],
    });
  const codes = listTypeCodes(appointment);
  if (!codes.includes(slot.type.code))
    fail('rule-broken', {
      diagnostics: `The slot is for ${slot.type.code}, the appointment for ${codes.join(', ') || 'no type'}: name a slot of its type`,
      expression: ['Appointment.appointmentType'],
    });
  // Who moves an offer of the waiting list has taken it.
  return buildMovedAppointment(buildSettledAppointment(appointment), slot, before, actors);
}
