/** Contract 4.1, 4.3: three environments in two realms; what the path may name. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import {
  createEnvironment,
  createProduct,
  ensureDefaultEnvironments,
  listEnvironments,
  openEnvironmentDirectory,
} from '../../src/tenancy/environments.ts';
import { counting } from '../oauth/world.ts';
import { openTestDatabase } from '../support/database.ts';

const { runtime: database } = await openTestDatabase({ after });

test('before the first start nothing exists', async () => {
  assert.deepEqual(await listEnvironments(database), []);
  const directory = openEnvironmentDirectory(database);
  assert.equal(await directory.find('sandbox', 'pm'), undefined);
  assert.equal(await directory.hasRealm('sandbox'), false);
});

test('contract 4.1, 4.3: the default environments, made once by several processes that start together', async () => {
  await Promise.all([1, 2, 3].map(() => ensureDefaultEnvironments(database)));
  const listed = (await listEnvironments(database)).map(({ id, products, ...rest }) => ({
    ...rest,
    products: [...products],
  }));
  assert.deepEqual(listed, [
    { name: 'prod', realm: 'production', kind: 'production', products: ['pm'] },
    { name: 'sandbox', realm: 'sandbox', kind: 'generic-sandbox', products: ['pm'] },
    { name: 'training', realm: 'sandbox', kind: 'practice-sandbox', products: ['pm'] },
  ]);
});

test('a path with an unknown environment, product or realm is unknown', async () => {
  const directory = openEnvironmentDirectory(database);
  for (const [environment, product] of [
    ['nowhere', 'pm'],
    ['sandbox', 'unknown'],
    ['Sandbox', 'pm'],
    ['production', 'pm'],
  ] as const) {
    assert.equal(await directory.find(environment, product), undefined, `${environment}/${product}`);
  }
  assert.equal(await directory.hasRealm('prod'), false);
  assert.equal(await directory.hasRealm('training'), false);
});

test('what was found is not asked again; what is new is found at its first request', async () => {
  const counted = counting(database);
  const directory = openEnvironmentDirectory(counted.database);
  const found = await directory.find('sandbox', 'pm');
  assert.equal(found?.realm, 'sandbox');
  assert.equal(await directory.hasRealm('production'), true);
  counted.statements = 0;
  assert.equal(await directory.find('sandbox', 'pm'), found);
  assert.equal(await directory.hasRealm('production'), true);
  assert.equal(counted.statements, 0);
  assert.equal(await directory.find('demo', 'pm'), undefined);
  const made = await createEnvironment(database, {
    name: 'demo',
    realm: 'demo',
    kind: 'generic-sandbox',
    products: ['pm', 'billing'],
  });
  assert.deepEqual(await directory.find('demo', 'billing'), made);
  assert.equal(await directory.hasRealm('demo'), true);
  assert.equal(await directory.find('sandbox', 'billing'), undefined);
  await createProduct(database, 'sandbox', 'billing');
  assert.deepEqual([...((await directory.find('sandbox', 'billing'))?.products ?? [])], ['billing', 'pm']);
});
