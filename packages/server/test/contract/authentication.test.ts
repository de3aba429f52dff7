/** Contract part 5: authentication, by real HTTP. The clock stands still but where a test moves it. */
import assert from 'node:assert/strict';
import { createPublicKey, verify } from 'node:crypto';
import test, { after } from 'node:test';
import { request } from '../support/raw-http.ts';
import { assertRefused, assertTokenRefused, insufficientScope, invalidToken } from '../support/refusals.ts';
import {
  type Answer,
  answerOf,
  callerOf,
  clientForm,
  clientToken,
  clientTokenUrl,
  legacyToken,
  makeApplication,
  makeFirm,
  openTestService,
  passwordForm,
  postForm,
} from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const entries = ['acl/enc_s', 'acl/pat_c', 'acl/pat_r', 'acl/pat_s', 'acl/pat_u'];
const vendor = await makeApplication(service, 'Vendor', entries, [maple]);
const url = clientTokenUrl(service);

/** A refusal of the data API for a wrong or missing credential. */
function assertUnauthorised(answer: Answer, diagnostics: string, error = 'credentials-invalid', issue = 'login'): void {
  assertRefused(answer, { status: 401, error, issue, diagnostics, challenge: invalidToken(diagnostics) });
}

test('contract 5.1 a call needs the access token in Authorization: Bearer, nowhere else', async () => {
  const token = await clientToken(service, vendor);
  const call = (path: string, headers: Record<string, string | string[]>) =>
    request(`${maple.base}/${path}`, { headers: { 'x-api-key': vendor.clientKey, ...headers } });
  const missing = 'Bearer token is missing: send the header Authorization: Bearer <access token>';
  const otherScheme = 'Bearer token is missing: the Authorization header has another scheme';
  const absent = { status: 401, error: 'credentials-missing', issue: 'login', challenge: 'Bearer realm="sandbox"' };
  assertRefused(await call('Patient', {}), { ...absent, diagnostics: missing });
  assertRefused(await call('Patient', { authorization: '' }), { ...absent, diagnostics: missing });
  assertRefused(await call('Patient', { authorization: token }), { ...absent, diagnostics: otherScheme });
  assertRefused(await call('Patient', { authorization: `Basic ${token}` }), { ...absent, diagnostics: otherScheme });
  assertUnauthorised(
    await call('Patient', { authorization: 'Bearer' }),
    'Bearer token is malformed: expected the header Authorization: Bearer <access token>',
  );
  assertUnauthorised(
    await call('Patient', { authorization: 'Bearer garbage' }),
    'Bearer token is malformed: it is not a token of this service',
  );
  assertUnauthorised(
    await call('Patient', { authorization: [`Bearer ${token}`, `Bearer ${token}`] }),
    'Bearer token is sent more than once: send one Authorization header',
  );
  for (const name of ['access_token', 'a%63cess%5Ftoken']) {
    assertUnauthorised(
      await call(`Patient?${name}=${token}`, {}),
      'Bearer token in the query is refused: send it in the Authorization header only',
    );
  }
  assert.equal((await call('Patient', { authorization: `Bearer ${token}` })).status, 200);
});

test('contract 5.1 a call needs x-api-key beside the token', async () => {
  const flows = [
    { token: await clientToken(service, vendor), flow: 'client-credentials' },
    { token: await legacyToken(vendor, maple), flow: 'legacy' },
  ];
  for (const { token, flow } of flows) {
    const call = (keys: readonly string[]) => {
      const key = keys.length > 0 ? { 'x-api-key': keys } : {};
      return request(`${maple.base}/Patient`, { headers: { authorization: `Bearer ${token}`, ...key } });
    };
    const missing = `x-api-key header is missing: send the API key of the ${flow} flow`;
    assertUnauthorised(await call([]), missing, 'credentials-missing');
    assertUnauthorised(await call(['']), 'x-api-key header is empty: an empty key is a wrong key');
    assertUnauthorised(
      await call([vendor.clientKey, vendor.legacyKey]),
      'x-api-key header is sent more than once: send one key',
    );
    assertUnauthorised(await call(['unknown']), 'x-api-key is not a known API key');
  }
});

test('contract 5.1 the refusal names both when both are wrong', async () => {
  const answer = await answerOf(await fetch(`${maple.base}/Patient`));
  assertRefused(answer, {
    status: 401,
    error: 'credentials-missing',
    issue: 'login',
    diagnostics: 'Bearer token is missing: send the header Authorization: Bearer <access token>',
    challenge: 'Bearer realm="sandbox"',
    more: [
      {
        error: 'credentials-missing',
        issue: 'login',
        diagnostics: 'x-api-key header is missing: send the API key of the application and flow of the token',
      },
    ],
  });
});

test('contract 5.2 both mechanisms are supported, side by side', async () => {
  const legacy = callerOf(maple, await legacyToken(vendor, maple), vendor.legacyKey);
  const client = callerOf(maple, await clientToken(service, vendor), vendor.clientKey);
  assert.deepEqual([(await legacy.get('Patient')).status, (await client.get('Patient')).status], [200, 200]);
});

test('contract 5.3 username and password with the legacy key give an access_token and a refresh_token', async () => {
  const form = passwordForm(vendor, maple);
  assertTokenRefused(await postForm(maple.legacyTokenUrl, form, vendor.clientKey), {
    status: 401,
    error: 'invalid_client',
    description: 'x-api-key is a client-credentials key: this needs the legacy key of the application',
    challenge: 'ApiKey realm="sandbox", header="x-api-key"',
  });
  const { json } = await postForm(maple.legacyTokenUrl, form, vendor.legacyKey);
  assert.deepEqual(Object.keys(json), ['scope', 'token_type', 'access_token', 'refresh_token']);
  assert.equal((await callerOf(maple, json.access_token, vendor.legacyKey).get('Patient')).status, 200);
});

test('contract 5.4 the refresh_token gives additional access tokens and stays unchanged', async () => {
  const first = (await postForm(maple.legacyTokenUrl, passwordForm(vendor, maple), vendor.legacyKey)).json;
  const tokens = new Set([first.access_token]);
  for (let round = 1; round <= 3; round += 1) {
    const form = { grant_type: 'refresh_token', refresh_token: first.refresh_token };
    const { status, json } = await postForm(maple.legacyTokenUrl, form, vendor.legacyKey);
    assert.equal(status, 200);
    assert.equal(json.refresh_token, first.refresh_token);
    tokens.add(json.access_token);
  }
  assert.equal(tokens.size, 4);
  for (const token of tokens) assert.equal((await callerOf(maple, token, vendor.legacyKey).get('Patient')).status, 200);
});

test('contract 5.5 the legacy key accompanies token requests and calls of the legacy flow', async () => {
  const form = passwordForm(vendor, maple);
  assertTokenRefused(await postForm(maple.legacyTokenUrl, form), {
    status: 401,
    error: 'invalid_client',
    description: 'x-api-key header is missing: send the API key of the legacy flow',
    challenge: 'ApiKey realm="sandbox", header="x-api-key"',
  });
  const token = await legacyToken(vendor, maple);
  const without = await request(`${maple.base}/Patient`, { headers: { authorization: `Bearer ${token}` } });
  const missing = 'x-api-key header is missing: send the API key of the legacy flow';
  assertUnauthorised(without, missing, 'credentials-missing');
  assert.equal((await callerOf(maple, token, vendor.legacyKey).get('Patient')).status, 200);
});

test('contract 5.6 client_id and client_secret give an access token', async () => {
  assertTokenRefused(await postForm(url, { ...clientForm(vendor), client_secret: 'wrong' }, vendor.clientKey), {
    status: 401,
    error: 'invalid_client',
    description: 'client_id or client_secret is wrong for this realm',
    challenge: 'Basic realm="sandbox", charset="UTF-8"',
  });
  const { status, json } = await postForm(url, clientForm(vendor), vendor.clientKey);
  assert.equal(status, 200);
  assert.equal((await callerOf(maple, json.access_token, vendor.clientKey).get('Patient')).status, 200);
});

test('contract 5.7 the client-credentials key is needed by the token request and again by every call', async () => {
  const keyless = (await postForm(url, clientForm(vendor))).json.access_token;
  assertUnauthorised(
    await callerOf(maple, keyless, vendor.clientKey).get('Patient'),
    'Bearer token was requested without x-api-key and opens nothing: request a new one and send the header x-api-key',
  );
  const token = await clientToken(service, vendor);
  assertUnauthorised(
    await request(`${maple.base}/Patient`, { headers: { authorization: `Bearer ${token}` } }),
    'x-api-key header is missing: send the API key of the client-credentials flow',
    'credentials-missing',
  );
});

test('contract 5.8 the keys of the flows differ: token and key must be of the same flow', async () => {
  assert.notEqual(vendor.clientKey, vendor.legacyKey);
  assertUnauthorised(
    await callerOf(maple, await clientToken(service, vendor), vendor.legacyKey).get('Patient'),
    'x-api-key is a legacy key: this needs the client-credentials key of the application',
  );
  assertUnauthorised(
    await callerOf(maple, await legacyToken(vendor, maple), vendor.clientKey).get('Patient'),
    'x-api-key is a client-credentials key: this needs the legacy key of the application',
  );
});

test('contract 5.9 the access_token is an RS256-signed JWT that the keys of the realm verify', async () => {
  const token = await clientToken(service, vendor);
  const [header = '', claims = '', signature = ''] = token.split('.');
  const document = await answerOf(
    await fetch(`${service.origin}/auth/realms/sandbox/.well-known/openid-configuration`),
  );
  const { json: jwks } = await answerOf(await fetch(document.json.jwks_uri));
  const { alg, kid } = JSON.parse(Buffer.from(header, 'base64url').toString());
  const jwk = jwks.keys.find((key: { kid: string }) => key.kid === kid);
  assert.equal(alg, 'RS256');
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  const signed = Buffer.from(`${header}.${claims}`);
  assert.ok(verify('sha256', signed, key, Buffer.from(signature, 'base64url')));
  const altered = `${header}.${Buffer.from('{}').toString('base64url')}.${signature}`;
  assertUnauthorised(
    await callerOf(maple, altered, vendor.clientKey).get('Patient'),
    'Bearer token has a wrong signature: it was altered or made elsewhere',
  );
});

test('contract 5.9 scope is a space-separated list of access entries that limits what the token may access', async () => {
  const form = { ...clientForm(vendor), scope: 'acl/enc_s acl/pat_r' };
  const { json } = await postForm(url, form, vendor.clientKey);
  assert.equal(json.scope, 'acl/enc_s acl/pat_r');
  const caller = callerOf(maple, json.access_token, vendor.clientKey);
  assertRefused(await caller.get('Patient'), {
    status: 403,
    error: 'access-denied',
    issue: 'forbidden',
    diagnostics:
      'Patient search needs acl/pat_s or acl/pat_s_name_dob_gen or acl/pat_s_id; the practice has granted it, the token does not hold it: request a token with it',
    challenge: insufficientScope,
  });
  assert.equal((await caller.get('Encounter')).status, 200);
  assert.equal((await caller.get('Patient/1')).status, 404);
});

test('contract 5.10 there is no refresh token: when the access token has expired, the application requests a new one', async () => {
  const { json } = await postForm(url, clientForm(vendor), vendor.clientKey);
  assert.equal('refresh_token' in json, false);
  const refresh = await postForm(url, { ...clientForm(vendor), grant_type: 'refresh_token' }, vendor.clientKey);
  assertTokenRefused(refresh, {
    status: 400,
    error: 'unsupported_grant_type',
    description: 'grant_type must be client_credentials at this endpoint',
  });
  const caller = callerOf(maple, json.access_token, vendor.clientKey);
  assert.equal((await caller.get('Patient')).status, 200);
  service.clock.advance(900_000);
  const diagnostics = 'Bearer token has expired: request a new one';
  assertUnauthorised(await caller.get('Patient'), diagnostics, 'credentials-expired', 'expired');
  const renewed = callerOf(maple, await clientToken(service, vendor), vendor.clientKey);
  assert.equal((await renewed.get('Patient')).status, 200);
});

interface Seen {
  readonly status: number;
  readonly headers: object;
  readonly text: string;
}

/** What an application does that knows nothing of flows: it is given a token and a key, and calls. */
async function opaqueClient(token: string, apiKey: string): Promise<readonly Seen[]> {
  const caller = callerOf(maple, token, apiKey);
  const created = await caller.send('POST', 'Patient', { resourceType: 'Patient', name: [{ family: 'Opaque' }] });
  const { id } = created.json;
  const answers = [
    created,
    await caller.get(`Patient/${id}`),
    await caller.send('PUT', `Patient/${id}`, { ...created.json, active: true }, { 'if-match': 'W/"1"' }),
    await caller.get(`Patient?_id=${id}`),
    await caller.get('Encounter?status=planned'),
    await caller.get(`Patient/${id}/_history`),
    await caller.get('Observation'),
    await caller.send('DELETE', `Patient/${id}`),
  ];
  return answers.map(({ status, headers, text }) => {
    const { 'x-request-id': _id, date: _date, ...rest } = Object.fromEntries(headers);
    const withoutIds = (value: string) => value.replaceAll(id, '{id}').replaceAll(bundleId, '"Bundle","id":""');
    return { status, headers: JSON.parse(withoutIds(JSON.stringify(rest))), text: withoutIds(text) };
  });
}

/** Each Bundle has an id of its own. */
const bundleId = /"Bundle","id":"[0-9a-f-]{36}"/g;

test('contract 5.11 the same client code runs through both flows, changing token and key alone', async () => {
  const before = await opaqueClient(await legacyToken(vendor, maple), vendor.legacyKey);
  const afterwards = await opaqueClient(await clientToken(service, vendor), vendor.clientKey);
  assert.deepEqual(
    before.map(({ status }) => status),
    [201, 200, 200, 200, 200, 200, 403, 403],
  );
  assert.deepEqual(afterwards, before);
});
