import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { ConfigError } from '../../src/base/config.ts';
import { type MigrateOptions, migrate, readMigrations } from '../../src/database/migrate.ts';
import { sql } from '../../src/database/sql.ts';
import { testLog } from '../support/cluster.ts';
import { openTestDatabase } from '../support/database.ts';

const migrations = await readMigrations();
const all = migrations.map((migration) => migration.version);

/** A directory with these migration files, and a way to migrate an empty database with it. */
async function openCase(t: TestContext, files: Readonly<Record<string, string>>) {
  const { owner, connections } = await openTestDatabase(t, { empty: true });
  const directory = await mkdtemp(path.join(os.tmpdir(), 'praxis-migrations-'));
  t.after(() => rm(directory, { recursive: true }));
  const write = async (name: string, text: string) => await writeFile(path.join(directory, name), text);
  for (const [name, text] of Object.entries(files)) await write(name, text);
  const run = (options: Pick<MigrateOptions, 'lockTries'> = {}) =>
    migrate({ connection: connections.owner, log: testLog, directory: pathToFileURL(`${directory}/`), ...options });
  return { owner, write, run, remove: (name: string) => rm(path.join(directory, name)) };
}

const refusal = (message: RegExp) => (error: unknown) => error instanceof ConfigError && message.test(error.message);

test('a migration that has changed since it was applied stops everything', async (t) => {
  const { owner, write, run } = await openCase(t, { '0001-first.sql': 'CREATE TABLE a (id int)' });
  await run();
  await write('0001-first.sql', 'CREATE TABLE a (id bigint)');
  await write('0002-second.sql', 'CREATE TABLE b (id int)');
  await assert.rejects(run(), refusal(/^Migration 1-first has changed since it was applied/));
  assert.deepEqual(await owner.query(sql`SELECT to_regclass('b') AS b`), [{ b: null }]);
});

test('a database that is newer than the program stops everything', async (t) => {
  const { run, remove } = await openCase(t, {
    '0001-first.sql': 'CREATE TABLE a (id int)',
    '0002-second.sql': 'CREATE TABLE b (id int)',
  });
  await run();
  await remove('0002-second.sql');
  await assert.rejects(run(), refusal(/^Database has migration 2-second, which this version of praxis does not know/));
});

test('files that are misnamed or share a number are refused before anything is applied', async (t) => {
  const { owner, write, run, remove } = await openCase(t, {
    '0001-first.sql': 'CREATE TABLE a (id int)',
    '0002-other.sql': 'SELECT 1',
    '0002-second.sql': 'SELECT 1',
  });
  await assert.rejects(run(), refusal(/^Migrations 0002-other\.sql and 0002-second\.sql have one number$/));
  await remove('0002-other.sql');
  await remove('0002-second.sql');
  await write('2-second.sql', 'SELECT 1');
  await assert.rejects(
    run(),
    refusal(/^Migration 2-second\.sql must be named NNNN-name\.sql or NNNN-name\.online\.sql$/),
  );
  assert.deepEqual(await owner.query(sql`SELECT to_regclass('a') AS a`), [{ a: null }]);
});

test('a number that was left out is applied when its file comes', async (t) => {
  const { run, write } = await openCase(t, {
    '0001-first.sql': 'CREATE TABLE a (id int)',
    '0003-third.sql': 'CREATE TABLE c (id int)',
  });
  assert.deepEqual(await run(), [1, 3]);
  await write('0002-second.sql', 'CREATE TABLE b (id int)');
  assert.deepEqual(await run(), [2]);
  assert.deepEqual(await run(), []);
});

test('a migration that fails leaves nothing of itself, and those before it stand', async (t) => {
  const { owner, write, run } = await openCase(t, {
    '0001-first.sql': 'CREATE TABLE a (id int)',
    '0002-second.sql': 'CREATE TABLE b (id int); SELECT 1 / 0;',
  });
  await assert.rejects(run(), /^Error: Migration 2-second failed and was rolled back: division by zero$/);
  assert.deepEqual(await owner.query(sql`SELECT to_regclass('a')::text AS a, to_regclass('b') AS b`), [
    { a: 'a', b: null },
  ]);
  await write('0002-second.sql', 'CREATE TABLE b (id int)');
  assert.deepEqual(await run(), [2]);
});

test('migrating applies each file once, in order, and records it', async (t) => {
  const { owner, run } = await openCase(t, {
    '0001-first.sql': 'CREATE TABLE a (id int)',
    '0002-second.sql': 'ALTER TABLE a ADD COLUMN name text',
  });
  assert.deepEqual(await run(), [1, 2]);
  assert.deepEqual(await run(), []);
  const rows = await owner.query(
    sql`SELECT version, name, length(checksum) AS checksum FROM migration ORDER BY version`,
  );
  assert.deepEqual(rows, [
    { version: 1, name: 'first', checksum: 64 },
    { version: 2, name: 'second', checksum: 64 },
  ]);
});

test('of four processes that start together one applies the migrations and the others find them applied', async (t) => {
  const { owner, connections } = await openTestDatabase(t, { empty: true });
  const program = fileURLToPath(new URL('../support/migrating-process.ts', import.meta.url));
  const environment = { ...process.env, MIGRATE_CONNECTION: JSON.stringify(connections.owner) };
  const runs = Array.from({ length: 4 }, () => promisify(execFile)(process.execPath, [program], { env: environment }));
  const applied = (await Promise.all(runs)).map(({ stdout }) => JSON.parse(stdout) as number[]);
  assert.deepEqual(
    applied.flat().sort((a, b) => a - b),
    all,
  );
  assert.deepEqual(await owner.query(sql`SELECT count(*)::int AS n FROM migration`), [{ n: all.length }]);
});

test('two databases of one server may be migrated at the same time', async (t) => {
  const databases = await Promise.all([1, 2, 3].map(() => openTestDatabase(t, { empty: true })));
  const applied = await Promise.all(
    databases.map(({ connections }) => migrate({ connection: connections.owner, log: testLog })),
  );
  assert.deepEqual(applied, [all, all, all]);
});

test('a migration waits for a table that others use, and whoever comes after it waits a second at most', async (t) => {
  const { owner, write, run } = await openCase(t, { '0001-first.sql': 'CREATE TABLE a (id int)' });
  await run();
  await write('0002-second.sql', 'CREATE TABLE b (id int);\nALTER TABLE a ADD COLUMN name text;');
  const lockTries = { triesMax: 2, pauseMs: 10 };
  await owner.transaction(undefined, async (tx) => {
    await tx.query(sql`SELECT FROM a`);
    const running = run({ lockTries });
    running.catch(() => undefined);
    const startMs = performance.now();
    while (
      (await owner.query(sql`SELECT FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'`)).length === 0
    )
      assert.ok(performance.now() - startMs < 10_000, 'the migration never waited');
    // It stands behind the migration, which has not got its lock.
    assert.deepEqual(await owner.query(sql`SELECT id FROM a`), []);
    await assert.rejects(
      running,
      /^Error: Migration 2-second failed and was rolled back: canceling statement due to lock timeout$/,
    );
  });
  assert.deepEqual(await owner.query(sql`SELECT to_regclass('b') AS b`), [{ b: null }]);
  assert.deepEqual(await run({ lockTries }), [2]);
});

test('an online migration locks no writer out, and what was done before a failure is done again', async (t) => {
  const { owner, write, run } = await openCase(t, { '0001-first.sql': 'CREATE TABLE a (id int)' });
  await run();
  const first =
    '-- By id; and a second one.\nDROP INDEX CONCURRENTLY IF EXISTS a_id;\nCREATE INDEX CONCURRENTLY a_id ON a (id);\n';
  await write('0002-second.online.sql', `${first}CREATE INDEX CONCURRENTLY a_none ON a (none);\n`);
  await assert.rejects(
    run(),
    /^Error: Migration 2-second failed and will be begun anew: column "none" does not exist$/,
  );
  assert.deepEqual(await owner.query(sql`SELECT version FROM migration`), [{ version: 1 }]);
  await write('0002-second.online.sql', first);
  const running = await owner.transaction(undefined, async (tx) => {
    await tx.query(sql`INSERT INTO a VALUES (1)`);
    const waiting = run();
    waiting.catch(() => undefined);
    const startMs = performance.now();
    while ((await owner.query(sql`SELECT FROM pg_locks WHERE NOT granted`)).length === 0)
      assert.ok(performance.now() - startMs < 10_000, 'the migration never waited');
    await owner.query(sql`INSERT INTO a VALUES (2)`);
    return { waiting };
  });
  assert.deepEqual(await running.waiting, [2]);
  const valid = sql`SELECT indisvalid FROM pg_index WHERE indexrelid = 'a_id'::regclass`;
  assert.deepEqual(await owner.query(valid), [{ indisvalid: true }]);
});

test('migrations since 0039 lock no table for long: indexes of existing tables are made online', () => {
  for (const { version, name, text, isOnline } of migrations.filter((migration) => migration.version >= 39)) {
    const made = new Set([...text.matchAll(/CREATE TABLE (\w+)/g)].map(([, table]) => table));
    for (const [statement, concurrently, table] of text.matchAll(
      /CREATE (?:UNIQUE )?INDEX (CONCURRENTLY )?\w+ ON (\w+)/g,
    )) {
      if (isOnline) assert.ok(concurrently, `${version}-${name}: ${statement} needs CONCURRENTLY`);
      else assert.ok(made.has(table), `${version}-${name}: ${statement} belongs into a file of its own, .online.sql`);
    }
    for (const [statement] of text.matchAll(
      /ALTER COLUMN \w+ (?:TYPE|SET NOT NULL)|ADD (?:CONSTRAINT \w+ )?(?:UNIQUE|PRIMARY KEY|FOREIGN KEY|CHECK)(?![^;]*NOT VALID)/g,
    ))
      assert.fail(`${version}-${name}: ${statement} reads or rewrites the whole table under a lock`);
  }
});
