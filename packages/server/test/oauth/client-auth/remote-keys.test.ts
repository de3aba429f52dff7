/** Key sets at `jwks_uri`: when they are fetched, and for how long they are believed. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { after } from 'node:test';
import { makeFixedClock } from '../../../src/base/clock.ts';
import { setClientKeys } from '../../../src/oauth/client-auth/client-keys.ts';
import { issueKeyedClient } from '../../../src/oauth/client-auth/clients.ts';
import { openRemoteKeys, refetchIntervalMs, rememberedMsMax } from '../../../src/oauth/client-auth/remote-keys.ts';
import { openTestDatabase } from '../../support/database.ts';
import { claimsOf, makeKeyPair, requestByAssertion, signAssertion } from '../assertions.ts';
import { assertRefused, makeVendor, openWorld, startMs } from '../world.ts';

const [first, second] = [await makeKeyPair('ES384', 'first'), await makeKeyPair('RS384', 'second')];

/** A client's server: what it answers, and how often it was asked. */
async function publish() {
  const published = { status: 200, text: JSON.stringify({ keys: [first.publicJwk] }), asked: 0, maxAge: '' };
  const server = createServer((_request, reply) => {
    published.asked += 1;
    const age = published.maxAge === '' ? {} : { 'cache-control': published.maxAge };
    reply.writeHead(published.status, { 'content-type': 'application/json', ...age }).end(published.text);
  }).listen(0, '127.0.0.1');
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise((resolve) => server.once('listening', resolve));
  return { published, uri: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json` };
}

test('a set is fetched once for many, again for a new key, and never more than once in the interval', async () => {
  const { published, uri } = await publish();
  const clock = makeFixedClock(startMs);
  const keys = openRemoteKeys(clock, { loopback: true });
  const sets = await Promise.all(Array.from({ length: 20 }, () => keys.at(uri, 'first')));
  for (const set of sets) assert.deepEqual(set, sets[0]);
  assert.equal(published.asked, 1);
  published.text = JSON.stringify({ keys: [first.publicJwk, second.publicJwk] });
  for (let round = 0; round < 10; round++) await keys.at(uri, 'second');
  assert.equal(published.asked, 1, 'within the interval');
  clock.advance(refetchIntervalMs);
  await Promise.all(Array.from({ length: 20 }, () => keys.at(uri, 'second')));
  assert.equal(published.asked, 2);
  const set = await keys.at(uri, 'second');
  assert.deepEqual('keys' in set && set.keys.map(({ kid }) => kid), ['first', 'second']);
  for (let round = 0; round < 10; round++) await keys.at(uri, 'unknown');
  assert.equal(published.asked, 2);
});

test('a set is believed for as long as its Cache-Control says, within the bounds', async () => {
  for (const [maxAge, ageMs] of [
    ['max-age=300', 300_000],
    ['max-age=1', refetchIntervalMs],
    ['no-store', refetchIntervalMs],
    ['max-age=86400', rememberedMsMax],
    ['', rememberedMsMax],
  ] as const) {
    const { published, uri } = await publish();
    const clock = makeFixedClock(startMs);
    const keys = openRemoteKeys(clock, { loopback: true });
    published.maxAge = maxAge;
    await keys.at(uri, 'first');
    clock.advance(ageMs - 1);
    await keys.at(uri, 'first');
    assert.equal(published.asked, 1, maxAge);
    clock.advance(1);
    await keys.at(uri, 'first');
    assert.equal(published.asked, 2, maxAge);
  }
});

test('a failure is told, remembered for the interval, and then tried again', async () => {
  const { published, uri } = await publish();
  const clock = makeFixedClock(startMs);
  const keys = openRemoteKeys(clock, { loopback: true });
  const right = published.text;
  const failures: readonly (readonly [change: () => void, problem: string])[] = [
    [() => (published.status = 500), 'jwks_uri was not answered with 200: redirects are not followed'],
    [() => (published.text = '<p>'), 'jwks_uri holds no JSON'],
    [() => (published.text = '{}'), 'JWK Set must be an object with keys'],
    [
      () => (published.text = JSON.stringify({ keys: [first.privateJwk] })),
      'JWK Set keys[0] holds the private member d: register public keys only, and replace this one',
    ],
  ];
  for (const [change, problem] of failures) {
    published.status = 200;
    change();
    clock.advance(refetchIntervalMs);
    assert.deepEqual(await keys.at(uri, 'first'), { problem });
    const { asked } = published;
    assert.deepEqual(await keys.at(uri, 'first'), { problem });
    assert.equal(published.asked, asked);
  }
  published.text = right;
  clock.advance(refetchIntervalMs);
  assert.ok('keys' in (await keys.at(uri, 'first')));
});

test('SMART Backend Services: a client changes its keys by itself, by publishing the next one beside the old', async () => {
  const { runtime: database } = await openTestDatabase({ after });
  const world = await openWorld(database);
  const { published, uri } = await publish();
  const vendor = await makeVendor(world, ['acl/pat_s']);
  const clientId = await issueKeyedClient(database, vendor.application);
  await setClientKeys(database, vendor.application, clientId, { jwksUri: uri });
  const statusOf = async (pair: typeof first, header: Readonly<Record<string, unknown>> = {}): Promise<number> => {
    const assertion = await signAssertion(pair, claimsOf(world, clientId), header);
    return (await requestByAssertion(world, vendor, assertion)).status;
  };
  assert.deepEqual([await statusOf(first), await statusOf(second)], [200, 401]);
  assert.deepEqual([await statusOf(first, { jku: uri }), await statusOf(first, { jku: `${uri}#` })], [200, 401]);
  published.text = JSON.stringify({ keys: [second.publicJwk] });
  world.clock.advance(refetchIntervalMs);
  assert.deepEqual([await statusOf(second), await statusOf(first)], [200, 401]);
  published.status = 503;
  world.clock.advance(rememberedMsMax);
  const assertion = await signAssertion(second, claimsOf(world, clientId));
  const description =
    'client_assertion cannot be verified: jwks_uri was not answered with 200: redirects are not followed';
  assertRefused(await requestByAssertion(world, vendor, assertion), 401, 'invalid_client', description, 'client');
});
