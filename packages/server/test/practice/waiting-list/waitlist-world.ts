/**
 * A firm with a waiting list, for tests of what is offered to those who wait and of how they answer: appointments of
 * Monday, 23 November 2026; the clock stands at Saturday, 21 November.
 */
import assert from 'node:assert/strict';
import { sql } from '../../../src/database/sql.ts';
import { testLog } from '../../support/cluster.ts';
import type { Lifetime } from '../../support/database.ts';
import {
  type Answer,
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  type TestFirm,
  type TestService,
} from '../../support/service.ts';
import { keepCalendar, plainCalendar, put, putPlaces } from '../calendars/world.ts';

/** A time of the Monday, as the practice writes it. */
export const at = (time: string): string => `2026-11-23T${time}:00+01:00`;

export const participant = (reference: string) => ({ actor: { reference }, status: 'accepted' });

/** One that is booked. */
export const appointment = (start: string, end: string, type = 'FOLLOWUP', practitioner = '12') => ({
  resourceType: 'Appointment',
  status: 'booked',
  appointmentType: { coding: [{ code: type }] },
  start,
  end,
  participant: [participant('Patient/p'), participant(`Practitioner/${practitioner}`), participant('Location/3')],
});

/** One that waits. */
export const waiting = (patient: string, more: object = {}) => ({
  resourceType: 'Appointment',
  status: 'waitlist',
  appointmentType: { coding: [{ code: 'FOLLOWUP' }] },
  participant: [participant(`Patient/${patient}`)],
  ...more,
});

/** The body of $reschedule to the slot of 11:30. */
export async function toLaterSlot(caller: Caller): Promise<object> {
  const { json } = await caller.get('Slot?appointment-type=FOLLOWUP&date=2026-11-23');
  const slot = json.entry.find(({ resource }: { resource: { start: string } }) => resource.start === at('11:30'));
  return { resourceType: 'Parameters', parameter: [{ name: 'slot', valueString: slot.resource.id }] };
}

const cancellation = {
  resourceType: 'Parameters',
  parameter: [
    {
      name: 'reason',
      valueCodeableConcept: {
        coding: [{ system: 'http://terminology.hl7.org/CodeSystem/appointment-cancellation-reason', code: 'pat' }],
      },
    },
  ],
};

/** What is kept of the list and of the times that are taken, counted. */
export interface Kept {
  readonly entries: number;
  readonly offers: number;
  readonly freed: number;
  readonly due: number;
  readonly places: number;
  readonly holds: number;
}

export interface WaitingList {
  readonly service: TestService;
  readonly maple: TestFirm;
  /** Holds acl/*; another one after `pass`. */
  readonly caller: Caller;
  /** May read, search, create and change appointments; another one after `pass`. */
  readonly patients: Caller;
  /** Stores an Appointment as `caller`; its id. */
  made(resource: object): Promise<string>;
  /** Begins to wait, later than whoever waits already; its id. */
  waits(patient: string, more?: object): Promise<string>;
  cancel(id: string): Promise<void>;
  /** $accept-offer or $decline-offer, as `patients` where nobody else is named. */
  answer(id: string, name: string, by?: Caller): Promise<Answer>;
  read(id: string): Promise<Answer['json']>;
  /** Their statuses. */
  stateOf(...ids: readonly string[]): Promise<string[]>;
  /** Lets the jobs do all that is to be done; at no other time do they work. */
  settle(): Promise<void>;
  /** Lets time pass; tokens end sooner than the tests do. */
  pass(ms: number): Promise<void>;
  kept(): Promise<Kept | undefined>;
  /** Takes all appointments away, and sees that nothing of them is left. */
  clear(): Promise<void>;
}

/** Opens a service of the file's own with the firm, and nobody who waits. */
export async function openWaitingList(lifetime: Lifetime): Promise<WaitingList> {
  const jobs = { run: false };
  const service = await openTestService(lifetime, {}, testLog, { runsJobs: () => jobs.run });
  const maple = await makeFirm(service, 'maple', 'sandbox', 'Europe/Berlin');
  const everything = await makeApplication(service, 'Everything', ['acl/*'], [maple]);
  const changing = ['acl/appmt_c', 'acl/appmt_r', 'acl/appmt_s', 'acl/appmt_u'];
  const own = await makeApplication(service, 'Patients', changing, [maple]);
  let caller = await openCaller(service, everything, maple);
  let patients = await openCaller(service, own, maple);
  await keepPractice(service, maple, caller);

  const made = async (resource: object, by: Caller): Promise<string> => {
    const { status, json, text } = await by.send('POST', 'Appointment', resource);
    assert.equal(status, 201, text);
    return json.id;
  };
  const settle = async (): Promise<void> => {
    jobs.run = true;
    await service.service.jobs.settle();
    jobs.run = false;
    // Portions that began by themselves meanwhile end too.
    await service.service.jobs.settle();
  };
  await settle();
  const read = async (id: string) => (await caller.get(`Appointment/${id}`)).json;
  const kept = (): Promise<Kept | undefined> => keptIn(service);
  return {
    service,
    maple,
    get caller() {
      return caller;
    },
    get patients() {
      return patients;
    },
    made: (resource) => made(resource, caller),
    async waits(patient, more = {}) {
      service.clock.advance(1_000);
      return await made(waiting(patient, more), patients);
    },
    async cancel(id) {
      const { status, text } = await caller.send('POST', `Appointment/${id}/$cancel`, cancellation);
      assert.equal(status, 200, text);
    },
    answer: (id, name, by = patients) => by.send('POST', `Appointment/${id}/$${name}-offer`),
    read,
    stateOf: (...ids) => Promise.all(ids.map(async (id) => (await read(id)).status)),
    settle,
    async pass(ms) {
      service.clock.advance(ms);
      caller = await openCaller(service, everything, maple);
      patients = await openCaller(service, own, maple);
    },
    kept,
    async clear() {
      const { status, json } = await caller.get('Appointment?_elements=id&_count=200');
      assert.equal(status, 200);
      for (const { resource } of json.entry ?? []) await caller.send('DELETE', `Appointment/${resource.id}`);
      await settle();
      assert.deepEqual(await kept(), { entries: 0, offers: 0, freed: 0, due: 0, places: 0, holds: 0 });
    },
  };
}

/** Its people and places, a calendar, and one of a practitioner who needs a room. */
async function keepPractice({ platform }: TestService, maple: TestFirm, caller: Caller): Promise<void> {
  await putPlaces(caller, ['12', '13'], ['3', '4', '31']);
  for (const id of ['p', 'a', 'b', 'c']) await put(caller, { resourceType: 'Patient', id });
  await keepCalendar(platform, maple, plainCalendar);
  await keepCalendar(platform, maple, {
    practitioner: '13',
    location: '3',
    appointmentTypes: [{ code: 'ROOM', minutes: 30, needs: [{ anyOf: ['Location/31'] }] }],
    weekly: [{ days: ['mon'], from: '09:00', to: '12:00', capacity: 4 }],
  });
}

async function keptIn({ database, clock }: TestService): Promise<Kept | undefined> {
  const [row] = await database.owner.query<Kept>(sql`
    SELECT (SELECT count(*)::int FROM waitlist_entry) AS entries, (SELECT count(*)::int FROM waitlist_offer) AS offers,
      (SELECT count(*)::int FROM freed_time) AS freed, (SELECT count(*)::int FROM waitlist_due WHERE due <= ${clock.now()}) AS due,
      (SELECT count(*)::int FROM occupancy) AS places, (SELECT count(*)::int FROM slot_hold) AS holds`);
  return row;
}
