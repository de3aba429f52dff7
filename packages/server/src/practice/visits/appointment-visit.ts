/** The Encounter of an appointment, from what the appointment says (https://hl7.org/fhir/R4/encounter.html). */
import type { Appointment, Encounter, EncounterStatusCode, Period, Reference } from '@praxis/fhir';

const ambulatory = {
  system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode',
  code: 'AMB',
  display: 'ambulatory',
};

/** A new Encounter of the appointment `id`. */
export function buildVisit(
  { id, resource }: { readonly id: string; readonly resource: Appointment },
  status: EncounterStatusCode,
  period: Period,
): Encounter {
  const [subject] = actorsOf(resource, /^Patient$/);
  const individuals = actorsOf(resource, /^(?:Practitioner|PractitionerRole|RelatedPerson)$/);
  const locations = actorsOf(resource, /^Location$/);
  const { serviceType: [serviceType] = [], reasonCode = [], reasonReference = [] } = resource;
  return {
    resourceType: 'Encounter',
    status,
    class: ambulatory,
    ...(serviceType === undefined ? {} : { serviceType }),
    ...(subject === undefined ? {} : { subject }),
    ...(individuals.length === 0 ? {} : { participant: individuals.map((individual) => ({ individual })) }),
    appointment: [{ reference: `Appointment/${id}` }],
    period,
    ...(reasonCode.length === 0 ? {} : { reasonCode }),
    ...(reasonReference.length === 0 ? {} : { reasonReference }),
    ...(locations.length === 0 ? {} : { location: locations.map((location) => ({ location })) }),
  };
}

/** References to the actors of the types that have not declined, in their order. */
function actorsOf({ participant }: Appointment, types: RegExp): readonly Reference[] {
  return participant.flatMap(({ actor, status }) => {
    const { reference, display } = actor ?? {};
    const type = /(?:^|\/)([A-Za-z]+)\/[A-Za-z0-9\-.]{1,64}$/.exec(reference ?? '')?.[1];
    if (status === 'declined' || reference === undefined || !types.test(type ?? '')) return [];
    return [{ reference, ...(display === undefined ? {} : { display }) }];
  });
}
