/**
 * $hold, $renew, $release, $book, $reschedule and $cancel (decision 0189): a slot is one caller's at a time, ends by itself,
 * and becomes an appointment with the rooms it needs.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { sql } from '../../../src/database/sql.ts';
import { type Answer, makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';
import { keepCalendar, plainCalendar, put, putPlaces } from '../calendars/world.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple', 'sandbox', 'Europe/Berlin');
const cedar = await makeFirm(service, 'cedar', 'sandbox', 'Europe/Berlin');
const everything = await makeApplication(service, 'Everything', ['acl/*'], [maple, cedar]);
const caller = await openCaller(service, everything, maple);
const elsewhere = await openCaller(service, everything, cedar);
const other = await openCaller(service, await makeApplication(service, 'Other', ['acl/*'], [maple]), maple);
const searcher = await openCaller(service, await makeApplication(service, 'Searcher', ['acl/slot_s'], [maple]), maple);
const reader = await openCaller(service, await makeApplication(service, 'Reader', ['acl/appmt_r'], [maple]), maple);
for (const each of [caller, elsewhere]) {
  await putPlaces(each, ['12', '13'], ['3', '31', '32']);
  await put(each, { resourceType: 'Patient', id: 'p' });
}
await keepCalendar(service.platform, maple, plainCalendar);
await keepCalendar(service.platform, cedar, plainCalendar);
await keepCalendar(service.platform, maple, {
  practitioner: '13',
  location: '3',
  appointmentTypes: [{ code: 'ROOM', minutes: 60, needs: [{ anyOf: ['Location/31', 'Location/32'] }] }],
  weekly: [{ days: ['mon'], from: '09:00', to: '12:00', capacity: 3, stepMinutes: 30 }],
});
await service.service.jobs.settle();

const monday = '2026-11-23';
const slotsOf = async (type: string): Promise<string[]> => {
  const { json } = await caller.get(`Slot?appointment-type=${type}&date=${monday}`);
  return json.entry.map(({ resource }: { resource: { id: string } }) => resource.id);
};
const [first = '', second = '', third = ''] = await slotsOf('FOLLOWUP');
const rooms = await slotsOf('ROOM');

const values = ({ json }: Answer): Record<string, unknown> =>
  Object.fromEntries(json.parameter.map(({ name, ...value }: { name: string }) => [name, Object.values(value)[0]]));
const parameters = (given: Record<string, unknown>) => ({
  resourceType: 'Parameters',
  parameter: Object.entries(given).map(([name, value]) =>
    typeof value === 'string'
      ? { name, [name === 'hold' ? 'valueId' : 'valueString']: value }
      : { name, resource: value },
  ),
});
const visit = { resourceType: 'Appointment', participant: [{ actor: { reference: 'Patient/p' }, status: 'accepted' }] };
const hold = (slot: string, by = caller): Promise<Answer> => by.send('POST', `Slot/${slot}/$hold`);
const statusOf = async (slot: string): Promise<string> => (await caller.get(`Slot/${slot}`)).json.status;

const clear = async (): Promise<void> => {
  await service.database.owner.query(sql`DELETE FROM occupancy`);
  await service.database.owner.query(sql`DELETE FROM slot_hold`);
};

test('who may not search for slots cannot hold one, nor book without the right to create', async () => {
  assert.equal((await hold(first, reader)).status, 403);
  assert.equal(
    (await searcher.send('POST', 'Appointment/$book', parameters({ appointment: visit, slot: first }))).status,
    403,
  );
  assert.equal((await reader.send('POST', 'Appointment/x/$cancel', parameters({}))).status, 403);
});

test('what is no slot of the firm cannot be held: another firm’s slot as one that never was', async () => {
  const never = 'ffffffff-ffff-8fff-bfff-ffffffffffff';
  const refusal = (id: string) => `Slot/${id} is not known`;
  for (const id of [never, 'x']) {
    const { status, json } = await hold(id);
    assert.equal(status, 404);
    assert.equal(json.issue[0].diagnostics, refusal(id));
  }
  const { status, json } = await hold(first, elsewhere);
  assert.equal(status, 404);
  assert.equal(json.issue[0].diagnostics, refusal(first));
});

test('a hold is one application’s: others see the slot busy, cannot hold, renew, release or book by it', async () => {
  await clear();
  const held = await hold(first);
  assert.equal(held.status, 200);
  const { hold: id, ...told } = values(held);
  assert.deepEqual(told, {
    slot: { reference: `Slot/${first}` },
    start: `${monday}T09:00:00+01:00`,
    end: `${monday}T09:30:00+01:00`,
    expires: '2026-11-21T09:35:00.000Z',
    renewalsLeft: 3,
    actor: { reference: 'Practitioner/12' },
  });
  assert.equal(await statusOf(first), 'busy');
  assert.equal((await hold(first, other)).status, 409);
  for (const name of ['$renew', '$release']) {
    const { status, json } = await other.send('POST', `Slot/${name}`, parameters({ hold: id }));
    assert.equal(status, 400);
    assert.equal(
      json.issue[0].diagnostics,
      'hold is not the id of a hold of this application: it has ended, was released, or became an appointment; $hold makes a new one',
    );
  }
  const stolen = await other.send('POST', 'Appointment/$book', parameters({ appointment: visit, hold: id }));
  assert.equal(stolen.status, 400);
  assert.equal((await caller.send('POST', 'Slot/$release', parameters({ hold: id }))).status, 204);
  assert.equal(await statusOf(first), 'free');
});

test('a hold ends by itself; it is renewed three times and no more', async () => {
  await clear();
  const { hold: id } = values(await hold(first));
  for (const left of [2, 1, 0]) {
    service.clock.advance(60_000);
    const renewed = await caller.send('POST', 'Slot/$renew', parameters({ hold: id }));
    assert.equal(renewed.status, 200);
    assert.equal(values(renewed)['renewalsLeft'], left);
  }
  const { status, json } = await caller.send('POST', 'Slot/$renew', parameters({ hold: id }));
  assert.equal(status, 422);
  assert.match(json.issue[0].diagnostics, /^The hold was renewed 3 times, the most there can be: book it before /);
  service.clock.advance(5 * 60_000);
  assert.equal(await statusOf(first), 'free');
  const late = await caller.send('POST', 'Appointment/$book', parameters({ appointment: visit, hold: id }));
  assert.equal(late.status, 400);
  assert.equal((await hold(first, other)).status, 200);
});

test('$book makes the appointment of the hold, with all that the slot says', async () => {
  await clear();
  const { hold: id } = values(await hold(first));
  const { status, json, headers } = await caller.send(
    'POST',
    'Appointment/$book',
    parameters({ appointment: visit, hold: id }),
  );
  assert.equal(status, 201);
  assert.match(headers.get('location') ?? '', /\/Appointment\/[^/]+\/_history\/1$/);
  const { id: made, meta, ...appointment } = json;
  assert.deepEqual(appointment, {
    resourceType: 'Appointment',
    status: 'booked',
    appointmentType: { coding: [{ code: 'FOLLOWUP' }] },
    start: `${monday}T09:00:00+01:00`,
    end: `${monday}T09:30:00+01:00`,
    minutesDuration: 30,
    slot: [{ reference: `Slot/${first}` }],
    participant: [
      { actor: { reference: 'Patient/p' }, status: 'accepted' },
      { actor: { reference: 'Practitioner/12' }, status: 'accepted' },
      { actor: { reference: 'Location/3' }, status: 'accepted' },
    ],
  });
  assert.equal(meta.versionId, '1');
  assert.equal((await caller.get(`Appointment/${made}`)).status, 200);
  assert.equal(await statusOf(first), 'busy');
  const again = await caller.send('POST', 'Appointment/$book', parameters({ appointment: visit, hold: id }));
  assert.equal(again.status, 400);
});

test('$book refuses what contradicts the slot, and neither or both of slot and hold; the hold stays', async () => {
  await clear();
  const { hold: id } = values(await hold(first));
  const wrong = { ...visit, start: `${monday}T10:00:00+01:00` };
  const refused = await caller.send('POST', 'Appointment/$book', parameters({ appointment: wrong, hold: id }));
  assert.equal(refused.status, 422);
  assert.equal(
    refused.json.issue[0].diagnostics,
    `start is ${monday}T09:00:00+01:00 on this slot: leave it out, or name another slot`,
  );
  const neither = await caller.send('POST', 'Appointment/$book', parameters({ appointment: visit }));
  assert.equal(neither.status, 400);
  const both = await caller.send(
    'POST',
    'Appointment/$book',
    parameters({ appointment: visit, slot: first, hold: id }),
  );
  assert.equal(both.status, 400);
  assert.equal((await hold(first, other)).status, 409);
  assert.equal(
    (await caller.send('POST', 'Appointment/$book', parameters({ appointment: visit, hold: id }))).status,
    201,
  );
});

test('$book finds a room for each, and refuses when there is none', async () => {
  await clear();
  const named: string[] = [];
  for (const expected of [201, 201, 409]) {
    const { status, json } = await caller.send(
      'POST',
      'Appointment/$book',
      parameters({ appointment: visit, slot: rooms[0] ?? '' }),
    );
    assert.equal(status, expected);
    for (const { actor } of json.participant ?? []) if (/\/3\d/.test(actor.reference)) named.push(actor.reference);
  }
  assert.deepEqual(named, ['Location/31', 'Location/32']);
});

test('$reschedule moves at once, by less than its own length too, and keeps the place where the new one is taken', async () => {
  await clear();
  const { json: made } = await caller.send(
    'POST',
    'Appointment/$book',
    parameters({ appointment: visit, slot: rooms[0] ?? '' }),
  );
  const place = `Appointment/${made.id}/$reschedule`;
  const moved = await caller.send('POST', place, parameters({ slot: `Slot/${rooms[1]}` }));
  assert.equal(moved.status, 200);
  assert.equal(moved.json.start, `${monday}T09:30:00+01:00`);
  assert.deepEqual(
    moved.json.participant.map(({ actor }: { actor: { reference: string } }) => actor.reference),
    ['Patient/p', 'Practitioner/13', 'Location/3', 'Location/31'],
  );
  assert.equal((await caller.send('POST', place, parameters({ slot: first }))).status, 422);
  for (let rest = 0; rest < 2; rest += 1)
    await caller.send('POST', 'Appointment/$book', parameters({ appointment: visit, slot: rooms[4] ?? '' }));
  const full = await caller.send('POST', place, parameters({ slot: rooms[4] ?? '' }));
  assert.equal(full.status, 409);
  assert.equal((await caller.get(`Appointment/${made.id}`)).json.start, `${monday}T09:30:00+01:00`);
  const found = await caller.get(`Slot/${rooms[1]}`);
  assert.equal(found.json.status, 'free', 'another room is free');
});

test('$cancel frees the slot and keeps the reason', async () => {
  await clear();
  const { json: made } = await caller.send(
    'POST',
    'Appointment/$book',
    parameters({ appointment: visit, slot: second }),
  );
  assert.equal(await statusOf(second), 'busy');
  const reason = { coding: [{ code: 'pat' }] };
  const body = { resourceType: 'Parameters', parameter: [{ name: 'reason', valueCodeableConcept: reason }] };
  const { status, json } = await caller.send('POST', `Appointment/${made.id}/$cancel`, body);
  assert.equal(status, 200);
  assert.equal(json.status, 'cancelled');
  assert.deepEqual(json.cancelationReason, reason);
  assert.equal(await statusOf(second), 'free');
  const none = await caller.send('POST', `Appointment/${made.id}/$cancel`, { resourceType: 'Parameters' });
  assert.equal(none.status, 400);
});

test('one request with a key books once', async () => {
  await clear();
  const key = { 'idempotency-key': '"once"' };
  const body = parameters({ appointment: visit, slot: third });
  const one = await caller.send('POST', 'Appointment/$book', body, key);
  const two = await caller.send('POST', 'Appointment/$book', body, key);
  assert.deepEqual([one.status, two.status], [201, 201]);
  assert.equal(two.headers.get('idempotent-replayed'), 'true');
  assert.equal(one.json.id, two.json.id);
});
