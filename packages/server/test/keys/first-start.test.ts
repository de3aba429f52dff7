// A database from before there were data keys takes the keys that its secret key stood for, and no other key.
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { openPlatform } from '../../src/app.ts';
import { systemClock } from '../../src/base/clock.ts';
import { readConfig } from '../../src/base/config.ts';
import { makeSecret } from '../../src/base/ids.ts';
import { openSecretKey } from '../../src/base/secret-key.ts';
import { openSecrets, purposes } from '../../src/base/secrets.ts';
import { StartError } from '../../src/base/start-error.ts';
import { sql } from '../../src/database/sql.ts';
import { ensureDefaultEnvironments } from '../../src/tenancy/environments.ts';
import { runPraxis } from '../cli/praxis-process.ts';
import { testLog } from '../support/cluster.ts';
import { openTestDatabase } from '../support/database.ts';
import { urlOf } from '../support/nodes.ts';

const database = await openTestDatabase({ after });
const { owner, runtime, connections } = database;
const secretKey = makeSecret();
const environment = { DATABASE_URL: urlOf(connections.owner), PRAXIS_SECRET_KEY: secretKey };

const open = (key: string) =>
  openPlatform({
    config: readConfig({ PRAXIS_SECRET_KEY: key, PRAXIS_LOG_LEVEL: 'silent' }),
    clock: systemClock,
    log: testLog,
    connections: { ...connections, stop: async () => undefined },
  });
const forgetKeys = () => owner.query(sql`DELETE FROM data_key`);
const isRefusal = (error: unknown): boolean =>
  error instanceof StartError &&
  /^the key in PRAXIS_SECRET_KEY is not the one that the database was made with: put that key /.test(error.message);

/** The fingerprints that the keys are wrapped under. */
async function owners(): Promise<string[]> {
  const rows = await owner.query<{ under: string }>(sql`SELECT DISTINCT wrapped_under AS under FROM data_key`);
  return rows.map(({ under }) => under);
}

test('a database that was made with derived keys takes exactly these, byte by byte', async () => {
  await ensureDefaultEnvironments(runtime); // as an earlier version left it
  const platform = await open(secretKey);
  const derived = openSecretKey(secretKey)?.deriveDataKeys();
  assert.ok(derived);
  for (const purpose of purposes) assert.ok(platform.secrets.key(purpose).equals(derived[purpose]), purpose);
  // As version 0.1.0 derived it: HKDF-SHA-256 with the info praxis/{purpose}.
  const fixed = openSecretKey('AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8');
  assert.ok(fixed);
  assert.equal(
    openSecrets(fixed.deriveDataKeys()).hash('api-key', 'example').toString('hex'),
    '63ed822cf20382773460b06bb10d3643ea5d58e82985a81ee3b74c05f86c7f66',
  );
  await platform.close();
});

test('signing keys, else seals, else rows of the ledger tell a wrong key, and nothing is changed', async () => {
  assert.equal((await runPraxis(environment, 'firm', 'create', 'maple', 'M')).status, 0);
  await forgetKeys();
  await assert.rejects(open(makeSecret()), isRefusal); // by rows of the ledger
  assert.deepEqual(await owners(), []);
  assert.equal((await runPraxis(environment, 'signing-key', 'publish')).status, 0);
  const fingerprint = openSecretKey(secretKey)?.fingerprint;
  assert.deepEqual(await owners(), [fingerprint]);
  await forgetKeys();
  await assert.rejects(open(makeSecret()), isRefusal); // by the signing key
  await (await open(secretKey)).close();
  assert.deepEqual(await owners(), [fingerprint]);
  await assert.rejects(open(makeSecret()), /it has the fingerprint [0-9a-f]{32}, the one given [0-9a-f]{32}/);
});

test('a new database gets random keys; one in which nothing was made takes another secret key', async (t) => {
  const empty = await openTestDatabase(t, { empty: true });
  const at = (key: string) => ({ DATABASE_URL: urlOf(empty.connections.owner), PRAXIS_SECRET_KEY: key });
  const [wrong, right] = [makeSecret(), makeSecret()];
  assert.equal((await runPraxis(at(wrong), 'migrate')).status, 0);
  assert.equal((await runPraxis(at(right), 'migrate')).status, 0);
  const rows = await empty.owner.query<{ purpose: 'backup'; wrapped: Buffer; under: string }>(
    sql`SELECT purpose, wrapped, wrapped_under AS under FROM data_key ORDER BY purpose`,
  );
  assert.deepEqual(
    rows.map(({ purpose }) => purpose),
    [...purposes].sort(),
  );
  const key = openSecretKey(right);
  const derived = key?.deriveDataKeys();
  for (const { purpose, wrapped, under } of rows) {
    assert.equal(under, key?.fingerprint);
    const dataKey = key?.unwrap(purpose, wrapped);
    assert.ok(dataKey && !dataKey.equals(derived?.[purpose] ?? dataKey), purpose);
  }
  assert.equal((await runPraxis(at(right), 'firm', 'list')).status, 0);
  const refused = await runPraxis(at(wrong), 'migrate');
  assert.equal(refused.status, 1);
});

test('the runtime role can neither read nor write the keys, and a wrapped key that was changed by hand is refused', async () => {
  await assert.rejects(runtime.query(sql`SELECT wrapped FROM data_key`), /42501/);
  await owner.query(
    sql`UPDATE data_key SET wrapped = set_byte(wrapped, 20, (get_byte(wrapped, 20) + 1) % 256) WHERE purpose = 'page-link'`,
  );
  await assert.rejects(open(secretKey), /^StartError: the key for page-link in the table data_key was changed by hand/);
});
