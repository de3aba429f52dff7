/**
 * A patient's way through a practice, step by step as an application takes it: registered, booked, moved, seen, charged,
 * documented and called back. Each step is a function of its own, to be copied.
 */
import { createHash } from 'node:crypto';
import { type Json, type Praxis, Refused } from './praxis.ts';

/** What became of the journey: ids of what was made. */
export interface Journey {
  readonly patient: string;
  readonly appointment: string;
  readonly encounter: string;
  readonly charge: string;
  readonly document: string;
  readonly recall: string;
}

/** @param say is told each step in a line */
export async function takeJourney(praxis: Praxis, say: (line: string) => void): Promise<Journey> {
  const patient = await register(praxis);
  say(`registered Patient/${patient}`);
  const type = await chooseType(praxis);
  const [slot, later] = await findSlots(praxis, type);
  say(`found ${slot.start} with ${slot.schedule.display}`);
  const hold = await holdSlot(praxis, slot.id);
  const booked = await book(praxis, patient, hold);
  say(`booked Appointment/${booked.id}`);
  const moved = await reschedule(praxis, booked.id, later.id);
  say(`moved to ${moved.start}`);
  const encounter = await visit(praxis, booked.id);
  say(`seen in Encounter/${encounter}`);
  const charge = await charged(praxis, patient, encounter);
  say(`charged ChargeItem/${charge}`);
  const document = await upload(praxis, patient, encounter);
  say(`filed DocumentReference/${document}`);
  const recall = await planRecall(praxis, patient);
  say(`to be called back: Task/${recall}`);
  return { patient, appointment: booked.id, encounter, charge, document, recall };
}

async function register(praxis: Praxis): Promise<string> {
  const { id } = await praxis.post('Patient', {
    resourceType: 'Patient',
    name: [{ use: 'official', family: 'Journey', given: ['Jo'] }],
    gender: 'female',
    birthDate: '1980-02-29',
    telecom: [{ system: 'phone', value: '+1 555 0142' }],
  });
  return id;
}

/** The first appointment type that the practice offers. */
async function chooseType(praxis: Praxis): Promise<string> {
  const { expansion } = await praxis.get('ValueSet/appointment-type/$expand');
  return expansion.contains[0].code;
}

/** Two free slots of one practitioner in the coming weeks, mornings first. */
async function findSlots(praxis: Praxis, type: string): Promise<readonly [Json, Json]> {
  const { entry = [] } = await praxis.get(
    `Slot/$find?appointment-type=${type}&time=08:00-12:00&others=true&_count=100`,
  );
  const slots = entry.map(({ resource }: Json) => resource);
  const [first] = slots;
  const second = slots.find((slot: Json) => slot.schedule.display === first.schedule.display && slot.start > first.end);
  if (first === undefined || second === undefined) throw new Error(`no two free slots of type ${type}`);
  return [first, second];
}

/** Keeps the slot for some minutes, while a form is filled in. */
async function holdSlot(praxis: Praxis, slot: string): Promise<string> {
  const { parameter } = await praxis.post(`Slot/${slot}/$hold`);
  return parameter.find(({ name }: Json) => name === 'hold').valueId;
}

/** Books what is held. Whoever comes too late is told what is free, and takes the next one. */
async function book(praxis: Praxis, patient: string, hold: string): Promise<Json> {
  const appointment = {
    resourceType: 'Appointment',
    description: 'First visit',
    participant: [{ actor: { reference: `Patient/${patient}` }, status: 'accepted' }],
  };
  const booking = (place: Json) => ({
    resourceType: 'Parameters',
    parameter: [{ name: 'appointment', resource: appointment }, place],
  });
  try {
    return await praxis.post('Appointment/$book', booking({ name: 'hold', valueId: hold }));
  } catch (error) {
    const next = error instanceof Refused && error.status === 409 ? alternatives(error)[0] : undefined;
    if (next === undefined) throw error;
    return await praxis.post('Appointment/$book', booking({ name: 'slot', valueString: next }));
  }
}

/** Free slots that a refusal names, as Slot/id. */
function alternatives({ outcome }: Refused): readonly string[] {
  return outcome.issue.flatMap(({ extension = [] }: Json) =>
    extension.map(({ valueReference }: Json) => valueReference.reference),
  );
}

async function reschedule(praxis: Praxis, appointment: string, slot: string): Promise<Json> {
  return await praxis.post(`Appointment/${appointment}/$reschedule`, {
    resourceType: 'Parameters',
    parameter: [{ name: 'slot', valueString: `Slot/${slot}` }],
  });
}

/** The patient comes and goes: the appointment and its Encounter change together. */
async function visit(praxis: Praxis, appointment: string): Promise<string> {
  const { parameter } = await praxis.post(`Appointment/${appointment}/$check-in`);
  await praxis.post(`Appointment/${appointment}/$check-out`);
  return parameter.find(({ name }: Json) => name === 'encounter').resource.id;
}

/** A charge of one transaction. Sent twice, it is refused by its id, and the first one is named. */
async function charged(praxis: Praxis, patient: string, encounter: string): Promise<string> {
  const { id } = await praxis.post('ChargeItem', {
    resourceType: 'ChargeItem',
    identifier: [{ system: 'https://praxis.health/fhir/sid/transaction', value: `journey-${encounter}` }],
    status: 'billable',
    code: { coding: [{ system: 'http://www.ama-assn.org/go/cpt', code: '99203' }] },
    subject: { reference: `Patient/${patient}` },
    context: { reference: `Encounter/${encounter}` },
    quantity: { value: 1 },
  });
  return id;
}

/** A file goes to a URL that takes it once; the document then names it, with what its bytes must be. */
async function upload(praxis: Praxis, patient: string, encounter: string): Promise<string> {
  const bytes = Buffer.from(`Dear colleague,\nthank you for sending this patient (${encounter}).\n`);
  const place = await praxis.post('Binary', { resourceType: 'Binary', contentType: 'text/plain' });
  const urlOf = (wanted: string): string => place.parameter.find(({ name }: Json) => name === wanted).valueUrl;
  const put = await fetch(urlOf('url'), { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: bytes });
  if (!put.ok) throw new Error(`upload: ${put.status} ${await put.text()}`);
  const { id } = await praxis.post('DocumentReference', {
    resourceType: 'DocumentReference',
    status: 'current',
    subject: { reference: `Patient/${patient}` },
    context: { encounter: [{ reference: `Encounter/${encounter}` }] },
    description: 'Letter',
    content: [
      {
        attachment: {
          contentType: 'text/plain',
          url: urlOf('attachment'),
          title: 'Letter',
          size: bytes.length,
          hash: createHash('sha1').update(bytes).digest('base64'),
        },
      },
    ],
  });
  const read = await praxis.get(`DocumentReference/${id}`);
  const file = await fetch(read.content[0].attachment.url); // opens without a token, for five minutes
  if (!Buffer.from(await file.arrayBuffer()).equals(bytes)) throw new Error('the file is not what was sent');
  return id;
}

/** Due in a year: it stays ready until somebody takes it up. */
async function planRecall(praxis: Praxis, patient: string): Promise<string> {
  const inYears = (years: number): string => {
    const date = new Date();
    date.setUTCFullYear(date.getUTCFullYear() + years);
    return date.toISOString().slice(0, 10);
  };
  const { id } = await praxis.post('Task', {
    resourceType: 'Task',
    status: 'ready',
    intent: 'unknown',
    code: { coding: [{ code: 'PMRECALL' }] },
    description: 'Yearly check',
    for: { reference: `Patient/${patient}` },
    restriction: { period: { start: inYears(1), end: inYears(1) } },
  });
  return id;
}
