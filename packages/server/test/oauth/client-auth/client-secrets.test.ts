/** Two live secrets and two live API keys, so that they are changed without a request that fails. Denials first. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { PraxisError } from '../../../src/base/errors.ts';
import { issueApiKey, listApiKeys, revokeApiKey } from '../../../src/oauth/client-auth/api-keys.ts';
import { addClientSecret, endClientSecret, listClientSecrets } from '../../../src/oauth/client-auth/client-secrets.ts';
import { issueClient, revokeClient } from '../../../src/oauth/client-auth/clients.ts';
import { openTestDatabase } from '../../support/database.ts';
import {
  apiCall,
  assertRefused,
  fieldOf,
  makeAccount,
  makeFirm,
  makeVendor,
  openWorld,
  requestClientToken,
} from '../world.ts';

const { runtime: database } = await openTestDatabase({ after });
const world = await openWorld(database);
const { secrets } = world;

async function refusalOf(attempt: Promise<unknown>): Promise<string> {
  const error = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof PraxisError, String(error));
  return `${error.code}: ${error.details.diagnostics}`;
}

test('a client has at most two live secrets, also when many are asked for at once', async () => {
  const { application, clientId } = await makeVendor(world);
  const attempts = Array.from({ length: 5 }, () => addClientSecret(database, secrets, application, clientId));
  const outcomes = await Promise.allSettled(attempts);
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
  assert.equal(
    await refusalOf(addClientSecret(database, secrets, application, clientId)),
    `rule-broken: client ${clientId} has 2 live secrets: retire one of them before another is added`,
  );
  const live = (await listClientSecrets(database, application, clientId)).filter(({ state }) => state === 'active');
  assert.equal(live.length, 2);
});

test('an application has at most two live keys of a flow, also when many are asked for at once', async () => {
  const { application, clientKeyId } = await makeVendor(world);
  const issue = () => issueApiKey(database, secrets, application, 'client', 'next');
  const outcomes = await Promise.allSettled(Array.from({ length: 5 }, issue));
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
  assert.equal(
    await refusalOf(issue()),
    `rule-broken: application ${application.name} has 2 live client keys: revoke one of them before another is issued`,
  );
  await issueApiKey(database, secrets, application, 'legacy', 'next');
  await revokeApiKey(database, application, clientKeyId);
  await issue();
});

test('secrets of another application, and of a revoked client, are out of reach', async () => {
  const { application, clientId } = await makeVendor(world);
  const other = await makeVendor(world);
  const [secret] = await listClientSecrets(database, application, clientId);
  assert.ok(secret);
  const unknownClient = `resource-not-found: application ${other.application.name} has no live client ${clientId}`;
  assert.equal(await refusalOf(addClientSecret(database, secrets, other.application, clientId)), unknownClient);
  assert.equal(
    await refusalOf(endClientSecret(database, other.application, clientId, secret.id, 'retired')),
    `resource-not-found: client ${clientId} of ${other.application.name} has no live secret ${secret.id}`,
  );
  assert.equal(
    await refusalOf(listClientSecrets(database, other.application, clientId)),
    `resource-not-found: application ${other.application.name} has no client ${clientId}`,
  );
  await revokeClient(database, application, clientId);
  assert.equal((await listClientSecrets(database, application, clientId)).length, 1);
  assert.match(await refusalOf(addClientSecret(database, secrets, application, clientId)), /has no live client/);
});

test('add, deploy, retire: both secrets work meanwhile, and the retired one ends without ending its tokens', async () => {
  const vendor = await makeVendor(world);
  const firm = await makeFirm(world);
  await makeAccount(world, vendor, firm);
  const { application, clientId, clientKey } = vendor;
  const oldToken = fieldOf(await requestClientToken(world, vendor), 'access_token');
  const [old] = await listClientSecrets(database, application, clientId);
  assert.ok(old);
  const added = await addClientSecret(database, secrets, application, clientId);
  const renewed = { ...vendor, clientSecret: added.clientSecret };
  for (const who of [vendor, renewed]) assert.equal((await requestClientToken(world, who)).status, 200);
  const call = await apiCall(world, firm, oldToken, clientKey);
  await world.sessions.authenticate(call);
  await endClientSecret(database, application, clientId, old.id, 'retired');
  const wrong = 'client_id or client_secret is wrong for this realm';
  assertRefused(await requestClientToken(world, vendor), 401, 'invalid_client', wrong, 'client');
  assert.equal((await requestClientToken(world, renewed)).status, 200);
  await world.sessions.recheck(call);
  await endClientSecret(database, application, clientId, old.id, 'revoked');
  assert.equal(await world.sessions.current(await world.sessions.authenticate(call).catch(() => assert.fail())), false);
  assert.equal(
    await refusalOf(world.sessions.recheck(call)),
    'credentials-invalid: Bearer token was got with a revoked secret: request a new one',
  );
  const newCall = await apiCall(
    world,
    firm,
    fieldOf(await requestClientToken(world, renewed), 'access_token'),
    clientKey,
  );
  await world.sessions.authenticate(newCall);
});

test('a new client has one secret, and uses are dated: secrets and keys that were never used say so', async () => {
  const vendor = await makeVendor(world);
  const firm = await makeFirm(world);
  await makeAccount(world, vendor, firm);
  const { application, clientId, clientKey } = vendor;
  const second = await addClientSecret(database, secrets, application, clientId);
  const uses = async () => {
    await world.uses.flush();
    const known = await listClientSecrets(database, application, clientId);
    const keys = await listApiKeys(database, application);
    return {
      secrets: known.map(({ lastUsedAtMs }) => lastUsedAtMs),
      keys: keys.map(({ lastUsedAtMs }) => lastUsedAtMs),
    };
  };
  assert.deepEqual(await uses(), { secrets: [null, null], keys: [null, null] });
  assert.equal((await requestClientToken(world, { ...vendor, clientSecret: 'wrong' })).status, 401);
  assert.deepEqual(await uses(), { secrets: [null, null], keys: [null, null] });
  const firstMs = world.clock.now();
  const token = fieldOf(await requestClientToken(world, vendor, []), 'access_token');
  assert.deepEqual(await uses(), { secrets: [null, firstMs], keys: [null, null] });
  assert.equal(
    await refusalOf(world.sessions.authenticate(await apiCall(world, firm, token, clientKey))).then(
      (text) => text.split(':')[0],
    ),
    'credentials-invalid',
  );
  world.clock.advance(60_001);
  const secondMs = world.clock.now();
  const renewed = await requestClientToken(world, { ...vendor, clientSecret: second.clientSecret });
  assert.deepEqual(await uses(), { secrets: [secondMs, firstMs], keys: [secondMs, null] });
  world.clock.advance(60_001);
  await world.sessions.authenticate(await apiCall(world, firm, fieldOf(renewed, 'access_token'), clientKey));
  assert.deepEqual(await uses(), { secrets: [secondMs, firstMs], keys: [world.clock.now(), null] });
});

test('a client that is issued anew has exactly one secret', async () => {
  const { application } = await makeVendor(world);
  const { clientId } = await issueClient(database, secrets, application);
  const known = await listClientSecrets(database, application, clientId);
  assert.deepEqual(
    known.map(({ state, lastUsedAtMs }) => ({ state, lastUsedAtMs })),
    [{ state: 'active', lastUsedAtMs: null }],
  );
});
