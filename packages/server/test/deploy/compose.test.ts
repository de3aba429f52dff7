/** deploy/compose: the file against the keys of the Compose specification that it uses, and its scripts as they are run. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { readConfig } from '../../src/base/config.ts';
import { readSecretKeys } from '../../src/keys/secret-keys.ts';
import { listUnknownVariables, read, readYaml, root } from './repository.ts';

const compose = readYaml('deploy/compose/compose.yaml');
const { database, praxis } = compose.services;
const directory = path.join(root, 'deploy/compose');

/** https://github.com/compose-spec/compose-spec/blob/main/05-services.md */
const serviceKeys = new Set([
  'image',
  'build',
  'restart',
  'depends_on',
  'environment',
  'secrets',
  'volumes',
  'ports',
  'read_only',
  'tmpfs',
  'cap_drop',
  'security_opt',
  'healthcheck',
  'stop_grace_period',
  'shm_size',
]);

const seconds = (text: string): number => {
  const [, count = '', unit = ''] = /^(\d+)(s|m)$/.exec(text) ?? [];
  return Number(count) * (unit === 'm' ? 60 : 1);
};

test('keys are those of the Compose specification', () => {
  assert.deepEqual(Object.keys(compose), ['name', 'services', 'volumes', 'secrets']);
  for (const service of [database, praxis])
    for (const key of Object.keys(service)) assert.ok(serviceKeys.has(key), key);
  for (const { healthcheck } of [database, praxis]) {
    assert.deepEqual(Object.keys(healthcheck).toSorted(), ['interval', 'retries', 'start_period', 'test', 'timeout']);
    assert.equal(healthcheck.test[0], 'CMD');
    for (const word of healthcheck.test) assert.equal(typeof word, 'string', JSON.stringify(word));
    for (const key of ['interval', 'timeout', 'start_period']) assert.ok(seconds(healthcheck[key]) > 0, key);
  }
});

test('the service waits for a healthy database, of a version that it takes, and stops after it has drained', () => {
  assert.deepEqual(praxis.depends_on, { database: { condition: 'service_healthy' } });
  assert.ok(Number(/^docker\.io\/library\/postgres:(\d+)$/.exec(database.image)?.[1]) >= 15);
  assert.ok(seconds(praxis.stop_grace_period) > readConfig({}).drainMs / 1000);
  assert.ok(existsSync(path.join(directory, praxis.build.context, praxis.build.dockerfile)));
});

test('variables are settings; secrets are in files alone, which the file declares', () => {
  assert.deepEqual(listUnknownVariables(Object.keys(praxis.environment)), []);
  assert.deepEqual(Object.keys(compose.secrets).toSorted(), [
    'database-password',
    'database-url',
    'postgres-password',
    'secret-key',
  ]);
  for (const { environment, secrets } of [database, praxis]) {
    for (const name of secrets) assert.ok(Object.hasOwn(compose.secrets, name), name);
    for (const [name, value] of Object.entries<string>(environment)) {
      if (!/PASSWORD|SECRET|DATABASE_URL/.test(name)) continue;
      const [, secret = ''] = /^\/run\/secrets\/([a-z-]+)$/.exec(value) ?? [];
      assert.ok(name.endsWith('_FILE') && secrets.includes(secret), name);
    }
  }
  for (const value of Object.values(praxis.environment)) assert.equal(typeof value, 'string');
});

test('only this machine reaches its ports; what it keeps lies in volumes, at the place that the image has for it', () => {
  for (const port of praxis.ports) assert.match(port, /^127\.0\.0\.1:\d+:\d+$/);
  assert.equal(database.ports, undefined);
  for (const { volumes } of [database, praxis])
    for (const volume of volumes) {
      const [source, target] = volume.split(':');
      assert.ok(
        source.startsWith('./') ? existsSync(path.join(directory, source)) : Object.hasOwn(compose.volumes, source),
      );
      assert.ok(target.startsWith('/'));
    }
  const [, dataDir] = /PRAXIS_DATA_DIR=(\S+)/.exec(read('Containerfile')) ?? [];
  assert.deepEqual(praxis.volumes, [`data:${dataDir}`]);
});

test('secrets are made once, of 256 random bits, and the service takes them', async () => {
  const scratch = mkdtempSync(path.join(os.tmpdir(), 'praxis-compose-'));
  after(() => rmSync(scratch, { recursive: true }));
  cpSync(path.join(directory, 'make-secrets.sh'), path.join(scratch, 'make-secrets.sh'));
  const make = () => execFileSync(path.join(scratch, 'make-secrets.sh'), { encoding: 'utf8' });
  assert.match(make(), /^Keep a copy of deploy\/compose\/secrets\/secret-key elsewhere/);
  const secrets = path.join(scratch, 'secrets');
  assert.deepEqual(readdirSync(secrets).toSorted(), Object.keys(compose.secrets).toSorted());
  assert.equal(statSync(secrets).mode & 0o777, 0o700);
  const texts = () => readdirSync(secrets).map((name) => readFileSync(path.join(secrets, name), 'utf8'));
  for (const name of readdirSync(secrets)) assert.equal(statSync(path.join(secrets, name)).mode & 0o777, 0o444, name);
  const made = texts();
  assert.equal(new Set(made).size, 4);
  const [password = ''] = made;
  assert.match(password, /^[A-Za-z0-9_-]{43}$/);
  assert.deepEqual(made[1], `postgres://praxis_owner:${password}@database/praxis`);
  make();
  assert.deepEqual(texts(), made);
  const config = readConfig({
    DATABASE_URL_FILE: path.join(secrets, 'database-url'),
    PRAXIS_SECRET_KEY_FILE: path.join(secrets, 'secret-key'),
  });
  assert.equal(config.databaseUrl, made[1]);
  assert.doesNotThrow(() => readSecretKeys(config));
  writeFileSync(path.join(scratch, 'ignored'), '');
  assert.match(read('deploy/compose/.gitignore'), /^\/secrets\/$/m);
});
