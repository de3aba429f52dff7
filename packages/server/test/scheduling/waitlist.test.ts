/**
 * The waiting list (decisions 0202, 0203): time that an appointment gives up is offered to those who wait, in order, for a
 * short time; they accept, decline, or are passed over when it ends.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { loadResources } from '../../src/cli/loading.ts';
import { sql } from '../../src/database/sql.ts';
import {
  type Answer,
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
} from '../support/service.ts';
import { keepCalendar, plainCalendar, put, putPlaces } from './world.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple', 'sandbox', 'Europe/Berlin');
const everything = await makeApplication(service, 'Everything', ['acl/*'], [maple]);
const own = await makeApplication(
  service,
  'Patients',
  ['acl/appmt_c', 'acl/appmt_r', 'acl/appmt_s', 'acl/appmt_u'],
  [maple],
);
let caller = await openCaller(service, everything, maple);
let patients = await openCaller(service, own, maple);
const reader = await openCaller(service, await makeApplication(service, 'Reader', ['acl/appmt_r'], [maple]), maple);
const blind = await openCaller(service, await makeApplication(service, 'Blind', ['acl/appmt_u'], [maple]), maple);
await putPlaces(caller, ['12', '13'], ['3', '4', '31']);
for (const id of ['p', 'a', 'b', 'c']) await put(caller, { resourceType: 'Patient', id });
await keepCalendar(service.platform, maple, plainCalendar);
await keepCalendar(service.platform, maple, {
  practitioner: '13',
  location: '3',
  appointmentTypes: [{ code: 'ROOM', minutes: 30, needs: [{ anyOf: ['Location/31'] }] }],
  weekly: [{ days: ['mon'], from: '09:00', to: '12:00', capacity: 4 }],
});
await service.service.jobs.settle();

// Monday, 23 November 2026: the clock stands at Saturday, 21 November.
const at = (time: string): string => `2026-11-23T${time}:00+01:00`;
const participant = (reference: string) => ({ actor: { reference }, status: 'accepted' });

const appointment = (start: string, end: string, type = 'FOLLOWUP', practitioner = '12') => ({
  resourceType: 'Appointment',
  status: 'booked',
  appointmentType: { coding: [{ code: type }] },
  start,
  end,
  participant: [participant('Patient/p'), participant(`Practitioner/${practitioner}`), participant('Location/3')],
});

const waiting = (patient: string, more: object = {}) => ({
  resourceType: 'Appointment',
  status: 'waitlist',
  appointmentType: { coding: [{ code: 'FOLLOWUP' }] },
  participant: [participant(`Patient/${patient}`)],
  ...more,
});

async function made(resource: object, by?: Caller): Promise<string> {
  const { status, json, text } = await (by ?? caller).send('POST', 'Appointment', resource);
  assert.equal(status, 201, text);
  return json.id;
}

/** Tokens end sooner than the tests do. */
async function pass(ms: number): Promise<void> {
  service.clock.advance(ms);
  caller = await openCaller(service, everything, maple);
  patients = await openCaller(service, own, maple);
}

/** Each wait begins later than the one before. */
async function waits(patient: string, more: object = {}): Promise<string> {
  service.clock.advance(1_000);
  return await made(waiting(patient, more), patients);
}

const settle = (): Promise<void> => service.service.jobs.settle();
const read = async (id: string) => (await caller.get(`Appointment/${id}`)).json;
const stateOf = async (...ids: string[]): Promise<string[]> =>
  await Promise.all(ids.map(async (id) => (await read(id)).status));
const offers = (id: string, name: string, by?: Caller): Promise<Answer> =>
  (by ?? patients).send('POST', `Appointment/${id}/$${name}-offer`);
const reason = {
  coding: [{ system: 'http://terminology.hl7.org/CodeSystem/appointment-cancellation-reason', code: 'pat' }],
};
const cancel = async (id: string): Promise<void> => {
  const body = { resourceType: 'Parameters', parameter: [{ name: 'reason', valueCodeableConcept: reason }] };
  const { status, text } = await caller.send('POST', `Appointment/${id}/$cancel`, body);
  assert.equal(status, 200, text);
};

async function clear(): Promise<void> {
  const { status, json } = await caller.get('Appointment?_elements=id&_count=200');
  assert.equal(status, 200);
  for (const { resource } of json.entry ?? []) await caller.send('DELETE', `Appointment/${resource.id}`);
  await settle();
  assert.deepEqual(await rows(), { entries: 0, offers: 0, freed: 0, due: 0, places: 0, holds: 0 });
}

async function rows(): Promise<object | undefined> {
  const [row] = await service.database.owner.query<object>(sql`
    SELECT (SELECT count(*)::int FROM waitlist_entry) AS entries, (SELECT count(*)::int FROM waitlist_offer) AS offers,
      (SELECT count(*)::int FROM freed_time) AS freed, (SELECT count(*)::int FROM waitlist_due WHERE due <= ${service.clock.now()}) AS due,
      (SELECT count(*)::int FROM occupancy) AS places, (SELECT count(*)::int FROM slot_hold) AS holds`);
  return row;
}

test('who may not change appointments, or not read their status, cannot answer an offer', async () => {
  await clear();
  const id = await waits('a');
  for (const name of ['accept', 'decline']) {
    assert.equal((await offers(id, name, reader)).status, 403);
    const refused = await offers(id, name, blind);
    assert.equal(refused.status, 403);
    assert.equal((await offers('unknown', name)).status, 404);
  }
});

test('what is cancelled is offered to the first who waits, with all that the slot says, for 15 minutes', async () => {
  await clear();
  const booked = await made(appointment(at('09:00'), at('09:30')));
  const first = await waits('a', { requestedPeriod: [{ start: '2026-11-23', end: '2026-11-23' }], comment: 'ring me' });
  const second = await waits('b');
  await cancel(booked);
  await settle();
  const { id: _id, meta, slot, ...offered } = await read(first);
  assert.equal(meta.versionId, '2');
  const expires = new Date(service.clock.now() + 15 * 60_000 + 3_600_000).toISOString().slice(0, 19);
  assert.deepEqual(offered, {
    resourceType: 'Appointment',
    extension: [
      {
        url: 'https://praxis.health/fhir/StructureDefinition/appointment-offer-expires',
        valueInstant: `${expires}+01:00`,
      },
    ],
    status: 'proposed',
    appointmentType: { coding: [{ code: 'FOLLOWUP' }] },
    start: at('09:00'),
    end: at('09:30'),
    comment: 'ring me',
    requestedPeriod: [{ start: '2026-11-23', end: '2026-11-23' }],
    participant: [participant('Patient/a'), participant('Practitioner/12'), participant('Location/3')],
  });
  assert.equal((await caller.get(slot[0].reference)).json.status, 'busy');
  assert.deepEqual(await stateOf(second), ['waitlist']);
  const found = await patients.get('Appointment?status=proposed');
  assert.equal(found.json.total, 1);
  const [row] = await service.database.owner.query<object>(sql`
    SELECT subject, flow, entries, (SELECT name FROM application WHERE id = application) AS application FROM audit_event
    WHERE id = ${first} AND interaction = 'patch'`);
  assert.deepEqual(row, {
    subject: 'praxis waitlist',
    flow: 'service',
    entries: 'acl/*',
    application: 'Praxis operator',
  });
});

test('an offer that is accepted is booked, for good', async () => {
  await clear();
  const booked = await made(appointment(at('09:00'), at('09:30')));
  const first = await waits('a');
  await cancel(booked);
  await settle();
  const { status, json } = await offers(first, 'accept');
  assert.equal(status, 200);
  assert.deepEqual([json.status, json.extension, json.start], ['booked', undefined, at('09:00')]);
  await pass(16 * 60_000);
  await settle();
  assert.deepEqual(await stateOf(first), ['booked']);
  const late = await caller.send('POST', 'Appointment', appointment(at('09:00'), at('09:30')));
  assert.equal(late.status, 409);
  assert.deepEqual(await rows(), { entries: 0, offers: 0, freed: 0, due: 0, places: 1, holds: 0 });
  const again = await offers(first, 'accept');
  assert.equal(again.status, 422);
  assert.match(
    again.json.issue[0].diagnostics,
    /^Appointment\.status is booked: \$accept-offer takes it from proposed only\./,
  );
});

test('who declines waits as before and is never offered the slot again; the next one is', async () => {
  await clear();
  const booked = await made(appointment(at('09:00'), at('09:30')));
  const first = await waits('a', { comment: 'ring me' });
  const second = await waits('b');
  const { meta: _before, ...before } = await read(first);
  await cancel(booked);
  await settle();
  assert.equal((await offers(first, 'decline')).status, 200);
  const { meta: _after, ...afterwards } = await read(first);
  assert.deepEqual(afterwards, before);
  await settle();
  assert.deepEqual(await stateOf(first, second), ['waitlist', 'proposed']);
  assert.equal((await offers(second, 'decline')).status, 200);
  await settle();
  assert.deepEqual(await stateOf(first, second), ['waitlist', 'waitlist']);
  const other = await made(appointment(at('10:00'), at('10:30')));
  await cancel(other);
  await settle();
  assert.deepEqual(await stateOf(first, second), ['proposed', 'waitlist'], 'its place in the order is the old one');
});

test('an offer that ends moves on by itself', async () => {
  await clear();
  const booked = await made(appointment(at('09:00'), at('09:30')));
  const [first, second] = [await waits('a'), await waits('b')];
  await cancel(booked);
  await settle();
  await pass(15 * 60_000);
  await settle();
  assert.deepEqual(await stateOf(first, second), ['waitlist', 'proposed']);
  const late = await offers(first, 'accept');
  assert.equal(late.status, 422);
  assert.match(
    late.json.issue[0].diagnostics,
    /^Appointment\.status is waitlist: \$accept-offer takes it from proposed/,
  );
  await pass(15 * 60_000);
  await settle();
  assert.deepEqual(await stateOf(first, second), ['waitlist', 'waitlist']);
});

test('when the job has not run: an offer that has ended is in nobody’s way and cannot be accepted', async () => {
  await clear();
  const booked = await made(appointment(at('09:00'), at('09:30')));
  const first = await waits('a');
  await cancel(booked);
  await settle();
  await pass(15 * 60_000 - 1);
  assert.equal((await caller.send('POST', 'Appointment', appointment(at('09:00'), at('09:30')))).status, 409);
  await pass(1);
  const refused = await offers(first, 'accept');
  assert.equal(refused.status, 422);
  assert.match(
    refused.json.issue[0].diagnostics,
    /^The offer ended at 2026-11-21T.*: the appointment waits for another/,
  );
  await made(appointment(at('09:00'), at('09:30')));
  const patch = [{ op: 'replace', path: '/status', value: 'booked' }];
  const written = await patients.send('PATCH', `Appointment/${first}`, patch, {
    'content-type': 'application/json-patch+json',
  });
  assert.equal(written.status, 409, 'a plain write takes what is free alone');
  await settle();
  assert.deepEqual(await stateOf(first), ['waitlist']);
});

test('an offer that a plain write takes stays taken', async () => {
  await clear();
  const booked = await made(appointment(at('09:00'), at('09:30')));
  const first = await waits('a');
  await cancel(booked);
  await settle();
  const patch = [{ op: 'replace', path: '/status', value: 'booked' }];
  const headers = { 'content-type': 'application/json-patch+json' };
  assert.equal((await patients.send('PATCH', `Appointment/${first}`, patch, headers)).status, 200);
  await pass(16 * 60_000);
  await settle();
  assert.deepEqual(await stateOf(first), ['booked']);
  assert.equal((await caller.send('POST', 'Appointment', appointment(at('09:00'), at('09:30')))).status, 409);
});

test('ranked by priority, 1 the highest and 0 as none, then by time of waiting', async () => {
  await clear();
  const ids = [
    await waits('a', { priority: 0 }),
    await waits('b'),
    await waits('c', { priority: 9 }),
    await waits('a', { priority: 1 }),
    await waits('b', { priority: 1 }),
  ];
  const booked = await made(appointment(at('09:00'), at('09:30')));
  await cancel(booked);
  const order: number[] = [];
  for (const _ of ids) {
    await settle();
    const states = await stateOf(...ids);
    const offered = states.indexOf('proposed');
    order.push(offered);
    await offers(ids[offered] ?? '', 'decline');
  }
  assert.deepEqual(order, [3, 4, 2, 0, 1]);
  const change = [{ op: 'add', path: '/priority', value: 1 }];
  const headers = { 'content-type': 'application/json-patch+json' };
  await patients.send('PATCH', `Appointment/${ids[1]}`, change, headers);
  await cancel(await made(appointment(at('10:00'), at('10:30'))));
  await settle();
  assert.equal((await stateOf(...ids)).indexOf('proposed'), 1, 'it has waited longer than the others of its priority');
});

test('offered is what fits: type, periods, practitioner, location and length', async () => {
  await clear();
  const booked = await made(appointment(at('09:00'), at('09:30')));
  const unfit = [
    await waits('a', { appointmentType: { coding: [{ code: 'OTHER' }] } }),
    await waits('a', { appointmentType: undefined }),
    await waits('a', { requestedPeriod: [{ start: '2026-11-24' }] }),
    await waits('a', { requestedPeriod: [{ start: at('09:10'), end: at('12:00') }] }),
    await waits('a', { requestedPeriod: [{ end: '2026-11-22' }] }),
    await waits('a', { participant: [participant('Patient/a'), participant('Practitioner/13')] }),
    await waits('a', { participant: [participant('Patient/a'), participant('Location/4')] }),
    await waits('a', { minutesDuration: 60 }),
  ];
  const fitting = await waits('b', {
    minutesDuration: 30,
    requestedPeriod: [{ end: '2026-11-01' }, { start: at('09:00'), end: at('09:30') }],
    participant: [participant('Patient/a'), participant(`${maple.base}/Practitioner/12`), participant('Location/3')],
  });
  await cancel(booked);
  await settle();
  assert.deepEqual(new Set(await stateOf(...unfit)), new Set(['waitlist']));
  const { status, participant: named } = await read(fitting);
  assert.deepEqual([status, named.length], ['proposed', 3]);
});

test('a longer time is offered to as many as it holds; a longer slot where the rest was free', async () => {
  await clear();
  const long = await made(appointment(at('09:00'), at('10:00'), 'NEW'));
  const [one, two, three] = [await waits('a'), await waits('b'), await waits('c')];
  await cancel(long);
  await settle();
  assert.deepEqual(await stateOf(one, two, three), ['proposed', 'proposed', 'waitlist']);
  assert.deepEqual([(await read(one)).start, (await read(two)).start], [at('09:00'), at('09:30')]);
  await clear();
  const short = await made(appointment(at('09:30'), at('10:00')));
  const wide = await waits('a', { appointmentType: { coding: [{ code: 'NEW' }] } });
  await cancel(short);
  await settle();
  assert.deepEqual([(await read(wide)).status, (await read(wide)).start], ['proposed', at('09:00')]);
});

test('rooms are found with an offer and go with it', async () => {
  await clear();
  const type = { appointmentType: { coding: [{ code: 'ROOM' }] } };
  const booked = await made(appointment(at('09:00'), at('09:30'), 'ROOM', '13'));
  const [one, two] = [await waits('a', type), await waits('b', type)];
  await cancel(booked);
  await settle();
  const references = async (id: string) =>
    (await read(id)).participant.map(({ actor }: { actor: { reference: string } }) => actor.reference);
  assert.deepEqual(await references(one), ['Patient/a', 'Practitioner/13', 'Location/3', 'Location/31']);
  assert.deepEqual(await stateOf(two), ['waitlist'], 'one appointment was cancelled, one is offered');
  await offers(one, 'decline');
  assert.deepEqual(await references(one), ['Patient/a']);
});

const ways: readonly (readonly [string, (id: string) => Promise<Answer>])[] = [
  [
    'PATCH',
    (id) =>
      caller.send('PATCH', `Appointment/${id}`, [{ op: 'replace', path: '/status', value: 'cancelled' }], {
        'content-type': 'application/json-patch+json',
      }),
  ],
  ['PUT', async (id) => caller.send('PUT', `Appointment/${id}`, { ...(await read(id)), status: 'cancelled' })],
  ['DELETE', (id) => caller.send('DELETE', `Appointment/${id}`)],
  [
    'moved by PUT',
    async (id) =>
      caller.send('PUT', `Appointment/${id}`, { ...(await read(id)), start: at('11:00'), end: at('11:30') }),
  ],
  [
    '$reschedule',
    async (id) => {
      const { json } = await caller.get('Slot?appointment-type=FOLLOWUP&date=2026-11-23');
      const slot = json.entry.find(({ resource }: { resource: { start: string } }) => resource.start === at('11:30'));
      return caller.send('POST', `Appointment/${id}/$reschedule`, {
        resourceType: 'Parameters',
        parameter: [{ name: 'slot', valueString: slot.resource.id }],
      });
    },
  ],
  [
    'a transaction',
    (id) =>
      caller.send('POST', '', {
        resourceType: 'Bundle',
        type: 'transaction',
        entry: [{ request: { method: 'DELETE', url: `Appointment/${id}` } }],
      }),
  ],
];

for (const [way, giveUp] of ways) {
  test(`whichever way time is given up it is offered: ${way}`, async () => {
    await clear();
    const booked = await made(appointment(at('09:00'), at('09:30')));
    const first = await waits('a');
    const answer = await giveUp(booked);
    assert.ok(answer.status < 300, answer.text);
    await settle();
    const offered = await read(first);
    assert.deepEqual([offered.status, offered.start], ['proposed', at('09:00')]);
  });
}

test('what begins too soon for an answer, or was free already, is not offered', async () => {
  await clear();
  const first = await waits('a');
  await settle();
  assert.deepEqual(await stateOf(first), ['waitlist']);
  const booked = await made(appointment(at('09:00'), at('09:30')));
  const patch = [{ op: 'replace', path: '/comment', value: 'x' }];
  const headers = { 'content-type': 'application/json-patch+json' };
  await caller.send('PATCH', `Appointment/${booked}`, [{ ...patch[0], op: 'add' }], headers);
  await settle();
  assert.deepEqual(await stateOf(first), ['waitlist']);
});

test('who is offered a time and leaves by another way leaves it to the next', async () => {
  await clear();
  const booked = await made(appointment(at('09:00'), at('09:30')));
  const [one, two] = [await waits('a'), await waits('b')];
  await cancel(booked);
  await settle();
  await cancel(one);
  await settle();
  assert.deepEqual(await stateOf(one, two), ['cancelled', 'proposed']);
});

test('a proposal of a caller is no offer', async () => {
  await clear();
  const id = await made({ ...appointment(at('09:00'), at('09:30')), status: 'proposed' });
  for (const name of ['accept', 'decline']) {
    const { status, json } = await offers(id, name);
    assert.equal(status, 422);
    assert.match(json.issue[0].diagnostics, /^The appointment was proposed by a caller, not offered from the waiting/);
  }
});

test('who moves an offer has taken it; one that waits has no time to move', async () => {
  await clear();
  const booked = await made(appointment(at('09:00'), at('09:30')));
  const [one, two] = [await waits('a'), await waits('b')];
  await cancel(booked);
  await settle();
  const { json } = await caller.get('Slot?appointment-type=FOLLOWUP&date=2026-11-23');
  const slot = json.entry.find(({ resource }: { resource: { start: string } }) => resource.start === at('11:30'));
  const body = { resourceType: 'Parameters', parameter: [{ name: 'slot', valueString: slot.resource.id }] };
  const refused = await caller.send('POST', `Appointment/${two}/$reschedule`, body);
  assert.equal(refused.status, 422);
  assert.match(refused.json.issue[0].diagnostics, /^An appointment that is waitlist cannot be moved, only one that is/);
  const moved = await caller.send('POST', `Appointment/${one}/$reschedule`, body);
  assert.deepEqual([moved.status, moved.json.status, moved.json.extension], [200, 'proposed', undefined]);
  await settle();
  assert.deepEqual(await stateOf(one, two), ['proposed', 'proposed']);
  await pass(16 * 60_000);
  await settle();
  assert.deepEqual(await stateOf(one, two), ['proposed', 'waitlist']);
  assert.equal((await offers(one, 'accept')).status, 422);
});

test('entries that an import brings wait since they were stored', async () => {
  await clear();
  const early = await waits('a');
  service.clock.advance(1_000);
  const resource = { ...JSON.parse(JSON.stringify(waiting('b', { priority: 2 }))), id: 'imported' };
  const options = { validate: true, onProblem: ({ diagnostics }: { diagnostics: string }) => assert.fail(diagnostics) };
  assert.equal(await loadResources(service.platform, maple, [{ resource, origin: 'test' }], options), 1);
  const booked = await made(appointment(at('09:00'), at('09:30')));
  await cancel(booked);
  await settle();
  assert.deepEqual(await stateOf(early, 'imported'), ['waitlist', 'proposed']);
});

test('an offer keeps its end when the calendar changes', async () => {
  await clear();
  const booked = await made(appointment(at('09:00'), at('09:30')));
  const first = await waits('a');
  await cancel(booked);
  await settle();
  await keepCalendar(service.platform, maple, { ...plainCalendar, exceptions: [] }, 1);
  await settle();
  const [row] = await service.database.owner.query<{ kept: number }>(
    sql`SELECT count(*)::int AS kept FROM occupancy WHERE expires IS NULL`,
  );
  assert.deepEqual(row, { kept: 0 });
  assert.equal((await offers(first, 'accept')).status, 200);
});

test('what cannot be offered to one is offered to the next: a room that is taken, a practitioner without a slot', async () => {
  await clear();
  const booked = await made(appointment(at('09:00'), at('09:30')));
  const both = [participant('Patient/a'), participant('Practitioner/12'), participant('Practitioner/13')];
  const [one, two] = [await waits('a', { participant: both }), await waits('b')];
  await cancel(booked);
  await settle();
  assert.deepEqual(await stateOf(one, two), ['waitlist', 'proposed']);
  assert.deepEqual(await rows(), { entries: 2, offers: 1, freed: 0, due: 0, places: 1, holds: 0 });
});
