/**
 * Subscriptions as practice, vendor and operator see them: nobody sees or changes what is another's; attempts with their reasons; a
 * replay; and a suspension that only who made it takes back.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { openAdministrator } from '../../admin/world.ts';
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

const service = await openSubscriptionService({ after }, { PRAXIS_DELIVERY_PAUSE_MS: '10' });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
await makeFirm(service, 'elm');
const mine = await makeApplication(service, 'Mine', ['acl/*'], [maple, cedar]);
const theirs = await makeApplication(service, 'Theirs', ['acl/*'], [maple]);
const caller = await openCaller(service, mine, maple);
const other = await openCaller(service, theirs, maple);
const topic = `${topicBase}/patient-changed`;

const operator = await openAdministrator(service, 'operator', 'operator');
const practice = await openAdministrator(service, 'of-maple', 'practice', { firm: 'maple' });
const stranger = await openAdministrator(service, 'of-cedar', 'practice', { firm: 'cedar' });
const vendor = await openAdministrator(service, 'of-mine', 'vendor', { application: 'Mine' });
const otherVendor = await openAdministrator(service, 'of-theirs', 'vendor', { application: 'Theirs' });

const ofMaple = '/environments/sandbox/firms/maple/subscriptions';
const ofMine = '/environments/sandbox/applications/Mine';
const ofTheirs = '/environments/sandbox/applications/Theirs';

const receiver = await openReceiver({ after });
const { id } = await subscribe(service, caller, topic, receiver.url, {
  payload: 'application/fhir+json',
  content: 'id-only',
  header: ['Authorization: Bearer of-the-endpoint'],
});
const otherReceiver = await openReceiver({ after });
const { id: otherId } = await subscribe(service, other, topic, otherReceiver.url);

/** What one may ask of a subscription, below its path. */
const asked = [
  ['GET', 'deliveries', undefined],
  ['POST', 'replay', { from: 1 }],
  ['PUT', 'suspension', undefined],
  ['DELETE', 'suspension', undefined],
] as const;

test('a practice asks nothing of another firm’s, a vendor nothing of another application’s', async () => {
  for (const [method, what, body] of asked) {
    const elsewhere = await stranger.ask(method, `${ofMaple}/${id}/${what}`, body);
    assert.deepEqual(
      [elsewhere.status, elsewhere.json.detail],
      [404, 'firm maple does not exist in environment sandbox'],
    );
    const below = await stranger.ask(method, `/environments/sandbox/firms/cedar/subscriptions/${id}/${what}`, body);
    assert.deepEqual([below.status, below.json.detail], [404, 'There is no such subscription']);
    const foreign = await otherVendor.ask(method, `${ofMine}/firms/maple/subscriptions/${id}/${what}`, body);
    assert.deepEqual(
      [foreign.status, foreign.json.detail],
      [404, 'application Mine does not exist in environment sandbox'],
    );
    const own = await otherVendor.ask(method, `${ofTheirs}/firms/maple/subscriptions/${id}/${what}`, body);
    assert.deepEqual([own.status, own.json.detail], [404, 'There is no such subscription']);
    for (const firm of ['elm', 'nowhere']) {
      const unknown = await vendor.ask(method, `${ofMine}/firms/${firm}/subscriptions/${id}/${what}`, body);
      assert.deepEqual([unknown.status, unknown.json.detail], [404, `firm ${firm} has not authorised Mine`]);
    }
  }
  const others = await otherVendor.ask('GET', `${ofTheirs}/subscriptions`);
  assert.deepEqual(
    others.json.items.map((each: { id: string }) => each.id),
    [otherId],
  );
  assert.deepEqual((await vendor.ask('GET', `${ofMine}/firms/cedar/subscriptions`)).json, { items: [], more: false });
  const { json } = await caller.get(`Subscription/${id}`);
  assert.equal(json.status, 'active');
  await settle(service);
  assert.equal(receiver.received.length, 1);
});

test('who may sees where it leads and what came of each attempt, and no secret and no patient', async () => {
  receiver.answers.push({ status: 500 });
  const made = await caller.send('POST', 'Patient', patient('Sensitive'));
  await settle(service);
  const first = {
    number: 1,
    at: '2026-11-21T09:30:00.000Z',
    kind: 'handshake',
    firstEvent: null,
    lastEvent: null,
    status: 200,
    reason: null,
    nextAttempt: null,
  };
  const second = {
    ...first,
    number: 2,
    kind: 'event-notification',
    firstEvent: 1,
    lastEvent: 1,
    status: 500,
    nextAttempt: '2026-11-21T09:30:00.010Z',
  };
  const shown = {
    id,
    application: 'Mine',
    status: 'active',
    reason: null,
    about: topic,
    endpoint: receiver.url,
    content: 'id-only',
    events: 1,
    waiting: 1,
    keptFrom: 1,
    failingSince: '2026-11-21T09:30:00.000Z',
    nextAttempt: '2026-11-21T09:30:00.010Z',
    suspended: false,
    suspendedByVendor: false,
  };
  const withFirm = { firm: 'maple', ...shown };
  assert.deepEqual((await practice.ask('GET', `${ofMaple}/${id}`)).json, shown);
  assert.deepEqual((await vendor.ask('GET', `${ofMine}/firms/maple/subscriptions`)).json.items, [shown]);
  assert.deepEqual((await vendor.ask('GET', `${ofMine}/subscriptions`)).json, { items: [withFirm], more: false });
  const { items } = (await operator.ask('GET', '/environments/sandbox/subscriptions')).json;
  assert.deepEqual(
    items.find((each: { id: string }) => each.id === id),
    withFirm,
  );
  assert.equal(items.length, 2);
  for (const [by, path] of [
    [practice, `${ofMaple}/${id}/deliveries`],
    [vendor, `${ofMine}/firms/maple/subscriptions/${id}/deliveries`],
    [operator, `${ofMaple}/${id}/deliveries`],
  ] as const) {
    const { json, text } = await by.ask('GET', path);
    assert.deepEqual(
      json.items.map(({ took, ...attempt }: { took: number }) => ({ ...attempt, isTimed: Number.isInteger(took) })),
      [second, first].map((each) => ({ ...each, isTimed: true })),
    );
    for (const secret of ['of-the-endpoint', made.json.id, 'Sensitive', 'whsec_']) assert.ok(!text.includes(secret));
  }
});

test('of the attempts the last fifty are kept, with the reason where there was no answer', async () => {
  receiver.answers.length = 0;
  receiver.answers.push(...Array.from({ length: 60 }, () => ({ status: 503 })));
  for (let attempt = 1; attempt <= 60; attempt += 1) {
    service.clock.advance(7_200);
    await settle(service);
  }
  const items = (await practice.ask('GET', `${ofMaple}/${id}/deliveries`)).json.items as { readonly number: number }[];
  const numbers = items.map(({ number }) => number);
  assert.deepEqual(
    numbers,
    Array.from({ length: 50 }, (_, at) => 62 - at),
  );
  service.clock.advance(7_200);
  await settle(service);
  const [last] = (await practice.ask('GET', `${ofMaple}/${id}/deliveries`)).json.items;
  assert.deepEqual([last.number, last.status, last.nextAttempt], [63, 200, null]);
});

test('events are told again from a number on, under ids that no message had', async () => {
  const again = await openCaller(service, mine, maple);
  for (const name of ['Two', 'Three']) await again.send('POST', 'Patient', patient(name));
  await settle(service);
  const before = receiver.received.length;
  const path = `${ofMine}/firms/maple/subscriptions/${id}/replay`;
  for (const [from, detail] of [
    [4, 'from is 4, and no such event is kept: 1 to 3 are kept'],
    [0, `from must be a whole number from 1 to ${Number.MAX_SAFE_INTEGER}`],
  ] as const) {
    const refused = await vendor.ask('POST', path, { from });
    assert.equal(refused.json.detail, detail);
    assert.equal(refused.status >= 400, true);
  }
  assert.equal((await vendor.ask('POST', path, { from: 2 })).status, 204);
  await settle(service);
  const told = receiver.received.slice(before);
  const numbersOf = (each: (typeof told)[number]) =>
    (statusOf(each).events as { readonly 'event-number': string }[]).map((event) => event['event-number']);
  assert.deepEqual(told.flatMap(numbersOf), ['2', '3']);
  const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
  assert.equal(
    told.every(({ headers }) => ids.filter((each) => each === headers['webhook-id']).length === 1),
    true,
  );
  // What comes next goes on.
  await again.send('POST', 'Patient', patient('Four'));
  await settle(service);
  const next = receiver.received.at(-1);
  assert.ok(next);
  assert.deepEqual(numbersOf(next), ['4']);
});

test('practice and vendor each take back their own suspension alone', async () => {
  const path = `${ofMaple}/${id}`;
  const vendorPath = `${ofMine}/firms/maple/subscriptions/${id}`;
  const again = await openCaller(service, mine, maple);
  const ask = async () => {
    const { json } = await again.get(`Subscription/${id}`);
    await again.send('PUT', `Subscription/${id}`, { ...json, status: 'requested' });
    await settle(service);
    const shown = (await practice.ask('GET', path)).json;
    return [shown.status, shown.reason, shown.suspended, shown.suspendedByVendor];
  };
  assert.equal((await practice.ask('PUT', `${path}/suspension`)).status, 204);
  await settle(service);
  assert.deepEqual(await ask(), ['off', 'suspended', true, false]);
  assert.equal((await vendor.ask('DELETE', `${vendorPath}/suspension`)).status, 204);
  assert.deepEqual(await ask(), ['off', 'suspended', true, false]);
  const replayed = await vendor.ask('POST', `${vendorPath}/replay`, { from: 1 });
  assert.deepEqual(
    [replayed.status, replayed.json.detail],
    [422, 'The subscription is off (suspended): its run has to go on for events to be told again'],
  );
  assert.equal((await vendor.ask('PUT', `${vendorPath}/suspension`)).status, 204);
  assert.equal((await practice.ask('DELETE', `${path}/suspension`)).status, 204);
  assert.deepEqual(await ask(), ['off', 'suspended', false, true]);
  assert.equal((await vendor.ask('DELETE', `${vendorPath}/suspension`)).status, 204);
  assert.deepEqual(await ask(), ['active', null, false, false]);
});

test('what a vendor changes is in the ledger of the firm that it concerns, and a refusal in no firm’s', async () => {
  assert.equal((await vendor.ask('POST', `${ofMine}/firms/elm/subscriptions/${id}/replay`, { from: 1 })).status, 404);
  const { items } = (await operator.ask('POST', '/ledger', {})).json;
  const about = `app replay sandbox Mine elm ${id}`;
  const [row] = items.filter((each: { about: string | null }) => each.about === about);
  assert.deepEqual([row.outcome, row.reason, row.subject], [4, 'resource-not-found', 'of-mine']);
});

test('an application has so many subscriptions at a firm at once, and no more', async () => {
  const small = await openSubscriptionService({ after }, { PRAXIS_SUBSCRIPTIONS_MAX: '2' });
  const firm = await makeFirm(small, 'maple');
  const second = await makeFirm(small, 'cedar');
  const application = await makeApplication(small, 'Many', ['acl/*'], [firm, second]);
  const many = await openCaller(small, application, firm);
  const body = subscriptionOf('Patient?active=true', otherReceiver.url);
  const made = await many.send('POST', 'Subscription', body);
  assert.equal((await many.send('POST', 'Subscription', body)).status, 201);
  const refused = await many.send('POST', 'Subscription', body);
  assert.equal(refused.status, 422, refused.text);
  assert.deepEqual(refused.json.issue[0].expression, ['Subscription.status']);
  assert.equal(
    refused.json.issue[0].diagnostics,
    'Subscription.status is requested, but the application has 2 Subscriptions at this firm, the most that it may: set one to off, or delete it',
  );
  assert.equal((await many.get('Subscription')).json.total, 2, 'nothing of it was written');
  const another = await openCaller(small, await makeApplication(small, 'Another', ['acl/*'], [firm]), firm);
  assert.equal((await another.send('POST', 'Subscription', body)).status, 201);
  assert.equal((await (await openCaller(small, application, second)).send('POST', 'Subscription', body)).status, 201);
  const off = await many.send('PUT', `Subscription/${made.json.id}`, { ...made.json, status: 'off' });
  assert.equal(off.status, 200, off.text);
  assert.equal((await many.send('POST', 'Subscription', body)).status, 201);
  const back = await many.send('PUT', `Subscription/${made.json.id}`, { ...made.json, status: 'requested' });
  assert.equal(back.status, 422);
});
