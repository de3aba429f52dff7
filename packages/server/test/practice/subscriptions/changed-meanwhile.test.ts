/** What an endpoint answers says nothing of what the application has asked for meanwhile; what fails waits for its time. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { after } from 'node:test';
import { sql } from '../../../src/database/sql.ts';
import { patient } from '../../support/records.ts';
import { makeApplication, makeFirm, openCaller } from '../../support/service.ts';
import {
  openReceiver,
  openSubscriptionService,
  settle,
  statusOf,
  subscribe,
  subscriptionOf,
  topicBase,
} from './world.ts';

const service = await openSubscriptionService({ after });
const maple = await makeFirm(service, 'maple');
const application = await makeApplication(service, 'Everything', ['acl/*'], [maple]);
const caller = await openCaller(service, application, maple);
const topic = `${topicBase}/patient-changed`;
const heartbeatUrl = 'http://hl7.org/fhir/uv/subscriptions-backport/StructureDefinition/backport-heartbeat-period';

/** An endpoint that answers 200 when it is let. */
async function openHeldReceiver() {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    request.resume();
    asked.resolve();
    answer.promise.then(() => response.writeHead(200).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => {
    answer.resolve();
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, asked: asked.promise, answer: () => answer.resolve() };
}

/** A subscription whose handshake is under way while `change` is made; then all is done. */
async function changeDuringHandshake(
  change: (made: { readonly id: string; readonly channel: object }) => Promise<void>,
) {
  const held = await openHeldReceiver();
  const { json } = await caller.send('POST', 'Subscription', subscriptionOf(topic, held.url));
  const settling = settle(service);
  await held.asked;
  await change(json);
  held.answer();
  await settling;
  await settle(service);
  return (await caller.get(`Subscription/${json.id}`)).json;
}

test('an endpoint that was put in the place of another is not active by the handshake of that', async () => {
  const other = await openReceiver({ after });
  other.answers.push({ status: 500 });
  const shown = await changeDuringHandshake(async (made) => {
    const moved = { ...made, status: 'requested', channel: { ...made.channel, endpoint: other.url } };
    assert.equal((await caller.send('PUT', `Subscription/${made.id}`, moved)).status, 200);
  });
  assert.equal(shown.status, 'requested');
  await caller.send('POST', 'Patient', patient('Meanwhile'));
  await settle(service);
  assert.deepEqual(
    other.received.map((each) => statusOf(each).type),
    ['handshake'],
  );
});

test('a subscription that was ended during its handshake stays ended', async () => {
  const shown = await changeDuringHandshake(async (made) => {
    assert.equal((await caller.send('PUT', `Subscription/${made.id}`, { ...made, status: 'off' })).status, 200);
  });
  assert.equal(shown.status, 'off');
  const state = await caller.get(`Subscription/${shown.id}/$status`);
  const [, , { valueCode }] = state.json.entry[0].resource.parameter;
  assert.equal(valueCode, 'off');
});

test('after a heartbeat that was refused nothing is due before its time', async () => {
  const receiver = await openReceiver({ after });
  const extension = [{ url: heartbeatUrl, valueUnsignedInt: 10 }];
  const { id } = await subscribe(service, caller, topic, receiver.url, { extension });
  receiver.answers.push({ status: 429, headers: { 'retry-after': '600' } });
  service.clock.advance(10_000);
  await settle(service);
  assert.equal(receiver.received.length, 2);
  const [row] = await service.platform.database.query<{ due: number }>(
    sql`SELECT due FROM subscription_due WHERE id = ${id}`,
  );
  assert.equal(row?.due, service.clock.now() + 600_000);
});

test('a filter takes references to this service, whole or not, and no others', async () => {
  const receiver = await openReceiver({ after });
  const practitioner = await caller.send('POST', 'Practitioner', { resourceType: 'Practitioner' });
  const filterBy = (value: string) => ({ filters: [`Patient?general-practitioner=${value}`] });
  await subscribe(service, caller, topic, receiver.url, filterBy(`${maple.base}/Practitioner/${practitioner.json.id}`));
  const reference = `Practitioner/${practitioner.json.id}`;
  await caller.send('POST', 'Patient', { ...patient('Own'), generalPractitioner: [{ reference }] });
  await settle(service);
  assert.deepEqual(
    receiver.received.map((each) => statusOf(each).type),
    ['handshake', 'event-notification'],
  );
  for (const odd of ['http://example.com/Practitioner/1', 'Practitioner/1/_history/2']) {
    const refused = await caller.send('POST', 'Subscription', subscriptionOf(topic, receiver.url, filterBy(odd)));
    assert.equal(refused.status, 422, refused.text);
    assert.deepEqual(refused.json.issue[0].expression, ['Subscription.criteria.extension']);
  }
});

test('an end in a leap second is refused', async () => {
  const asked = subscriptionOf(topic, 'https://subscriber.example.com/hook', { more: { end: '2027-12-31T23:59:60Z' } });
  const refused = await caller.send('POST', 'Subscription', asked);
  assert.equal(refused.status, 422, refused.text);
  assert.deepEqual(refused.json.issue[0].expression, ['Subscription.end']);
});
