/** docs/integrate/contract.md#credentials, by real HTTP. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { entryProblem } from '../../src/admin/entry-problem.ts';
import { readConfig } from '../../src/base/config.ts';
import { sql } from '../../src/database/sql.ts';
import { revokeApiKey } from '../../src/oauth/client-auth/api-keys.ts';
import { revokeClient } from '../../src/oauth/client-auth/clients.ts';
import { resetLegacyPassword, revokeLegacyAccount } from '../../src/oauth/legacy/accounts.ts';
import { resumeApplication, suspendApplication } from '../../src/tenancy/applications.ts';
import { authorise, revokeAuthorisation } from '../../src/tenancy/authorisations.ts';
import { resumeFirm, suspendFirm } from '../../src/tenancy/firms.ts';
import { request } from '../support/raw-http.ts';
import { patient } from '../support/records.ts';
import { assertRefused, assertTokenRefused, insufficientScope } from '../support/refusals.ts';
import {
  answerOf,
  type Caller,
  callerOf,
  clientForm,
  clientToken,
  clientTokenUrl,
  legacyToken,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  passwordForm,
  postForm,
  type TestApplication,
} from '../support/service.ts';

const service = await openTestService({ after });
const { database, clock, secrets } = service.platform;
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const vendor = await makeApplication(service, 'Vendor', ['acl/*'], [maple]);
const url = clientTokenUrl(service);
const formType = { 'content-type': 'application/x-www-form-urlencoded' };
const basicChallenge = 'Basic realm="sandbox", charset="UTF-8"';

/** Callers of a new application by both flows, which both have just made a call. */
async function enter(name: string): Promise<{ application: TestApplication; client: Caller; legacy: Caller }> {
  const application = await makeApplication(service, name, ['acl/pat_s', 'acl/pat_c'], [maple]);
  const client = await openCaller(service, application, maple);
  const legacy = callerOf(maple, await legacyToken(application, maple), application.legacyKey);
  assert.deepEqual([(await client.get('Patient')).status, (await legacy.get('Patient')).status], [200, 200]);
  return { application, client, legacy };
}

test('settled wrong-key: an empty, repeated or unknown x-api-key is a wrong key, never an omitted one', async () => {
  const body = new URLSearchParams(clientForm(vendor)).toString();
  const cases: readonly (readonly [keys: readonly string[], description: string])[] = [
    [[''], 'x-api-key header is empty: an empty key is a wrong key'],
    [['', ''], 'x-api-key header is sent more than once: send one key'],
    [[vendor.clientKey, vendor.clientKey], 'x-api-key header is sent more than once: send one key'],
    [['unknown'], 'x-api-key is not a known API key'],
  ];
  for (const [keys, description] of cases) {
    const answer = await request(url, { method: 'POST', headers: { ...formType, 'x-api-key': keys }, body });
    assertTokenRefused(answer, { status: 401, error: 'invalid_client', description, challenge: basicChallenge });
  }
  assert.equal((await request(url, { method: 'POST', headers: formType, body })).status, 200);
});

test('settled strict-default: the setting is off unless it is set', async () => {
  assert.equal(readConfig({}).strictKeys, false);
  assert.equal((await postForm(url, clientForm(vendor))).status, 200);
});

test('settled key-ownership: the legacy key belongs to one application and environment', async () => {
  const other = await makeApplication(service, 'Legacy other', ['acl/*'], [maple]);
  const training = await makeFirm(service, 'maple', 'training');
  const there = await makeApplication(service, 'Legacy there', ['acl/*'], [training]);
  const refused = { status: 401, error: 'invalid_client' };
  assertTokenRefused(await postForm(maple.legacyTokenUrl, passwordForm(vendor, maple), other.legacyKey), {
    ...refused,
    description: 'x-api-key belongs to another application than the account',
    challenge: 'ApiKey realm="sandbox", header="x-api-key"',
  });
  assertTokenRefused(await postForm(training.legacyTokenUrl, passwordForm(there, training), vendor.legacyKey), {
    ...refused,
    description: 'x-api-key belongs to another environment',
    challenge: 'ApiKey realm="training", header="x-api-key"',
  });
});

test('settled key-ownership: the legacy account belongs to one application at one firm', async () => {
  const both = await makeApplication(service, 'Both firms', ['acl/*'], [maple, cedar]);
  const elsewhere = await postForm(cedar.legacyTokenUrl, passwordForm(both, maple), both.legacyKey);
  const description = 'username or password is wrong for this firm';
  assertTokenRefused(elsewhere, { status: 400, error: 'invalid_grant', description });
  const own = await postForm(cedar.legacyTokenUrl, passwordForm(both, cedar), both.legacyKey);
  assert.equal(own.json.scope, 'cedar');
});

test('settled key-ownership: the client-credentials key belongs to one application and environment and is another', async () => {
  const other = await makeApplication(service, 'Client other', ['acl/*'], [maple]);
  const training = await makeFirm(service, 'cedar', 'training');
  const there = await makeApplication(service, 'Client there', ['acl/*'], [training]);
  const cases: readonly (readonly [key: string, description: string])[] = [
    [other.clientKey, 'x-api-key belongs to another application than the client'],
    [there.clientKey, 'x-api-key belongs to another environment'],
    [vendor.legacyKey, 'x-api-key is a legacy key: this needs the client-credentials key of the application'],
  ];
  for (const [key, description] of cases) {
    const answer = await postForm(url, clientForm(vendor), key);
    assertTokenRefused(answer, { status: 401, error: 'invalid_client', description, challenge: basicChallenge });
  }
  assert.notEqual(vendor.clientKey, vendor.legacyKey);
});

test('settled rights: a call may do what token and firm both allow, at the moment of the call', async () => {
  const application = await makeApplication(service, 'Rights', ['acl/pat_s', 'acl/enc_s', 'acl/appmt_s'], [maple]);
  const form = { ...clientForm(application), scope: 'acl/pat_s acl/enc_s' };
  const { json } = await postForm(url, form, application.clientKey);
  const caller = callerOf(maple, json.access_token, application.clientKey);
  const statuses = async () => {
    const calls = ['Patient', 'Encounter', 'Appointment'].map((type) => caller.get(type));
    return (await Promise.all(calls)).map(({ status }) => status);
  };
  const give = (acl: readonly string[]) =>
    authorise(database, clock, maple, application.application, { acl, purpose: 'Test' }, entryProblem);
  assert.deepEqual(await statuses(), [200, 200, 403]);
  await give(['acl/enc_s', 'acl/appmt_s']);
  assert.deepEqual(await statuses(), [403, 200, 403]);
  await give(['acl/pat_s']);
  assert.deepEqual(await statuses(), [200, 403, 403]);
  assertRefused(await caller.get('Encounter'), {
    status: 403,
    error: 'access-denied',
    issue: 'forbidden',
    diagnostics:
      'Encounter search needs acl/enc_s; the token holds it, the practice has not granted it to the application',
    challenge: insufficientScope,
  });
});

test('settled revocation: the next call is refused, whatever was revoked, and works again when it is given back', async () => {
  const { application, client, legacy } = await enter('Revoked');
  const who = application.application;
  const takings: readonly (readonly [take: () => Promise<void>, status: number, giveBack: () => Promise<void>])[] = [
    [
      () => revokeAuthorisation(database, maple, who),
      403,
      () => authorise(database, clock, maple, who, { purpose: 'Again' }, entryProblem),
    ],
    [() => suspendFirm(database, maple), 403, () => resumeFirm(database, maple, { by: 'operator', nowMs: 0 })],
    [() => suspendApplication(database, who), 401, () => resumeApplication(database, who)],
  ];
  for (const [take, status, giveBack] of takings) {
    for (const caller of [client, legacy]) {
      assert.equal((await caller.get('Patient')).status, 200);
      await take();
      assert.equal((await caller.get('Patient')).status, status);
      assert.equal((await caller.send('POST', 'Patient', patient('Late'))).status, status);
      await giveBack();
    }
  }
});

test('settled revocation: a revoked key, client, account or password ends the tokens of its flow with the next call', async () => {
  const first = await enter('Revoked keys');
  const { application } = first.application;
  await revokeApiKey(database, application, first.application.clientKeyId);
  assert.deepEqual(
    [(await first.client.get('Patient')).status, (await first.legacy.get('Patient')).status],
    [401, 200],
  );
  await revokeApiKey(database, application, first.application.legacyKeyId);
  assert.equal((await first.legacy.get('Patient')).status, 401);
  const second = await enter('Revoked client');
  await revokeClient(database, second.application.application, second.application.clientId);
  assert.deepEqual(
    [(await second.client.get('Patient')).status, (await second.legacy.get('Patient')).status],
    [401, 200],
  );
  const third = await enter('Revoked account');
  const account = third.application.accounts.get('maple');
  await revokeLegacyAccount(database, maple, account?.username ?? '');
  assert.deepEqual(
    [(await third.client.get('Patient')).status, (await third.legacy.get('Patient')).status],
    [200, 401],
  );
  const fourth = await enter('New password');
  await resetLegacyPassword(database, secrets, maple, fourth.application.accounts.get('maple')?.username ?? '');
  assert.equal((await fourth.legacy.get('Patient')).status, 401);
});

test('settled revocation: a refusal that needs no data is checked against the rights as they are now, too', async () => {
  const { application, client } = await enter('Revoked before a refusal');
  await revokeApiKey(database, application.application, application.clientKeyId);
  for (const path of ['Nonsense', 'Patient?nonsense=1', 'Encounter']) {
    assert.equal((await client.get(path)).status, 401);
  }
  assert.equal((await client.send('POST', 'Patient', '{')).status, 401);
});

test('settled basic-decoding: client_secret_basic values are form-decoded', async () => {
  const encoded = (text: string) => [...text].map((char) => `%${char.charCodeAt(0).toString(16)}`).join('');
  const { clientId, clientSecret } = vendor;
  const basic = Buffer.from(`${encoded(clientId)}:${encoded(clientSecret)}`).toString('base64');
  const form = { grant_type: 'client_credentials' };
  const answer = await postForm(url, form, vendor.clientKey, { authorization: `Basic ${basic}` });
  assert.equal(answer.status, 200);
  const wrong = Buffer.from(`${clientId}:${clientSecret}%`).toString('base64');
  assertTokenRefused(await postForm(url, form, vendor.clientKey, { authorization: `Basic ${wrong}` }), {
    status: 401,
    error: 'invalid_client',
    description: 'Authorization header needs form-encoded client_id and client_secret, neither empty',
    challenge: basicChallenge,
  });
});

test('settled discovery: RFC 8414 inserts its part before the realm path, OpenID Connect appends to it, and not the other way', async () => {
  const realm = '/auth/realms/sandbox';
  const get = async (path: string) => await answerOf(await fetch(service.origin + path));
  const openId = await get(`${realm}/.well-known/openid-configuration`);
  const rfc8414 = await get(`/.well-known/oauth-authorization-server${realm}`);
  assert.deepEqual([openId.status, rfc8414.status], [200, 200]);
  assert.equal(openId.json.issuer, service.origin + realm);
  assert.equal(rfc8414.json.issuer, service.origin + realm);
  assert.equal(openId.json.token_endpoint, url);
  assert.equal(rfc8414.json.token_endpoint, url);
  for (const wrong of [
    `${realm}/.well-known/oauth-authorization-server`,
    `/.well-known/openid-configuration${realm}`,
    '/.well-known/openid-configuration',
    '/.well-known/oauth-authorization-server',
    '/.well-known/oauth-authorization-server/auth/realms/nowhere',
  ]) {
    assert.equal((await get(wrong)).status, 404, wrong);
  }
});

test('settled smart-discovery: the SMART configuration hangs off the FHIR base and names the realm’s endpoints', async () => {
  const get = async (path: string) => await answerOf(await fetch(service.origin + path));
  const smart = await answerOf(await fetch(`${maple.base}/.well-known/smart-configuration`));
  const realm = (await get('/.well-known/oauth-authorization-server/auth/realms/sandbox')).json;
  assert.equal(smart.status, 200);
  assert.equal(smart.headers.get('content-type'), 'application/json; charset=utf-8');
  assert.deepEqual(smart.json, {
    token_endpoint: url,
    jwks_uri: realm.jwks_uri,
    introspection_endpoint: realm.introspection_endpoint,
    revocation_endpoint: realm.revocation_endpoint,
    grant_types_supported: ['client_credentials'],
    response_types_supported: [],
    token_endpoint_auth_methods_supported: realm.token_endpoint_auth_methods_supported,
    token_endpoint_auth_signing_alg_values_supported: realm.token_endpoint_auth_signing_alg_values_supported,
    scopes_supported: realm.scopes_supported,
    code_challenge_methods_supported: [],
    capabilities: ['client-confidential-symmetric', 'client-confidential-asymmetric', 'permission-v2'],
  });
  for (const wrong of [
    '/.well-known/smart-configuration',
    '/auth/realms/sandbox/.well-known/smart-configuration',
    '/.well-known/smart-configuration/sandbox/firm/maple/pm/fhir/v2',
    '/nowhere/firm/maple/pm/fhir/v2/.well-known/smart-configuration',
    '/sandbox/firm/maple/nothing/fhir/v2/.well-known/smart-configuration',
  ]) {
    assert.equal((await get(wrong)).status, 404, wrong);
  }
});

test('settled discovery: a 401 names the metadata of the FHIR base, which names the realm that issues its tokens', async () => {
  const answer = await answerOf(await fetch(`${maple.base}/Patient`));
  const metadata = `${service.origin}/.well-known/oauth-protected-resource/sandbox/firm/maple/pm/fhir/v2`;
  assert.equal(answer.headers.get('www-authenticate'), `Bearer realm="sandbox", resource_metadata="${metadata}"`);
  const { status, json } = await answerOf(await fetch(metadata));
  const { scopes_supported: scopes, ...rest } = json;
  assert.equal(status, 200);
  assert.deepEqual(
    scopes,
    (await answerOf(await fetch(`${maple.base}/.well-known/smart-configuration`))).json.scopes_supported,
  );
  assert.deepEqual(rest, {
    resource: maple.base,
    authorization_servers: [`${service.origin}/auth/realms/sandbox`],
    bearer_methods_supported: ['header'],
  });
  for (const wrong of [metadata.replace('/sandbox/', '/nowhere/'), `${metadata}/`, `${metadata}/Patient`]) {
    assert.equal((await fetch(wrong)).status, 404, wrong);
  }
});

test('settled keyless-introspection: a token that was issued without a key introspects as inactive', async () => {
  const introspectionUrl = `${url}/introspect`;
  const form = { client_id: vendor.clientId, client_secret: vendor.clientSecret };
  const activeOf = async (apiKey: string | undefined): Promise<unknown> => {
    const token = (await postForm(url, clientForm(vendor), apiKey)).json.access_token;
    return (await postForm(introspectionUrl, { ...form, token }, vendor.clientKey)).json;
  };
  assert.deepEqual(await activeOf(undefined), { active: false });
  assert.equal(Object.entries((await activeOf(vendor.clientKey)) ?? {})[0]?.join(), 'active,true');
});

test('settled revocation: a token that its client ends is refused with the next call of every node, also when nothing else changed', async () => {
  const { application, client, legacy } = await enter('Ends its tokens');
  const form = { client_id: application.clientId, client_secret: application.clientSecret };
  const revocationUrl = url.replace(/token$/, 'revoke');
  for (const [caller, other] of [
    [client, legacy],
    [legacy, undefined],
  ] as const) {
    const token = caller.headers['authorization']?.replace('Bearer ', '') ?? '';
    const answer = await postForm(revocationUrl, { ...form, token }, application.clientKey);
    assert.deepEqual([answer.status, answer.text, answer.headers.get('content-length')], [200, '', '0']);
    for (const path of ['Patient', 'Nonsense', 'Patient?nonsense=1'])
      assert.equal((await caller.get(path)).status, 401, path);
    if (other !== undefined) assert.equal((await other.get('Patient')).status, 200);
  }
});

test('settled password-storage: generated secrets, keys and passwords have 256 bits and are stored as keyed hashes', async () => {
  const account = vendor.accounts.get('maple');
  const generated = [vendor.clientSecret, vendor.clientKey, vendor.legacyKey, account?.password ?? ''];
  for (const secret of generated) assert.match(secret, /^[A-Za-z0-9_-]{43}$/);
  const [client] = await database.query<{ hash: Buffer }>(
    sql`SELECT hash FROM client_secret WHERE client = ${vendor.clientId}`,
  );
  const keys = await database.query<{ hash: Buffer }>(
    sql`SELECT hash FROM api_key WHERE application = ${vendor.application.id} ORDER BY flow`,
  );
  const [legacy] = await database.query<{ hash: Buffer }>(
    sql`SELECT password_hash AS hash FROM legacy_account WHERE username = ${account?.username ?? ''}`,
  );
  const stored = [client, ...keys, legacy].map((row) => row?.hash);
  const purposes = ['client-secret', 'api-key', 'api-key', 'legacy-password'] as const;
  const hashes = purposes.map((purpose, index) => Buffer.from(secrets.hash(purpose, generated[index] ?? '')));
  assert.deepEqual(stored, hashes);
});

test('settled revocation: a token alone outlives nothing: a suspended application gets no new one', async () => {
  const { application } = await enter('Suspended');
  await suspendApplication(database, application.application);
  assertTokenRefused(await postForm(url, clientForm(application), application.clientKey), {
    status: 401,
    error: 'invalid_client',
    description: 'application is suspended',
    challenge: basicChallenge,
  });
  await resumeApplication(database, application.application);
  assert.match(await clientToken(service, application), /^[\w-]+\.[\w-]+\.[\w-]+$/);
});

test('settled password-grant: what the contract demands against the security guidance is listed in docs/operate/security.md', () => {
  const text = readFileSync(path.join(import.meta.dirname, '../../../../docs/operate/security.md'), 'utf8');
  for (const words of ['RFC 9700 §2.4', 'password grant', 'token without an API key', 'PRAXIS_STRICT']) {
    assert.ok(text.includes(words), words);
  }
});
