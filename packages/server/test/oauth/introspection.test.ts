/** RFC 7662: what a client may know about tokens. Denials first: all that is not its own and live is inactive, and nothing else. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { revokeApiKey } from '../../src/oauth/client-auth/api-keys.ts';
import { setClientKeys } from '../../src/oauth/client-auth/client-keys.ts';
import { endClientSecret, listClientSecrets } from '../../src/oauth/client-auth/client-secrets.ts';
import { issueClient, issueKeyedClient } from '../../src/oauth/client-auth/clients.ts';
import { resetLegacyPassword, revokeLegacyAccount } from '../../src/oauth/legacy/accounts.ts';
import type { TokenReply } from '../../src/oauth/token-endpoint.ts';
import { setApplicationAcl } from '../../src/tenancy/applications.ts';
import { revokeAuthorisation } from '../../src/tenancy/authorisations.ts';
import { suspendFirm } from '../../src/tenancy/firms.ts';
import { openTestDatabase } from '../support/database.ts';
import { claimsOf, issuer, keySetOf, makeKeyPair, signAssertion } from './assertions.ts';
import {
  assertRefused,
  bodyOf,
  entryProblem,
  fieldOf,
  formRequest,
  makeAccount,
  makeFirm,
  makeVendor,
  openWorld,
  requestClientToken,
  requestLegacyToken,
  type Vendor,
} from './world.ts';

const { runtime: database } = await openTestDatabase({ after });
const world = await openWorld(database);
const vendor = await makeVendor(world, ['acl/enc_s', 'acl/pat_s']);
const otherVendor = await makeVendor(world);
const firm = await makeFirm(world);
const account = await makeAccount(world, vendor, firm);
const inactive = { active: false };

/** Asks about `token` as `who`. */
async function introspect(
  token: string | undefined,
  who: Vendor = vendor,
  apiKey: readonly string[] = [who.clientKey],
  more: Readonly<Record<string, string>> = {},
): Promise<TokenReply> {
  const form = { client_id: who.clientId, client_secret: who.clientSecret, ...(token === undefined ? {} : { token }) };
  return await world.endpoints.introspect('sandbox', formRequest({ ...form, ...more }, apiKey));
}

async function answerTo(token: string, who: Vendor = vendor): Promise<object> {
  const reply = await introspect(token, who);
  assert.equal(reply.status, 200, reply.body);
  return bodyOf(reply);
}

async function tokenOf(who: Vendor, more: Readonly<Record<string, string>> = {}): Promise<string> {
  return fieldOf(await requestClientToken(world, who, undefined, more), 'access_token');
}

test('RFC 7662 §2.1: without client authentication nothing is told', async () => {
  const token = await tokenOf(vendor);
  const wrong = 'client_id or client_secret is wrong for this realm';
  const nobody = { ...vendor, clientSecret: 'wrong' };
  assertRefused(await introspect(token, nobody), 401, 'invalid_client', wrong, 'client');
  const bare = await world.endpoints.introspect('sandbox', formRequest({ token }, [vendor.clientKey]));
  assertRefused(bare, 401, 'invalid_client', 'client_id and client_secret are missing', 'client');
  const bearer = formRequest({ token }, [vendor.clientKey], [`Bearer ${token}`]);
  const byToken = await world.endpoints.introspect('sandbox', bearer);
  assertRefused(byToken, 401, 'invalid_client', 'client_id and client_secret are missing', 'client');
  const otherRealm = formRequest({ token, client_id: vendor.clientId, client_secret: vendor.clientSecret }, []);
  assert.equal((await world.endpoints.introspect('production', otherRealm)).status, 401);
});

test('settled wrong-key: a wrong x-api-key is refused, an omitted one is let pass unless keys are strict', async () => {
  const token = await tokenOf(vendor);
  const other = 'x-api-key belongs to another application than the client';
  assertRefused(await introspect(token, vendor, [otherVendor.clientKey]), 401, 'invalid_client', other, 'client');
  const empty = 'x-api-key header is empty: an empty key is a wrong key';
  assertRefused(await introspect(token, vendor, ['']), 401, 'invalid_client', empty, 'client');
  assert.equal(bodyOf(await introspect(token, vendor, []))['active'], true);
  const strict = await openWorld(database, { settings: { strictKeys: true }, secrets: world.secrets });
  const form = { token, client_id: vendor.clientId, client_secret: vendor.clientSecret };
  const refused = await strict.endpoints.introspect('sandbox', formRequest(form, []));
  const missing = 'x-api-key header is missing: send the API key of the client-credentials flow';
  assertRefused(refused, 401, 'invalid_client', missing, 'client');
});

test('RFC 7662 §2.1: token is required, once', async () => {
  assertRefused(await introspect(undefined), 400, 'invalid_request', 'token is missing or empty', 'client');
  assertRefused(await introspect(''), 400, 'invalid_request', 'token is missing or empty', 'client');
});

test('RFC 7662 §2.2: what is no token of ours is inactive, and nothing is told beside', async () => {
  const token = await tokenOf(vendor);
  const [head = '', payload = ''] = token.split('.');
  for (const text of ['nonsense', 'a.b.c', `${head}.${payload}.AAAA`, `${token}x`, 'x'.repeat(20_000)])
    assert.deepEqual(await answerTo(text), inactive, text.slice(0, 40));
});

test('RFC 7662 §4: a token of another client is inactive to all others, also to one of the same application', async () => {
  const token = await tokenOf(vendor);
  const sibling = { ...vendor, ...(await issueClient(database, world.secrets, vendor.application)) };
  assert.deepEqual(await answerTo(token, otherVendor), inactive);
  assert.deepEqual(await answerTo(token, sibling), inactive);
  const prod = await makeVendor(world, ['acl/*'], 'prod');
  assert.deepEqual(await answerTo(fieldOf(await requestClientToken(world, prod), 'access_token')), inactive);
  const legacy = await requestLegacyToken(world, firm, [vendor.legacyKey], account);
  for (const field of ['access_token', 'refresh_token'])
    assert.deepEqual(await answerTo(fieldOf(legacy, field), otherVendor), inactive);
});

test('settled keyless-introspection: a token that was issued without a key is inactive', async () => {
  const keyless = fieldOf(await requestClientToken(world, vendor, []), 'access_token');
  assert.deepEqual(await answerTo(keyless), inactive);
});

test('an expired token is inactive', async () => {
  const late = await openWorld(database, { secrets: world.secrets });
  const token = await tokenOf(vendor);
  late.clock.advance(899_999);
  const form = { token, client_id: vendor.clientId, client_secret: vendor.clientSecret };
  const ask = async (): Promise<unknown> =>
    bodyOf(await late.endpoints.introspect('sandbox', formRequest(form, [])))['active'];
  assert.equal(await ask(), true);
  late.clock.advance(1);
  assert.equal(await ask(), false);
});

test('a token that was got with a revoked secret is inactive, one got with a retired secret lives on', async () => {
  const own = await makeVendor(world, ['acl/pat_s']);
  const keys = await makeKeyPair('ES384', 'own');
  await setClientKeys(database, own.application, own.clientId, { jwks: keySetOf(keys) });
  const token = await tokenOf(own);
  const [secret] = await listClientSecrets(database, own.application, own.clientId);
  const ask = async (): Promise<unknown> => {
    const assertion = await signAssertion(keys, claimsOf(world, own.clientId));
    const form = {
      token,
      client_assertion: assertion,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    };
    return bodyOf(await world.endpoints.introspect('sandbox', formRequest(form, [own.clientKey])))['active'];
  };
  await endClientSecret(database, own.application, own.clientId, secret?.id ?? 0, 'retired');
  assert.equal((await requestClientToken(world, own)).status, 401);
  assert.equal(await ask(), true);
  await endClientSecret(database, own.application, own.clientId, secret?.id ?? 0, 'revoked');
  assert.equal(await ask(), false);
});

const endings: readonly (readonly [
  name: string,
  end: (own: Awaited<ReturnType<typeof enterLegacy>>) => Promise<unknown>,
])[] = [
  ['the account is revoked', ({ at, credentials }) => revokeLegacyAccount(database, at, credentials.username)],
  [
    'the password is reset',
    ({ at, credentials }) => resetLegacyPassword(database, world.secrets, at, credentials.username),
  ],
  ['the authorisation ends', ({ at, own }) => revokeAuthorisation(database, at, own.application)],
  ['the firm is suspended', ({ at }) => suspendFirm(database, at)],
];

async function enterLegacy() {
  const own = await makeVendor(world);
  const at = await makeFirm(world);
  const credentials = await makeAccount(world, own, at);
  const reply = await requestLegacyToken(world, at, [own.legacyKey], credentials);
  return { own, at, credentials, tokens: [fieldOf(reply, 'access_token'), fieldOf(reply, 'refresh_token')] };
}

for (const [name, end] of endings) {
  test(`legacy access and refresh tokens are inactive when ${name}`, async () => {
    const entered = await enterLegacy();
    const states = async (): Promise<unknown[]> =>
      await Promise.all(entered.tokens.map(async (token) => bodyOf(await introspect(token, entered.own))['active']));
    assert.deepEqual(await states(), [true, true]);
    await end(entered);
    assert.deepEqual(await states(), [false, false]);
  });
}

test('RFC 7662 §2.2: a live client-credentials token is told whole, whatever token_type_hint says', async () => {
  const token = await tokenOf(vendor, { scope: 'acl/pat_s' });
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  for (const hint of ['access_token', 'refresh_token', 'nonsense']) {
    const reply = await introspect(token, vendor, undefined, { token_type_hint: hint });
    assert.deepEqual(bodyOf(reply), {
      active: true,
      scope: 'acl/pat_s',
      token_type: 'Bearer',
      client_id: vendor.clientId,
      iss: issuer,
      sub: claims.sub,
      aud: 'sandbox',
      jti: claims.jti,
      iat: claims.iat,
      exp: claims.iat + 900,
    });
    assert.deepEqual(reply.headers, {
      'content-type': 'application/json;charset=UTF-8',
      'cache-control': 'no-store',
      pragma: 'no-cache',
    });
  }
});

test('settled rights: the scope is what the application holds of it now', async () => {
  const own = await makeVendor(world, ['acl/enc_s', 'acl/pat_s']);
  const token = await tokenOf(own);
  await setApplicationAcl(database, own.application, ['acl/pat_s', 'acl/cov_s'], entryProblem);
  assert.equal(bodyOf(await introspect(token, own))['scope'], 'acl/pat_s');
});

test('a live legacy token is told to clients of its application; a refresh token is no Bearer token', async () => {
  const reply = await requestLegacyToken(world, firm, [vendor.legacyKey], account);
  const iat = Math.floor(world.clock.now() / 1000);
  for (const [field, seconds, type] of [
    ['access_token', 3600, { token_type: 'Bearer' }],
    ['refresh_token', 2_592_000, {}],
  ] as const) {
    const token = fieldOf(reply, field);
    const { jti, sub } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    assert.deepEqual(await answerTo(token), {
      active: true,
      scope: firm.prefix,
      ...type,
      username: `${account.username}@${firm.prefix}`,
      sub,
      aud: 'sandbox',
      jti,
      iat,
      exp: iat + seconds,
    });
  }
});

test('an API key says nothing about a token: a revoked key leaves the token to the next key', async () => {
  const own = await makeVendor(world, ['acl/pat_s']);
  const token = await tokenOf(own);
  await revokeApiKey(database, own.application, own.clientKeyId);
  assertRefused(await introspect(token, own), 401, 'invalid_client', 'x-api-key has been revoked', 'client');
  assert.equal(bodyOf(await introspect(token, own, []))['active'], true);
});

test('a client with a key of its own asks by an assertion for the introspection endpoint', async () => {
  const own = await makeVendor(world, ['acl/pat_s']);
  const clientId = await issueKeyedClient(database, own.application);
  const keys = await makeKeyPair('RS384', 'own');
  await setClientKeys(database, own.application, clientId, { jwks: keySetOf(keys) });
  const ask = async (aud: string): Promise<TokenReply> => {
    const assertion = await signAssertion(keys, claimsOf(world, clientId, { aud }));
    const form = {
      token: 'nonsense',
      client_assertion: assertion,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    };
    return await world.endpoints.introspect('sandbox', formRequest(form, [own.clientKey]));
  };
  assert.equal((await ask(`${issuer}/protocol/openid-connect/revoke`)).status, 401);
  for (const aud of [
    issuer,
    `${issuer}/protocol/openid-connect/token`,
    `${issuer}/protocol/openid-connect/token/introspect`,
  ])
    assert.deepEqual(bodyOf(await ask(aud)), inactive);
});
