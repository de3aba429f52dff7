/** What an application lacks to use client credentials is made all at once, and once. Denials first. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { PraxisError } from '../../../src/base/errors.ts';
import { issueApiKey, listApiKeys } from '../../../src/oauth/client-auth/api-keys.ts';
import { setClientKeys } from '../../../src/oauth/client-auth/client-keys.ts';
import { endClientSecret, listClientSecrets } from '../../../src/oauth/client-auth/client-secrets.ts';
import { listClients } from '../../../src/oauth/client-auth/clients.ts';
import { type LegacyMigration, migrateToClientCredentials } from '../../../src/oauth/legacy/migration.ts';
import { type Application, createApplication } from '../../../src/tenancy/applications.ts';
import { openTestDatabase } from '../../support/database.ts';
import { keySetOf, makeKeyPair } from '../assertions.ts';
import { entryProblem, makeVendor, openWorld, requestClientToken } from '../world.ts';

const { runtime: database } = await openTestDatabase({ after });
const world = await openWorld(database);
const migrate = (application: Application, secrets = world.secrets): Promise<LegacyMigration> =>
  migrateToClientCredentials(database, secrets, application);

/** An application with a legacy key and nothing else. */
async function legacyApplication(name: string): Promise<Application> {
  const application = await createApplication(database, { environment: 'sandbox', name, acl: ['acl/*'] }, entryProblem);
  await issueApiKey(database, world.secrets, application, 'legacy', 'test');
  return application;
}

test('when the key cannot be made, no client is left behind', async () => {
  const application = await legacyApplication('Interrupted');
  const failing = {
    ...world.secrets,
    hash(purpose: Parameters<typeof world.secrets.hash>[0], value: string) {
      if (purpose === 'api-key') throw new Error('interrupted');
      return world.secrets.hash(purpose, value);
    },
  };
  await assert.rejects(migrate(application, failing), /interrupted/);
  assert.deepEqual(await listClients(database, application), []);
  const { apiKey = '', clientId = '', clientSecret = '' } = await migrate(application);
  const made = { ...(await makeVendor(world)), application, clientId, clientSecret, clientKey: apiKey };
  assert.equal((await requestClientToken(world, made)).status, 200);
});

test('of many who migrate an application at once, one does and the others are told', async () => {
  const application = await legacyApplication('Hurried');
  const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => migrate(application)));
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
  for (const outcome of outcomes) {
    if (outcome.status === 'fulfilled') continue;
    assert.ok(outcome.reason instanceof PraxisError);
    assert.equal(outcome.reason.code, 'duplicate');
  }
  assert.equal((await listClients(database, application)).length, 1);
  assert.equal((await listApiKeys(database, application)).filter(({ flow }) => flow === 'client').length, 1);
});

test('a client without a live secret and without keys is none; with keys of its own it is one', async () => {
  const { application, clientId } = await makeVendor(world);
  await assert.rejects(migrate(application), { code: 'duplicate' });
  const [secret] = await listClientSecrets(database, application, clientId);
  await endClientSecret(database, application, clientId, secret?.id ?? 0, 'retired');
  await setClientKeys(database, application, clientId, { jwks: keySetOf(await makeKeyPair('ES384', 'own')) });
  await assert.rejects(migrate(application), { code: 'duplicate' });
  await setClientKeys(database, application, clientId, undefined);
  const made = await migrate(application);
  assert.deepEqual(Object.keys(made), ['clientId', 'clientSecret', 'firms']);
  assert.notEqual(made.clientId, clientId);
});
