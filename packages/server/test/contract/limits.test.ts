/** Contract parts 8 and 9: limits and versioning, by real HTTP. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { readConfig } from '../../src/base/config.ts';
import { request } from '../support/raw-http.ts';
import { assertRefused, assertTokenRefused, invalidToken } from '../support/refusals.ts';
import {
  answerOf,
  callerOf,
  clientForm,
  clientTokenUrl,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  passwordForm,
  postForm,
} from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const vendor = await makeApplication(service, 'Vendor', ['acl/*'], [maple]);

const expired = 'Bearer token has expired: request a new one';
const refusedAsExpired = {
  status: 401,
  error: 'credentials-expired',
  issue: 'expired',
  diagnostics: expired,
  challenge: invalidToken(expired),
};

test('contract 8.1 a client-credentials access token is valid for 900 seconds, to the second', async () => {
  const { json } = await postForm(clientTokenUrl(service), clientForm(vendor), vendor.clientKey);
  assert.equal(json.expires_in, 900);
  const caller = callerOf(maple, json.access_token, vendor.clientKey);
  service.clock.advance(899_999);
  assert.equal((await caller.get('Patient')).status, 200);
  service.clock.advance(1);
  assertRefused(await caller.get('Patient'), refusedAsExpired);
});

test('contract 8.2 rate limit, not shown: 1,250 requests a minute and key by default, 429 beyond', async () => {
  assert.equal(readConfig({}).rateLimit, 1250);
  const limited = await openTestService({ after }, { PRAXIS_RATE_LIMIT: '4' }); // a token and 3 requests
  const firm = await makeFirm(limited, 'maple');
  const busy = await makeApplication(limited, 'Busy', ['acl/*'], [firm]);
  const quiet = await makeApplication(limited, 'Quiet', ['acl/*'], [firm]);
  const caller = await openCaller(limited, busy, firm);
  for (let call = 1; call <= 3; call += 1) assert.equal((await caller.get('Patient')).status, 200);
  limited.clock.advance(20_000);
  const refused = await caller.get('Patient');
  assertRefused(refused, {
    status: 429,
    error: 'rate-exceeded',
    issue: 'throttled',
    diagnostics:
      'The 4 requests a minute of this API key are used up (costly ones count more than once): wait 40 s, until 2026-11-21T09:31:00.000Z',
  });
  assert.equal(refused.headers.get('retry-after'), '40');
  assert.equal((await (await openCaller(limited, quiet, firm)).get('Patient')).status, 200);
  limited.clock.advance(40_000);
  assert.equal((await caller.get('Patient')).status, 200);
});

test('contract 8.2 legacy access-token lifetime, not shown: one hour, to the second', async () => {
  const { json } = await postForm(maple.legacyTokenUrl, passwordForm(vendor, maple), vendor.legacyKey);
  const caller = callerOf(maple, json.access_token, vendor.legacyKey);
  service.clock.advance(3_599_999);
  assert.equal((await caller.get('Patient')).status, 200);
  service.clock.advance(1);
  assertRefused(await caller.get('Patient'), refusedAsExpired);
});

test('contract 8.2 refresh-token lifetime, not shown: 30 days, to the second', async () => {
  const { json } = await postForm(maple.legacyTokenUrl, passwordForm(vendor, maple), vendor.legacyKey);
  const form = { grant_type: 'refresh_token', refresh_token: json.refresh_token };
  service.clock.advance(30 * 86_400_000 - 1);
  assert.equal((await postForm(maple.legacyTokenUrl, form, vendor.legacyKey)).status, 200);
  service.clock.advance(1);
  assertTokenRefused(await postForm(maple.legacyTokenUrl, form, vendor.legacyKey), {
    status: 400,
    error: 'invalid_grant',
    description: 'refresh_token has expired: request a new one',
  });
});

test('contract 8.2 size limits, not shown: bodies, query, pages and search values have one each', async () => {
  const caller = await openCaller(service, vendor, maple);
  const big = await caller.send('POST', 'Binary', `"${'x'.repeat(5 * 1024 * 1024)}"`);
  assertRefused(big, {
    status: 413,
    error: 'body-too-large',
    issue: 'too-long',
    diagnostics: 'The body is larger than 5242880 bytes, the limit of one request',
  });
  const long = await request(`${maple.base}/Patient?family=${'x'.repeat(16_384)}`, { headers: caller.headers });
  assertRefused(long, {
    status: 414,
    error: 'uri-too-long',
    issue: 'too-long',
    diagnostics: 'The path and query are longer than 16384 bytes: search by POST to _search instead',
  });
  const many = await caller.get(`Patient?_id=${Array.from({ length: 501 }, (_, index) => index).join(',')}`);
  assertRefused(many, {
    status: 400,
    error: 'search-invalid',
    issue: 'invalid',
    diagnostics: '_id has 501 values; at most 500 are taken in one parameter',
    expression: ['_id'],
  });
});

test('contract 9.1 the data path carries the version segment v2, no other', async () => {
  const caller = await openCaller(service, vendor, maple);
  for (const version of ['v1', 'v3', 'V2', 'v2.0', '2']) {
    const answer = await caller.get(`${maple.base.replace(/v2$/, version)}/Patient`);
    assert.deepEqual([answer.status, answer.json.issue[0].details.coding[0].code], [404, 'path-unknown']);
  }
  assert.equal((await caller.get('Patient')).json.link[0].url, `${maple.base}/Patient`);
});

test('contract 9.2 the replacement is what discovery offers; the password grant still works', async () => {
  const url = `${service.origin}/auth/realms/sandbox/.well-known/openid-configuration`;
  const { json } = await answerOf(await fetch(url));
  assert.deepEqual(json.grant_types_supported, ['client_credentials']);
  assert.equal((await postForm(maple.legacyTokenUrl, passwordForm(vendor, maple), vendor.legacyKey)).status, 200);
});

test('contract 9.3 version policy, not shown: metadata tells the version of FHIR and of the service', async () => {
  const { json } = await answerOf(await fetch(`${maple.base}/metadata`));
  assert.equal(json.fhirVersion, '4.0.1');
  assert.deepEqual(json.software, { name: 'Praxis', version: '0.1.0' });
});

test('contract 9.3 sunset date, not shown: no answer of the legacy grant announces one', async () => {
  const answer = await postForm(maple.legacyTokenUrl, passwordForm(vendor, maple), vendor.legacyKey);
  assert.deepEqual([answer.headers.get('sunset'), answer.headers.get('deprecation')], [null, null]);
});

test('contract 9.3 compatibility, not shown: what the standards tell a server to ignore is ignored', async () => {
  const form = { ...clientForm(vendor), audience: 'https://api.example.com', vendor_extra: '1' };
  const token = await postForm(clientTokenUrl(service), form, vendor.clientKey, { 'x-vendor-header': '1' });
  assert.equal(token.status, 200);
  const caller = callerOf(maple, token.json.access_token, vendor.clientKey);
  const headers = { prefer: 'respond-async, wait=10', 'x-vendor-header': '1', 'content-flag': 'Unknown' };
  assert.equal((await caller.get('Patient?_pretty=true', headers)).status, 200);
});
