// Websockets: what is refused when it is written, asked for, connected to and bound.
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { WebSocket } from 'ws';
import { sql } from '../../../src/database/sql.ts';
import { revokeApiKey } from '../../../src/oauth/client-auth/api-keys.ts';
import { clientForm, makeApplication, makeFirm, openCaller, postForm } from '../../support/service.ts';
import {
  askToken,
  askUpgrade,
  bind,
  connect,
  refusalOf,
  socketSubscriptionOf,
  socketUrlOf,
  subscribeBySocket,
} from './socket-client.ts';
import { openSubscriptionService, topicBase } from './world.ts';

const service = await openSubscriptionService({ after });
const { database } = service.platform;
const maple = await makeFirm(service, 'maple');
const birch = await makeFirm(service, 'birch');
const elsewhere = await makeFirm(service, 'maple', 'training');
const application = await makeApplication(service, 'Everything', ['acl/*'], [maple, birch]);
const other = await makeApplication(service, 'Other', ['acl/*'], [maple]);
const foreign = await makeApplication(service, 'Foreign', ['acl/*'], [elsewhere]);
const caller = await openCaller(service, application, maple);
const topic = `${topicBase}/patient-changed`;

const wrong = {
  code: 4401,
  reason: 'the token is wrong, used, expired or of another practice: ask $get-ws-binding-token for one',
};

/** How a connection to `url` ends that sends `text`. */
async function closedBy(url: string, text: string | Buffer) {
  const client = await connect({ after }, url);
  client.socket.send(text);
  const closed = await client.closed;
  assert.deepEqual(client.received, []);
  return closed;
}

test('a Subscription by websocket has no endpoint, no headers, and no payload of a search', async () => {
  const asked = socketSubscriptionOf(topic);
  const cases: readonly [channel: object, criteria: string, element: string, rule: RegExp][] = [
    [
      { endpoint: 'https://subscriber.example.com/' },
      topic,
      'Subscription.channel.endpoint',
      /is absent for a websocket/,
    ],
    [{ header: ['Authorization: x'] }, topic, 'Subscription.channel.header', /is absent for a websocket/],
    [{ payload: 'application/fhir+json' }, 'Patient?active=true', 'Subscription.channel.payload', /by websocket/],
    [{ type: 'sms' }, topic, 'Subscription.channel.type', /use rest-hook or websocket/],
  ];
  for (const [channel, criteria, element, rule] of cases) {
    const body = { ...asked, criteria, channel: { ...asked.channel, ...channel } };
    const { status, json } = await caller.send('POST', 'Subscription', body);
    assert.equal(status, 422, JSON.stringify(json));
    assert.deepEqual(json.issue[0].expression, [element]);
    assert.match(json.issue[0].diagnostics, rule);
  }
});

test('a binding token is told for own subscriptions by websocket alone', async () => {
  const none = await caller.get('Subscription/$get-ws-binding-token');
  assert.equal(none.status, 400, none.text);
  const id = await subscribeBySocket(caller, topic);
  const theirs = await openCaller(service, other, maple);
  const mine = await subscribeBySocket(theirs, topic);
  for (const path of [
    `Subscription/${id}/$get-ws-binding-token`,
    `Subscription/$get-ws-binding-token?id=${id}&id=${mine}`,
  ])
    assert.equal((await theirs.get(path)).status, 404);
  const hook = await caller.send('POST', 'Subscription', {
    ...socketSubscriptionOf(topic),
    channel: { type: 'rest-hook', endpoint: 'https://subscriber.example.com/' },
  });
  const byHook = await caller.get(`Subscription/${hook.json.id}/$get-ws-binding-token`);
  assert.equal(byHook.status, 422);
  assert.deepEqual(byHook.json.issue[0].expression, ['Subscription.channel.type']);
  const ended = await subscribeBySocket(caller, topic, { more: { status: 'off' } });
  const ofEnded = await caller.get(`Subscription/${ended}/$get-ws-binding-token`);
  assert.equal(ofEnded.status, 422);
  assert.deepEqual(ofEnded.json.issue[0].expression, ['Subscription.status']);
  const many = Array.from({ length: 101 }, (_, at) => `id=s${at}`).join('&');
  assert.equal((await caller.get(`Subscription/$get-ws-binding-token?${many}`)).status, 400);
  const narrow = await makeApplication(service, 'Narrow', ['acl/pat_s'], [maple]);
  const denied = await (await openCaller(service, narrow, maple)).get(`Subscription/${id}/$get-ws-binding-token`);
  assert.equal(denied.status, 403);
  const bundle = {
    resourceType: 'Bundle',
    type: 'batch',
    entry: [{ request: { method: 'GET', url: `Subscription/${id}/$get-ws-binding-token` } }],
  };
  const { json } = await caller.send('POST', '', bundle);
  assert.equal(json.entry[0].response.status.slice(0, 3), '405', JSON.stringify(json));
  const { token, expiration, url, subscriptions } = await askToken(caller);
  assert.match(token, /^[A-Za-z0-9_-]{43}$/);
  assert.equal(expiration, '2026-11-21T09:31:00.000Z');
  assert.equal(url, socketUrlOf(service, 'maple'));
  assert.deepEqual(subscriptions, [id]);
  const rows = await database.forFirm(maple.id).query(sql`SELECT * FROM websocket_token`);
  assert.equal(JSON.stringify(rows).includes(token), false);
});

test('connections that are no websockets, or lead nowhere, are answered as requests', async () => {
  const plain = await fetch(socketUrlOf(service, 'maple').replace('ws', 'http'));
  assert.equal(plain.status, 426);
  assert.equal(plain.headers.get('upgrade'), 'websocket');
  const unknown = await refusalOf(socketUrlOf(service, 'maple').replace('/pm/', '/none/'));
  assert.equal(unknown.status, 404, unknown.text);
  assert.equal(JSON.parse(unknown.text).resourceType, 'OperationOutcome');
  const url = socketUrlOf(service, 'maple').replace('ws', 'http');
  const old = await askUpgrade(url, 'websocket', '7');
  assert.equal(old.status, 400, old.text);
  assert.match(old.text, /no handshake of a websocket of version 13/);
  assert.equal((await askUpgrade(url, 'h2c', '13')).status, 426);
  const beside = await refusalOf(`${maple.base.replace('http', 'ws')}/metadata`);
  assert.equal(beside.status, 200);
});

test('a token that is wrong, used, expired or of another place binds nothing', async () => {
  const id = await subscribeBySocket(caller, topic);
  const url = socketUrlOf(service, 'maple');
  assert.deepEqual(await closedBy(url, `bind-with-token ${'a'.repeat(43)}`), wrong);
  const ofMaple = await askToken(caller, id);
  assert.deepEqual(await closedBy(socketUrlOf(service, 'birch'), `bind-with-token ${ofMaple.token}`), wrong);
  assert.deepEqual(await closedBy(socketUrlOf(service, 'none'), `bind-with-token ${ofMaple.token}`), wrong);
  const training = await openCaller(service, foreign, elsewhere);
  const ofTraining = await askToken(training, await subscribeBySocket(training, topic));
  assert.deepEqual(await closedBy(url, `bind-with-token ${ofTraining.token}`), wrong);

  const used = await askToken(caller, id);
  const client = await connect({ after }, url);
  client.send(`bind-with-token ${used.token}`);
  assert.match(await client.next(), /handshake/);
  assert.deepEqual(await closedBy(url, `bind-with-token ${used.token}`), wrong);
  assert.equal(client.socket.readyState, WebSocket.OPEN);
  const theirs = await openCaller(service, other, maple);
  const ofOther = await askToken(theirs, await subscribeBySocket(theirs, topic));
  client.send(`bind-with-token ${ofOther.token}`);
  assert.deepEqual(await client.closed, wrong);

  const late = await askToken(caller, id);
  service.clock.advance(60_000);
  assert.deepEqual(await closedBy(url, `bind-with-token ${late.token}`), wrong);
});

test('a token ends with the access token and the API key of the call that asked for it', async () => {
  const first = await makeApplication(service, 'First', ['acl/*'], [maple]);
  const asking = await openCaller(service, first, maple);
  const id = await subscribeBySocket(asking, topic);
  const url = socketUrlOf(service, 'maple');
  const revoked = await askToken(asking, id);
  const token = (asking.headers.authorization ?? '').slice('Bearer '.length);
  const realm = `${service.origin}/auth/realms/sandbox/protocol/openid-connect`;
  const ended = await postForm(`${realm}/revoke`, { ...clientForm(first), token }, first.clientKey);
  assert.equal(ended.status, 200, ended.text);
  assert.deepEqual(await closedBy(url, `bind-with-token ${revoked.token}`), wrong);
  const again = await openCaller(service, first, maple);
  const keyed = await askToken(again, id);
  await revokeApiKey(database, first.application, first.clientKeyId);
  assert.deepEqual(await closedBy(url, `bind-with-token ${keyed.token}`), wrong);
});

test('all that a client may send is a token', async () => {
  const url = socketUrlOf(service, 'maple');
  assert.equal((await closedBy(url, 'ping')).code, 1008);
  assert.equal((await closedBy(url, Buffer.from('bind-with-token x'))).code, 1003);
  assert.equal((await closedBy(url, 'x'.repeat(257))).code, 1009);
  const client = await connect({ after }, url);
  for (let at = 0; at < 11; at += 1) client.send(`bind-with-token ${'a'.repeat(43)}`);
  assert.match((await client.closed).reason, /too many tokens|the token is wrong/);
});

test('an address has so many connections that are not bound, an application so many that are', async () => {
  const url = socketUrlOf(service, 'maple');
  const open = await Promise.all(Array.from({ length: 20 }, () => connect({ after }, url)));
  const refused = await refusalOf(url);
  assert.equal(refused.status, 429, refused.text);
  for (const { socket, closed } of open) {
    socket.close();
    await closed;
  }
  const fresh = await makeApplication(service, 'Connected', ['acl/*'], [maple]);
  const connected = await openCaller(service, fresh, maple);
  for (let at = 0; at < 50; at += 1) {
    const client = await bind({ after }, connected, await subscribeBySocket(connected, topic));
    await client.next();
  }
  const beyond = await bind({ after }, connected, await subscribeBySocket(connected, topic));
  assert.equal((await beyond.closed).code, 4429);
});
