/**
 * What a kept appointment leaves behind: the encounter, and once it is finished the charges, a note, orders with reports.
 */
import { type JsonObject, practiceExtensions, practiceIdentifierSystems } from '@praxis/fhir';
import { assignLocation, ids, type Place, type PracticePlan } from './plan.ts';
import type { Random } from './random.ts';
import { reference, resource, type SyntheticResource } from './resource.ts';
import {
  code,
  concept,
  diagnoses,
  encounterTypes,
  orderCategories,
  orders,
  procedures,
  systems,
} from './vocabulary.ts';

/** The type of a transaction: a charge. */
const charge = {
  url: practiceExtensions.chargeItemType,
  valueCodeableConcept: code(`${systems.firm}/charge-item-type`, 'CG'),
};

interface Visit {
  readonly id: string;
  readonly patient: JsonObject;
  readonly practitioner: JsonObject;
  readonly encounter: JsonObject;
  readonly start: string;
  readonly end: string;
}

/** The resources of one visit; the Encounter first. */
export function* visit(
  plan: PracticePlan,
  random: Random,
  place: Place,
  patient: number,
  finished: boolean,
): Generator<SyntheticResource> {
  const facts: Visit = {
    id: place.id,
    patient: reference('Patient', ids.patient(patient)),
    practitioner: reference('Practitioner', ids.practitioner(place.practitioner)),
    encounter: reference('Encounter', place.id),
    start: plan.zone.toText(place.day, place.startMinutes),
    end: plan.zone.toText(place.day, place.startMinutes + place.minutes),
  };
  yield resource('Encounter', place.id, {
    status: finished ? 'finished' : 'in-progress',
    class: { system: systems.actCode, code: 'AMB', display: 'ambulatory' },
    type: [concept(random.pick(encounterTypes))],
    subject: facts.patient,
    participant: [{ individual: facts.practitioner }],
    appointment: [reference('Appointment', place.id)],
    period: finished ? { start: facts.start, end: facts.end } : { start: facts.start },
    reasonCode: [concept(random.pick(diagnoses))],
    location: [{ location: reference('Location', ids.location(assignLocation(plan, place.practitioner))) }],
    serviceProvider: reference('Organization', ids.practice),
  });
  if (!finished) return;
  for (const [at, procedure] of random.sample(procedures, random.integer(1, 2)).entries()) {
    yield resource('ChargeItem', `${place.id}-${at + 1}`, {
      extension: [charge],
      status: 'billable',
      code: concept(procedure),
      subject: facts.patient,
      context: facts.encounter,
      occurrenceDateTime: facts.end,
      performer: [{ actor: facts.practitioner }],
      quantity: { value: 1 },
      priceOverride: { value: random.integer(40, 400), currency: 'USD' },
      reason: [concept(random.pick(diagnoses))],
    });
  }
  if (random.chance(0.25)) yield* order(random, facts);
  if (random.chance(0.4)) yield note(facts);
}

function* order(random: Random, facts: Visit): Generator<SyntheticResource> {
  const ordered = concept(random.pick(orders));
  const requisition = { system: practiceIdentifierSystems.requisition, value: facts.id };
  const reported = random.chance(0.8);
  yield resource('ServiceRequest', facts.id, {
    requisition,
    status: reported ? 'completed' : 'active',
    intent: 'order',
    category: [concept(random.pick(orderCategories))],
    code: ordered,
    subject: facts.patient,
    encounter: facts.encounter,
    authoredOn: facts.end,
    requester: facts.practitioner,
  });
  if (!reported) return;
  yield resource('Observation', facts.id, {
    status: 'final',
    category: [code(`${systems.hl7}/observation-category`, 'laboratory')],
    code: { coding: [{ system: systems.loinc, code: '718-7', display: 'Hemoglobin' }] },
    subject: facts.patient,
    encounter: facts.encounter,
    effectiveDateTime: facts.end,
    valueQuantity: {
      value: random.integer(100, 170) / 10,
      unit: 'g/dL',
      system: 'http://unitsofmeasure.org',
      code: 'g/dL',
    },
  });
  yield resource('DiagnosticReport', facts.id, {
    identifier: [requisition],
    basedOn: [reference('ServiceRequest', facts.id)],
    status: 'final',
    category: [code(`${systems.hl7}/v2-0074`, 'LAB')],
    code: ordered,
    subject: facts.patient,
    encounter: facts.encounter,
    effectiveDateTime: facts.end,
    issued: facts.end,
    result: [reference('Observation', facts.id)],
  });
}

function note(facts: Visit): SyntheticResource {
  return resource('DocumentReference', `note-${facts.id}`, {
    status: 'current',
    type: { coding: [{ system: systems.loinc, code: '34133-9', display: 'Summarization of episode note' }] },
    category: [code(systems.loinc, '34133-9')],
    subject: facts.patient,
    date: facts.end,
    author: [facts.practitioner],
    description: 'Visit note',
    content: [{ attachment: { contentType: 'application/pdf', title: `note-${facts.id}.pdf` } }],
    context: { encounter: [facts.encounter] },
  });
}
