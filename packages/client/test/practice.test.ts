/** Booking and files by the client, against the service: refusals first, then what each call does. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import {
  ConflictError,
  connect,
  ForbiddenError,
  findParameter,
  GoneError,
  InvalidError,
  makeParameters,
  NotFoundError,
  SlotTakenError,
} from '@praxis/client';
import { keepCalendar, plainCalendar, putPlaces } from '../../server/test/practice/calendars/world.ts';
import { makeApplication } from '../../server/test/support/service.ts';
import { clientCredentialsOf, openWorld, recordFetch } from './world.ts';

const world = await openWorld({ after });
const { service, maple, caller, praxis, clock, credentials } = world;
await putPlaces(caller, ['12'], ['3']);
await keepCalendar(service.platform, maple, plainCalendar);
await service.service.jobs.settle();
const { id: patient } = await praxis.create({ resourceType: 'Patient', name: [{ family: 'Example' }] });
const { booking, documents } = praxis;

/** An application with these entries. */
async function connectWith(...acl: readonly string[]) {
  const application = await makeApplication(service, `With ${acl.join(' ')}`, acl, [maple]);
  return connect({ base: maple.base, credentials: clientCredentialsOf(application), clock });
}

test('who may not search for slots can neither find nor hold one', async () => {
  const stranger = await connectWith('acl/pat_r');
  const denied = (error: unknown): boolean => error instanceof ForbiddenError && error.code === 'access-denied';
  await assert.rejects(stranger.booking.find({ type: 'FOLLOWUP' }).first(), denied);
  await assert.rejects(stranger.booking.hold('x'), denied);
});

test('a type that the practice does not have is free nowhere, and a slot that is none is not found', async () => {
  assert.equal(await booking.find({ type: 'NONE' }).first(), undefined);
  await assert.rejects(booking.hold('none'), NotFoundError);
  await assert.rejects(booking.find({ type: 'NEW', time: 'early' }).first(), InvalidError);
});

test('free slots: by type, day, time, practitioner, over pages', async () => {
  const slots = await booking
    .find({
      type: ['NEW', 'FOLLOWUP'],
      day: ['mon', 'tue'],
      time: '10:00-12:00',
      practitioner: '12',
      location: '3',
      count: 2,
    })
    .take(5);
  assert.equal(slots.length, 5);
  for (const { status, start = '' } of slots) {
    assert.equal(status, 'free');
    assert.match(start, /T1[01]:/);
  }
  const first = await booking
    .find({ type: 'FOLLOWUP', firstAvailable: true, start: '2026-11-23', end: '2026-12-23' })
    .take(9);
  assert.equal(first.length, 1);
});

test('find, hold, renew, book, move and cancel', async () => {
  const [slot, later] = await booking.find({ type: 'FOLLOWUP' }).take(2);
  assert.ok(slot !== undefined && later !== undefined);
  const hold = await booking.hold(slot);
  assert.deepEqual([hold.slot, hold.start, hold.renewalsLeft], [`Slot/${slot.id}`, slot.start, 3]);
  const renewed = await booking.renew(hold);
  assert.deepEqual([renewed.id, renewed.renewalsLeft], [hold.id, 2]);
  const booked = await booking.book(renewed, { patient, reasonCode: [{ text: 'Knee' }], description: 'Visit' });
  assert.deepEqual([booked.status, booked.start, booked.description], ['booked', slot.start, 'Visit']);
  assert.equal(booked.participant[0]?.actor?.reference, `Patient/${patient}`);
  const moved = await booking.reschedule(booked.id, later);
  assert.deepEqual([moved?.id, moved?.start], [booked.id, later.start]);
  const cancelled = await booking.cancel(booked.id, 'Has a cold', { comment: 'Calls again' });
  assert.deepEqual(
    [cancelled?.status, cancelled?.cancelationReason?.text, cancelled?.comment],
    ['cancelled', 'Has a cold', 'Calls again'],
  );
});

test('who comes too late is told what is free, and books that', async () => {
  const slot = await booking.find({ type: 'FOLLOWUP' }).first();
  assert.ok(slot !== undefined);
  const hold = await booking.hold(slot);
  const rival = await connectWith('acl/slot_s', 'acl/appmt_c', 'acl/appmt_r');
  const error = await rival.booking.book(slot, { patient }).catch((reason: unknown) => reason);
  assert.ok(error instanceof SlotTakenError && error instanceof ConflictError);
  assert.equal(error.alternatives.length, 5);
  const [next] = error.alternatives;
  assert.match(next?.period ?? '', /^2026-.*\/2026-/);
  const booked = await rival.booking.book(next?.slot ?? '', { patient: `Patient/${patient}` });
  assert.equal(booked.status, 'booked');
  await booking.release(hold);
  assert.equal((await rival.booking.book(slot, { patient })).start, slot.start);
  await assert.rejects(booking.renew(hold), InvalidError);
});

test('an appointment that the application may not read is booked all the same, and known by its id', async () => {
  const blind = await connectWith('acl/slot_s', 'acl/appmt_c');
  const slot = await blind.booking.find({ type: 'NEW' }).first();
  assert.ok(slot !== undefined);
  const { id } = await blind.booking.book(slot, { patient });
  assert.equal((await praxis.read('Appointment', id)).start, slot.start);
  await assert.rejects(blind.read('Appointment', id), ForbiddenError);
});

test('other operations: in and out of a visit', async () => {
  const slot = await booking.find({ type: 'NEW' }).first();
  const { id } = await booking.book(slot ?? '', { patient });
  const checkedIn = await praxis.invoke(`Appointment/${id}/$check-in`);
  const encounter = checkedIn && findParameter(checkedIn, 'encounter')?.resource;
  assert.equal(encounter?.resourceType, 'Encounter');
  await praxis.invoke(`Appointment/${id}/$check-out`);
  await assert.rejects(praxis.invoke(`Appointment/${id}/$check-in`), InvalidError);
  const wrong = makeParameters({ name: 'hold', valueId: 'none' }, undefined);
  await assert.rejects(praxis.invoke('Slot/$release', wrong), InvalidError);
});

const pdf = new TextEncoder().encode('%PDF-1.4\n%%EOF\n');

test('a file of a type that is not taken, or that is not what it says, is refused', async () => {
  await assert.rejects(documents.upload('x', { contentType: 'video/mp4' }), (error) => {
    assert.ok(error instanceof InvalidError);
    assert.deepEqual([error.status, error.code], [415, 'media-type-unsupported']);
    return true;
  });
  await assert.rejects(documents.upload('no PDF', { contentType: 'application/pdf' }), InvalidError);
});

for (const [name, file] of [
  ['bytes', pdf],
  ['a buffer', pdf.slice().buffer],
  ['a Blob', new Blob([pdf])],
] as const) {
  test(`${name} go up with their digests, and come down again`, async () => {
    const subject = { reference: `Patient/${(await praxis.create({ resourceType: 'Patient' })).id}` };
    const attachment = await documents.upload(file, { contentType: 'application/pdf', title: 'Report' });
    assert.deepEqual([attachment.size, attachment.title, attachment.contentType], [15, 'Report', 'application/pdf']);
    const { id } = await praxis.create({
      resourceType: 'DocumentReference',
      status: 'current',
      subject,
      content: [{ attachment }],
    });
    const opened = await documents.download(id);
    assert.equal(opened.headers.get('content-type'), 'application/pdf');
    assert.deepEqual(new Uint8Array(await opened.arrayBuffer()), pdf);
    await assert.rejects(documents.download(id, { index: 1 }), NotFoundError);
  });
}

test('a URL that has ended is gone, and the file is opened by reading again', async () => {
  const attachment = await documents.upload('All is well.', { contentType: 'text/plain' });
  const { id } = await praxis.create({
    resourceType: 'DocumentReference',
    status: 'current',
    subject: { reference: `Patient/${patient}` },
    content: [{ attachment }],
  });
  const { content } = await praxis.read('DocumentReference', id);
  service.clock.advance(301_000);
  await assert.rejects(documents.open(content[0]?.attachment ?? {}), GoneError);
  assert.equal(await (await documents.download(id)).text(), 'All is well.');
});

test('an attachment at another place, or without a URL, is not opened', async () => {
  for (const attachment of [{ url: 'http://example.com/file' }, {}])
    await assert.rejects(documents.open(attachment), (error) => {
      assert.ok(error instanceof InvalidError);
      assert.equal(error.code, 'foreign-link');
      return true;
    });
});

test('an upload whose answer is lost is done again, at another URL', async () => {
  let lost = 0;
  const { fetch, requests } = recordFetch(async (input, init) => {
    const answer = await globalThis.fetch(input, init);
    if (init?.method !== 'PUT' || lost > 0) return answer;
    lost += 1;
    throw new TypeError('connection lost');
  });
  const unlucky = connect({ base: maple.base, credentials, clock, fetch });
  const { url } = await unlucky.documents.upload('Once more.', { contentType: 'text/plain' });
  assert.match(url ?? '', /^http/);
  const puts = requests.filter(({ method }) => method === 'PUT');
  assert.deepEqual([puts.length, new Set(puts.map((put) => put.url)).size], [2, 2]);
  for (const { headers } of puts)
    assert.deepEqual([headers.has('authorization'), headers.has('x-api-key')], [false, false]);
});
