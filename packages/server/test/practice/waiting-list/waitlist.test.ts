/**
 * The waiting list (decisions 0202, 0203): time that an appointment gives up is offered to those who wait and whom it fits, in
 * their order. What becomes of an offer: waitlist-offers.test.ts.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { loadResources } from '../../../src/cli/loading.ts';
import { sql } from '../../../src/database/sql.ts';
import type { Answer } from '../../support/service.ts';
import { appointment, at, openWaitingList, participant, toLaterSlot, waiting } from './waitlist-world.ts';

const list = await openWaitingList({ after });
const { answer, cancel, clear, kept, made, read, service, settle, stateOf, waits } = list;

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
  assert.equal((await list.caller.get(slot[0].reference)).json.status, 'busy');
  assert.deepEqual(await stateOf(second), ['waitlist']);
  const found = await list.patients.get('Appointment?status=proposed');
  assert.equal(found.json.total, 1);
  const [row] = await service.database.owner.query<object>(sql`
    SELECT subject, flow, entries, (SELECT name FROM application WHERE id = application) AS application FROM audit_ledger
    WHERE id = ${first} AND interaction = 'patch'`);
  assert.deepEqual(row, {
    subject: 'praxis waitlist',
    flow: 'service',
    entries: 'acl/*',
    application: 'Praxis operator',
  });
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
    await answer(ids[offered] ?? '', 'decline');
  }
  assert.deepEqual(order, [3, 4, 2, 0, 1]);
  const change = [{ op: 'add', path: '/priority', value: 1 }];
  const headers = { 'content-type': 'application/json-patch+json' };
  await list.patients.send('PATCH', `Appointment/${ids[1]}`, change, headers);
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
    participant: [
      participant('Patient/a'),
      participant(`${list.maple.base}/Practitioner/12`),
      participant('Location/3'),
    ],
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
  await answer(one, 'decline');
  assert.deepEqual(await references(one), ['Patient/a']);
});

const ways: readonly (readonly [string, (id: string) => Promise<Answer>])[] = [
  [
    'PATCH',
    (id) =>
      list.caller.send('PATCH', `Appointment/${id}`, [{ op: 'replace', path: '/status', value: 'cancelled' }], {
        'content-type': 'application/json-patch+json',
      }),
  ],
  ['PUT', async (id) => list.caller.send('PUT', `Appointment/${id}`, { ...(await read(id)), status: 'cancelled' })],
  ['DELETE', (id) => list.caller.send('DELETE', `Appointment/${id}`)],
  [
    'moved by PUT',
    async (id) =>
      list.caller.send('PUT', `Appointment/${id}`, { ...(await read(id)), start: at('11:00'), end: at('11:30') }),
  ],
  [
    '$reschedule',
    async (id) => list.caller.send('POST', `Appointment/${id}/$reschedule`, await toLaterSlot(list.caller)),
  ],
  [
    'a transaction',
    (id) =>
      list.caller.send('POST', '', {
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
  await list.caller.send('PATCH', `Appointment/${booked}`, [{ ...patch[0], op: 'add' }], headers);
  await settle();
  assert.deepEqual(await stateOf(first), ['waitlist']);
});

test('entries that an import brings wait since they were stored', async () => {
  await clear();
  const early = await waits('a');
  service.clock.advance(1_000);
  const resource = { ...JSON.parse(JSON.stringify(waiting('b', { priority: 2 }))), id: 'imported' };
  const options = { validate: true, onProblem: (problem: object) => assert.fail(JSON.stringify(problem)) };
  assert.equal(await loadResources(service.platform, list.maple, [{ resource, origin: 'test' }], options), 1);
  const booked = await made(appointment(at('09:00'), at('09:30')));
  await cancel(booked);
  await settle();
  assert.deepEqual(await stateOf(early, 'imported'), ['waitlist', 'proposed']);
});

test('what cannot be offered to one is offered to the next: a room that is taken, a practitioner without a slot', async () => {
  await clear();
  const booked = await made(appointment(at('09:00'), at('09:30')));
  const both = [participant('Patient/a'), participant('Practitioner/12'), participant('Practitioner/13')];
  const [one, two] = [await waits('a', { participant: both }), await waits('b')];
  await cancel(booked);
  await settle();
  assert.deepEqual(await stateOf(one, two), ['waitlist', 'proposed']);
  assert.deepEqual(await kept(), { entries: 2, offers: 1, freed: 0, due: 0, places: 1, holds: 0 });
});
