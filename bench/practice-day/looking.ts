/** Errands that change nothing: reads, calendars, searches, and copies that are kept up to date. */
import { findNextPage, type KnownPatient, readHeader } from './practice.ts';
import { steps } from './steps.ts';
import type { Visit } from './visit.ts';

const dayMs = 86_400_000;
const changesOf = 50;

/** Reads a patient or an appointment. */
export async function readOne(visit: Visit): Promise<void> {
  const { practice, random } = visit;
  const isAppointment = practice.appointments.length > 0 && random.chance(1 / 3);
  const what = isAppointment ? `Appointment/${random.pick(practice.appointments)}` : `Patient/${pickPatient(visit).id}`;
  await visit.ask(steps.read, { what });
}

/** Reads a patient unless it is the version that the application has. */
export async function readAgain(visit: Visit): Promise<void> {
  const patient = pickPatient(visit);
  const headers = { 'if-none-match': patient.etag };
  const answer = await visit.ask(steps.conditional, { what: `Patient/${patient.id}`, headers });
  patient.etag = readHeader(answer, 'etag') ?? patient.etag;
}

/** The calendar of a provider on a day, with the patients: today more often than later. */
export async function seeDay(visit: Visit): Promise<void> {
  const { practice, random } = visit;
  const { days, practitioners } = practice;
  const day = random.chance(0.5) ? days[0] : random.pick(days);
  const criteria = `practitioner=${random.pick(practitioners)}&date=${day}&_sort=date&_count=50`;
  await visit.ask(steps.day, { what: `Appointment?${criteria}&_include=Appointment:patient` });
}

/** The first page of what is booked in the practice from today on. */
export async function seeDaysAhead(visit: Visit): Promise<void> {
  await visit.ask(steps.week, { what: `Appointment?date=ge${visit.practice.days[0]}&_sort=date&_count=50` });
}

/** Looks for free slots and takes none. */
export async function lookForSlots(visit: Visit): Promise<void> {
  await findSlots(visit);
}

/** Ids of slots that are free, from one of the coming days on. */
export async function findSlots(visit: Visit): Promise<readonly string[]> {
  const { practice, random } = visit;
  const start = random.pick(practice.bookableDays);
  const end = new Date(Date.parse(start) + 7 * dayMs).toISOString().slice(0, 10);
  const what = `Slot/$find?appointment-type=FOLLOWUP&start=${start}&end=${end}&_count=20`;
  const found: { readonly entry?: readonly { readonly resource: { readonly id: string } }[] } = JSON.parse(
    (await visit.ask(steps.find, { what })).body,
  );
  return (found.entry ?? []).map(({ resource }) => resource.id);
}

const lookUps = {
  name: { step: steps.byName, criteria: ({ family }: KnownPatient) => `name=${encodeURIComponent(family)}&_count=20` },
  birthDate: { step: steps.byBirthDate, criteria: ({ birthDate }: KnownPatient) => `birthdate=${birthDate}` },
  identifier: { step: steps.byIdentifier, criteria: ({ identifier }: KnownPatient) => `identifier=${identifier}` },
} as const;

/** Looks for a patient by what a caller says on the telephone. */
export function lookUpPatient(by: keyof typeof lookUps): (visit: Visit) => Promise<void> {
  const { step, criteria } = lookUps[by];
  return async (visit) => void (await visit.ask(step, { what: `Patient?${criteria(pickPatient(visit))}` }));
}

/** A patient's visits, the newest first. */
export async function seeEncounters(visit: Visit): Promise<void> {
  const what = `Encounter?patient=${pickPatient(visit).id}&_sort=-date&_count=20`;
  await visit.ask(steps.encounters, { what });
}

/** A patient's results. */
export async function seeObservations(visit: Visit): Promise<void> {
  const what = `Observation?patient=${pickPatient(visit).id}&_sort=-date&_count=20`;
  await visit.ask(steps.observations, { what });
}

/** A patient's appointments from today on. */
export async function seeAppointments(visit: Visit): Promise<void> {
  const { days } = visit.practice;
  const what = `Appointment?patient=${pickPatient(visit).id}&date=ge${days[0]}&_sort=date`;
  await visit.ask(steps.appointments, { what });
}

/** The page of the feed that follows the last one. */
export async function followChanges(visit: Visit): Promise<void> {
  const { practice } = visit;
  const what = practice.feed ?? `$changes?since=${practice.completeUntil}&_count=${changesOf}`;
  const { body } = await visit.ask(steps.changes, { what });
  practice.feed = findNextPage(JSON.parse(body));
}

/** Appointments that have changed since the last look. */
export async function searchLastUpdated(visit: Visit): Promise<void> {
  const { practice } = visit;
  const what = `Appointment?_lastUpdated=ge${practice.completeUntil}&_sort=_lastUpdated&_count=${changesOf}`;
  const answer = await visit.ask(steps.lastUpdated, { what });
  practice.completeUntil = readHeader(answer, 'x-complete-until') ?? practice.completeUntil;
}

/** Somebody of the practice. */
export function pickPatient({ practice, random }: Visit): KnownPatient {
  return random.pick(practice.patients);
}
