/** For each governed element a small resource that has it, with the code to be filled in. */

interface Example {
  readonly resourceType: string;
  readonly [element: string]: unknown;
}

/** Stands for the code. */
const place = 'CODE';
const concept = { coding: [{ code: place }] };
const subject = { reference: 'Patient/p1' };
const participant = [{ actor: subject, status: 'accepted' }];
const appointment = { resourceType: 'Appointment', status: 'booked', participant } as const;
const times = { start: '2026-11-24T15:00:00Z', end: '2026-11-24T15:30:00Z' };
const coverage = {
  ...{ resourceType: 'Coverage', status: 'active', beneficiary: subject },
  payor: [subject],
} as const;
const document = {
  ...{ resourceType: 'DocumentReference', status: 'current' },
  content: [{ attachment: { contentType: 'text/plain', title: 'Note' } }],
} as const;
const task = { resourceType: 'Task', status: 'ready', intent: 'unknown' } as const;
const source = 'https://praxis.health/fhir/StructureDefinition/referral-source';

export const governedExamples: Readonly<Record<string, Example>> = {
  'Appointment.appointmentType': { ...appointment, ...times, appointmentType: concept },
  'Slot.appointmentType': {
    ...{ resourceType: 'Slot', schedule: { reference: 'Schedule/1' }, status: 'free', ...times },
    appointmentType: concept,
  },
  'Appointment.reasonCode': { ...appointment, ...times, reasonCode: [concept] },
  'Appointment.cancelationReason': { ...appointment, ...times, cancelationReason: concept },
  [`Patient.extension('${source}').value.ofType(CodeableConcept)`]: {
    resourceType: 'Patient',
    extension: [{ url: source, valueCodeableConcept: concept }],
  },
  'Coverage.type': { ...coverage, type: concept },
  'InsurancePlan.type': { resourceType: 'InsurancePlan', name: 'Plan', type: [concept] },
  'Coverage.relationship': { ...coverage, relationship: concept },
  'Coverage.costToBeneficiary.type': {
    ...coverage,
    costToBeneficiary: [{ type: concept, valueMoney: { value: 20, currency: 'USD' } }],
  },
  'DocumentReference.category': { ...document, category: [concept] },
  'DocumentReference.type': { ...document, type: concept },
  'Encounter.type': {
    ...{ resourceType: 'Encounter', status: 'finished', class: { code: 'AMB' } },
    type: [concept],
  },
  'Condition.category': { resourceType: 'Condition', subject, category: [concept] },
  'ServiceRequest.category': {
    ...{ resourceType: 'ServiceRequest', status: 'active', intent: 'order', subject },
    category: [concept],
  },
  'Organization.type': { resourceType: 'Organization', name: 'Payer', type: [concept] },
  [`Task.input.where(type.text = 'recall-action').value.ofType(CodeableConcept)`]: {
    ...task,
    input: [{ type: { text: 'recall-action' }, valueCodeableConcept: concept }],
  },
  'Task.reasonCode': { ...task, reasonCode: concept },
  'Task.code': { ...task, code: concept },
};

export function withCode(example: Example, code: string): object {
  return JSON.parse(JSON.stringify(example).replaceAll(`"${place}"`, JSON.stringify(code)));
}
