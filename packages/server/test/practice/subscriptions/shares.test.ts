// Several processes, and endpoints that are slow: what one leaves is taken by another, and nobody waits for anybody else's endpoint.
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from '../../../src/database/sql.ts';
import { patient } from '../../support/records.ts';
import { makeApplication, makeFirm, openCaller } from '../../support/service.ts';
import { openReceiver, openSubscriptionService, settle, statusOf, subscribe, topicBase } from './world.ts';

const service = await openSubscriptionService({ after });
const { database, clock } = service.platform;
const maple = await makeFirm(service, 'maple');
const application = await makeApplication(service, 'Everything', ['acl/*'], [maple]);
const caller = await openCaller(service, application, maple);
const topic = `${topicBase}/patient-changed`;

test('what a process has taken and left is taken by another five seconds later', async () => {
  const receiver = await openReceiver({ after });
  const { id } = await subscribe(service, caller, topic, receiver.url);
  // As a process leaves it that dies.
  await database.query(sql`UPDATE subscription_due SET leased = ${clock.now() + 5_000} WHERE id = ${id}`);
  await caller.send('POST', 'Patient', patient('Taken'));
  await settle(service);
  assert.equal(receiver.received.length, 1);
  service.clock.advance(5_000);
  await settle(service);
  assert.equal(receiver.received.length, 2);
});

test('what a process has taken as it admitted it, and left, is told by another with the same id', async () => {
  const receiver = await openReceiver({ after });
  const { id } = await subscribe(service, caller, topic, receiver.url);
  await database.query(sql`UPDATE subscription_due SET leased = ${clock.now() + 5_000} WHERE id = ${id}`);
  for (const name of ['First', 'Second', 'Third']) {
    await caller.send('POST', 'Patient', patient(name));
    await settle(service);
  }
  assert.equal(receiver.received.length, 1);
  receiver.answers.push({ status: 500 });
  service.clock.advance(5_000);
  await settle(service);
  service.clock.advance(5_000);
  await settle(service);
  const told = receiver.received
    .slice(1)
    .map((each) => [each.headers['webhook-id'], statusOf(each)['events-since-subscription-start']]);
  assert.deepEqual(told, [
    [`ev_${id}_1-1`, '1'],
    [`ev_${id}_1-1`, '1'],
    [`ev_${id}_2-3`, '3'],
  ]);
});

test('more subscriptions than a process tells at once are all told, each event once', async () => {
  const receiver = await openReceiver({ after });
  const ids: string[] = [];
  // More than are told as they are admitted, and more than the share of an application.
  for (let number = 1; number <= 14; number += 1)
    ids.push((await subscribe(service, caller, topic, `${receiver.url}/${number}`)).id);
  const begun = receiver.received.length;
  for (const name of ['One', 'Two', 'Three']) {
    await caller.send('POST', 'Patient', patient(name));
    if (name !== 'Two') await settle(service);
  }
  const told = receiver.received.slice(begun);
  const numbers = Map.groupBy(
    told.flatMap((each) =>
      ((statusOf(each).events ?? []) as { 'event-number': string }[]).map(
        (event) => [each.path, event['event-number']] as const,
      ),
    ),
    ([path]) => path,
  );
  assert.equal(numbers.size, ids.length);
  for (const [path, each] of numbers)
    assert.deepEqual(
      each.map(([, number]) => number),
      ['1', '2', '3'],
      path,
    );
  for (const id of ids) {
    const { json } = await caller.get(`Subscription/${id}`);
    assert.equal((await caller.send('PUT', `Subscription/${id}`, { ...json, status: 'off' })).status, 200);
  }
});

test('an endpoint that does not answer keeps no other from its events', async () => {
  const url = 'http://hl7.org/fhir/uv/subscriptions-backport/StructureDefinition/backport-timeout';
  const slow = await openReceiver({ after });
  const quick = await openReceiver({ after });
  const { id } = await subscribe(service, caller, topic, slow.url, { extension: [{ url, valueUnsignedInt: 1 }] });
  await subscribe(service, caller, topic, quick.url);
  slow.answers.push({ status: 0 }, { status: 0 });
  await caller.send('POST', 'Patient', patient('Slow'));
  await settle(service);
  service.clock.advance(5_000);
  await caller.send('POST', 'Patient', patient('Quick'));
  await settle(service);
  const events = quick.received.flatMap((each) => statusOf(each).events ?? []);
  assert.equal(events.length, 2);
  const { json } = await caller.get(`Subscription/${id}`);
  assert.equal(json.status, 'active');
  assert.match(json.error, /the endpoint did not answer in time/);
  const state = await caller.get(`Subscription/${id}/$status`);
  const { parameter } = state.json.entry[0].resource;
  assert.deepEqual(parameter.slice(1), [
    { name: 'topic', valueCanonical: topic },
    { name: 'status', valueCode: 'active' },
    { name: 'type', valueCode: 'query-status' },
    { name: 'events-since-subscription-start', valueString: '2' },
  ]);
});

test('a failure that a process notes late keeps no later event back', async () => {
  const receiver = await openReceiver({ after });
  const { id } = await subscribe(service, caller, topic, receiver.url);
  // As it is when two processes had it: one delivered all there was, and the other noted after that that its attempt had failed.
  const retryMs = clock.now() + 60_000;
  await database.query(sql`UPDATE subscription_due SET due = ${Number.MAX_SAFE_INTEGER}, leased = 0 WHERE id = ${id}`);
  await database
    .forFirm(maple.id)
    .query(
      sql`UPDATE subscription SET attempts = 1, failing = ${clock.now()}, retry = ${retryMs} WHERE firm = ${maple.id} AND id = ${id}`,
    );
  await caller.send('POST', 'Patient', patient('Late'));
  await settle(service);
  assert.equal(receiver.received.length, 1);
  service.clock.advance(60_000);
  await settle(service);
  assert.equal(receiver.received.length, 2);
});

test('a new version of what is told is not asked for again by who changes nothing, and a new endpoint is', async () => {
  const first = await openReceiver({ after });
  const second = await openReceiver({ after });
  const { id } = await subscribe(service, caller, topic, first.url);
  const { json } = await caller.get(`Subscription/${id}`);
  const moved = { ...json, channel: { ...json.channel, endpoint: second.url } };
  const put = await caller.send('PUT', `Subscription/${id}`, moved);
  assert.equal(put.json.status, 'requested', put.text);
  await caller.send('POST', 'Patient', patient('Moved'));
  await settle(service);
  assert.equal(first.received.length, 1);
  assert.deepEqual(
    second.received.map((each) => statusOf(each).type),
    ['handshake', 'event-notification'],
  );
});

test('in a transaction a subscription is made with the rest, or not at all', async () => {
  const receiver = await openReceiver({ after });
  const subscription = {
    resourceType: 'Subscription',
    status: 'requested',
    reason: 'Test',
    criteria: topic,
    channel: { type: 'rest-hook', endpoint: receiver.url },
  };
  const bundleOf = (second: object) => ({
    resourceType: 'Bundle',
    type: 'transaction',
    entry: [
      { resource: subscription, request: { method: 'POST', url: 'Subscription' } },
      { resource: second, request: { method: 'POST', url: 'Patient' } },
    ],
  });
  const refused = await caller.send('POST', '', bundleOf({ resourceType: 'Patient', gender: 'nothing' }));
  assert.equal(refused.status >= 400, true, refused.text);
  await settle(service);
  assert.equal(receiver.received.length, 0);
  const made = await caller.send('POST', '', bundleOf(patient('Together')));
  assert.equal(made.status, 200, made.text);
  await settle(service);
  assert.equal(receiver.received.length >= 1, true);
});

test('a firm whose changes take long to look at holds up no other firm', async () => {
  const slow = await openReceiver({ after });
  const quick = await openReceiver({ after });
  const cedar = await makeFirm(service, 'cedar');
  const other = await makeApplication(service, 'At both', ['acl/*'], [maple, cedar]);
  const [atMaple, atCedar] = [await openCaller(service, other, maple), await openCaller(service, other, cedar)];
  await subscribe(service, atMaple, topic, slow.url);
  await subscribe(service, atCedar, topic, quick.url);
  const { owner } = service.database;
  await owner.query(sql`
    CREATE FUNCTION look_long() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.firm = (SELECT min(d.firm) FROM subscription_feed d) THEN
        PERFORM pg_advisory_xact_lock(16);
      END IF;
      RETURN NEW;
    END $$`);
  await owner.query(
    sql`CREATE TRIGGER look_long BEFORE INSERT ON subscription_event FOR EACH ROW EXECUTE FUNCTION look_long()`,
  );
  // Made first, the firm with the lowest number is looked at first, and its events cannot be stored while the lock is held.
  assert.ok(maple.id < cedar.id);
  let settled: Promise<void> | undefined;
  await owner.transaction(undefined, async (tx) => {
    await tx.query(sql`SELECT pg_advisory_xact_lock(16)`);
    // Nothing is looked at before this transaction has ended, so one look finds both.
    await owner.transaction(undefined, async (oldest) => {
      await oldest.query(sql`SELECT pg_current_xact_id()`);
      await atCedar.send('POST', 'Patient', patient('Quick'));
      await atMaple.send('POST', 'Patient', patient('Long'));
    });
    settled = settle(service);
    while (quick.received.length < 2) await delay(5);
    assert.equal(slow.received.length, 1);
  });
  await settled;
  assert.equal(slow.received.length, 2);
  await owner.query(sql`DROP TRIGGER look_long ON subscription_event`);
});
