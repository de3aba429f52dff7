/**
 * A patient's way through a practice, step by step as an application takes it: registered, booked, moved, seen, charged,
 * documented and called back. Each step is a function of its own, to be copied.
 */
import { findParameter, type Hold, type Praxis, type Saved, SlotTakenError, type ValueSet } from '@praxis/client';

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
  const hold = await praxis.booking.hold(slot); // for some minutes, while a form is filled in
  const booked = await book(praxis, patient, hold);
  say(`booked Appointment/${booked.id}`);
  const moved = await praxis.booking.reschedule(booked.id, later);
  say(`moved to ${moved?.start}`);
  const encounter = await visit(praxis, booked.id);
  say(`seen in Encounter/${encounter}`);
  const charge = await chargeVisit(praxis, patient, encounter);
  say(`charged ChargeItem/${charge}`);
  const document = await fileLetter(praxis, patient, encounter);
  say(`filed DocumentReference/${document}`);
  const recall = await planRecall(praxis, patient);
  say(`to be called back: Task/${recall}`);
  return { patient, appointment: booked.id, encounter, charge, document, recall };
}

async function register(praxis: Praxis): Promise<string> {
  const { id } = await praxis.create({
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
  const { expansion } = await praxis.get<ValueSet>('ValueSet/appointment-type/$expand');
  const code = expansion?.contains?.[0]?.code;
  if (code === undefined) throw new Error('the practice offers no appointment type');
  return code;
}

/** Two free slots of one practitioner in the coming weeks, mornings first. */
async function findSlots(praxis: Praxis, type: string): Promise<readonly [Saved<'Slot'>, Saved<'Slot'>]> {
  const slots = await praxis.booking.find({ type, time: '08:00-12:00', others: true, count: 100 }).take(100);
  const [first] = slots;
  const second = slots.find(
    ({ schedule, start = '' }) => schedule.display === first?.schedule.display && start > (first?.end ?? ''),
  );
  if (first === undefined || second === undefined) throw new Error(`no two free slots of type ${type}`);
  return [first, second];
}

/** Books what is held. Whoever comes too late is told what is free, and takes the next one. */
async function book(praxis: Praxis, patient: string, hold: Hold): Promise<Saved<'Appointment'>> {
  const appointment = { patient, description: 'First visit' };
  try {
    return await praxis.booking.book(hold, appointment);
  } catch (error) {
    const [next] = error instanceof SlotTakenError ? error.alternatives : [];
    if (next === undefined) throw error;
    return await praxis.booking.book(next.slot, appointment);
  }
}

/** The patient comes and goes: the appointment and its Encounter change together. */
async function visit(praxis: Praxis, appointment: string): Promise<string> {
  const checkedIn = await praxis.invoke(`Appointment/${appointment}/$check-in`);
  await praxis.invoke(`Appointment/${appointment}/$check-out`);
  const encounter = checkedIn && findParameter(checkedIn, 'encounter')?.resource?.id;
  if (encounter === undefined) throw new Error('no Encounter began');
  return encounter;
}

/** A charge of one transaction. Sent twice, it is refused by its id, and the first one is named. */
async function chargeVisit(praxis: Praxis, patient: string, encounter: string): Promise<string> {
  const { id } = await praxis.create({
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

/** The file goes up first; the document then names it, and each read opens it for five minutes. */
async function fileLetter(praxis: Praxis, patient: string, encounter: string): Promise<string> {
  const letter = `Dear colleague,\nthank you for sending this patient (${encounter}).\n`;
  const attachment = await praxis.documents.upload(letter, { contentType: 'text/plain', title: 'Letter' });
  const { id } = await praxis.create({
    resourceType: 'DocumentReference',
    status: 'current',
    subject: { reference: `Patient/${patient}` },
    context: { encounter: [{ reference: `Encounter/${encounter}` }] },
    description: 'Letter',
    content: [{ attachment }],
  });
  const file = await praxis.documents.download(id);
  if ((await file.text()) !== letter) throw new Error('the file is not what was sent');
  return id;
}

/** Due in a year: it stays ready until somebody takes it up. */
async function planRecall(praxis: Praxis, patient: string): Promise<string> {
  const date = new Date();
  date.setUTCFullYear(date.getUTCFullYear() + 1);
  const due = date.toISOString().slice(0, 10);
  const { id } = await praxis.create({
    resourceType: 'Task',
    status: 'ready',
    intent: 'unknown',
    code: { coding: [{ code: 'PMRECALL' }] },
    description: 'Yearly check',
    for: { reference: `Patient/${patient}` },
    restriction: { period: { start: due, end: due } },
  });
  return id;
}
