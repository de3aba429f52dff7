/**
 * An offer from the waiting list (decision 0203) is for a short time: who is offered it accepts, declines, or is passed over
 * when it ends.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { sql } from '../../../src/database/sql.ts';
import { makeApplication, openCaller } from '../../support/service.ts';
import { keepCalendar, plainCalendar } from '../calendars/world.ts';
import { appointment, at, openWaitingList, toLaterSlot } from './waitlist-world.ts';

const list = await openWaitingList({ after });
const { answer, cancel, clear, kept, made, pass, read, service, settle, stateOf, waits, maple } = list;
const reader = await openCaller(service, await makeApplication(service, 'Reader', ['acl/appmt_r'], [maple]), maple);
const blind = await openCaller(service, await makeApplication(service, 'Blind', ['acl/appmt_u'], [maple]), maple);

test('who may not change appointments, or not read their status, cannot answer an offer', async () => {
  await clear();
  const id = await waits('a');
  for (const name of ['accept', 'decline']) {
    assert.equal((await answer(id, name, reader)).status, 403);
    const refused = await answer(id, name, blind);
    assert.equal(refused.status, 403);
    assert.equal((await answer('unknown', name)).status, 404);
  }
});

test('an offer that is accepted is booked, for good', async () => {
  await clear();
  const booked = await made(appointment(at('09:00'), at('09:30')));
  const first = await waits('a');
  await cancel(booked);
  await settle();
  const { status, json } = await answer(first, 'accept');
  assert.equal(status, 200);
  assert.deepEqual([json.status, json.extension, json.start], ['booked', undefined, at('09:00')]);
  await pass(16 * 60_000);
  await settle();
  assert.deepEqual(await stateOf(first), ['booked']);
  const late = await list.caller.send('POST', 'Appointment', appointment(at('09:00'), at('09:30')));
  assert.equal(late.status, 409);
  assert.deepEqual(await kept(), { entries: 0, offers: 0, freed: 0, due: 0, places: 1, holds: 0 });
  const again = await answer(first, 'accept');
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
  assert.equal((await answer(first, 'decline')).status, 200);
  const { meta: _after, ...afterwards } = await read(first);
  assert.deepEqual(afterwards, before);
  await settle();
  assert.deepEqual(await stateOf(first, second), ['waitlist', 'proposed']);
  assert.equal((await answer(second, 'decline')).status, 200);
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
  const late = await answer(first, 'accept');
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
  assert.equal((await list.caller.send('POST', 'Appointment', appointment(at('09:00'), at('09:30')))).status, 409);
  await pass(1);
  const refused = await answer(first, 'accept');
  assert.equal(refused.status, 422);
  assert.match(
    refused.json.issue[0].diagnostics,
    /^The offer ended at 2026-11-21T.*: the appointment waits for another/,
  );
  await made(appointment(at('09:00'), at('09:30')));
  const patch = [{ op: 'replace', path: '/status', value: 'booked' }];
  const written = await list.patients.send('PATCH', `Appointment/${first}`, patch, {
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
  assert.equal((await list.patients.send('PATCH', `Appointment/${first}`, patch, headers)).status, 200);
  await pass(16 * 60_000);
  await settle();
  assert.deepEqual(await stateOf(first), ['booked']);
  assert.equal((await list.caller.send('POST', 'Appointment', appointment(at('09:00'), at('09:30')))).status, 409);
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
    const { status, json } = await answer(id, name);
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
  const body = await toLaterSlot(list.caller);
  const refused = await list.caller.send('POST', `Appointment/${two}/$reschedule`, body);
  assert.equal(refused.status, 422);
  assert.match(refused.json.issue[0].diagnostics, /^An appointment that is waitlist cannot be moved, only one that is/);
  const moved = await list.caller.send('POST', `Appointment/${one}/$reschedule`, body);
  assert.deepEqual([moved.status, moved.json.status, moved.json.extension], [200, 'proposed', undefined]);
  await settle();
  assert.deepEqual(await stateOf(one, two), ['proposed', 'proposed']);
  await pass(16 * 60_000);
  await settle();
  assert.deepEqual(await stateOf(one, two), ['proposed', 'waitlist']);
  assert.equal((await answer(one, 'accept')).status, 422);
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
  assert.equal((await answer(first, 'accept')).status, 200);
});
