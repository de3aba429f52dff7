/**
 * Upgrades: the database and the data directory of each release, as test/fixtures/releases keeps them, are brought up to date
 * and serve: old credentials, old records, new ones, the journey; the ledger is whole.
 */
import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { connect } from '@praxis/client';
import pg from 'pg';
import { takeJourney } from '../../../../examples/journey/journey.ts';
import { openPlatform, startService } from '../../src/app.ts';
import { makeFixedClock } from '../../src/base/clock.ts';
import { readConfig } from '../../src/base/config.ts';
import { makeSecret } from '../../src/base/ids.ts';
import { commands } from '../../src/cli/commands.ts';
import { readSandbox } from '../../src/cli/sandbox/credentials.ts';
import { migrate } from '../../src/database/migrate.ts';
import { sql } from '../../src/database/sql.ts';
import { openKeys } from '../../src/keys/data-keys.ts';
import { readSecretKeys } from '../../src/keys/secret-keys.ts';
import { raiseOrderEpoch } from '../../src/storage/order-epoch.ts';
import { runCommand } from '../cli/platform.ts';
import { openScratchDirectory } from '../cli/scratch-directory.ts';
import { testLog } from '../support/cluster.ts';
import { type Lifetime, openTestDatabase, type TestDatabase } from '../support/database.ts';
import { patient } from '../support/records.ts';
import { callerOf, postForm } from '../support/service.ts';

const releases = fileURLToPath(new URL('../fixtures/releases/', import.meta.url));
const hourMs = 3_600_000;

/** The release's database and data directory, as if it had just been stopped. */
async function restoreRelease(t: Lifetime, release: string) {
  const directory = path.join(releases, release);
  const database = await openTestDatabase(t, { empty: true });
  const client = new pg.Client(database.connections.owner);
  await client.connect();
  await client.query(gunzipSync(readFileSync(path.join(directory, 'database.sql.gz'))).toString());
  await client.end();
  // Another server counts transactions from its own beginning, so a restored database begins a new order (decision 0023).
  await raiseOrderEpoch(database.owner);
  const scratch = openScratchDirectory(t as Parameters<typeof openScratchDirectory>[0]);
  cpSync(path.join(directory, 'data'), scratch.path, { recursive: true });
  const secretKey = readFileSync(path.join(directory, 'secret-key.txt'), 'utf8').trim();
  const [last] = await database.owner.query<{ at: number }>(sql`SELECT max(lu) AS at FROM resource_version`);
  return { database, dataDir: scratch.path, secretKey, lastMs: last?.at ?? assert.fail('no records') };
}

/** With another secret key the database is refused before anything of it is brought up to date. */
async function assertRefusedAndUnchanged({ owner, connections }: TestDatabase, message: RegExp): Promise<void> {
  const applied = async () => await owner.query(sql`SELECT version FROM migration ORDER BY version`);
  const before = await applied();
  const config = readConfig({ PRAXIS_SECRET_KEY: makeSecret(), PRAXIS_LOG_LEVEL: 'silent' });
  const platform = openPlatform({
    config,
    log: testLog,
    connections: { ...connections, stop: async () => undefined },
  });
  await assert.rejects(platform, { name: 'StartError', message });
  assert.deepEqual(await applied(), before);
}

test('a database that knows its secret key is not brought up to date with another one', async (t) => {
  const database = await openTestDatabase(t, { empty: true });
  const own = new URL('../../src/database/migrations/', import.meta.url);
  const earlier = openScratchDirectory(t).path;
  const untilDataKeys = readdirSync(own).filter((name) => name.endsWith('.sql') && name < '0027');
  for (const name of untilDataKeys) cpSync(new URL(name, own), path.join(earlier, name));
  await migrate({ connection: database.connections.owner, log: testLog, directory: pathToFileURL(`${earlier}/`) });
  await openKeys(database.owner, readSecretKeys(readConfig({ PRAXIS_SECRET_KEY: makeSecret() })));
  await database.owner.query(sql`
    INSERT INTO administrator (username, role, password, created_at) VALUES ('made-with-it', 'operator', 'x', now())`);
  await assertRefusedAndUnchanged(database, / \(it has the fingerprint [0-9a-f]{32}, the one given [0-9a-f]{32}\): /);
});

test('there is a fixture of a release', () => {
  assert.deepEqual(readdirSync(releases), ['0.1.0']);
});

for (const release of readdirSync(releases)) {
  test(`what ${release} has left is brought up to date and serves`, { timeout: 120_000 }, async (t) => {
    const lifetime = { after: (work: () => Promise<void>) => t.after(work) };
    const { database, dataDir, secretKey, lastMs } = await restoreRelease(lifetime, release);
    assert.ok((await migrate({ connection: database.connections.owner, log: testLog })).length > 0);
    const platform = await openPlatform({
      config: readConfig({
        PRAXIS_PORT: '0',
        PRAXIS_DATA_DIR: dataDir,
        PRAXIS_SECRET_KEY: secretKey,
        PRAXIS_LOG_LEVEL: 'silent',
      }),
      clock: makeFixedClock(lastMs + hourMs),
      log: testLog,
      connections: { ...database.connections, stop: async () => undefined },
    });
    const service = await startService(platform);
    t.after(async () => {
      await service.drain();
      await platform.close();
    });
    const sandbox = readSandbox(dataDir);
    const application = sandbox?.applications.find(({ acl }) => acl.includes('acl/*')) ?? assert.fail('no application');
    const { apiKey, clientId, clientSecret } = application.client;
    const root = `${service.origin}/sandbox/firm/maple/pm`;

    const tokenUrl = `${service.origin}/auth/realms/sandbox/protocol/openid-connect/token`;
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    const token = await postForm(tokenUrl, form, apiKey);
    assert.equal(token.status, 200, token.text);
    const { username, password, apiKey: legacyKey } = application.legacy['maple'] ?? assert.fail('no account');
    const legacy = await postForm(`${root}/ws/oauth2/grant`, { grant_type: 'password', username, password }, legacyKey);
    assert.equal(legacy.status, 200, legacy.text);

    const caller = callerOf({ base: `${root}/fhir/v2` }, token.json.access_token, apiKey);
    const found = await caller.get('Patient?_sort=birthdate&_count=3&_total=accurate');
    assert.equal(found.status, 200, found.text);
    assert.equal(found.json.total, 25);
    const [first] = found.json.entry;
    const read = await caller.get(`Patient/${first.resource.id}`);
    assert.deepEqual(read.json, first.resource);
    assert.equal((await caller.get(`Patient/${first.resource.id}/_history`)).json.total, 1);
    const next = found.json.link.find(({ relation }: { relation: string }) => relation === 'next');
    assert.equal((await caller.get(next.url)).json.entry.length, 3);

    const changed = { ...read.json, gender: 'other' };
    const update = await caller.send('PUT', `Patient/${first.resource.id}`, changed, { 'if-match': 'W/"1"' });
    assert.equal(update.status, 200, update.text);
    assert.equal(update.json.meta.versionId, '2');
    assert.equal((await caller.send('POST', 'Patient', patient('Upgraded'))).status, 201);
    assert.equal((await caller.get('Patient?family=Upgraded')).json.entry.length, 1);

    const said: string[] = [];
    const credentials = { flow: 'client-credentials', apiKey, clientId, clientSecret } as const;
    await takeJourney(connect({ base: `${root}/fhir/v2`, credentials }), (line) => said.push(line));
    assert.match(said.at(-1) ?? '', /^to be called back: Task\//);

    await service.parts.ledger.flush();
    const verified = await runCommand(platform, commands, 'audit', 'verify', '--firm', 'maple');
    assert.equal(verified.exitStatus, 0, verified.output.join('\n'));
  });

  test(`what ${release} has left is not brought up to date with another secret key`, async (t) => {
    const { database } = await restoreRelease({ after: (work) => t.after(work) }, release);
    await assertRefusedAndUnchanged(
      database,
      /^the key in PRAXIS_SECRET_KEY is not the one that the database was made with: /,
    );
  });

  test(`${release} is refused on a database that a newer version has changed`, async (t) => {
    const { database } = await restoreRelease({ after: (work) => t.after(work) }, release);
    await database.owner.query(sql`INSERT INTO migration (version, name, checksum) VALUES (9999, 'of-tomorrow', 'x')`);
    await assert.rejects(migrate({ connection: database.connections.owner, log: testLog }), {
      name: 'ConfigError',
      message:
        /^Database has migration 9999-of-tomorrow, which this version of praxis does not know: .*start the version that made it, or restore a backup/,
    });
  });
}
