/** Contract part 2: the fields of both token responses, and the access entries in them, by real HTTP. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { patient } from '../support/records.ts';
import { assertRefused, assertTokenHeaders, assertTokenRefused, insufficientScope } from '../support/refusals.ts';
import {
  callerOf,
  clientForm,
  clientTokenUrl,
  makeApplication,
  makeFirm,
  openTestService,
  passwordForm,
  postForm,
} from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const entries = ['acl/enc_s', 'acl/pat_c', 'acl/pat_s_name_dob_gen'];
const vendor = await makeApplication(service, 'Vendor', entries, [maple, cedar]);
const jwtShape = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

const legacy = await postForm(maple.legacyTokenUrl, passwordForm(vendor, maple), vendor.legacyKey);
const client = await postForm(clientTokenUrl(service), clientForm(vendor), vendor.clientKey);

/** Header and claims of a token; what its signature is worth is tested under contract 5.9. */
function partsOf(token: string): { header: Record<string, unknown>; claims: Record<string, unknown> } {
  const [header = '', claims = ''] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString());
  return { header: JSON.parse(header), claims: JSON.parse(claims) };
}

test('contract 2 token response (legacy) has these four fields and no other', async () => {
  assert.equal(legacy.status, 200);
  assertTokenHeaders(legacy);
  assert.deepEqual(Object.keys(legacy.json), ['scope', 'token_type', 'access_token', 'refresh_token']);
  const form = { grant_type: 'refresh_token', refresh_token: legacy.json.refresh_token };
  const refreshed = await postForm(maple.legacyTokenUrl, form, vendor.legacyKey);
  assert.equal(refreshed.status, 200);
  assertTokenHeaders(refreshed);
  assert.deepEqual(Object.keys(refreshed.json), ['scope', 'token_type', 'access_token', 'refresh_token']);
});

test('contract 2 token response (legacy) scope names the practice space, a single value', async () => {
  assert.equal(legacy.json.scope, 'maple');
  const other = await postForm(cedar.legacyTokenUrl, passwordForm(vendor, cedar), vendor.legacyKey);
  assert.equal(other.json.scope, 'cedar');
});

test('contract 2 token response (legacy) token_type is Bearer', () => {
  assert.equal(legacy.json.token_type, 'Bearer');
});

test('contract 2 token response (legacy) access_token is shaped like a JWT and is the bearer credential', async () => {
  assert.match(legacy.json.access_token, jwtShape);
  const { header, claims } = partsOf(legacy.json.access_token);
  assert.deepEqual(header, { alg: 'HS256', typ: 'JWT' });
  assert.deepEqual(claims, {
    iss: 'Vendor',
    sub: claims.sub,
    aud: 'sandbox',
    urlPrefix: 'maple',
    vendor: `${passwordForm(vendor, maple).username}@maple`,
    tokenType: 'access',
    pol: 1,
    cred: claims.cred,
    jti: claims.jti,
    sid: partsOf(legacy.json.refresh_token).claims.jti,
    iat: 1795253400,
    exp: 1795257000,
  });
  assert.equal((await callerOf(maple, legacy.json.access_token, vendor.legacyKey).get('Encounter')).status, 200);
});

test('contract 2 token response (legacy) refresh_token obtains further access tokens and is no bearer credential', async () => {
  assert.match(legacy.json.refresh_token, jwtShape);
  const answer = await callerOf(maple, legacy.json.refresh_token, vendor.legacyKey).get('Encounter');
  const diagnostics = 'Bearer token is a refresh token: send the access_token of the same answer';
  assertRefused(answer, {
    status: 401,
    error: 'credentials-invalid',
    issue: 'login',
    diagnostics,
    challenge: `Bearer realm="sandbox", error="invalid_token", error_description="${diagnostics}"`,
  });
  const form = { grant_type: 'refresh_token', refresh_token: legacy.json.refresh_token };
  const refreshed = await postForm(maple.legacyTokenUrl, form, vendor.legacyKey);
  assert.equal((await callerOf(maple, refreshed.json.access_token, vendor.legacyKey).get('Encounter')).status, 200);
});

test('contract 2 token response (client) has these six fields and no other', () => {
  assert.equal(client.status, 200);
  assertTokenHeaders(client);
  assert.deepEqual(client.json, {
    access_token: client.json.access_token,
    expires_in: 900,
    refresh_expires_in: 0,
    token_type: 'Bearer',
    'not-before-policy': 0,
    scope: 'acl/enc_s acl/pat_c acl/pat_s_name_dob_gen',
  });
});

test('contract 2 token response (client) access_token is an RS256-signed JWT', async () => {
  const { header, claims } = partsOf(client.json.access_token);
  assert.deepEqual(header, { alg: 'RS256', typ: 'JWT', kid: header.kid });
  assert.deepEqual(claims, {
    iss: `${service.origin}/auth/realms/sandbox`,
    sub: claims.sub,
    aud: 'sandbox',
    azp: vendor.clientId,
    client_id: vendor.clientId,
    jti: claims.jti,
    iat: 1795253400,
    exp: 1795254300,
    scope: entries.join(' '),
    api_key: true,
    secret_id: claims.secret_id,
  });
  assert.equal(typeof claims.secret_id, 'number');
  assert.match(String(claims.sub), /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
});

test('contract 2 token response (client) expires_in is the validity in seconds, an integer', () => {
  assert.equal(client.json.expires_in, 900);
  const { claims } = partsOf(client.json.access_token);
  assert.equal(Number(claims.exp) - Number(claims.iat), client.json.expires_in);
});

test('contract 2 token response (client) refresh_expires_in is 0', () => {
  assert.equal(client.json.refresh_expires_in, 0);
});

test('contract 2 token response (client) token_type is Bearer', () => {
  assert.equal(client.json.token_type, 'Bearer');
});

test('contract 2 token response (client) not-before-policy is 0', () => {
  assert.equal(client.json['not-before-policy'], 0);
});

test('contract 2 token response (client) scope is a space-separated list of access entries', async () => {
  assert.deepEqual(client.json.scope.split(' '), entries);
  const wide = await makeApplication(service, 'Wide', ['acl/*'], [maple]);
  const all = await postForm(clientTokenUrl(service), clientForm(wide), wide.clientKey);
  assert.equal(all.json.scope, 'acl/*');
});

test('contract 2 access entries: an entry that does not have the form is refused', async () => {
  const form = { ...clientForm(vendor), scope: 'acl/enc_s encounter.read' };
  const answer = await postForm(clientTokenUrl(service), form, vendor.clientKey);
  const description = 'encounter.read is not held by the application';
  assertTokenRefused(answer, { status: 400, error: 'invalid_scope', description });
});

test('contract 2 access entries: acl/pat_s_name_dob_gen opens name, birth date and gender of patients', async () => {
  const caller = callerOf(maple, client.json.access_token, vendor.clientKey);
  const sent = patient('Quill', {
    gender: 'female',
    birthDate: '1980-02-29',
    telecom: [{ system: 'phone', value: '555-0100' }],
  });
  const created = await caller.send('POST', 'Patient', sent);
  assert.equal(created.status, 201);
  assertRefused(await caller.get('Patient?phone=555-0100'), {
    status: 403,
    error: 'access-denied',
    issue: 'forbidden',
    diagnostics:
      'Patient search by phone, which reads Patient.telecom, needs acl/pat_s; the application does not hold it: the operator of the service adds it, then the practice grants it',
    challenge: insufficientScope,
  });
  const found = await caller.get('Patient?family=Quill&birthdate=1980-02-29&gender=female');
  assert.deepEqual(found.json.entry, [
    {
      fullUrl: `${maple.base}/Patient/${created.json.id}`,
      resource: {
        resourceType: 'Patient',
        id: created.json.id,
        meta: {
          versionId: '1',
          lastUpdated: '2026-11-21T09:30:00.000Z',
          tag: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue', code: 'SUBSETTED' }],
        },
        name: [{ family: 'Quill' }],
        gender: 'female',
        birthDate: '1980-02-29',
      },
      search: { mode: 'match' },
    },
  ]);
});
