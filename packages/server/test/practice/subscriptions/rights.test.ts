// What is sent is decided by the rights of the moment of sending; other rights end the run.
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { entryProblem } from '../../../src/admin/entry-problem.ts';
import { sql } from '../../../src/database/sql.ts';
import { authorise, resumeAuthorisation, suspendAuthorisation } from '../../../src/tenancy/authorisations.ts';
import { patient } from '../../support/records.ts';
import { makeApplication, makeFirm, openCaller, type TestApplication } from '../../support/service.ts';
import {
  openReceiver,
  openSubscriptionService,
  type Receiver,
  settle,
  signatureOf,
  statusOf,
  subscribe,
  topicBase,
} from './world.ts';

const service = await openSubscriptionService({ after });
const { database, clock } = service.platform;
const maple = await makeFirm(service, 'maple');
const writer = await makeApplication(service, 'Writer', ['acl/*'], [maple]);
const writing = await openCaller(service, writer, maple);
const topic = `${topicBase}/patient-changed`;
const full = { payload: 'application/fhir+json', content: 'full-resource' };

async function statusText(application: TestApplication, id: string): Promise<string> {
  const { json } = await (await openCaller(service, application, maple)).get(`Subscription/${id}`);
  return `${json.status} ${json.error}`;
}

function eventsOf({ received }: Receiver) {
  return received.filter(({ json }) => json !== undefined && statusOf({ json } as never).type === 'event-notification');
}

test('a masked application is sent what it may search, and nothing of rows that it may not', async () => {
  const narrow = await makeApplication(
    service,
    'Narrow',
    ['system/Subscription.cru', 'acl/pat_s_name', 'acl/pat_s_id'],
    [maple],
  );
  const female = await makeApplication(
    service,
    'Female',
    ['system/Subscription.cru', 'system/Patient.rs?gender=female'],
    [maple],
  );
  const masked = await openReceiver({ after });
  const limited = await openReceiver({ after });
  await subscribe(service, await openCaller(service, narrow, maple), topic, masked.url, full);
  await subscribe(service, await openCaller(service, female, maple), topic, limited.url, full);
  const made = await writing.send('POST', 'Patient', { ...patient('Stone'), gender: 'male', birthDate: '1980-01-01' });
  await settle(service);
  assert.equal(eventsOf(limited).length, 0);
  const [told] = eventsOf(masked);
  assert.ok(told);
  const { meta, ...shown } = told.json.entry[1].resource;
  assert.deepEqual(shown, { resourceType: 'Patient', id: made.json.id, name: [{ family: 'Stone' }] });
  assert.equal(meta.tag[0].code, 'SUBSETTED');
  await writing.send('PUT', `Patient/${made.json.id}`, { ...made.json, gender: 'female' });
  await writing.send('PUT', `Patient/${made.json.id}`, { ...made.json, gender: 'male' });
  await settle(service);
  const requests = eventsOf(limited).flatMap(({ json }) =>
    json.entry.slice(1).map((entry: { request: object }) => entry.request),
  );
  assert.deepEqual(requests, [
    { method: 'POST', url: 'Patient' },
    { method: 'DELETE', url: `Patient/${made.json.id}` },
  ]);
  const text = limited.received.map((each) => each.text).join('');
  assert.equal(text.includes('"gender":"male"'), false);
});

test('a topic that goes by elements which the application may not search is closed to it', async () => {
  const narrow = await makeApplication(service, 'Names', ['system/Subscription.cru', 'acl/pat_s_name'], [maple]);
  const caller = await openCaller(service, narrow, maple);
  const asked = {
    resourceType: 'Subscription',
    status: 'requested',
    reason: 'Test',
    criteria: `${topicBase}/patient-linked`,
    channel: { type: 'rest-hook', endpoint: 'https://subscriber.example.com/' },
  };
  const { status, json } = await caller.send('POST', 'Subscription', asked);
  assert.equal(status, 403);
  assert.match(json.issue[0].diagnostics, /goes by link of Patient/);
});

test('other rights end the run before anything more is sent; asked for again it begins anew', async () => {
  const application = await makeApplication(
    service,
    'Changing',
    ['system/Subscription.cru', 'system/Patient.rs'],
    [maple],
  );
  const receiver = await openReceiver({ after });
  const { id } = await subscribe(service, await openCaller(service, application, maple), topic, receiver.url, full);
  const terms = { acl: ['system/Subscription.cru', 'system/Patient.rs?gender=female'], purpose: 'Less' };
  receiver.answers.push({ status: 500 });
  await writing.send('POST', 'Patient', patient('Under old rights'));
  await settle(service);
  const sent = receiver.received.length;
  await authorise(database, clock, maple, application.application, terms, entryProblem);
  service.clock.advance(10_000);
  await settle(service);
  assert.equal(receiver.received.length, sent);
  assert.match(await statusText(application, id), /^error rights-changed/);
  const caller = await openCaller(service, application, maple);
  const { json } = await caller.get(`Subscription/${id}`);
  const again = await caller.send('PUT', `Subscription/${id}`, { ...json, status: 'requested' });
  assert.equal(again.status, 200, again.text);
  await settle(service);
  assert.match(await statusText(application, id), /^active/);
  await writing.send('POST', 'Patient', { ...patient('Under new rights'), gender: 'female' });
  await settle(service);
  const told = receiver.received.slice(sent).map(({ text }) => text);
  assert.equal(told.join('').includes('Under old rights'), false);
  assert.equal(told.join('').includes('Under new rights'), true);
  const replay = await caller.get(`Subscription/${id}/$events`);
  assert.equal(replay.text.includes('Under old rights'), false);
});

test('rights that change while a delivery waits for the database count before anything is sent', async () => {
  const application = await makeApplication(
    service,
    'Waiting',
    ['system/Subscription.cru', 'system/Patient.rs'],
    [maple],
  );
  const receiver = await openReceiver({ after });
  const { id } = await subscribe(service, await openCaller(service, application, maple), topic, receiver.url, full);
  const { owner } = service.database;
  // Another process has it while the event is admitted.
  await database.query(sql`UPDATE subscription_due SET leased = ${clock.now() + 5_000} WHERE id = ${id}`);
  await writing.send('POST', 'Patient', patient('Under old rights'));
  await settle(service);
  // As it is where something else waited for the endpoint at that moment: the delivery cuts the notification.
  await database
    .forFirm(maple.id)
    .query(sql`UPDATE subscription SET batch_end = NULL WHERE firm = ${maple.id} AND id = ${id}`);
  const sent = receiver.received.length;
  const attending = await owner.transaction(undefined, async (tx) => {
    await tx.query(sql`SELECT FROM subscription WHERE firm = ${maple.id} AND id = ${id} FOR UPDATE`);
    await database.query(sql`UPDATE subscription_due SET leased = 0 WHERE id = ${id}`);
    const settling = settle(service);
    await untilWaiting();
    const terms = { acl: ['system/Subscription.cru', 'system/Patient.rs?gender=female'], purpose: 'Less' };
    await authorise(database, clock, maple, application.application, terms, entryProblem);
    return { settling };
  });
  await attending.settling;
  await settle(service);
  assert.equal(receiver.received.length, sent);
  assert.match(await statusText(application, id), /^error rights-changed/);
});

test('rights that change while events wait to be admitted count before anything is sent', async () => {
  const application = await makeApplication(
    service,
    'Admitted',
    ['system/Subscription.cru', 'system/Patient.rs'],
    [maple],
  );
  const receiver = await openReceiver({ after });
  const { id } = await subscribe(service, await openCaller(service, application, maple), topic, receiver.url, full);
  const sent = receiver.received.length;
  const waiting = await service.database.owner.transaction(undefined, async (tx) => {
    // Reads go on, and no number of a transaction is taken that changes would wait for.
    await tx.query(sql`LOCK TABLE subscription IN EXCLUSIVE MODE`);
    await writing.send('POST', 'Patient', patient('Under old rights'));
    const settling = settle(service);
    await untilWaiting();
    const terms = { acl: ['system/Subscription.cru', 'system/Patient.rs?gender=female'], purpose: 'Less' };
    await authorise(database, clock, maple, application.application, terms, entryProblem);
    return { settling };
  });
  await waiting.settling;
  await settle(service);
  assert.equal(receiver.received.length, sent);
  assert.match(await statusText(application, id), /^error rights-changed/);
});

/** Until a statement waits for a lock. */
async function untilWaiting(): Promise<void> {
  for (;;) {
    const [row] = await service.database.owner.query<{ waiting: boolean }>(sql`
      SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock') AS waiting`);
    if (row?.waiting === true) return;
    await delay(5);
  }
}

test('a suspended authorisation sends nothing', async () => {
  const application = await makeApplication(
    service,
    'Paused',
    ['system/Subscription.cru', 'system/Patient.rs'],
    [maple],
  );
  const receiver = await openReceiver({ after });
  const { id } = await subscribe(service, await openCaller(service, application, maple), topic, receiver.url, full);
  const sent = receiver.received.length;
  await suspendAuthorisation(database, maple, application.application);
  await writing.send('POST', 'Patient', patient('Nobody is told'));
  await settle(service);
  assert.equal(receiver.received.length, sent);
  await resumeAuthorisation(database, maple, application.application);
  assert.match(await statusText(application, id), /^error rights-changed/);
});

test('each delivery is in the ledger as a disclosure to the application', async () => {
  const application = await makeApplication(
    service,
    'Audited',
    ['system/Subscription.cru', 'system/Patient.rs'],
    [maple],
  );
  const receiver = await openReceiver({ after });
  const { id } = await subscribe(service, await openCaller(service, application, maple), topic, receiver.url, full);
  const made = await writing.send('POST', 'Patient', patient('Audited'));
  await settle(service);
  await service.service.parts.ledger.flush();
  const { json } = await writing.get(`AuditEvent?entity=Patient/${made.json.id}&_count=50`);
  const rows = json.entry.map(({ resource }: { resource: object }) => JSON.stringify(resource));
  assert.equal(rows.filter((row: string) => row.includes('$events') && row.includes(id)).length, 1, rows.join('\n'));
});

test('a new secret signs beside the one before for a day, and alone after that', async () => {
  const receiver = await openReceiver({ after });
  const { id, secret } = await subscribe(service, writing, topic, receiver.url);
  const rotated = await writing.send('POST', `Subscription/${id}/$rotate-secret`);
  assert.equal(rotated.status, 200, rotated.text);
  const next = rotated.json.parameter[0].valueString;
  assert.notEqual(next, secret);
  assert.equal(rotated.json.parameter[1].valueInstant, new Date(clock.now() + 86_400_000).toISOString());
  await writing.send('POST', 'Patient', patient('Rotated'));
  await settle(service);
  const both = receiver.received.at(-1) ?? assert.fail();
  assert.equal(both.headers['webhook-signature'], `${signatureOf(both, next)} ${signatureOf(both, secret)}`);
  service.clock.advance(86_400_000);
  const later = await openCaller(service, writer, maple);
  await later.send('POST', 'Patient', patient('Rotated'));
  await settle(service);
  const one = receiver.received.at(-1) ?? assert.fail();
  assert.equal(one.headers['webhook-signature'], signatureOf(one, next));
});

test('heartbeats, the end, and the practice that suspends', async () => {
  const receiver = await openReceiver({ after });
  const caller = await openCaller(service, writer, maple);
  const url = 'http://hl7.org/fhir/uv/subscriptions-backport/StructureDefinition/backport-heartbeat-period';
  const end = new Date(clock.now() + 120_000).toISOString();
  const options = { extension: [{ url, valueUnsignedInt: 60 }], more: { end } };
  const { id } = await subscribe(service, caller, topic, receiver.url, options);
  service.clock.advance(60_000);
  await settle(service);
  const beat = receiver.received.at(-1) ?? assert.fail();
  assert.equal(statusOf(beat).type, 'heartbeat');
  service.clock.advance(60_000);
  await settle(service);
  assert.match(await statusText(writer, id), /^off end/);
  const other = await openReceiver({ after });
  const second = await subscribe(service, caller, topic, other.url);
  const sent = other.received.length;
  await database
    .forFirm(maple.id)
    .query(sql`UPDATE subscription SET suspended = true WHERE firm = ${maple.id} AND id = ${second.id}`);
  await caller.send('POST', 'Patient', patient('Suspended'));
  await settle(service);
  assert.equal(other.received.length, sent);
  assert.match(await statusText(writer, second.id), /^off suspended/);
});
