// rest-hook: the handshake, what is sent by both kinds of criteria, and what becomes of endpoints that fail.
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { parseXml } from '@praxis/fhir';
import { sql } from '../../../src/database/sql.ts';
import { patient } from '../../support/records.ts';
import { type Caller, makeApplication, makeFirm, openCaller } from '../../support/service.ts';
import {
  openReceiver,
  openSubscriptionService,
  secretUrl,
  settle,
  signatureOf,
  statusOf,
  subscribe,
  subscriptionOf,
  topicBase,
} from './world.ts';

const service = await openSubscriptionService({ after });
const maple = await makeFirm(service, 'maple');
const application = await makeApplication(service, 'Everything', ['acl/*'], [maple]);
const caller = await openCaller(service, application, maple);
const fhirJson = 'application/fhir+json';

async function statusText(id: string, by: Caller = caller): Promise<string> {
  const { json } = await by.get(`Subscription/${id}`);
  return `${json.status}${json.error === undefined ? '' : ` ${json.error}`}`;
}

test('what must not be asked is refused, with the element and the rule', async () => {
  const receiver = await openReceiver({ after });
  const base = subscriptionOf('Patient?active=true', receiver.url);
  const withChannel = (channel: object) => ({ ...base, channel: { ...base.channel, ...channel } });
  const cases: readonly [body: object, element: string, rule: RegExp][] = [
    [{ ...base, status: 'active' }, 'Subscription.status', /is requested or off/],
    [{ ...base, criteria: 'Patient?nonsense=1' }, 'Subscription.criteria', /nonsense is not a search parameter/],
    [{ ...base, criteria: 'Patient?_include=Patient:link' }, 'Subscription.criteria', /has _include/],
    [{ ...base, criteria: 'Patient?_count=5' }, 'Subscription.criteria', /has _count/],
    [
      { ...base, criteria: 'Patient?organization.name=x' },
      'Subscription.criteria',
      /has the chain organization.name, which costs/,
    ],
    [
      { ...base, criteria: 'Patient?_has:Observation:patient:code=x' },
      'Subscription.criteria',
      /has _has:.*, which costs/,
    ],
    [
      { ...base, criteria: 'Patient?_text=x' },
      'Subscription.criteria',
      /has _text, which costs too much for each change/,
    ],
    [{ ...base, criteria: 'Patient?_sort=name' }, 'Subscription.criteria', /has _sort, which is about the answer/],
    [{ ...base, criteria: 'Subscription?status=active' }, 'Subscription.criteria', /about Subscriptions/],
    [{ ...base, criteria: 'AuditEvent?type=rest' }, 'Subscription.criteria', /no changes are told/],
    [{ ...base, criteria: 'Nothing?a=b' }, 'Subscription.criteria', /no changes are told/],
    [{ ...base, criteria: `${topicBase}/nothing` }, 'Subscription.criteria', /names no topic/],
    [
      subscriptionOf(`${topicBase}/patient-changed`, receiver.url, { filters: ['Patient?name=x'] }),
      'Subscription.criteria.extension',
      /the topic takes _id, /,
    ],
    [withChannel({ type: 'message' }), 'Subscription.channel.type', /message is not served/],
    [withChannel({ type: 'email' }), 'Subscription.channel.type', /email is not served/],
    [withChannel({ endpoint: 'http://example.com/' }), 'Subscription.channel.endpoint', /https/],
    [withChannel({ endpoint: 'https://10.0.0.1/' }), 'Subscription.channel.endpoint', /public Internet/],
    [
      withChannel({ payload: 'text/plain' }),
      'Subscription.channel.payload',
      /application\/fhir\+json or application\/fhir\+xml/,
    ],
    [
      withChannel({ payload: 'application/fhir+json; fhirVersion=4.3' }),
      'Subscription.channel.payload',
      /names FHIR 4.3/,
    ],
    [
      subscriptionOf(`${topicBase}/patient-changed`, receiver.url, { filters: [`Patient?_id=${'a'.repeat(1_000)}`] }),
      'Subscription.criteria.extension',
      /has 1000 characters at most/,
    ],
    [withChannel({ header: ['Host: x'] }), 'Subscription.channel.header', /may not be set: host/],
    [withChannel({ header: ['webhook-id: x'] }), 'Subscription.channel.header', /may not be set: webhook-id/],
    [withChannel({ header: ['no header'] }), 'Subscription.channel.header', /Name: value/],
    [{ ...base, end: '2020-01-01T00:00:00Z' }, 'Subscription.end', /has passed/],
  ];
  for (const [body, element, rule] of cases) {
    const { status, json } = await caller.send('POST', 'Subscription', body);
    assert.equal(status, 422, JSON.stringify(json));
    assert.deepEqual(json.issue[0].expression, [element], JSON.stringify(json));
    assert.match(json.issue[0].diagnostics, rule);
  }
  const { json } = await caller.get('Subscription');
  assert.equal(json.total, 0);
});

test('a subscription is active once the endpoint accepted a signed handshake; its secret is told once', async () => {
  const receiver = await openReceiver({ after });
  const made = await caller.send('POST', 'Subscription', subscriptionOf('Patient?active=true', receiver.url));
  assert.equal(made.status, 201);
  const secret = made.json.extension.find(({ url }: { url: string }) => url === secretUrl).valueString;
  assert.match(secret, /^whsec_/);
  assert.equal(await statusText(made.json.id), 'requested');
  await settle(service);
  assert.equal(await statusText(made.json.id), 'active');
  assert.equal((await caller.get(`Subscription/${made.json.id}`)).text.includes('whsec_'), false);
  const [handshake] = receiver.received;
  assert.ok(handshake);
  assert.equal(receiver.received.length, 1);
  assert.equal(handshake.method, 'POST');
  assert.equal(handshake.text, '');
  assert.equal(handshake.headers['webhook-signature'], signatureOf(handshake, secret));
  assert.equal(handshake.headers['webhook-timestamp'], String(service.clock.now() / 1000));
});

test('R4 criteria: an empty POST, or the resource by PUT, for what matches alone', async () => {
  const empty = await openReceiver({ after });
  const full = await openReceiver({ after });
  await subscribe(service, caller, 'Patient?gender=female', empty.url);
  const header = ['Authorization: Bearer of-the-endpoint'];
  const { id, secret } = await subscribe(service, caller, 'Patient?gender=female', full.url, {
    payload: fhirJson,
    header,
  });
  const made = await caller.send('POST', 'Patient', { ...patient('Stone'), gender: 'female' });
  await caller.send('POST', 'Patient', { ...patient('Rock'), gender: 'male' });
  await settle(service);
  assert.equal(empty.received.length, 2);
  assert.equal(empty.received[1]?.text, '');
  assert.equal(full.received.length, 2);
  const [, told] = full.received;
  assert.ok(told);
  assert.equal(told.method, 'PUT');
  assert.equal(told.path, `/hook/Patient/${made.json.id}`);
  assert.deepEqual(told.json, made.json);
  assert.equal(told.headers.authorization, 'Bearer of-the-endpoint');
  assert.equal(told.headers['content-type'], fhirJson);
  assert.equal(told.headers['webhook-signature'], signatureOf(told, secret));
  const { json, text } = await caller.get(`Subscription/${id}`);
  assert.equal(json.channel.header, undefined);
  assert.equal(text.includes('of-the-endpoint'), false);
  const put = await caller.send('PUT', `Subscription/${id}`, { ...json, reason: 'Another reason' });
  assert.equal(put.status, 200, put.text);
  assert.equal(put.json.status, 'active');
  await caller.send('PUT', `Patient/${made.json.id}`, { ...made.json, birthDate: '1980-01-01' });
  await settle(service);
  assert.equal(full.received[2]?.headers.authorization, 'Bearer of-the-endpoint');
});

test('a topic: numbered events in a history Bundle, with as much of the resource as was asked for', async () => {
  const receiver = await openReceiver({ after });
  const { id } = await subscribe(service, caller, `${topicBase}/patient-changed`, receiver.url, {
    payload: fhirJson,
    content: 'full-resource',
  });
  const handshake = receiver.received[0];
  assert.ok(handshake);
  assert.deepEqual(statusOf(handshake), {
    subscription: { reference: `${maple.base}/Subscription/${id}` },
    topic: `${topicBase}/patient-changed`,
    status: 'requested',
    type: 'handshake',
    'events-since-subscription-start': '0',
  });
  const made = await caller.send('POST', 'Patient', patient('Quarry'));
  await caller.send('PUT', `Patient/${made.json.id}`, { ...made.json, gender: 'other' });
  await caller.send('DELETE', `Patient/${made.json.id}`);
  await settle(service);
  const notifications = receiver.received.slice(1);
  const focus = { reference: `${maple.base}/Patient/${made.json.id}` };
  const timestamp = '2026-11-21T09:30:00.000Z';
  const { events: _events, ...last } = statusOf(notifications.at(-1) ?? handshake);
  assert.deepEqual(last, {
    subscription: { reference: `${maple.base}/Subscription/${id}` },
    topic: `${topicBase}/patient-changed`,
    status: 'active',
    type: 'event-notification',
    'events-since-subscription-start': '3',
  });
  assert.deepEqual(
    notifications.flatMap((each) => statusOf(each).events),
    ['1', '2', '3'].map((number) => ({ 'event-number': number, timestamp, focus })),
  );
  const entries = notifications.flatMap(({ json }) => json.entry.slice(1));
  assert.deepEqual(
    entries.map(({ request }: { request: object }) => request),
    [
      { method: 'POST', url: 'Patient' },
      { method: 'PUT', url: `Patient/${made.json.id}` },
      { method: 'DELETE', url: `Patient/${made.json.id}` },
    ],
  );
  assert.deepEqual(entries[0].resource, made.json);
  assert.equal(entries[2].resource, undefined);
  const replay = await caller.get(`Subscription/${id}/$events?eventsSinceNumber=2&eventsUntilNumber=2&content=id-only`);
  assert.equal(replay.status, 200, replay.text);
  assert.equal(replay.json.entry.length, 2);
  assert.equal(replay.json.entry[1].fullUrl, focus.reference);
  assert.equal(replay.json.entry[1].resource, undefined);
});

test('a failing endpoint is tried again with the same id until it accepts, and the resource says why', async () => {
  const receiver = await openReceiver({ after });
  const { id } = await subscribe(service, caller, `${topicBase}/patient-changed`, receiver.url, { payload: fhirJson });
  receiver.answers.push({ status: 500 }, { status: 503, headers: { 'retry-after': '60' } });
  await caller.send('POST', 'Patient', patient('Slate'));
  await settle(service);
  assert.equal(receiver.received.length, 2);
  service.clock.advance(5_000);
  await caller.send('POST', 'Patient', patient('Slate'));
  await settle(service);
  assert.equal(receiver.received.length, 3);
  assert.match(await statusText(id), /^active failing since 2026-11-21T09:30:00.000Z: the endpoint answered 503$/);
  service.clock.advance(59_000);
  await settle(service);
  assert.equal(receiver.received.length, 3);
  service.clock.advance(1_000);
  await settle(service);
  assert.equal(receiver.received.length, 5);
  const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
  assert.equal(ids[1], ids[2]);
  assert.equal(ids[1], ids[3]);
  assert.notEqual(ids[3], ids[4]);
  assert.equal(await statusText(id), 'active');
});

test('410 ends it; 72 hours of failures put it in error, and what was missed comes when it is asked for', async () => {
  const gone = await openReceiver({ after });
  const first = await subscribe(service, caller, `${topicBase}/patient-changed`, gone.url);
  gone.answers.push({ status: 410 });
  const receiver = await openReceiver({ after });
  const second = await subscribe(service, caller, `${topicBase}/patient-changed`, receiver.url);
  receiver.answers.push(...Array.from({ length: 3 }, () => ({ status: 500 })));
  await caller.send('POST', 'Patient', patient('Basalt'));
  await settle(service);
  assert.match(await statusText(first.id), /^off gone/);
  service.clock.advance(72 * 3_600_000);
  await settle(service);
  const later = await openCaller(service, application, maple);
  assert.match(await statusText(second.id, later), /^error undeliverable/);
  const sent = receiver.received.length;
  await later.send('POST', 'Patient', patient('Basalt'));
  await settle(service);
  assert.equal(receiver.received.length, sent);
  const { json } = await later.get(`Subscription/${second.id}`);
  receiver.answers.length = 0;
  const asked = await later.send('PUT', `Subscription/${second.id}`, { ...json, status: 'requested' });
  assert.equal(asked.status, 200, asked.text);
  await settle(service);
  const told = receiver.received.at(-1);
  assert.ok(told);
  assert.equal(statusOf(told)['events-since-subscription-start'], '2');
});

test('the payload in XML: the same content as in JSON, of both kinds of criteria', async () => {
  const xml = await openReceiver({ after });
  const json = await openReceiver({ after });
  const later = await openCaller(service, application, maple);
  const content = 'full-resource';
  for (const criteria of [`${topicBase}/patient-changed`, 'Patient?gender=unknown']) {
    await subscribe(service, later, criteria, xml.url, { payload: 'application/fhir+xml', content });
    await subscribe(service, later, criteria, json.url, { payload: fhirJson, content });
  }
  const made = await later.send('POST', 'Patient', { ...patient('Chalk'), gender: 'unknown' });
  await settle(service);
  for (const [method, path] of [
    ['POST', '/hook'],
    ['PUT', `/hook/Patient/${made.json.id}`],
  ] as const) {
    const [inXml] = xml.received.filter((each) => each.method === method && each.text.includes(made.json.id));
    const [inJson] = json.received.filter((each) => each.method === method && each.text.includes(made.json.id));
    assert.ok(inXml && inJson);
    assert.deepEqual([inXml.path, inXml.headers['content-type']], [path, 'application/fhir+xml']);
    const read = parseXml(inXml.text);
    const resourceOf = (value: typeof inJson.json) => (method === 'PUT' ? value : value.entry[1].resource);
    assert.deepEqual(JSON.parse(JSON.stringify(resourceOf(read))), resourceOf(inJson.json));
  }
  const [handshake] = xml.received;
  assert.match(handshake?.text ?? '', /<valueCode value="handshake"\/>/);
});

test('what $events tells of patients is in the ledger with their ids, also where only ids are told', async () => {
  const receiver = await openReceiver({ after });
  const later = await openCaller(service, application, maple);
  const { id } = await subscribe(service, later, `${topicBase}/patient-changed`, receiver.url, { payload: fhirJson });
  const { json } = await later.send('POST', 'Patient', patient('Noted'));
  await settle(service);
  const answers = [
    await later.get(`Subscription/${id}/$events?content=empty`),
    await later.get(`Subscription/${id}/$events?content=id-only`),
  ];
  await service.service.parts.ledger.flush();
  const noted = await Promise.all(
    answers.map(({ headers }) =>
      service.database.owner.query<{ patients: string | null }>(
        sql`SELECT patients FROM audit_ledger WHERE request_id = ${headers.get('x-request-id') ?? ''} AND interaction = '$events'`,
      ),
    ),
  );
  assert.deepEqual(
    noted.map((rows) => rows.map(({ patients }) => patients?.trim() ?? '')),
    [[''], [json.id]],
  );
});
