// Lanes: events of different resources at the same time, those of one resource in order, and nothing lost where a lane fails.
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { sql } from '../../../src/database/sql.ts';
import { computeLane } from '../../../src/practice/subscriptions/delivering/lanes.ts';
import { patient } from '../../support/records.ts';
import { makeApplication, makeFirm, openCaller } from '../../support/service.ts';
import {
  openReceiver,
  openSubscriptionService,
  type Received,
  settle,
  statusOf,
  subscribe,
  subscriptionOf,
  topicBase,
} from './world.ts';

const service = await openSubscriptionService({ after });
const { database, clock } = service.platform;
const maple = await makeFirm(service, 'maple');
const application = await makeApplication(service, 'Everything', ['acl/*'], [maple]);
const caller = await openCaller(service, application, maple);
const topic = `${topicBase}/patient-changed`;
const concurrencyUrl = 'https://praxis.health/fhir/StructureDefinition/subscription-max-concurrency';
const countUrl = 'http://hl7.org/fhir/uv/subscriptions-backport/StructureDefinition/backport-max-count';
const payload = 'application/fhir+json';

const lanes = (count: number, perNotification: number) => [
  { url: concurrencyUrl, valuePositiveInt: count },
  { url: countUrl, valuePositiveInt: perNotification },
];

interface ToldEvent {
  readonly 'event-number': string;
  readonly focus: { readonly reference: string };
}

const eventsOf = (each: Received): readonly ToldEvent[] => (statusOf(each).events ?? []) as readonly ToldEvent[];

/** Numbers of the events, in the order in which they were told, by resource. */
function orderOf(received: readonly Received[]): ReadonlyMap<string, readonly number[]> {
  const order = new Map<string, number[]>();
  for (const { 'event-number': number, focus } of received.flatMap(eventsOf))
    order.set(focus.reference, [...(order.get(focus.reference) ?? []), Number(number)]);
  return order;
}

/** Keeps every process from telling anything, so that all events wait together; undone by `release`. */
const hold = (id: string) =>
  database.query(sql`UPDATE subscription_due SET leased = ${clock.now() + 60_000} WHERE id = ${id}`);
const release = (id: string) => database.query(sql`UPDATE subscription_due SET leased = 0 WHERE id = ${id}`);

async function write(count: number, versions: number): Promise<void> {
  for (let at = 1; at <= count; at += 1) {
    let { json } = await caller.send('POST', 'Patient', patient(`Lane${at}`));
    for (let version = 2; version <= versions; version += 1)
      ({ json } = await caller.send('PUT', `Patient/${json.id}`, { ...json, birthDate: `19${50 + version}-01-01` }));
  }
}

test('the number of lanes is 1 to 10', async () => {
  for (const value of [0, 11]) {
    const body = subscriptionOf(topic, 'http://127.0.0.1:1/', {
      extension: [{ url: concurrencyUrl, valuePositiveInt: value }],
    });
    const { status, json } = await caller.send('POST', 'Subscription', body);
    assert.equal(status >= 400, true);
    if (status === 422 && value === 11)
      assert.equal(
        json.issue[0].diagnostics,
        `Subscription.channel.extension ${concurrencyUrl} has valuePositiveInt from 1 to 10`,
      );
  }
});

test('each event is told once, those of a resource in order, whatever number of lanes', async () => {
  const receiver = await openReceiver({ after });
  await subscribe(service, caller, topic, receiver.url, { payload, content: 'id-only', extension: lanes(4, 2) });
  await write(9, 3);
  await settle(service);
  const told = receiver.received.slice(1);
  const order = orderOf(told);
  assert.equal(order.size, 9);
  for (const numbers of order.values())
    assert.deepEqual(
      numbers,
      numbers.toSorted((left, right) => left - right),
    );
  const all = [...order.values()].flat().toSorted((left, right) => left - right);
  assert.deepEqual(
    all,
    Array.from({ length: 27 }, (_, at) => at + 1),
  );
  assert.equal(
    told.every((each) => eventsOf(each).length <= 2),
    true,
  );
  const ids = told.map(({ headers }) => headers['webhook-id']);
  assert.equal(new Set(ids).size, ids.length);
});

test('what a lane could not tell comes again with the same id and events, and the others go on behind it', async () => {
  const receiver = await openReceiver({ after });
  const { id } = await subscribe(service, caller, topic, receiver.url, {
    payload,
    content: 'id-only',
    extension: lanes(3, 2),
  });
  await hold(id);
  await write(8, 2);
  await settle(service);
  receiver.answers.push({ status: 500 });
  await release(id);
  await settle(service);
  const first = receiver.received.slice(1);
  assert.equal(first.length >= 2, true, 'other lanes ended what they had begun');
  service.clock.advance(5_000);
  await settle(service);
  const [failed, ...later] = receiver.received.slice(1);
  assert.ok(failed);
  const again = later.filter(({ headers }) => headers['webhook-id'] === failed.headers['webhook-id']);
  assert.equal(again.length, 1);
  assert.deepEqual(again[0] && eventsOf(again[0]), eventsOf(failed));
  for (const numbers of orderOf(later).values())
    assert.deepEqual(
      numbers,
      numbers.toSorted((left, right) => left - right),
    );
  const state = await caller.get(`Subscription/${id}/$status`);
  assert.match(state.text, /"valueString":"16"/);
  const [row] = await database
    .forFirm(maple.id)
    .query<{ delivered: number; lanes: unknown }>(
      sql`SELECT delivered, lane_places AS lanes FROM subscription WHERE firm = ${maple.id} AND id = ${id}`,
    );
  assert.deepEqual(row, { delivered: 16, lanes: null });
});

test('what a process leaves that dies is told again by lane, and no lane skips anything', async () => {
  const receiver = await openReceiver({ after });
  const { id } = await subscribe(service, caller, topic, receiver.url, {
    payload,
    content: 'id-only',
    extension: lanes(3, 1),
  });
  await hold(id);
  await write(6, 1);
  await settle(service);
  receiver.answers.push(...Array.from({ length: 3 }, () => ({ status: 500 })));
  await release(id);
  await settle(service);
  receiver.answers.length = 0;
  // As a process leaves it that dies: one lane was accepted and noted, of the others nothing was.
  const firm = database.forFirm(maple.id);
  await firm.query(sql`UPDATE subscription SET lane_places[1] = 6 WHERE firm = ${maple.id} AND id = ${id}`);
  const events = await firm.query<{ number: number; rtype: number; id: string }>(
    sql`SELECT number, rtype, id FROM subscription_event WHERE firm = ${maple.id} AND subscription = ${id} ORDER BY number`,
  );
  const left = events.filter((event) => computeLane(event, 3) !== 0).map(({ number }) => number);
  const before = receiver.received.length;
  service.clock.advance(5_000);
  await settle(service);
  const told = receiver.received.slice(before).flatMap(eventsOf);
  assert.deepEqual(
    told.map((event) => Number(event['event-number'])).toSorted((one, other) => one - other),
    left,
  );
  const [row] = await firm.query<{ delivered: number }>(
    sql`SELECT delivered FROM subscription WHERE firm = ${maple.id} AND id = ${id}`,
  );
  assert.equal(row?.delivered, 6);
});

test('R4 criteria: resources at the same time, versions of one in order', async () => {
  const receiver = await openReceiver({ after });
  await subscribe(service, caller, 'Patient?gender=other', receiver.url, {
    payload,
    extension: [{ url: concurrencyUrl, valuePositiveInt: 5 }],
  });
  for (const name of ['A', 'B', 'C', 'D', 'E', 'F']) {
    const { json } = await caller.send('POST', 'Patient', { ...patient(name), gender: 'other' });
    await settle(service);
    await caller.send('PUT', `Patient/${json.id}`, { ...json, birthDate: '1980-01-01' });
  }
  await settle(service);
  const told = receiver.received
    .slice(1)
    .map(({ method, json }) => [method, json.id, Number(json.meta.versionId)] as const);
  const versions = Map.groupBy(told, ([, resource]) => resource);
  assert.equal(versions.size, 6);
  for (const each of versions.values()) {
    const numbers = each.map(([, , version]) => version);
    assert.equal(
      each.every(([method]) => method === 'PUT'),
      true,
    );
    assert.deepEqual(
      numbers,
      numbers.toSorted((left, right) => left - right),
    );
    assert.equal(numbers.at(-1), 2);
  }
});

test('who asks for resources while changes wait is told each of them, and none less', async () => {
  const receiver = await openReceiver({ after });
  const { id } = await subscribe(service, caller, 'Patient?gender=other', receiver.url);
  await hold(id);
  for (const name of ['One', 'Two', 'Three']) await caller.send('POST', 'Patient', patient(name, { gender: 'other' }));
  await settle(service);
  receiver.answers.push({ status: 500 });
  await release(id);
  await settle(service);
  assert.deepEqual(
    receiver.received.map(({ method }) => method),
    ['POST', 'POST'],
  );
  const { json } = await caller.get(`Subscription/${id}`);
  const asked = { ...json, status: 'requested', channel: { ...json.channel, payload } };
  assert.equal((await caller.send('PUT', `Subscription/${id}`, asked)).status, 200);
  await settle(service);
  assert.deepEqual(
    receiver.received.slice(2).map(({ method, json: told }) => [method, told?.name[0].family]),
    [
      ['POST', undefined],
      ['PUT', 'One'],
      ['PUT', 'Two'],
      ['PUT', 'Three'],
    ],
  );
});
