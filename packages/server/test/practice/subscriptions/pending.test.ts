/** What an endpoint has accepted is noted a little later: what happens meanwhile is neither lost, nor held up by it. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { entryProblem } from '../../../src/admin/entry-problem.ts';
import { type Sql, sql } from '../../../src/database/sql.ts';
import { listFeeds } from '../../../src/practice/subscriptions/admitting/admission.ts';
import { keepEvents } from '../../../src/practice/subscriptions/admitting/keeping.ts';
import { openAcceptances } from '../../../src/practice/subscriptions/delivering/noting.ts';
import { authorise } from '../../../src/tenancy/authorisations.ts';
import { patient } from '../../support/records.ts';
import { makeApplication, makeFirm, openCaller } from '../../support/service.ts';
import { openReceiver, openSubscriptionService, settle, subscribe, subscriptionOf, topicBase } from './world.ts';

const service = await openSubscriptionService({ after });
const { database, clock } = service.platform;
const { owner } = service.database;
const maple = await makeFirm(service, 'maple');
const oak = await makeFirm(service, 'oak');
const writing = await openCaller(service, await makeApplication(service, 'Writer', ['acl/*'], [maple]), maple);
const topic = `${topicBase}/patient-changed`;

/** An endpoint that answers at once, unless it holds its answers back. */
async function openGate() {
  const asked = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  let isHeld = false;
  const server = createServer((request, response) => {
    request.resume();
    if (isHeld) asked.resolve();
    (isHeld ? opened.promise : Promise.resolve()).then(() => response.writeHead(200).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => {
    opened.resolve();
    server.close();
    server.closeAllConnections();
  });
  const hold = () => {
    isHeld = true;
  };
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, asked: asked.promise, hold, open: () => opened.resolve() };
}

/** Whether it comes true soon. */
async function comesTrue(isTrue: () => boolean | Promise<boolean>): Promise<boolean> {
  for (const endMs = performance.now() + 4_000; performance.now() < endMs; await delay(10))
    if (await isTrue()) return true;
  return false;
}

async function has(statement: Sql): Promise<boolean> {
  return (await owner.query(statement)).length > 0;
}

const waitsForLock = sql`
  SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' LIMIT 1`;

test('where the row of one subscription is held, others are told', async () => {
  const gate = await openGate();
  const receiver = await openReceiver({ after });
  const other = await openCaller(service, await makeApplication(service, 'Other', ['acl/*'], [oak]), oak);
  const { id } = await subscribe(service, writing, topic, gate.url);
  gate.hold();
  await writing.send('POST', 'Patient', patient('Accepted'));
  const settling = settle(service);
  await gate.asked;
  const { isTold } = await owner.transaction(undefined, async (tx) => {
    await tx.query(sql`SELECT FROM subscription WHERE firm = ${maple.id} AND id = ${id} FOR UPDATE`);
    gate.open();
    assert.equal(await comesTrue(() => has(waitsForLock)), true);
    await other.send('POST', 'Subscription', subscriptionOf(topic, receiver.url));
    return { isTold: await comesTrue(() => receiver.received.length > 0) };
  });
  await settling;
  assert.equal(isTold, true);
});

test('rights that change before an acceptance is noted end the run without another change', async () => {
  const rights = ['system/Subscription.cru', 'system/Patient.rs'];
  const application = await makeApplication(service, 'Changing', rights, [maple]);
  const gate = await openGate();
  const { id } = await subscribe(service, await openCaller(service, application, maple), topic, gate.url);
  gate.hold();
  await writing.send('POST', 'Patient', patient('Under old rights'));
  const settling = settle(service);
  await gate.asked;
  const terms = { acl: ['system/Subscription.cru', 'system/Patient.rs?gender=female'], purpose: 'Less' };
  await authorise(database, clock, maple, application.application, terms, entryProblem);
  // A process remembers rights for a second.
  await delay(1_100);
  await writing.send('POST', 'Patient', patient('The last of a burst'));
  assert.equal(await comesTrue(() => has(sql`SELECT FROM subscription WHERE id = ${id} AND policy = ''`)), true);
  gate.open();
  await settling;
  await settle(service);
  const { json } = await (await openCaller(service, application, maple)).get(`Subscription/${id}`);
  assert.match(`${json.status} ${json.error}`, /^error rights-changed/);
});

test('what took long to admit is not told at once, but read anew when its lease is over', async () => {
  const receiver = await openReceiver({ after });
  await subscribe(service, writing, topic, receiver.url);
  const { settling } = await owner.transaction(undefined, async (tx) => {
    // Reads go on, and no number of a transaction is taken that changes would wait for.
    await tx.query(sql`LOCK TABLE subscription IN EXCLUSIVE MODE`);
    await writing.send('POST', 'Patient', patient('Slow'));
    const begun = { settling: settle(service) };
    assert.equal(await comesTrue(() => has(waitsForLock)), true);
    service.clock.advance(1_500);
    return begun;
  });
  await settling;
  assert.equal(receiver.received.length, 1);
  service.clock.advance(5_000);
  await settle(service);
  assert.equal(receiver.received.length, 2);
});

test('an admission leaves alone what another process holds, though it was accepted here', async () => {
  const receiver = await openReceiver({ after });
  const ids: string[] = [];
  for (let made = 0; made < 2; made += 1) ids.push((await subscribe(service, writing, topic, receiver.url)).id);
  const [first = assert.fail(), second = assert.fail()] = ids;
  const leasedMs = clock.now() + 60_000;
  const leasesOf = sql`SELECT FROM subscription_due WHERE leased = ${leasedMs} AND id IN (${first}, ${second})`;
  await owner.query(sql`UPDATE subscription_due SET leased = ${leasedMs} WHERE id IN (${first}, ${second})`);
  const { feeds } = await listFeeds(database);
  const feed = feeds.find(({ firm }) => firm === maple.id) ?? assert.fail();
  const [row = assert.fail()] = await owner.query<{ application: number; epoch: number; definition: never }>(sql`
    SELECT s.application, a.epoch, s.definition FROM subscription s
      JOIN access_epoch a ON a.firm = s.firm AND a.application = s.application WHERE s.id = ${first}`);
  const now = { type: 'Patient', id: 'p', versionId: 1, lastUpdatedMs: clock.now(), deleted: true };
  const matched = [{ ...row, id: first, matches: [{ kind: 'delete', change: { now } }] as never }];
  const nowMs = clock.now();
  const attempt = { number: 1, kind: 'event-notification', atMs: nowMs, tookMs: 1, status: 200 } as never;
  // As it was seen before the other process has told something.
  const accepted = ids.map((id) => ({ id, replays: 0, from: 7, until: 8, nowMs, attempt }));
  const kept = await keepEvents(database, feed, feed.place, matched, { nowMs, takenUntilMs: nowMs + 5_000, accepted });
  assert.deepEqual(kept, { admitted: [], noted: new Set() });
  assert.equal((await owner.query(leasesOf)).length, 2);
});

test('what was accepted is noted where no more looks come', async () => {
  const nowMs = clock.now();
  const attempt = { number: 1, kind: 'event-notification', atMs: nowMs, tookMs: 1, status: 200 } as const;
  const accepted = { id: 'gone', replays: 0, from: 0, until: 1, nowMs, attempt: attempt as never };
  const noted = openAcceptances(database).note(maple.id, accepted, () => true);
  const isNoted = await Promise.race([noted.then(() => true), delay(4_000, false)]);
  assert.equal(isNoted, true);
});

test('old events are removed where their subscription is gone', async () => {
  const atMs = clock.now() - 31 * 24 * 60 * 60 * 1000;
  await owner.query(sql`
    INSERT INTO subscription_event (firm, subscription, number, at, rtype, id, vid, kind)
    VALUES (${maple.id}, 'gone', 1, ${atMs}, 1, 'p', 1, 'create')`);
  await settle(service);
  assert.equal(await has(sql`SELECT FROM subscription_event WHERE subscription = 'gone'`), false);
});
