/**
 * Requests for tokens, introspections and revocations count in the rate of their API key, as requests to the data do.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  type Answer,
  callerOf,
  clientForm,
  clientToken,
  clientTokenUrl,
  makeApplication,
  makeFirm,
  openTestService,
  passwordForm,
  postForm,
} from '../support/service.ts';

const limit = 4;
const service = await openTestService({ after }, { PRAXIS_RATE_LIMIT: String(limit), PRAXIS_FIRM_RATE_LIMIT: '1000' });
const maple = await makeFirm(service, 'maple');
const vendor = await makeApplication(service, 'Vendor', ['acl/*'], [maple]);
const other = await makeApplication(service, 'Other', ['acl/*'], [maple]);
const realm = clientTokenUrl(service).replace(/token$/, '');

/** Every test begins a new minute. */
const nextMinute = (): void => service.clock.advance(60_000);

const client = clientForm(vendor);
const ways: readonly { name: string; ask: () => Promise<Answer>; again: () => Promise<Answer> }[] = [
  {
    name: 'client credentials',
    ask: () => postForm(clientTokenUrl(service), client, vendor.clientKey),
    again: () => postForm(clientTokenUrl(service), clientForm(other), other.clientKey),
  },
  {
    name: 'legacy password',
    ask: () => postForm(maple.legacyTokenUrl, passwordForm(vendor, maple), vendor.legacyKey),
    again: () => postForm(maple.legacyTokenUrl, passwordForm(other, maple), other.legacyKey),
  },
  {
    name: 'introspection',
    ask: () => postForm(`${realm}token/introspect`, { ...client, token: 'x' }, vendor.clientKey),
    again: () => postForm(`${realm}token/introspect`, { ...clientForm(other), token: 'x' }, other.clientKey),
  },
  {
    name: 'revocation',
    ask: () => postForm(`${realm}revoke`, { ...client, token: 'x' }, vendor.clientKey),
    again: () => postForm(`${realm}revoke`, { ...clientForm(other), token: 'x' }, other.clientKey),
  },
];

for (const { name, ask, again } of ways) {
  test(`${name}: a key that has used up its minute is refused until it ends, other keys are not`, async () => {
    nextMinute();
    for (let left = limit - 1; left >= 0; left -= 1) {
      const { status, headers } = await ask();
      assert.equal(status, 200);
      assert.equal(headers.get('ratelimit-policy'), `"api-key";q=${limit};w=60`);
      assert.equal(headers.get('ratelimit'), `"api-key";r=${left};t=60`);
    }
    service.clock.advance(18_000);
    const refused = await ask();
    assert.equal(refused.status, 429);
    assert.deepEqual(refused.json, {
      error: 'rate_exceeded',
      error_description: `The ${limit} requests a minute of this API key are used up (costly ones count more than once): wait 42 s, until ${new Date(service.clock.now() + 42_000).toISOString()}`,
    });
    assert.equal(refused.headers.get('retry-after'), '42');
    assert.equal(refused.headers.get('ratelimit'), `"api-key";r=0;t=42`);
    assert.equal(refused.headers.get('cache-control'), 'no-store');
    assert.equal((await again()).status, 200, 'another key');
    service.clock.advance(42_000);
    assert.equal((await ask()).status, 200);
  });
}

test('tokens and data have one limit', async () => {
  nextMinute();
  const caller = callerOf(maple, await clientToken(service, vendor), vendor.clientKey);
  for (let request = 2; request <= limit; request += 1) assert.equal((await caller.get('Patient')).status, 200);
  assert.equal((await postForm(clientTokenUrl(service), client, vendor.clientKey)).status, 429);
  assert.equal((await caller.get('Patient')).status, 429);
});

test('an application that asks without its key has a limit of its own, which does not use up that of the key', async () => {
  nextMinute();
  for (let request = 1; request <= limit; request += 1) {
    assert.equal((await postForm(clientTokenUrl(service), client)).status, 200);
  }
  const refused = await postForm(clientTokenUrl(service), client);
  assert.equal(refused.status, 429);
  assert.match(refused.json.error_description, /of this application without its API key are used up/);
  assert.equal(refused.headers.get('ratelimit-policy'), `"keyless";q=${limit};w=60`);
  assert.equal((await postForm(clientTokenUrl(service), client, vendor.clientKey)).status, 200);
});

test('wrong credentials do not use up the limit of anybody, and a firm’s own is not told of', async () => {
  nextMinute();
  for (let attempt = 0; attempt <= limit; attempt += 1) {
    const wrong = await postForm(clientTokenUrl(service), { ...client, client_secret: 'guessed' }, vendor.clientKey);
    assert.equal(wrong.status, 401);
    assert.equal(wrong.headers.get('ratelimit'), null);
  }
  const { status, headers } = await postForm(clientTokenUrl(service), client, vendor.clientKey);
  assert.equal(status, 200);
  assert.equal(headers.get('ratelimit'), `"api-key";r=${limit - 1};t=60`);
});
