/**
 * RFC 7523 §3 and SMART Backend Services: private_key_jwt. Denials first; every assertion is made by jose, and each refusal
 * says what is wrong with it.
 */
import assert from 'node:assert/strict';
import { createPrivateKey, KeyObject, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { after } from 'node:test';
import { SignJWT, UnsecuredJWT } from 'jose';
import { setClientKeys } from '../../../src/oauth/client-auth/client-keys.ts';
import { issueKeyedClient, revokeClient } from '../../../src/oauth/client-auth/clients.ts';
import { suspendApplication } from '../../../src/tenancy/applications.ts';
import { openTestDatabase } from '../../support/database.ts';
import {
  claimsOf,
  issuer,
  type KeyPair,
  keySetOf,
  makeKeyPair,
  requestByAssertion,
  signAssertion,
  tokenEndpoint,
} from '../assertions.ts';
import { assertRefused, bodyOf, fieldOf, makeVendor, openWorld, type Vendor } from '../world.ts';

const { runtime: database } = await openTestDatabase({ after });
const world = await openWorld(database);
/** Another node over the same database. */
const otherNode = await openWorld(database, { secrets: world.secrets });
const pair = await makeKeyPair('RS384', 'first');
const unregistered = await makeKeyPair('RS384', 'first');
const vendor = await keyedVendor(['acl/enc_s', 'acl/pat_s'], pair);
const otherVendor = await keyedVendor(['acl/pat_s'], await makeKeyPair('ES384', 'other'));
const prodVendor = await keyedVendor(['acl/pat_s'], pair, 'prod');
const secretVendor = await makeVendor(world);

/** An application whose client has keys and no secret. */
async function keyedVendor(acl: readonly string[], keys: KeyPair, environment = 'sandbox'): Promise<Vendor> {
  const made = await makeVendor(world, acl, environment);
  const clientId = await issueKeyedClient(database, made.application);
  await setClientKeys(database, made.application, clientId, { jwks: keySetOf(keys) });
  return { ...made, clientId, clientSecret: '' };
}

const now = Math.floor(world.clock.now() / 1000);
const claimRefusals: readonly (readonly [
  name: string,
  changes: Readonly<Record<string, unknown>>,
  description: string,
])[] = [
  ['no iss', { iss: undefined }, 'client_assertion iss and sub must both be the client_id'],
  ['no sub', { sub: undefined }, 'client_assertion iss and sub must both be the client_id'],
  ['another sub', { sub: otherVendor.clientId }, 'client_assertion iss and sub must both be the client_id'],
  ['no exp', { exp: undefined }, 'client_assertion exp is missing'],
  ['an exp that has come', { exp: now }, 'client_assertion has expired: make a new one for each request'],
  ['an exp beyond five minutes', { exp: now + 331 }, 'client_assertion exp must be at most 300 seconds from now'],
  ['an iat in the future', { iat: now + 31 }, 'client_assertion iat is in the future'],
  ['an nbf in the future', { nbf: now + 31 }, 'client_assertion nbf is in the future'],
  ['no jti', { jti: undefined }, 'client_assertion jti is missing or longer than 255 characters'],
  ['an empty jti', { jti: '' }, 'client_assertion jti is missing or longer than 255 characters'],
  ['a long jti', { jti: 'x'.repeat(256) }, 'client_assertion jti is missing or longer than 255 characters'],
];
for (const [name, changes, description] of claimRefusals) {
  test(`RFC 7523 §3: an assertion with ${name} is invalid_client`, async () => {
    const assertion = await signAssertion(pair, claimsOf(world, vendor.clientId, changes));
    assertRefused(await requestByAssertion(world, vendor, assertion), 401, 'invalid_client', description, 'client');
  });
}

const wrongAudience = `client_assertion aud must be ${issuer} or ${tokenEndpoint}, and nothing else`;
const audiences: readonly (readonly [name: string, aud: string | string[] | undefined])[] = [
  ['missing', undefined],
  ['empty', []],
  ['another server’s', 'https://elsewhere.example.com'],
  ['the issuer with a slash', `${issuer}/`],
  ['another realm’s', issuer.replace('sandbox', 'production')],
  ['ours and another server’s', [issuer, 'https://elsewhere.example.com']],
];
for (const [name, aud] of audiences) {
  test(`RFC 7523 §3 item 3, RFC 8725 §3.9: an aud that is ${name} is invalid_client`, async () => {
    const assertion = await signAssertion(pair, claimsOf(world, vendor.clientId, { aud }));
    assertRefused(await requestByAssertion(world, vendor, assertion), 401, 'invalid_client', wrongAudience, 'client');
  });
}

const wrongKey = 'client_assertion is not signed with a key (kid, alg) of a client of this realm';
const unsigned: readonly (readonly [name: string, make: () => Promise<string>, description?: string])[] = [
  ['a key that is not registered', () => signAssertion(unregistered, claimsOf(world, vendor.clientId))],
  ['a kid that is not registered', () => signAssertion(pair, claimsOf(world, vendor.clientId), { kid: 'second' })],
  ['the key of another client', () => signAssertion(pair, claimsOf(world, otherVendor.clientId))],
  ['an unknown client', () => signAssertion(pair, claimsOf(world, 'nobody'))],
  ['a client without keys', () => signAssertion(pair, claimsOf(world, secretVendor.clientId))],
  ['a client of another realm', () => signAssertion(pair, claimsOf(world, prodVendor.clientId))],
  [
    'a jku of its own',
    () => signAssertion(pair, claimsOf(world, vendor.clientId), { jku: 'https://elsewhere.example.com/jwks' }),
  ],
  [
    'a signature of another token',
    async () => {
      const [first, second] = [
        await signAssertion(pair, claimsOf(world, vendor.clientId)),
        await signAssertion(pair, claimsOf(world, vendor.clientId)),
      ];
      return `${first.slice(0, first.lastIndexOf('.'))}${second.slice(second.lastIndexOf('.'))}`;
    },
  ],
];
for (const [name, make] of unsigned) {
  test(`RFC 7523 §3: an assertion with ${name} is invalid_client, always in the same words`, async () => {
    assertRefused(await requestByAssertion(world, vendor, await make()), 401, 'invalid_client', wrongKey, 'client');
  });
}

const algorithms = 'RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384';
test('RFC 8725 §3.1, §3.2: alg none, HMAC with a public key, and algorithms that are not offered are refused', async () => {
  const claims = claimsOf(world, vendor.clientId);
  const { n = '' } = pair.publicJwk;
  const hmac = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'first' }).sign(Buffer.from(n));
  const ed25519 = await makeKeyPair('EdDSA', 'first');
  for (const assertion of [new UnsecuredJWT(claims).encode(), hmac, await signAssertion(ed25519, claims)]) {
    const reply = await requestByAssertion(world, vendor, assertion);
    assert.equal(reply.status, 401);
    assert.match(String(bodyOf(reply)['error_description']), /malformed|alg must be one of/);
  }
  const refused = await requestByAssertion(world, vendor, hmac);
  assertRefused(refused, 401, 'invalid_client', `client_assertion alg must be one of ${algorithms}`, 'client');
});

test('RFC 8725 §3.1: a key verifies only the algorithms of its kind, and only its own where it names one', async () => {
  const bound = await makeKeyPair('PS256', 'bound');
  const own = await keyedVendor(['acl/pat_s'], { ...bound, publicJwk: { ...bound.publicJwk, alg: 'PS256' } });
  // Its own key, by other algorithms that RSA keys are good for: what jose would not sign with this CryptoKey, KeyObjects do.
  const privateKey = createPrivateKey({ key: bound.privateJwk, format: 'jwk' });
  for (const alg of ['RS256', 'RS384', 'PS384']) {
    const other = { ...bound, alg, privateKey };
    const assertion = await signAssertion(other, claimsOf(world, own.clientId));
    assertRefused(await requestByAssertion(world, own, assertion), 401, 'invalid_client', wrongKey, 'client');
    const unbound = await keyedVendor(['acl/pat_s'], bound);
    const taken = await signAssertion(other, claimsOf(world, unbound.clientId));
    assert.equal((await requestByAssertion(world, unbound, taken)).status, 200, `${alg}, where the key names none`);
  }
  const asPs256 = await signAssertion(bound, claimsOf(world, own.clientId));
  assert.equal((await requestByAssertion(world, own, asPs256)).status, 200);
});

test('RFC 8725 §3.11: an assertion of another type is refused, so an access token is none', async () => {
  const claims = claimsOf(world, vendor.clientId);
  for (const typ of ['at+jwt', 'dpop+jwt', 'application/at+jwt']) {
    const assertion = await signAssertion(pair, claims, { typ });
    const description = 'client_assertion typ must be JWT or client-authentication+jwt';
    assertRefused(await requestByAssertion(world, vendor, assertion), 401, 'invalid_client', description, 'client');
  }
  for (const typ of ['JWT', 'jwt', 'client-authentication+jwt', 'application/client-authentication+jwt', undefined]) {
    const assertion = await signAssertion(pair, claimsOf(world, vendor.clientId), { typ });
    assert.equal((await requestByAssertion(world, vendor, assertion)).status, 200, typ);
  }
});

test('RFC 8725 §3.10: keys that an assertion brings along are not used, and addresses that it names not asked', async () => {
  let asked = 0;
  const keys = JSON.stringify({ keys: [unregistered.publicJwk] });
  const server = createServer((_request, reply) => {
    asked += 1;
    reply.writeHead(200, { 'content-type': 'application/json' }).end(keys);
  }).listen(0, '127.0.0.1');
  after(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
  const brought = { jwk: unregistered.publicJwk, x5u: uri, x5c: [Buffer.from('certificate').toString('base64')] };
  for (const header of [...Object.entries({ ...brought, jku: uri }).map((one) => Object.fromEntries([one])), brought]) {
    const forged = await signAssertion(unregistered, claimsOf(world, vendor.clientId), header);
    const reply = await requestByAssertion(world, vendor, forged);
    assertRefused(reply, 401, 'invalid_client', wrongKey, 'client');
  }
  const right = await signAssertion(pair, claimsOf(world, vendor.clientId), brought);
  assert.equal((await requestByAssertion(world, vendor, right)).status, 200, 'not read at all');
  assert.equal(asked, 0);
});

test('RFC 7523 §2.2: what is no assertion is refused', async () => {
  const malformed = 'client_assertion is malformed: it is not a JWT';
  for (const text of ['a', 'a.b.c', 'e30.e30.e30', `${'x'.repeat(17_000)}.e30.e30`]) {
    assertRefused(await requestByAssertion(world, vendor, text), 401, 'invalid_client', malformed, 'client');
  }
  const other = await signAssertion(pair, claimsOf(world, vendor.clientId));
  const differs = await requestByAssertion(world, vendor, other, { client_id: otherVendor.clientId });
  const difference = 'client_id differs from iss and sub of the client_assertion';
  assertRefused(differs, 401, 'invalid_client', difference, 'client');
});

test('an assertion without a kid is taken where the client has one key, and only there', async () => {
  const anonymous = (keys: KeyPair, { clientId }: Vendor) =>
    signAssertion(keys, claimsOf(world, clientId), { kid: undefined });
  const second = await makeKeyPair('RS384', 'second');
  const several = await keyedVendor(['acl/pat_s'], pair);
  await setClientKeys(database, several.application, several.clientId, { jwks: keySetOf(pair, second) });
  for (const [keys, who] of [
    [pair, several],
    [second, several],
    [unregistered, vendor],
    [await makeKeyPair('ES384', 'first'), vendor],
  ] as const)
    assertRefused(
      await requestByAssertion(world, who, await anonymous(keys, who)),
      401,
      'invalid_client',
      wrongKey,
      'client',
    );
  assert.equal((await requestByAssertion(world, vendor, await anonymous(pair, vendor))).status, 200);
});

test('an assertion whose header or claims hold a member twice is refused, though its signature is right', async () => {
  const encode = (text: string): string => Buffer.from(text).toString('base64url');
  const header = JSON.stringify({ alg: 'RS384', kid: pair.kid });
  const repeated = (text: string, member: string): string => `{${member},${text.slice(1)}`;
  const description = 'client_assertion is malformed: a member of its header or claims comes twice';
  for (const [head, member] of [
    [repeated(header, '"kid":"other"'), undefined],
    [header, '"sub":"other"'],
    [header, '"cnf":{"a":1,"a":2}'],
  ] as const) {
    const claims = JSON.stringify(claimsOf(world, vendor.clientId));
    const input = `${encode(head)}.${encode(member === undefined ? claims : repeated(claims, member))}`;
    const signature = sign('sha384', Buffer.from(input), KeyObject.from(pair.privateKey)).toString('base64url');
    const answer = await requestByAssertion(world, vendor, `${input}.${signature}`);
    assertRefused(answer, 401, 'invalid_client', description, 'client');
  }
});

test('RFC 7523 §3 item 7: an assertion works once, on whichever node, also when it is sent many times at once', async () => {
  const replayed = 'client_assertion was used before: make a new one, with a jti of its own, for each request';
  const assertion = await signAssertion(pair, claimsOf(world, vendor.clientId));
  assert.equal((await requestByAssertion(world, vendor, assertion)).status, 200);
  assertRefused(await requestByAssertion(world, vendor, assertion), 401, 'invalid_client', replayed, 'client');
  assertRefused(await requestByAssertion(otherNode, vendor, assertion), 401, 'invalid_client', replayed, 'client');
  const raced = await signAssertion(pair, claimsOf(world, vendor.clientId));
  const nodes = Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? world : otherNode));
  const replies = await Promise.all(nodes.map((node) => requestByAssertion(node, vendor, raced)));
  assert.deepEqual(replies.map(({ status }) => status).toSorted(), [200, ...Array.from({ length: 9 }, () => 401)]);
});

test('RFC 7523 §3 item 7: the same jti of another client is another assertion, and a refused assertion uses none up', async () => {
  const jti = 'shared';
  const forged = await signAssertion(unregistered, claimsOf(world, vendor.clientId, { jti }));
  assert.equal((await requestByAssertion(world, vendor, forged)).status, 401);
  const first = await signAssertion(pair, claimsOf(world, vendor.clientId, { jti }));
  assert.equal((await requestByAssertion(world, vendor, first)).status, 200);
  const third = await keyedVendor(['acl/pat_s'], pair);
  const second = await signAssertion(pair, claimsOf(world, third.clientId, { jti }));
  assert.equal((await requestByAssertion(world, third, second)).status, 200);
});

test('contract 4.3, 5.8: the API key counts beside an assertion as beside a secret', async () => {
  const assertion = await signAssertion(pair, claimsOf(world, vendor.clientId));
  const reply = await requestByAssertion(world, { ...vendor, clientKey: otherVendor.clientKey }, assertion);
  const description = 'x-api-key belongs to another application than the client';
  assertRefused(reply, 401, 'invalid_client', description, 'client');
});

test('who proves to be the client learns that it was revoked, or its application suspended', async () => {
  const revoked = await keyedVendor(['acl/pat_s'], pair);
  const suspended = await keyedVendor(['acl/pat_s'], pair);
  await revokeClient(database, revoked.application, revoked.clientId);
  await suspendApplication(database, suspended.application);
  for (const [who, description] of [
    [revoked, 'client has been revoked'],
    [suspended, 'application is suspended'],
  ] as const) {
    const assertion = await signAssertion(pair, claimsOf(world, who.clientId));
    assertRefused(await requestByAssertion(world, who, assertion), 401, 'invalid_client', description, 'client');
  }
});

for (const alg of algorithms.split(', ')) {
  test(`SMART Backend Services: ${alg} is taken, with the issuer or the token endpoint as aud`, async () => {
    const keys = await makeKeyPair(alg, `key-${alg}`);
    const own = await keyedVendor(['acl/pat_s'], keys);
    for (const aud of [issuer, tokenEndpoint, [issuer], [tokenEndpoint, issuer]]) {
      const assertion = await signAssertion(keys, claimsOf(world, own.clientId, { aud }));
      const reply = await requestByAssertion(world, own, assertion, { client_id: own.clientId });
      assert.equal(fieldOf(reply, 'scope'), 'acl/pat_s');
    }
  });
}

test('contract 2: the answer to an assertion is the answer to a secret, and scope selects from it', async () => {
  const assertion = await signAssertion(pair, claimsOf(world, vendor.clientId));
  const { access_token: token, ...rest } = bodyOf(
    await requestByAssertion(world, vendor, assertion, { scope: 'acl/pat_s' }),
  );
  assert.match(String(token), /^[\w-]+\.[\w-]+\.[\w-]+$/);
  assert.deepEqual(rest, {
    expires_in: 900,
    refresh_expires_in: 0,
    token_type: 'Bearer',
    'not-before-policy': 0,
    scope: 'acl/pat_s',
  });
});
