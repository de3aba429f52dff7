/**
 * Schema changes: the files migrations/NNNN-name.sql in order, each in a transaction together with its row in the table
 * `migration`. A file that has been applied never changes. Several processes may start together: one migrates, the others
 * wait for an advisory lock (https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS).
 *
 * A migration does not stop requests for long (docs/decisions/0304): a transaction waits at most a second for a lock, since
 * whoever comes after it waits for it, and is tried again. What takes long, such as an index of a large table, stands in a file
 * NNNN-name.online.sql, whose statements run one after another outside a transaction: they lock nobody out, and can be repeated.
 */
import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { ConfigError } from '../base/config.ts';
import type { Log } from '../base/log.ts';
import { makeConnectionError } from './connection-fault.ts';
import { buildClientConfig, type DatabaseConnection } from './connection-settings.ts';
import { sql } from './sql.ts';
import { isLockTimeout, isStartingUp } from './sqlstate.ts';
import type { Queryable } from './transaction.ts';

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly text: string;
  /** SHA-256 of the text, hexadecimal. */
  readonly checksum: string;
  /** Its statements run outside a transaction. */
  readonly isOnline: boolean;
}

export interface MigrateOptions {
  /** As the owner role. */
  readonly connection: DatabaseConnection;
  readonly log: Log;
  /** Default: the directory of this module. */
  readonly directory?: URL;
  /** Asked before the first change, when there is one to make: its error ends the call, and nothing has changed. */
  readonly verifyBefore?: (client: Pick<Queryable, 'query'>) => Promise<void>;
  /** How often a transaction is tried that others keep from a lock, and the pause between two tries. Default: for ten minutes. */
  readonly lockTries?: { readonly triesMax: number; readonly pauseMs: number };
}

const ownDirectory = new URL('./migrations/', import.meta.url);
const fileNamePattern = /^(\d{4})-([a-z0-9-]+)(\.online)?\.sql$/;
/** Key of the advisory lock: the ASCII bytes of "prax". */
const lockKey = 0x70726178;
const serverVersionMin = 150_000;

/** Longest wait of a migration for a lock, in ms: so long wait those who come after it. */
const lockWaitMs = 1_000;
const lockTriesDefault = { triesMax: 200, pauseMs: 2_000 };

/**
 * Brings the schema up to date. Returns the versions that this call applied, in order; none when it was up to date.
 * @throws ConfigError when an applied file has changed, when the database is newer than this program, or when the server
 *   is older than PostgreSQL 15
 * @throws what `verifyBefore` throws
 * @throws StartError when the database cannot be reached or refuses the login
 */
export async function migrate(options: MigrateOptions): Promise<number[]> {
  const reading = readMigrations(options.directory ?? ownDirectory);
  reading.catch(() => undefined); // awaited below, once there is a connection to end
  const client = await connect(options);
  try {
    const migrations = await reading;
    await requireServerVersion(client);
    if ((await pendingOf(asQueryable(client), migrations)).length === 0) return [];
    // The session's end releases the lock, also when this process is killed.
    await client.query('SELECT pg_advisory_lock($1)', [lockKey]);
    await options.verifyBefore?.(asQueryable(client));
    return await applyAll(client, migrations, options);
  } finally {
    await client.end();
  }
}

type Asking = Pick<Queryable, 'query'>;

function asQueryable(client: pg.Client): Asking {
  return { query: async ({ text, values }) => (await client.query(text, [...values])).rows };
}

/**
 * The migrations that a database lacks, in order, for who only looks; `isNew`: it has none.
 * @throws ConfigError as `migrate`
 */
export async function listPendingMigrations(
  database: Asking,
): Promise<{ readonly pending: readonly Migration[]; readonly isNew: boolean }> {
  const migrations = await readMigrations();
  const pending = await pendingOf(database, migrations);
  return { pending, isNew: pending.length === migrations.length };
}

/** Longest wait for a server that starts, or recovers from a crash: a replay of its log ends by itself. */
const startingUpMaxMs = 600_000;
const startingUpPauseMs = 500;

/** Connects, waiting while the server says that it is starting up. @throws StartError when it cannot be reached */
async function connect({ connection, log }: MigrateOptions): Promise<pg.Client> {
  const deadlineMs = performance.now() + startingUpMaxMs;
  for (;;) {
    const session = { applicationName: 'praxis migrate', statementTimeoutMs: 0 };
    const client = new pg.Client(buildClientConfig(connection, session));
    client.on('error', (error) => log.error({ err: error }, 'database connection lost while migrating'));
    try {
      await client.connect();
      return client;
    } catch (error) {
      await client.end().catch(() => undefined);
      if (!isStartingUp(error) || performance.now() > deadlineMs) throw makeConnectionError(connection, error);
      log.info('database is starting up or recovering: waiting for it');
      await delay(startingUpPauseMs);
    }
  }
}

/**
 * The migrations of a directory in order.
 * @throws ConfigError when a file name does not follow the pattern or two have one number
 */
export async function readMigrations(directory: URL = ownDirectory): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort();
  const migrations = await Promise.all(names.map((name) => readMigration(directory, name)));
  migrations.forEach((migration, index) => {
    // Numbers may be left out: changes that are made side by side take theirs beforehand.
    if (migration.version === migrations[index - 1]?.version)
      throw new ConfigError(`Migrations ${names[index - 1]} and ${names[index]} have one number`);
  });
  return migrations;
}

/** One checksum over all migrations: changes whenever the schema that they make may change. */
export function computeSchemaChecksum(migrations: readonly Migration[]): string {
  return sha256(migrations.map((migration) => migration.checksum).join('\n'));
}

async function readMigration(directory: URL, fileName: string): Promise<Migration> {
  const [, version, name, online] = fileNamePattern.exec(fileName) ?? [];
  if (version === undefined || name === undefined)
    throw new ConfigError(`Migration ${fileName} must be named NNNN-name.sql or NNNN-name.online.sql`);
  const text = await readFile(new URL(fileName, directory), 'utf8');
  return { version: Number(version), name, text, checksum: sha256(text), isOnline: online !== undefined };
}

async function requireServerVersion(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ number: number; version: string }>(
    "SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS version",
  );
  const [server] = rows;
  if (server !== undefined && server.number < serverVersionMin)
    throw new ConfigError(`PostgreSQL 15 or later is needed; the server is ${server.version}`);
}

async function applyAll(
  client: pg.Client,
  migrations: readonly Migration[],
  options: MigrateOptions,
): Promise<number[]> {
  await client.query(`
    CREATE TABLE IF NOT EXISTS migration (
      version int PRIMARY KEY,
      name text NOT NULL,
      checksum text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now()
    )`);
  const pending = await pendingOf(asQueryable(client), migrations);
  for (const migration of pending) {
    if (migration.isOnline) await applyOnline(client, migration);
    else await applyWhenUnlocked(client, migration, options);
    options.log.info({ version: migration.version, name: migration.name }, 'migration applied');
  }
  return pending.map((migration) => migration.version);
}

/** Applies it in one transaction, as soon as nobody keeps it from its locks. */
async function applyWhenUnlocked(client: pg.Client, migration: Migration, options: MigrateOptions): Promise<void> {
  const { triesMax, pauseMs } = options.lockTries ?? lockTriesDefault;
  for (let tried = 1; ; tried += 1) {
    try {
      return await apply(client, migration);
    } catch (cause) {
      if (!isLockTimeout(cause) || tried === triesMax) throw makeFailure(migration, 'was rolled back', cause);
      options.log.info({ version: migration.version }, 'migration waits for a table that others use');
      await delay(pauseMs);
    }
  }
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(`SET LOCAL lock_timeout = ${lockWaitMs}`);
    await client.query(migration.text);
    await noteApplied(client, migration);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** Applies each statement by itself; those that were done before a failure are done again. */
async function applyOnline(client: pg.Client, migration: Migration): Promise<void> {
  try {
    for (const statement of splitStatements(migration.text)) await client.query(statement);
    await noteApplied(client, migration);
  } catch (cause) {
    throw makeFailure(migration, 'will be begun anew', cause);
  }
}

/** The statements of an online file: each ends with a semicolon at the end of a line. */
function splitStatements(text: string): readonly string[] {
  return text.split(/;[ \t]*(?:\n|$)/).filter((statement) => statement.replace(/^\s*--.*$/gm, '').trim() !== '');
}

async function noteApplied(client: pg.Client, { version, name, checksum }: Migration): Promise<void> {
  const values = [version, name, checksum];
  await client.query('INSERT INTO migration (version, name, checksum) VALUES ($1, $2, $3)', values);
}

function makeFailure({ version, name }: Migration, consequence: string, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new Error(`Migration ${version}-${name} failed and ${consequence}: ${reason}`, { cause });
}

/** Migrations that the database lacks; checks those it has. */
async function pendingOf(database: Asking, migrations: readonly Migration[]): Promise<Migration[]> {
  const exists = await database.query(sql`SELECT FROM pg_class WHERE oid = to_regclass('migration')`);
  if (exists.length === 0) return [...migrations];
  const rows = await database.query<{ version: number; name: string; checksum: string }>(
    sql`SELECT version, name, checksum FROM migration ORDER BY version`,
  );
  for (const row of rows) {
    const known = migrations.find(({ version }) => version === row.version);
    if (known === undefined)
      throw new ConfigError(
        `Database has migration ${row.version}-${row.name}, which this version of praxis does not know: it is older than the data; start the version that made it, or restore a backup from before`,
      );
    if (known.checksum !== row.checksum)
      throw new ConfigError(
        `Migration ${row.version}-${known.name} has changed since it was applied: restore the file and add a new migration instead`,
      );
  }
  const applied = new Set(rows.map((row) => row.version));
  return migrations.filter((migration) => !applied.has(migration.version));
}

function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}
