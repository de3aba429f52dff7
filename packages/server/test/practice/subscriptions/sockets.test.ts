// Websockets: handshakes, events, what becomes of a client that goes or does not read, and what ends a connection.
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { entryProblem } from '../../../src/admin/entry-problem.ts';
import { openPlatform, startService } from '../../../src/app.ts';
import { sql } from '../../../src/database/sql.ts';
import { revokeApiKey } from '../../../src/oauth/client-auth/api-keys.ts';
import { setSuspended } from '../../../src/practice/subscriptions/oversight.ts';
import { authorise, suspendAuthorisation } from '../../../src/tenancy/authorisations.ts';
import { testLog } from '../../support/cluster.ts';
import { patient } from '../../support/records.ts';
import { type Caller, makeApplication, makeFirm, openCaller } from '../../support/service.ts';
import { askToken, bind, connect, numbersOf, socketUrlOf, statusOfText, subscribeBySocket } from './socket-client.ts';
import { openSubscriptionService, secretUrl, settle, topicBase } from './world.ts';

const service = await openSubscriptionService({ after });
const { database, clock } = service.platform;
const maple = await makeFirm(service, 'maple');
const application = await makeApplication(service, 'Everything', ['acl/*'], [maple]);
const caller = await openCaller(service, application, maple);
const topic = `${topicBase}/patient-changed`;
const full = { payload: 'application/fhir+json', content: 'full-resource' };
const heartbeatUrl = 'http://hl7.org/fhir/uv/subscriptions-backport/StructureDefinition/backport-heartbeat-period';
const timeoutUrl = 'http://hl7.org/fhir/uv/subscriptions-backport/StructureDefinition/backport-timeout';

async function statusText(id: string, by: Caller = caller): Promise<string> {
  const { json } = await by.get(`Subscription/${id}`);
  return `${json.status}${json.error === undefined ? '' : ` ${json.error}`}`;
}

/** Waits until no process holds a socket of the subscription. */
async function untilReleased(id: string): Promise<void> {
  while ((await database.query(sql`SELECT FROM subscription_binding WHERE id = ${id}`)).length > 0) await delay(10);
}

/** Clients of an application of its own, which has one subscription. */
async function openWorld(name: string, options = {}) {
  const its = await makeApplication(service, name, ['system/Subscription.cru', 'system/Patient.crus'], [maple]);
  const by = await openCaller(service, its, maple);
  const id = await subscribeBySocket(by, topic, options);
  return { its, by, id };
}

test('a subscription is active once a bound client has taken the handshake, and tells it of events', async () => {
  const made = await caller.send('POST', 'Subscription', {
    resourceType: 'Subscription',
    status: 'requested',
    reason: 'Test',
    criteria: topic,
    channel: {
      type: 'websocket',
      payload: 'application/fhir+json',
      _payload: {
        extension: [
          {
            url: 'http://hl7.org/fhir/uv/subscriptions-backport/StructureDefinition/backport-payload-content',
            valueCode: 'full-resource',
          },
        ],
      },
    },
  });
  assert.equal(made.status, 201, made.text);
  const { id, extension } = made.json;
  assert.equal(
    extension.some(({ url }: { url: string }) => url === secretUrl),
    false,
  );
  await settle(service);
  assert.equal(await statusText(id), 'requested');
  const client = await bind({ after }, caller, id);
  assert.deepEqual(statusOfText(await client.next()), {
    subscription: { reference: `${maple.base}/Subscription/${id}` },
    topic,
    status: 'requested',
    type: 'handshake',
    'events-since-subscription-start': '0',
  });
  await settle(service);
  assert.equal(await statusText(id), 'active');
  const patientMade = await caller.send('POST', 'Patient', patient('Stone'));
  await caller.send('DELETE', `Patient/${patientMade.json.id}`);
  await settle(service);
  const told = client.received.slice(1);
  assert.deepEqual(numbersOf(told), ['1', '2']);
  const entries = told.flatMap((text) => JSON.parse(text).entry.slice(1));
  assert.deepEqual(
    entries.map(({ request }) => request),
    [
      { method: 'POST', url: 'Patient' },
      { method: 'DELETE', url: `Patient/${patientMade.json.id}` },
    ],
  );
  assert.deepEqual(entries[0].resource, patientMade.json);
  await service.service.parts.ledger.flush();
  const ledger = await service.database.owner.query<{ interaction: string }>(
    sql`SELECT interaction FROM audit_ledger WHERE firm = ${maple.id} AND id = ${id} AND interaction = '$events'`,
  );
  assert.equal(ledger.length, told.length);
});

test('a client that binds several subscriptions again hears of all of them', async () => {
  const ids = [await subscribeBySocket(caller, topic, full), await subscribeBySocket(caller, topic, full)];
  const left = await bind({ after }, caller, ...ids);
  await left.next();
  await left.next();
  await settle(service);
  const client = await bind({ after }, caller, ...ids);
  await client.next();
  await client.next();
  assert.equal((await left.closed).code, 4409);
  await settle(service);
  await caller.send('POST', 'Patient', patient('Stone'));
  await settle(service);
  const told = [await client.next(), await client.next()].map((text) => {
    const { subscription } = statusOfText(text) as { readonly subscription: { readonly reference: string } };
    return subscription.reference;
  });
  assert.deepEqual(told.toSorted(), ids.map((id) => `${maple.base}/Subscription/${id}`).toSorted());
  assert.equal(client.socket.readyState, client.socket.OPEN);
});

test('a suspension while a notification is under way ends the run once it is taken', async () => {
  const id = await subscribeBySocket(caller, topic, full);
  const client = await bind({ after }, caller, id);
  await client.next();
  await settle(service);
  client.socket.pause();
  await caller.send('POST', 'Patient', patient('Stone'));
  const settled = settle(service);
  const isUnderWay = sql`SELECT FROM subscription WHERE id = ${id} AND batch_end IS NOT NULL`;
  while ((await service.database.owner.query(isUnderWay)).length === 0) await delay(10);
  await setSuspended(database, { firm: maple.id }, id, 'practice', true, clock.now());
  client.socket.resume();
  await settled;
  await settle(service);
  assert.deepEqual(numbersOf([await client.next()]), ['1']);
  assert.equal((await client.closed).code, 4410);
  assert.equal(
    await statusText(id),
    'off suspended: the practice, the operator of the service or the vendor of the application ended it',
  );
});

test('criteria of R4: the client is told that it is bound, and that something has changed', async () => {
  const id = await subscribeBySocket(caller, 'Patient?gender=female');
  const client = await bind({ after }, caller, id);
  assert.equal(await client.next(), `bound ${id}`);
  await settle(service);
  await caller.send('POST', 'Patient', { ...patient('Rock'), gender: 'male' });
  await caller.send('POST', 'Patient', { ...patient('Stone'), gender: 'female' });
  await settle(service);
  assert.deepEqual(client.received.slice(1), [`ping ${id}`]);
});

test('one connection hears of several subscriptions, and is greeted anew when it binds again', async () => {
  const { by, id } = await openWorld('Several');
  const other = await subscribeBySocket(by, topic);
  const client = await bind({ after }, by);
  const subscriptions = [await client.next(), await client.next()].map((text) => statusOfText(text).subscription);
  const referenceOf = (each: string) => ({ reference: `${maple.base}/Subscription/${each}` });
  assert.deepEqual(
    new Set(subscriptions.map((each) => JSON.stringify(each))),
    new Set([id, other].map((each) => JSON.stringify(referenceOf(each)))),
  );
  await settle(service);
  const { token } = await askToken(by, id);
  client.send(`bind-with-token ${token}`);
  const greeted = statusOfText(await client.next());
  assert.equal(greeted.type, 'handshake');
  assert.equal(greeted.status, 'active');
});

test('events wait for a client, and one that binds later takes over with all that was not taken', async () => {
  const { by, id } = await openWorld('Later', full);
  const first = await bind({ after }, by, id);
  await first.next();
  await settle(service);
  first.socket.terminate();
  await caller.send('POST', 'Patient', patient('Unheard'));
  await settle(service);
  await caller.send('POST', 'Patient', patient('Unheard'));
  await settle(service);
  assert.equal(await statusText(id, by), 'active');
  const second = await bind({ after }, by, id);
  assert.equal(statusOfText(await second.next()).type, 'handshake');
  await settle(service);
  assert.deepEqual(numbersOf(second.received), ['1', '2']);
  const third = await bind({ after }, by, id);
  await third.next();
  assert.equal((await second.closed).code, 4409);
  await caller.send('POST', 'Patient', patient('Heard'));
  await settle(service);
  assert.deepEqual(numbersOf(third.received), ['3']);
});

test('a process that is gone loses nothing: another one tells a client that binds there', async () => {
  const { by, id } = await openWorld('Moved', full);
  const first = await bind({ after }, by, id);
  await first.next();
  await settle(service);
  const connections = { ...service.database.connections, stop: async () => undefined };
  const platform = await openPlatform({
    config: service.platform.config,
    clock: service.clock,
    log: testLog,
    connections,
  });
  const node = await startService(platform, { runsJobs: () => false });
  // The client has lost the first process; that one does not know it.
  first.socket.pause();
  await caller.send('POST', 'Patient', patient('Unheard'));
  const { token } = await askToken(by, id);
  const second = await connect({ after }, socketUrlOf(node, 'maple'));
  second.send(`bind-with-token ${token}`);
  assert.equal(statusOfText(await second.next()).type, 'handshake');
  await settle(service);
  while (numbersOf(second.received).length < 1) await second.next();
  assert.deepEqual(numbersOf(second.received), ['1']);
  await node.drain();
  assert.equal((await second.closed).code, 1001);
  await platform.close();
  first.socket.terminate();
  const third = await bind({ after }, by, id);
  await third.next();
  await caller.send('POST', 'Patient', patient('Heard'));
  await settle(service);
  assert.deepEqual(numbersOf(third.received), ['2']);
});

test('a client that does not read is cut, and its events wait', async () => {
  const { by, id } = await openWorld('Slow', { extension: [{ url: timeoutUrl, valueUnsignedInt: 1 }] });
  const slow = await bind({ after }, by, id);
  await slow.next();
  await settle(service);
  slow.socket.pause();
  await caller.send('POST', 'Patient', patient('Unread'));
  await settle(service);
  slow.socket.resume();
  assert.equal((await slow.closed).code, 4408);
  const again = await bind({ after }, by, id);
  await again.next();
  await settle(service);
  assert.deepEqual(numbersOf(again.received), ['1']);
});

test('heartbeats come while a client is bound', async () => {
  const { by, id } = await openWorld('Beating', { extension: [{ url: heartbeatUrl, valueUnsignedInt: 10 }] });
  const client = await bind({ after }, by, id);
  await client.next();
  await settle(service);
  service.clock.advance(10_000);
  await settle(service);
  assert.equal(statusOfText(client.received[1] ?? '').type, 'heartbeat');
  client.socket.terminate();
  await untilReleased(id);
  // What a process has left that is gone.
  await database.query(
    sql`INSERT INTO subscription_binding (firm, id, holder, held) VALUES (${maple.id}, ${id}, 'gone', ${clock.now()})`,
  );
  service.clock.advance(10_000);
  await settle(service);
  assert.equal(await statusText(id, by), 'active');
});

test('what nobody takes for 72 hours puts the subscription in error, and comes when it is asked for again', async () => {
  const { its, by, id } = await openWorld('Absent');
  const client = await bind({ after }, by, id);
  await client.next();
  await settle(service);
  client.socket.close();
  await client.closed;
  await untilReleased(id);
  await caller.send('POST', 'Patient', patient('Unheard'));
  await settle(service);
  service.clock.advance(72 * 3_600_000);
  await settle(service);
  const later = await openCaller(service, its, maple);
  assert.match(await statusText(id, later), /^error undeliverable/);
  const { json } = await later.get(`Subscription/${id}`);
  assert.equal((await later.send('PUT', `Subscription/${id}`, { ...json, status: 'requested' })).status, 200);
  const again = await bind({ after }, later, id);
  await again.next();
  await settle(service);
  assert.deepEqual(numbersOf(again.received), ['1']);
});

test('the connection ends with the subscription, the rights and the key, before another byte', async () => {
  const nowCaller = await openCaller(service, application, maple);
  const ends: readonly [
    name: string,
    end: (world: Awaited<ReturnType<typeof openWorld>>) => Promise<unknown>,
    closed: RegExp,
  ][] = [
    [
      'Off',
      async ({ by, id }) => {
        const { json } = await by.get(`Subscription/${id}`);
        await by.send('PUT', `Subscription/${id}`, { ...json, status: 'off' });
      },
      /^4410 Subscription\/\S+ has ended/,
    ],
    [
      'Stopped',
      async ({ id }) => await setSuspended(database, { firm: maple.id }, id, 'practice', true, clock.now()),
      /^4410 Subscription\/\S+ suspended/,
    ],
    [
      'Unauthorised',
      async ({ its }) => await suspendAuthorisation(database, maple, its.application),
      /^4410 Subscription\/\S+ rights-changed/,
    ],
    [
      'Narrower',
      async ({ its }) => {
        const acl = ['system/Subscription.cru', 'acl/pat_s_name'];
        await authorise(database, clock, maple, its.application, { purpose: 'Test', acl }, entryProblem);
      },
      /^4410 Subscription\/\S+ rights-changed/,
    ],
    [
      'Keyless',
      async ({ its }) => await revokeApiKey(database, its.application, its.clientKeyId),
      /^4403 the API key or access token/,
    ],
  ];
  for (const [name, end, expected] of ends) {
    const world = await openWorld(name, full);
    const client = await bind({ after }, world.by, world.id);
    await client.next();
    await settle(service);
    await end(world);
    await nowCaller.send('POST', 'Patient', patient('Unheard'));
    await settle(service);
    const { code, reason } = await client.closed;
    assert.match(`${code} ${reason}`, expected, name);
    assert.deepEqual(numbersOf(client.received), [], name);
  }
});
