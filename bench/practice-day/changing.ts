/** Errands that write resources, and new tokens. */
import { pickPatient, readOne } from './looking.ts';
import { readHeader } from './practice.ts';
import { steps } from './steps.ts';
import type { Visit } from './visit.ts';

/** Gives a patient another telephone, if nobody else has changed the patient meanwhile. */
export async function changePatient(visit: Visit): Promise<void> {
  const patient = pickPatient(visit);
  if (patient.isTaken) return await readOne(visit);
  patient.isTaken = true;
  try {
    const what = `Patient/${patient.id}`;
    const before = await visit.ask(steps.readBefore, { what });
    const phone = `(212) 555-01${String(visit.random.integer(0, 99)).padStart(2, '0')}`;
    const body = { ...JSON.parse(before.body), telecom: [{ system: 'phone', value: phone, use: 'mobile' }] };
    const headers = { 'if-match': readHeader(before, 'etag') ?? '' };
    const after = await visit.ask(steps.update, { what, headers, body });
    patient.etag = readHeader(after, 'etag') ?? patient.etag;
  } finally {
    patient.isTaken = false;
  }
}

/** Adds a measurement of a patient. */
export async function addObservation(visit: Visit): Promise<void> {
  const { random } = visit;
  const system = 'http://terminology.hl7.org/CodeSystem/observation-category';
  const body = {
    resourceType: 'Observation',
    status: 'final',
    category: [{ coding: [{ system, code: 'vital-signs' }] }],
    code: { coding: [{ system: 'http://loinc.org', code: '8867-4', display: 'Heart rate' }] },
    subject: { reference: `Patient/${pickPatient(visit).id}` },
    effectiveDateTime: new Date(Date.now()).toISOString(),
    valueQuantity: {
      value: random.integer(50, 100),
      unit: '/min',
      system: 'http://unitsofmeasure.org',
      code: '/min',
    },
  };
  await visit.ask(steps.create, { what: 'Observation', body });
}

/** Gets the application a new token, as it needs before the old one expires. */
export async function renewToken(visit: Visit): Promise<void> {
  const { desk, chart, sync } = visit.practice.vendors;
  const vendor = visit.random.pick([desk, chart, sync]);
  await visit.note(steps.token, () => vendor.renew());
}
