// An application sees, changes and deletes its own subscriptions alone, whatever its entries say, acl/* included.
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { makeApplication, makeFirm, openCaller } from '../../support/service.ts';
import { openReceiver, openSubscriptionService, ownerUrl, subscribe, subscriptionOf } from './world.ts';

const service = await openSubscriptionService({ after });
const receiver = await openReceiver({ after });
const maple = await makeFirm(service, 'maple');
const everything = await makeApplication(service, 'Everything', ['acl/*'], [maple]);
const other = await makeApplication(service, 'Other', ['acl/*'], [maple]);
const scoped = await makeApplication(service, 'Scoped', ['system/Subscription.cru', 'system/Patient.rs'], [maple]);
const entry = await makeApplication(
  service,
  'Entry',
  ['acl/sbscr_r', 'acl/sbscr_s', 'acl/sbscr_c', 'acl/pat_s'],
  [maple],
);
const blind = await makeApplication(service, 'Blind', ['acl/pat_s'], [maple]);

const mine = await openCaller(service, everything, maple);
const theirs = await openCaller(service, other, maple);
const subscription = await subscribe(service, mine, 'Patient?active=true', receiver.url);
const path = `Subscription/${subscription.id}`;

test('another application with acl/* finds nothing of it by any way, and changes nothing', async () => {
  for (const asked of [
    path,
    `${path}/_history`,
    `${path}/_history/1`,
    `${path}/$status`,
    `${path}/$events`,
    `${path}/$meta`,
  ]) {
    const { status, json } = await theirs.get(asked);
    assert.equal(status, 404, asked);
    assert.match(json.issue[0].diagnostics, /is not known/, asked);
  }
  for (const asked of [
    'Subscription',
    `Subscription?_id=${subscription.id}`,
    'Subscription?status=active',
    'Subscription?_summary=count',
    `Subscription?owner=${everything.application.id}`,
    'Subscription?_filter=status eq active',
    '?_type=Subscription',
    'Subscription/_history',
    'Subscription/$status',
    'Subscription?_has:Provenance:target:_id=x',
  ]) {
    const { status, json } = await theirs.get(asked);
    assert.equal(status, 200, asked);
    assert.equal(json.total ?? 0, 0, asked);
    assert.equal(json.entry, undefined, asked);
  }
  const body = { ...subscriptionOf('Patient?active=true', receiver.url), id: subscription.id };
  assert.equal((await theirs.send('PUT', path, body)).status, 404);
  const patch = JSON.stringify([{ op: 'replace', path: '/reason', value: 'Mine' }]);
  const type = { 'content-type': 'application/json-patch+json' };
  assert.equal((await theirs.send('PATCH', path, patch, type)).status, 404);
  assert.equal((await theirs.send('POST', `${path}/$rotate-secret`)).status, 404);
  const deleted = await theirs.send('DELETE', path);
  assert.equal(deleted.status, 204);
  assert.equal(deleted.headers.get('etag'), null);
  assert.equal((await mine.get(path)).status, 200);
  const { json: history } = await theirs.get('_history');
  assert.equal(JSON.stringify(history).includes(subscription.id), false);
  await mine.send('POST', `${path}/$meta-add`, {
    resourceType: 'Parameters',
    parameter: [{ name: 'meta', valueMeta: { tag: [{ code: 'of-mine' }] } }],
  });
  assert.equal((await mine.get('Subscription/$meta')).text.includes('of-mine'), true);
  assert.equal((await theirs.get('Subscription/$meta')).text.includes('of-mine'), false);
  assert.equal((await theirs.get('$meta')).text.includes('of-mine'), false);
  const { json: changes } = await theirs.get('$changes?_type=Subscription');
  assert.equal(changes.entry, undefined);
});

test('an id that another application has taken, and one that is free, are refused alike', async () => {
  for (const id of [subscription.id, 'free-id']) {
    const body = { ...subscriptionOf('Patient?active=true', receiver.url), id };
    const { status, json } = await theirs.send('PUT', `Subscription/${id}`, body);
    assert.equal(status, 404);
    assert.equal(json.issue[0].diagnostics, `Subscription/${id} is not known`);
  }
});

test('nobody gives a subscription away, or takes it, by its extension', async () => {
  const extension = [{ url: ownerUrl, valueCode: String(everything.application.id) }];
  const made = await theirs.send('POST', 'Subscription', {
    ...subscriptionOf('Patient?active=true', receiver.url),
    extension,
  });
  assert.equal(made.status, 201);
  assert.equal(made.json.extension[0].valueCode, String(other.application.id));
  assert.equal((await mine.get(`Subscription/${made.json.id}`)).status, 404);
  const patch = JSON.stringify([{ op: 'replace', path: '/extension', value: extension }]);
  const type = { 'content-type': 'application/json-patch+json' };
  const patched = await theirs.send('PATCH', `Subscription/${made.json.id}`, patch, type);
  assert.equal(patched.status, 200, patched.text);
  assert.deepEqual(patched.json.extension, [{ url: ownerUrl, valueCode: String(other.application.id) }]);
  assert.equal((await theirs.send('DELETE', `Subscription/${made.json.id}`)).status, 204);
  assert.equal((await theirs.get(`Subscription/${made.json.id}`)).status, 404);
});

test('an application needs the right to create subscriptions, and to search what they are about', async () => {
  const blindCaller = await openCaller(service, blind, maple);
  const refused = await blindCaller.send('POST', 'Subscription', subscriptionOf('Patient?active=true', receiver.url));
  assert.equal(refused.status, 403);
  assert.match(refused.json.issue[0].diagnostics, /Subscription create needs acl\/sbscr_c;/);
  for (const application of [scoped, entry]) {
    const caller = await openCaller(service, application, maple);
    const made = await caller.send('POST', 'Subscription', subscriptionOf('Patient?active=true', receiver.url));
    assert.equal(made.status, 201, made.text);
    const beyond = await caller.send('POST', 'Subscription', subscriptionOf('Encounter?status=planned', receiver.url));
    assert.equal(beyond.status, 403);
    assert.match(beyond.json.issue[0].diagnostics, /acl\/enc_s/);
    assert.equal((await caller.get(path)).status, 404);
  }
});

test('effective access tells whose subscriptions it is about', async () => {
  const { json } = await mine.get('$effective-access?type=Subscription');
  assert.match(JSON.stringify(json), new RegExp(`owner=${everything.application.id}`));
});
