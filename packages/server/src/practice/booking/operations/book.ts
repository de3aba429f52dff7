/**
 * $book: a slot becomes an appointment (docs/decisions/0189). Rooms and equipment that the appointment needs are found,
 * taken and named with it; all of that happens or nothing does.
 */
import { makeResourceId } from '../../../base/ids.ts';
import { buildOperationRequest } from '../../../base/worst-case.ts';
import type { FhirResponse, InteractionContext } from '../../../engine/context.ts';
import { requireGrants } from '../../../engine/rights/denials.ts';
import { requireResource } from '../../../engine/write/build-write.ts';
import { createNew } from '../../../engine/write/create.ts';
import { readObjectInput } from '../../../operations/input.ts';
import { declareInput, declareOutput, type Operation, type OperationRequest } from '../../../operations/operation.ts';
import { requireSlotGrants } from '../../calendars/slots/slot-grants.ts';
import { claimSlot } from '../holding.ts';
import { withReservation } from '../reserve.ts';
import { bookSeries, seriesResults } from './book-series.ts';
import { buildBookedAppointment } from './booked.ts';
import { findBodyParameter, readWantedSlot, seriesUnits } from './parameters.ts';
import { buildReservationContext } from './placing-context.ts';
import { readRecurrence, recurrenceParameter } from './recurrence-parameter.ts';

export const book: Operation = {
  name: 'book',
  url: 'https://praxis.health/fhir/OperationDefinition/book',
  worstCase: {
    because: 'a series of as many as one may have',
    request: ({ slot, patient }) =>
      buildOperationRequest('Appointment/$book', [
        { name: 'slot', valueString: `Slot/${slot}` },
        {
          name: 'appointment',
          resource: {
            resourceType: 'Appointment',
            status: 'booked',
            participant: [{ actor: { reference: `Patient/${patient}` }, status: 'accepted' }],
          },
        },
        {
          name: 'recurrence',
          part: [
            { name: 'frequency', valueCode: 'weekly' },
            { name: 'count', valueInteger: 104 },
          ],
        },
      ]),
  },
  rateUnitsOfBody: (body) => (findBodyParameter(body, 'recurrence') === undefined ? 0 : seriesUnits),
  levels: ['type'],
  types: ['Appointment'],
  affectsState: true,
  creates: 'Appointment',
  parameters: [
    declareInput(
      'appointment',
      'Appointment',
      'Who comes and why. The service adds type, start, end, practitioner, location and rooms from the slot. The status is booked unless the request says pending.',
      { min: 1, unchecked: true },
    ),
    declareInput('slot', 'string', 'The slot, as Slot/id.'),
    declareInput('hold', 'id', 'A hold of this application, instead of slot.'),
    recurrenceParameter,
    declareOutput(
      'return',
      'Appointment',
      'The appointment, as in the response to a create. For a series, the response is a Parameters resource.',
      { min: 0 },
    ),
    ...seriesResults,
  ],
  authorize(context) {
    requireGrants(context, 'Slot', 's');
    requireGrants(context, 'Appointment', 'c');
    requireSlotGrants(context, 'Appointment/$book');
  },
  answer,
};

/**
 * 201 as a create; of a series 200.
 * @throws PraxisError `slot-taken`, `slot-missing`, `rule-broken`, `resource-not-found`, `operation-parameter-invalid`, and as a
 *   create
 */
async function answer(context: InteractionContext, request: OperationRequest): Promise<FhirResponse> {
  const { input } = request;
  const given = readObjectInput(input, 'appointment') ?? {};
  const findWanted = readWantedSlot(input, 'what is booked');
  const asked = readRecurrence(input);
  const newId = request.newId ?? makeResourceId(context.clock);
  return await withReservation(buildReservationContext(context), async (reserving) => {
    const inside = { ...context, store: reserving.store };
    const { judged, replaces } = await findWanted(inside);
    if (asked !== undefined) return await bookSeries(inside, request, { given, judged, replaces, asked });
    const places = await claimSlot(reserving, judged, { owner: `Appointment/${newId}`, replaces });
    const booked = buildBookedAppointment(given, judged.slot, places.participants);
    const appointment = requireResource(booked, 'Appointment', context.budget);
    return await createNew(inside, { ...request, newId, type: 'Appointment' }, appointment, { extras: { places } });
  });
}
