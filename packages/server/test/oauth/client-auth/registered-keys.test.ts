/**
 * What becomes of tokens when the key that they were got with is taken away: a client changes keys by registering the next
 * one beside the old, and taking the old one away ends its tokens with the next statement (docs/decisions/0211).
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { after } from 'node:test';
import { calculateJwkThumbprint, decodeJwt } from 'jose';
import { PraxisError } from '../../../src/base/errors.ts';
import { setClientKeys } from '../../../src/oauth/client-auth/client-keys.ts';
import { issueKeyedClient } from '../../../src/oauth/client-auth/clients.ts';
import { refetchIntervalMs } from '../../../src/oauth/client-auth/remote-keys.ts';
import { openTestDatabase } from '../../support/database.ts';
import { claimsOf, type KeyPair, keySetOf, makeKeyPair, requestByAssertion, signAssertion } from '../assertions.ts';
import {
  apiCall,
  bodyOf,
  fieldOf,
  formRequest,
  makeAccount,
  makeFirm,
  makeVendor,
  openWorld,
  requestClientToken,
} from '../world.ts';

const { runtime: database } = await openTestDatabase({ after });
const world = await openWorld(database);
/** Another node over the same database. */
const otherNode = await openWorld(database, { secrets: world.secrets });
const [first, second] = [await makeKeyPair('RS384', 'first'), await makeKeyPair('ES384', 'second')];
const ended = 'Bearer token was got with a key that is no longer registered: request a new one';

type Keys = Parameters<typeof setClientKeys>[3];

/** A client that authenticates by keys, at a firm. */
async function openScene(keys: Keys) {
  const vendor = await makeVendor(world, ['acl/pat_s']);
  const firm = await makeFirm(world);
  await makeAccount(world, vendor, firm);
  const { application, clientKey } = vendor;
  const clientId = await issueKeyedClient(database, application);
  const register = (next: Keys) => setClientKeys(database, application, clientId, next);
  await register(keys);
  const assertion = (pair: KeyPair) => signAssertion(pair, claimsOf(world, clientId));
  return {
    clientId,
    register,
    token: async (pair: KeyPair) =>
      fieldOf(await requestByAssertion(world, vendor, await assertion(pair)), 'access_token'),
    /** What a call with the token meets: a session that is still true or read anew, or the refusal; the same on each node. */
    async standingOf(token: string): Promise<string> {
      const call = await apiCall(world, firm, token, clientKey);
      const [one, other] = await Promise.all(
        [world, otherNode].map(async ({ sessions }) => {
          try {
            const session = await sessions.authenticate(call);
            if (!(await sessions.current(session))) await sessions.recheck(call);
            return 'open';
          } catch (error) {
            assert.ok(error instanceof PraxisError);
            return error.details.diagnostics;
          }
        }),
      );
      assert.equal(one, other);
      return one ?? '';
    },
    async introspected(token: string, pair: KeyPair): Promise<unknown> {
      const form = {
        token,
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: await assertion(pair),
      };
      return bodyOf(await world.endpoints.introspect('sandbox', formRequest(form, [clientKey])))['active'];
    },
  };
}

test('a key that is taken away ends its tokens with the next statement of every node, and no others', async () => {
  const { token, standingOf, register, introspected } = await openScene({ jwks: keySetOf(first, second) });
  const [old, next] = [await token(first), await token(second)];
  for (const each of [old, next]) assert.equal(await standingOf(each), 'open');
  assert.deepEqual([await introspected(old, second), await introspected(next, second)], [true, true]);
  await register({ jwks: keySetOf(second) });
  assert.deepEqual([await standingOf(old), await standingOf(next)], [ended, 'open']);
  assert.deepEqual([await introspected(old, second), await introspected(next, second)], [false, true]);
  await register(undefined);
  assert.equal(await standingOf(next), ended);
});

test('a key is known by its thumbprint: another of the same kid does not keep its tokens, the same of another kid does', async () => {
  const { token, standingOf, register } = await openScene({ jwks: keySetOf(first) });
  const issued = await token(first);
  assert.equal(await standingOf(issued), 'open');
  await register({ jwks: keySetOf(await makeKeyPair('RS384', 'first')) });
  assert.equal(await standingOf(issued), ended);
  await register({ jwks: keySetOf({ ...first, publicJwk: { ...first.publicJwk, kid: 'renamed' } }) });
  assert.equal(await standingOf(issued), 'open');
});

test('tokens of a published set live while its address is registered, whatever is published', async () => {
  const published = { keys: [first.publicJwk] };
  const server = createServer((_request, reply) => {
    reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(published));
  }).listen(0, '127.0.0.1');
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise((resolve) => server.once('listening', resolve));
  const uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`;
  const { token, standingOf, register } = await openScene({ jwksUri: uri });
  const old = await token(first);
  published.keys = [second.publicJwk];
  world.clock.advance(refetchIntervalMs);
  const next = await token(second);
  assert.deepEqual([await standingOf(old), await standingOf(next)], ['open', 'open']);
  await register({ jwksUri: `${uri}?moved` });
  assert.deepEqual([await standingOf(old), await standingOf(next)], [ended, ended]);
});

test('RFC 7638: the token names the key by its thumbprint; one that was got with a secret names none', async () => {
  const { token } = await openScene({ jwks: keySetOf(first) });
  const { registered_key: key, secret_id: secret } = decodeJwt(await token(first));
  assert.deepEqual([key, secret], [await calculateJwkThumbprint(first.publicJwk, 'sha256'), undefined]);
  const bySecret = await requestClientToken(world, await makeVendor(world));
  assert.equal('registered_key' in decodeJwt(fieldOf(bySecret, 'access_token')), false);
});
