/** Signing keys: publish, activate, retire; a step taken too early is refused, and no request fails on the way. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { PraxisError } from '../../../src/base/errors.ts';
import { readJwkSet } from '../../../src/oauth/discovery.ts';
import { decodeJwt } from '../../../src/oauth/signing/jwt.ts';
import {
  activateSigningKey,
  listSigningKeys,
  publishedMsMin,
  publishSigningKey,
  retireSigningKey,
  verifyingMsMin,
} from '../../../src/oauth/signing/signing-key-rotation.ts';
import { signerRememberedMs } from '../../../src/oauth/signing/signing-keys.ts';
import { openTestDatabase } from '../../support/database.ts';
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
  type Vendor,
  type World,
} from '../world.ts';

const { runtime: database } = await openTestDatabase({ after });

async function refusalOf(attempt: Promise<unknown>): Promise<string> {
  const error = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof PraxisError, String(error));
  return `${error.code}: ${error.details.diagnostics}`;
}

const kidOf = (token: string): string => decodeJwt(token)?.header.kid ?? '';
const tokenOf = async (node: World, vendor: Vendor): Promise<string> =>
  fieldOf(await requestClientToken(node, vendor), 'access_token');

/** States of a realm's keys, newest first. */
async function statesOf(realm: string): Promise<string[]> {
  return (await listSigningKeys(database, realm)).map(({ state }) => state);
}

test('steps out of order, and too early, are refused and change nothing', async () => {
  const world = await openWorld(database);
  const realm = 'production';
  assert.equal(
    await refusalOf(activateSigningKey(world, realm, true)),
    'rule-broken: realm production has no published key: publish one first',
  );
  const { kid: active } = await world.keys.signer(realm);
  assert.equal(
    await refusalOf(retireSigningKey(world, realm, active, true)),
    'rule-broken: the active key cannot be retired: publish and activate the next one first',
  );
  const next = await publishSigningKey(world, realm);
  assert.equal(
    await refusalOf(publishSigningKey(world, realm)),
    'rule-broken: realm production already has a published key: activate or retire it',
  );
  world.clock.advance(publishedMsMin - 1);
  assert.match(
    await refusalOf(activateSigningKey(world, realm, false)),
    /is published since .*: it may sign from .*, or with --force$/,
  );
  assert.deepEqual(await statesOf(realm), ['published', 'active']);
  world.clock.advance(1);
  assert.equal(await activateSigningKey(world, realm, false), next);
  world.clock.advance(verifyingMsMin - 1);
  assert.match(
    await refusalOf(retireSigningKey(world, realm, active, false)),
    /is verifying since .*: it may be retired from/,
  );
  assert.deepEqual(await statesOf(realm), ['active', 'verifying']);
  world.clock.advance(1);
  await retireSigningKey(world, realm, active, false);
  assert.deepEqual(await statesOf(realm), ['active', 'retired']);
  assert.equal(
    await refusalOf(retireSigningKey(world, realm, active, false)),
    `rule-broken: signing key ${active} is retired already`,
  );
  assert.equal(
    await refusalOf(retireSigningKey(world, 'sandbox', next, true)),
    `resource-not-found: realm sandbox has no signing key ${next}`,
  );
});

test('publish, activate, retire: no token that is valid fails on any node, and every token verifies with the JWK Set', async () => {
  const here = await openWorld(database);
  const nodes = [here, await openWorld(database, { secrets: here.secrets })];
  const advance = (ms: number): void => {
    for (const { clock } of nodes) clock.advance(ms);
  };
  const firm = await makeFirm(here);
  const vendor = await makeVendor(here);
  await makeAccount(here, vendor, firm);
  const held: { readonly token: string; readonly untilMs: number }[] = [];
  /** Each node issues a token, and all that are still valid open every node. */
  const round = async (): Promise<string[]> => {
    const set = await readJwkSet(here.keys, 'sandbox');
    const issued = await Promise.all(nodes.map((node) => tokenOf(node, vendor)));
    for (const token of issued) {
      held.push({ token, untilMs: here.clock.now() + 900_000 });
      assert.ok(set.keys.some(({ kid }) => kid === kidOf(token)));
    }
    for (const { token } of held.filter(({ untilMs }) => untilMs > here.clock.now())) {
      for (const node of nodes) await node.sessions.recheck(await apiCall(node, firm, token, vendor.clientKey));
    }
    return issued.map(kidOf);
  };
  const [old = ''] = await round();
  const next = await publishSigningKey(here, 'sandbox');
  assert.deepEqual(await round(), [old, old]);
  advance(publishedMsMin);
  await activateSigningKey(here, 'sandbox', false);
  await round();
  advance(signerRememberedMs);
  assert.deepEqual(await round(), [next, next]);
  advance(600_000);
  await round();
  advance(verifyingMsMin - 600_000);
  await retireSigningKey(here, 'sandbox', old, false);
  assert.deepEqual(await round(), [next, next]);
  assert.deepEqual(
    (await readJwkSet(here.keys, 'sandbox')).keys.map(({ kid }) => kid),
    [next],
  );
});

test('a key that has become known is retired at once: its tokens end with the next statement of every node', async () => {
  const world = await openWorld(database);
  const nodes = [world, await openWorld(database, { secrets: world.secrets })];
  const firm = await makeFirm(world, 'prod');
  const vendor = await makeVendor(world, ['acl/*'], 'prod');
  await makeAccount(world, vendor, firm);
  // The realm's key was made by another test with another secret key: this world takes over with one of its own.
  await publishSigningKey(world, 'production');
  await activateSigningKey(world, 'production', true);
  const token = await tokenOf(world, vendor);
  const call = await apiCall(world, firm, token, vendor.clientKey);
  for (const node of nodes) await node.sessions.authenticate(call);
  await publishSigningKey(world, 'production');
  await activateSigningKey(world, 'production', true);
  await retireSigningKey(world, 'production', kidOf(token), true);
  for (const node of nodes) {
    assert.equal(await node.sessions.current(await node.sessions.authenticate(call)), false);
    assert.match(await refusalOf(node.sessions.recheck(call)), /signed with a retired key: request a new one$/);
  }
  const form = { client_id: vendor.clientId, client_secret: vendor.clientSecret, token };
  for (const node of nodes)
    assert.deepEqual(bodyOf(await node.endpoints.introspect('production', formRequest(form, []))), { active: false });
});
