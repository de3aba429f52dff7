/**
 * A database for one test file: cloned from a template that has all migrations, dropped afterwards. The template is made once
 * per schema, that is, again whenever a migration changes.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import {
  type ConnectionParts,
  type Database,
  type DatabaseOptions,
  openDatabase,
} from '../../src/database/database.ts';
import { computeSchemaChecksum, migrate, readMigrations } from '../../src/database/migrate.ts';
import { joinTestCluster, testLog } from './cluster.ts';

/** A test context, or the module `node:test` itself: `openTestDatabase({ after })` lives as long as the test file. */
export interface Lifetime {
  after(work: () => Promise<void>): void;
}

export interface TestDatabase {
  readonly name: string;
  /** As the role that owns all tables and that row-level security does not bind. */
  readonly owner: Database;
  /** As the server runs. */
  readonly runtime: Database;
  /** For opening more connections, in other processes too. */
  readonly connections: { readonly owner: ConnectionParts; readonly runtime: ConnectionParts };
}

export interface TestDatabaseOptions
  extends Partial<
    Pick<DatabaseOptions, 'poolMax' | 'statementTimeoutMs' | 'transactionTimeoutMs' | 'waitersMax' | 'waitMaxMs'>
  > {
  /** A database without any tables. */
  readonly empty?: true;
}

const poolMax = 8;
const statementTimeoutMs = 10_000;

/** A database of its own for the test file or test `t`, with all migrations; the options are those of `runtime`. */
export async function openTestDatabase(t: Lifetime, options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const { empty, ...limits } = options;
  const cluster = await joinTestCluster();
  const maintenance = { ...cluster.owner, database: 'postgres' };
  const name = `test_${randomBytes(8).toString('hex')}`;
  await withClient(maintenance, async (client) => {
    const template = empty === true ? 'template0' : await ensureTemplate(client, maintenance);
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY wal_log`);
  });
  const connections = {
    owner: { ...cluster.owner, database: name },
    runtime: { ...cluster.runtime, database: name },
  };
  const base = { poolMax, statementTimeoutMs, log: testLog };
  const owner = await openDatabase({ ...base, connection: connections.owner, poolMax: 4, rowSecurity: 'bypassed' });
  const runtime = await openDatabase({ ...base, ...limits, connection: connections.runtime });
  t.after(async () => {
    try {
      await Promise.all([owner.close(), runtime.close()]);
      await withClient(maintenance, (client) => dropDatabase(client, name));
    } finally {
      await cluster.stop();
    }
  });
  return { name, owner, runtime, connections };
}

const dropAttemptsMax = 50;
const dropPauseMs = 100;

/** Ends its connections too; an autovacuum worker in it may not be ended by the owner, but ends itself soon. */
async function dropDatabase(client: pg.Client, name: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
      return;
    } catch (error) {
      if (attempt === dropAttemptsMax) throw error;
      await delay(dropPauseMs);
    }
  }
}

/** Key of the advisory lock: the ASCII bytes of "test". */
const lockKey = 0x74657374;
/** Templates of other states of the schema that are kept, for clones in which somebody works on it. */
const olderTemplatesMax = 3;

/** Makes the template of the present schema unless it exists. Returns its name. */
async function ensureTemplate(client: pg.Client, maintenance: ConnectionParts): Promise<string> {
  const name = `template_${computeSchemaChecksum(await readMigrations()).slice(0, 16)}`;
  if (await databaseExists(client, name)) return name;
  await client.query('SELECT pg_advisory_lock($1)', [lockKey]);
  try {
    if (!(await databaseExists(client, name))) await makeTemplate(client, maintenance, name);
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [lockKey]);
  }
  return name;
}

/** Renamed when complete, so a template that exists is whole. */
async function makeTemplate(client: pg.Client, maintenance: ConnectionParts, name: string): Promise<void> {
  const unfinished = `unfinished_${name}`;
  await client.query(`DROP DATABASE IF EXISTS ${unfinished} WITH (FORCE)`);
  await client.query(`CREATE DATABASE ${unfinished} TEMPLATE template0`);
  await migrate({ connection: { ...maintenance, database: unfinished }, log: testLog });
  await client.query(`ALTER DATABASE ${unfinished} RENAME TO ${name}`);
  const { rows } = await client.query<{ name: string }>(
    "SELECT datname AS name FROM pg_database WHERE datname LIKE 'template\\_%' AND datname <> $1 ORDER BY oid DESC OFFSET $2",
    [name, olderTemplatesMax],
  );
  for (const row of rows) await client.query(`DROP DATABASE IF EXISTS ${row.name}`).catch(() => undefined); // in use elsewhere
}

async function databaseExists(client: pg.Client, name: string): Promise<boolean> {
  const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name]);
  return rowCount === 1;
}

async function withClient<T>(connection: ConnectionParts, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(connection);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
