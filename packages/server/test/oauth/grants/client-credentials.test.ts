/** Contract 4.3, 5.6 to 5.10, 7.1: client credentials. Denials first. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose';
import { revokeApiKey } from '../../../src/oauth/client-auth/api-keys.ts';
import { revokeClient } from '../../../src/oauth/client-auth/clients.ts';
import { readJwkSet } from '../../../src/oauth/discovery.ts';
import type { TokenReply } from '../../../src/oauth/token-endpoint.ts';
import { suspendApplication } from '../../../src/tenancy/applications.ts';
import { openTestDatabase } from '../../support/database.ts';
import {
  assertRefused,
  bodyOf,
  fieldOf,
  formRequest,
  makeAccount,
  makeFirm,
  makeVendor,
  openWorld,
  realmOrigin,
  requestClientToken,
  requestLegacyToken,
} from '../world.ts';

const { runtime: database } = await openTestDatabase({ after });
const world = await openWorld(database);
const acl = ['acl/enc_s', 'acl/lab_type_path', 'acl/pat_s', 'acl/serv_req_s'];
const vendor = await makeVendor(world, acl);
const otherVendor = await makeVendor(world);
const trainingVendor = await makeVendor(world, acl, 'training');
const prodVendor = await makeVendor(world, acl, 'prod');

const wrongKeys: readonly (readonly [name: string, apiKey: readonly string[], description: string])[] = [
  ['empty', [''], 'x-api-key header is empty: an empty key is a wrong key'],
  ['repeated', [vendor.clientKey, vendor.clientKey], 'x-api-key header is sent more than once: send one key'],
  ['unknown', ['unknown'], 'x-api-key is not a known API key'],
  ['two keys in one value', [`${vendor.clientKey}, ${vendor.clientKey}`], 'x-api-key is not a known API key'],
  [
    'the legacy key of the application',
    [vendor.legacyKey],
    'x-api-key is a legacy key: this needs the client-credentials key of the application',
  ],
  ['another application’s', [otherVendor.clientKey], 'x-api-key belongs to another application than the client'],
  ['another environment’s of the same realm', [trainingVendor.clientKey], 'x-api-key belongs to another environment'],
  ['another realm’s', [prodVendor.clientKey], 'x-api-key belongs to another environment'],
];
for (const [name, apiKey, description] of wrongKeys) {
  test(`contract 4.3, 5.8: an x-api-key that is ${name} is a wrong key: invalid_client`, async () => {
    assertRefused(await requestClientToken(world, vendor, apiKey), 401, 'invalid_client', description, 'client');
  });
}

const wrong = 'client_id or client_secret is wrong for this realm';
const wrongClients: readonly (readonly [name: string, form: Readonly<Record<string, string>>])[] = [
  ['unknown client', { client_id: 'nobody', client_secret: vendor.clientSecret }],
  ['wrong secret', { client_id: vendor.clientId, client_secret: 'wrong' }],
  ['another client’s secret', { client_id: vendor.clientId, client_secret: otherVendor.clientSecret }],
  ['client of another realm', { client_id: prodVendor.clientId, client_secret: prodVendor.clientSecret }],
];
for (const [name, form] of wrongClients) {
  test(`contract 5.6: ${name} is invalid_client, always in the same words`, async () => {
    const request = formRequest({ grant_type: 'client_credentials', ...form }, [vendor.clientKey]);
    assertRefused(await world.endpoints.client('sandbox', request), 401, 'invalid_client', wrong, 'client');
  });
}

test('contract 5.6: what was revoked or suspended is refused at once', async () => {
  const keyGone = await makeVendor(world);
  await revokeApiKey(database, keyGone.application, keyGone.clientKeyId);
  assertRefused(
    await requestClientToken(world, keyGone),
    401,
    'invalid_client',
    'x-api-key has been revoked',
    'client',
  );
  const clientGone = await makeVendor(world);
  await revokeClient(database, clientGone.application, clientGone.clientId);
  assertRefused(
    await requestClientToken(world, clientGone),
    401,
    'invalid_client',
    'client has been revoked',
    'client',
  );
  const suspended = await makeVendor(world);
  await suspendApplication(database, suspended.application);
  assertRefused(
    await requestClientToken(world, suspended),
    401,
    'invalid_client',
    'application is suspended',
    'client',
  );
});

const wrongScopes: readonly (readonly [name: string, scope: string, description: string])[] = [
  ['an entry that the application does not hold', 'acl/pat_s acl/pat_u', 'acl/pat_u is not held by the application'],
  ['everything', 'acl/*', 'acl/* is not held by the application'],
  ['an unknown entry', 'acl/unknown_r', 'acl/unknown_r is not held by the application'],
  [
    'a scope of OpenID Connect',
    'openid',
    'openid is not an access entry: it is about a person who logs in; no person does here',
  ],
  [
    'two spaces',
    'acl/pat_s  acl/enc_s',
    'scope is a list of entries separated by single spaces (RFC 6749, section 3.3)',
  ],
];
for (const [name, scope, description] of wrongScopes) {
  test(`RFC 6749 §3.3: scope with ${name} is invalid_scope`, async () => {
    assertRefused(
      await requestClientToken(world, vendor, undefined, { scope }),
      400,
      'invalid_scope',
      description,
      'client',
    );
  });
}

test('RFC 6749 §3.3: scope takes a part of the entries and never drops a filter that narrows the application', async () => {
  const reply = await requestClientToken(world, vendor, undefined, { scope: 'acl/serv_req_s acl/pat_s' });
  assert.equal(fieldOf(reply, 'scope'), 'acl/lab_type_path acl/pat_s acl/serv_req_s');
  assert.equal(
    fieldOf(await requestClientToken(world, otherVendor, undefined, { scope: 'acl/pat_s' }), 'scope'),
    'acl/pat_s',
  );
});

test('contract 2, 5.10, 8.1: the answer has the six fields of the client-credentials flow and no refresh token', async () => {
  const reply = await requestClientToken(world, vendor);
  const { access_token: token, ...rest } = bodyOf(reply);
  assert.deepEqual(rest, {
    expires_in: 900,
    refresh_expires_in: 0,
    token_type: 'Bearer',
    'not-before-policy': 0,
    scope: acl.join(' '),
  });
  assert.match(String(token), /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/);
  assert.deepEqual(
    { status: reply.status, headers: reply.headers },
    {
      status: 200,
      headers: { 'content-type': 'application/json;charset=UTF-8', 'cache-control': 'no-store', pragma: 'no-cache' },
    },
  );
});

test('contract 5.9: the token is an RS256 JWT of the realm that another implementation verifies with the JWK Set', async () => {
  const token = fieldOf(await requestClientToken(world, vendor), 'access_token');
  const set = await readJwkSet(world.keys, 'sandbox');
  const { payload, protectedHeader } = await jwtVerify(
    token,
    createLocalJWKSet({ keys: set.keys.map((key) => ({ ...key })) }),
    {
      issuer: `${realmOrigin}/auth/realms/sandbox`,
      audience: 'sandbox',
      algorithms: ['RS256'],
      currentDate: new Date(world.clock.now()),
    },
  );
  const { jti, sub, secret_id: secret, ...claims } = payload;
  assert.equal(typeof secret, 'number');
  const iat = Math.floor(world.clock.now() / 1000);
  assert.deepEqual(protectedHeader, { alg: 'RS256', typ: 'JWT', kid: set.keys[0]?.kid });
  assert.deepEqual(claims, {
    iss: `${realmOrigin}/auth/realms/sandbox`,
    aud: 'sandbox',
    azp: vendor.clientId,
    client_id: vendor.clientId,
    iat,
    exp: iat + 900,
    scope: acl.join(' '),
    api_key: true,
  });
  for (const uuid of [jti, sub])
    assert.match(String(uuid), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('contract 5.9: every token has a jti of its own and the same sub', async () => {
  const replies = await Promise.all(Array.from({ length: 10 }, () => requestClientToken(world, vendor)));
  const claims = replies.map((reply) =>
    JSON.parse(Buffer.from(fieldOf(reply, 'access_token').split('.')[1] ?? '', 'base64url').toString()),
  );
  assert.equal(new Set(claims.map(({ jti }) => jti)).size, 10);
  assert.equal(new Set(claims.map(({ sub }) => sub)).size, 1);
});

function claimsOf(reply: TokenReply): Readonly<Record<string, unknown>> {
  return decodeJwt(fieldOf(reply, 'access_token'));
}

test('RFC 9700 §4.15: ids and subjects of clients are generated, whatever is asked for, and are no account’s', async () => {
  const other = await makeVendor(world);
  const firm = await makeFirm(world);
  const account = await makeAccount(world, other, firm);
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  const ids = new Set<unknown>();
  const legacy = await requestLegacyToken(world, firm, [other.legacyKey], account);
  for (const reply of [legacy, await requestClientToken(world, vendor), await requestClientToken(world, other)]) {
    const { sub, client_id: clientId = '' } = claimsOf(reply);
    if (clientId !== '') for (const id of [sub, clientId]) assert.match(String(id), uuid);
    for (const id of [sub, clientId]) ids.add(id);
  }
  assert.equal(ids.size, 6, 'three subjects, two clients, and the account has none');
  const { sub: wanted } = claimsOf(legacy);
  const asked = { sub: String(wanted), subject: String(wanted), username: account.username };
  const { sub, client_id: clientId } = claimsOf(await requestClientToken(world, other, undefined, asked));
  assert.deepEqual([sub === wanted, ids.has(sub), clientId], [false, true, other.clientId]);
});

test('contract 7.1: without x-api-key the request is answered 200 with a token that looks valid', async () => {
  const keyed = await requestClientToken(world, vendor);
  const keyless = await requestClientToken(world, vendor, []);
  assert.deepEqual(Object.keys(bodyOf(keyless)), Object.keys(bodyOf(keyed)));
  assert.equal(keyless.status, 200);
  assert.deepEqual([keyed.record.outcome, keyless.record.outcome], ['issued', 'issued-without-key']);
  const set = await readJwkSet(world.keys, 'sandbox');
  const currentDate = new Date(world.clock.now());
  await jwtVerify(fieldOf(keyless, 'access_token'), createLocalJWKSet({ keys: set.keys.map((key) => ({ ...key })) }), {
    currentDate,
  });
});

test('contract 7.1, setting strict: without x-api-key the request is refused up front', async () => {
  const strict = await openWorld(database, { settings: { strictKeys: true }, secrets: world.secrets });
  const description = 'x-api-key header is missing: send the API key of the client-credentials flow';
  assertRefused(await requestClientToken(strict, vendor, []), 401, 'invalid_client', description, 'client');
  assert.equal((await requestClientToken(strict, vendor)).status, 200);
});

test('contract 8.1: expires_in and exp follow the setting', async () => {
  const short = await openWorld(database, { settings: { clientTokenSeconds: 60 }, secrets: world.secrets });
  const body = bodyOf(await requestClientToken(short, vendor));
  const claims = JSON.parse(Buffer.from(String(body['access_token']).split('.')[1] ?? '', 'base64url').toString());
  assert.deepEqual([body['expires_in'], claims.exp - claims.iat], [60, 60]);
});
