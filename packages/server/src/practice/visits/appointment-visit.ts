/** The Encounter of an appointment, from what the appointment says (https://hl7.org/fhir/R4/encounter.html). */
import type { JsonObject, JsonValue } from '@praxis/fhir';

const ambulatory = {
  system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode',
  code: 'AMB',
  display: 'ambulatory',
};

/** A new Encounter of the appointment `id`. */
export function visitOf(
  { id, resource }: { readonly id: string; readonly resource: JsonObject },
  status: string,
  period: JsonObject,
): JsonObject {
  const [subject] = actorsOf(resource, /^Patient$/);
  const individuals = actorsOf(resource, /^(?:Practitioner|PractitionerRole|RelatedPerson)$/);
  const locations = actorsOf(resource, /^Location$/);
  const [serviceType] = listOf(resource['serviceType']);
  return {
    resourceType: 'Encounter',
    status,
    class: ambulatory,
    ...(serviceType === undefined ? {} : { serviceType }),
    ...(subject === undefined ? {} : { subject }),
    ...listed(
      'participant',
      individuals.map((individual) => ({ individual })),
    ),
    appointment: [{ reference: `Appointment/${id}` }],
    period,
    ...listed('reasonCode', listOf(resource['reasonCode'])),
    ...listed('reasonReference', listOf(resource['reasonReference'])),
    ...listed(
      'location',
      locations.map((location) => ({ location })),
    ),
  };
}

/** References to the actors of the types that have not declined, in their order. */
function actorsOf(appointment: JsonObject, types: RegExp): readonly JsonObject[] {
  return listOf(appointment['participant']).flatMap((participant) => {
    const { actor, status } = objectOf(participant);
    const { reference, display } = objectOf(actor);
    const type = typeof reference === 'string' ? /(?:^|\/)([A-Za-z]+)\/[A-Za-z0-9\-.]{1,64}$/.exec(reference)?.[1] : '';
    if (status === 'declined' || reference === undefined || !types.test(type ?? '')) return [];
    return [{ reference, ...(display === undefined ? {} : { display }) }];
  });
}

function listed(member: string, values: readonly JsonValue[]): JsonObject {
  return values.length === 0 ? {} : { [member]: [...values] };
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value) ? value : {};
}
