/** RFC 7009: a client ends its own tokens, with the next statement of every node. Denials first. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { PraxisError } from '../../src/base/errors.ts';
import { sql } from '../../src/database/sql.ts';
import { issueClient } from '../../src/oauth/client-auth/clients.ts';
import type { ApiCredentials } from '../../src/oauth/session/session.ts';
import type { TokenReply } from '../../src/oauth/token-endpoint.ts';
import { openTestDatabase } from '../support/database.ts';
import {
  apiCall,
  assertRefused,
  bodyOf,
  fieldOf,
  formRequest,
  makeAccount,
  makeFirm,
  makeVendor,
  openWorld,
  requestClientToken,
  requestLegacyToken,
  type Vendor,
  type World,
} from './world.ts';

const { runtime: database } = await openTestDatabase({ after });
const world = await openWorld(database);
/** Another node over the same database. */
const otherNode = await openWorld(database, { secrets: world.secrets });
const otherVendor = await makeVendor(world);
const foreign = 'token was issued to another client: only that one ends it';
const revokedProblem = 'Bearer token has been revoked: request a new one';

async function revoke(
  token: string | undefined,
  who: Vendor,
  more: Readonly<Record<string, string>> = {},
): Promise<TokenReply> {
  const form = { client_id: who.clientId, client_secret: who.clientSecret, ...(token === undefined ? {} : { token }) };
  return await world.endpoints.revoke('sandbox', formRequest({ ...form, ...more }, [who.clientKey]));
}

/** RFC 7009 §2.2: 200, an empty body, stored by nobody. */
function assertRevoked(reply: TokenReply): void {
  const { status, headers, body } = reply;
  assert.deepEqual(
    { status, headers, body },
    { status: 200, headers: { 'cache-control': 'no-store', pragma: 'no-cache' }, body: '' },
  );
}

async function enter() {
  const vendor = await makeVendor(world);
  const firm = await makeFirm(world);
  const account = await makeAccount(world, vendor, firm);
  const legacy = await requestLegacyToken(world, firm, [vendor.legacyKey], account);
  return {
    vendor,
    firm,
    account,
    client: fieldOf(await requestClientToken(world, vendor), 'access_token'),
    access: fieldOf(legacy, 'access_token'),
    refresh: fieldOf(legacy, 'refresh_token'),
  };
}

/** What the data API of a node says to the call. */
async function stateOf(node: World, call: ApiCredentials): Promise<string> {
  try {
    const session = await node.sessions.authenticate(call);
    if (await node.sessions.current(session)) return 'open';
    await node.sessions.recheck(call);
    return 'open';
  } catch (error) {
    assert.ok(error instanceof PraxisError);
    return error.details.diagnostics;
  }
}

test('RFC 7009 §2.1: without client authentication, or without token, nothing is ended', async () => {
  const { vendor, client } = await enter();
  const wrong = 'client_id or client_secret is wrong for this realm';
  assertRefused(await revoke(client, { ...vendor, clientSecret: 'wrong' }), 401, 'invalid_client', wrong, 'client');
  assertRefused(await revoke(undefined, vendor), 400, 'invalid_request', 'token is missing or empty', 'client');
  const both = await world.endpoints.revoke(
    'sandbox',
    formRequest({ token: client, client_secret: 'a' }, [vendor.clientKey], [`Basic ${btoa('a:b')}`]),
  );
  const twice = 'client_secret is sent twice: use the body or the Authorization header, not both';
  assertRefused(both, 400, 'invalid_request', twice, 'client');
});

test('RFC 7009 §2.1: a client ends no token of another, neither of its application nor of another one', async () => {
  const { vendor, firm, client, access, refresh } = await enter();
  const sibling = { ...vendor, ...(await issueClient(database, world.secrets, vendor.application)) };
  assertRefused(await revoke(client, sibling), 400, 'unauthorized_client', foreign, 'client');
  for (const token of [client, access, refresh])
    assertRefused(await revoke(token, otherVendor), 400, 'unauthorized_client', foreign, 'client');
  assert.equal(await stateOf(world, await apiCall(world, firm, client, vendor.clientKey)), 'open');
  assert.equal(await stateOf(world, await apiCall(world, firm, access, vendor.legacyKey)), 'open');
});

test('RFC 7009 §2.2: what is no live token needs no ending: 200, also for one that has ended before', async () => {
  const { vendor, client } = await enter();
  for (const token of ['nonsense', 'a.b.c', `${client}x`]) assertRevoked(await revoke(token, vendor));
  assertRevoked(await revoke(client, vendor));
  assertRevoked(await revoke(client, vendor));
});

for (const flow of ['client', 'legacy'] as const) {
  test(`a revoked ${flow} access token is refused by every node with the next statement, others live on`, async () => {
    const { vendor, firm, account, client, access } = await enter();
    const [token, key] = flow === 'client' ? [client, vendor.clientKey] : [access, vendor.legacyKey];
    const again =
      flow === 'client'
        ? await requestClientToken(world, vendor)
        : await requestLegacyToken(world, firm, [vendor.legacyKey], account);
    const call = await apiCall(world, firm, token, key);
    const next = await apiCall(world, firm, fieldOf(again, 'access_token'), key);
    for (const node of [world, otherNode])
      assert.deepEqual([await stateOf(node, call), await stateOf(node, next)], ['open', 'open']);
    assertRevoked(await revoke(token, vendor, { token_type_hint: 'nonsense' }));
    for (const node of [world, otherNode])
      assert.deepEqual([await stateOf(node, call), await stateOf(node, next)], [revokedProblem, 'open']);
    const form = { client_id: vendor.clientId, client_secret: vendor.clientSecret, token };
    assert.deepEqual(bodyOf(await otherNode.endpoints.introspect('sandbox', formRequest(form, []))), { active: false });
  });
}

test('RFC 7009 §2.1: a revoked refresh token gives no more tokens and ends those that were got with it, no others', async () => {
  const { vendor, firm, account, access, refresh } = await enter();
  const environment = await world.environment('sandbox');
  const place = { environment, firmPrefix: firm.prefix };
  const form = formRequest({ grant_type: 'refresh_token', refresh_token: refresh }, [vendor.legacyKey]);
  const refreshed = fieldOf(await world.endpoints.legacy(place, form), 'access_token');
  const second = fieldOf(await requestLegacyToken(world, firm, [vendor.legacyKey], account), 'access_token');
  const calls = await Promise.all(
    [access, refreshed, second].map((token) => apiCall(world, firm, token, vendor.legacyKey)),
  );
  const states = async (node: World) => await Promise.all(calls.map((call) => stateOf(node, call)));
  assert.deepEqual(await states(otherNode), ['open', 'open', 'open']);
  assertRevoked(await revoke(refresh, vendor));
  assert.deepEqual(await states(otherNode), [revokedProblem, revokedProblem, 'open']);
  assert.deepEqual(await states(world), [revokedProblem, revokedProblem, 'open']);
  const gone = 'refresh_token has been revoked: log in again';
  assertRefused(await otherNode.endpoints.legacy(place, form), 400, 'invalid_grant', gone);
});

test('a revoked legacy access token leaves its refresh token: the next access token is another', async () => {
  const { vendor, firm, access, refresh } = await enter();
  assertRevoked(await revoke(access, vendor));
  const environment = await world.environment('sandbox');
  const form = formRequest({ grant_type: 'refresh_token', refresh_token: refresh }, [vendor.legacyKey]);
  const reply = await world.endpoints.legacy({ environment, firmPrefix: firm.prefix }, form);
  const call = await apiCall(world, firm, fieldOf(reply, 'access_token'), vendor.legacyKey);
  assert.equal(await stateOf(world, call), 'open');
});

test('what has expired is forgotten: the table holds what is live and little more', async () => {
  const late = await openWorld(database, { secrets: world.secrets });
  const { vendor } = await enter();
  const end = async (node: World): Promise<void> => {
    const token = fieldOf(await requestClientToken(node, vendor), 'access_token');
    const form = { client_id: vendor.clientId, client_secret: vendor.clientSecret, token };
    assertRevoked(await node.endpoints.revoke('sandbox', formRequest(form, [])));
  };
  for (let round = 0; round < 5; round++) await end(late);
  late.clock.advance(40 * 86_400_000);
  for (let round = 0; round < 5; round++) await end(late);
  const rows = await database.query(sql`SELECT token_id FROM revoked_token`);
  assert.equal(rows.length, 5);
});
