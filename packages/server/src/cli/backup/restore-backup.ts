/**
 * Restoring a backup: the file is read twice. The first time nothing is changed, so that a file that is not whole is refused
 * however late the fault is; the second time everything is replaced in one transaction.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Platform } from '../../app.ts';
import { ConfigError } from '../../base/config.ts';
import type { Database, Queryable } from '../../database/database.ts';
import { type Sql, sql } from '../../database/sql.ts';
import { lockKeys, replaceDataKeys } from '../../keys/data-keys.ts';
import { raiseOrderEpoch } from '../../storage/order-epoch.ts';
import { type BackupTrailer, readCurrentSchema, resolveBackupKeys } from './format.ts';
import { type BackupReader, openBackup } from './read-backup.ts';
import { type BackupTable, listTables, useWholeTables } from './tables.ts';

/** Rows inserted by one statement, at most, and characters of their texts, at most (a longer row goes alone). */
const insertRowsMax = 2000;
const insertCharactersMax = 1024 * 1024;

interface RestoreOptions {
  /** Whether what the database holds may be lost. */
  readonly replace: boolean;
  readonly onProgress: (rows: number) => void;
}

/**
 * Replaces everything in the database by what `file` holds and returns the number of its rows. Nothing is changed when it
 * fails. No other praxis process may use the database, since it would go on with what it remembers.
 * @throws ConfigError when the file is not whole, was made under another secret key or schema, when the database holds firms
 *   or applications and `replace` is not set, or when it is in use
 */
export async function restoreBackup(platform: Platform, file: string, options: RestoreOptions): Promise<number> {
  await withBackup(platform, file, async ({ rows }) => {
    for (let row = await rows.next(); row.done !== true; ) row = await rows.next();
  });
  return await platform.asOwner(async (owner) => {
    await requireAlone(platform, owner);
    const rows = await owner.transaction(
      undefined,
      (tx) =>
        withBackup(platform, file, async (reader) => {
          await useWholeTables(tx);
          const rows = await replaceAll(tx, reader, options);
          await lockKeys(tx);
          await replaceDataKeys(tx, reader.dataKeys, platform.keys.owning);
          return rows;
        }),
      { statementTimeoutMs: 0 },
    );
    await owner.query(sql`ANALYZE ${listNames((await listTables(owner)).map(({ name }) => name))}`);
    return rows;
  });
}

function listNames(names: readonly string[]): Sql {
  return sql.join(names.map((name) => sql.identifier(name)));
}

async function withBackup<T>({ keys }: Platform, file: string, work: (reader: BackupReader) => Promise<T>): Promise<T> {
  const schema = await readCurrentSchema();
  const reader = await openBackup(file, (header) => resolveBackupKeys(file, header, schema, keys));
  try {
    return await work(reader);
  } finally {
    await reader.close();
  }
}

/** How often, and after what pause, it is looked again whether a process that was just stopped has left. */
const aloneAttempts = 20;
const aloneDelayMs = 100;

/** Other processes remember environments, keys and rights, which are about to change under them. */
async function requireAlone({ database }: Platform, owner: Database): Promise<void> {
  const [self] = await database.query<{ name: string; role: string }>(
    sql`SELECT current_setting('application_name') AS name, session_user::text AS role`,
  );
  for (let attempt = 1; attempt <= aloneAttempts; attempt += 1) {
    const { shared, exclusive } = database.load();
    const [sessions] = await owner.query<{ count: number }>(sql`
      SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = ${self?.name ?? ''} AND usename = ${self?.role ?? ''}`);
    if (sessions !== undefined && sessions.count <= shared.connections + exclusive.connections) return;
    await delay(aloneDelayMs);
  }
  throw new ConfigError('another praxis process uses the database: stop the service, then restore');
}

async function replaceAll(tx: Queryable, reader: BackupReader, options: RestoreOptions): Promise<number> {
  const tables = await listTables(tx);
  await requireReplaceable(tx, options.replace);
  const raiseMarks = await rememberMarks(tx);
  await tx.query(sql`TRUNCATE ${listNames(tables.map(({ name }) => name))}`);
  const { rows, trailer } = await insertAll(tx, tables, reader, options.onProgress);
  await raiseMarks();
  await setSequences(tx, trailer);
  return rows;
}

/** An operator's typing mistake must not cost the data of practices. */
async function requireReplaceable(tx: Queryable, replace: boolean): Promise<void> {
  const [held] = await tx.query<{ firms: number; applications: number }>(
    sql`SELECT (SELECT count(*)::int FROM firm) AS firms, (SELECT count(*)::int FROM application) AS applications`,
  );
  if (replace || held === undefined || held.firms + held.applications === 0) return;
  throw new ConfigError(
    `the database holds ${held.firms} firms and ${held.applications} applications: --replace gives them up for those of the backup`,
  );
}

/**
 * Reads what must not go back, whatever the backup says; what is returned raises it above that. Transaction ids may be lower
 * now than in the backup, so changes get a new order epoch, above that of what was replaced, too. Rights that somebody
 * remembers from before are other rights than these, so their epochs never meet again.
 */
async function rememberMarks(tx: Queryable): Promise<() => Promise<void>> {
  const [marks = { orderEpoch: 0, accessEpoch: 0 }] = await tx.query<{ orderEpoch: number; accessEpoch: number }>(sql`
    SELECT (SELECT epoch FROM order_epoch) AS "orderEpoch", (SELECT coalesce(max(epoch), 0) FROM access_epoch) AS "accessEpoch"`);
  return async () => {
    await tx.query(sql`UPDATE order_epoch SET epoch = greatest(epoch, ${marks.orderEpoch}::int)`);
    await raiseOrderEpoch(tx);
    await tx.query(sql`UPDATE access_epoch SET epoch = epoch + ${marks.accessEpoch}::bigint`);
  };
}

/** Sequences are outside of the transaction, so they are only ever raised: were it to fail now, nothing would have changed. */
async function setSequences(tx: Queryable, { sequences }: BackupTrailer): Promise<void> {
  for (const [name, last] of Object.entries(sequences)) {
    if (last === null) continue;
    await tx.query(sql`
      SELECT setval(${name}::regclass, greatest(${last}::bigint, coalesce((SELECT s.last_value FROM pg_sequences s WHERE s.schemaname = current_schema() AND s.sequencename = ${name}), 0)))`);
  }
}

/** While one batch is being inserted the next is read. */
async function insertAll(
  tx: Queryable,
  tables: readonly BackupTable[],
  reader: BackupReader,
  onProgress: (rows: number) => void,
): Promise<{ rows: number; trailer: BackupTrailer }> {
  const known = new Map(tables.map((table) => [table.name, table]));
  const batches = batchesOf(reader.rows);
  let rows = 0;
  let inserting = Promise.resolve();
  for (;;) {
    const next = await batches.next();
    await inserting;
    if (next.done === true) return { rows, trailer: next.value };
    const { table: name, texts } = next.value;
    const table = known.get(name);
    if (table === undefined) throw new ConfigError(`the backup has a table ${name}, which this praxis does not know`);
    onProgress(rows);
    rows += texts.length;
    inserting = insert(tx, table, texts);
    inserting.catch(() => undefined); // the next turn of the loop gets it
  }
}

interface RowBatch {
  readonly table: string;
  readonly texts: readonly string[];
}

/** Rows of one table each; then the trailer. */
async function* batchesOf(rows: BackupReader['rows']): AsyncGenerator<RowBatch, BackupTrailer> {
  let table = '';
  let texts: string[] = [];
  let characters = 0;
  for (;;) {
    const next = await rows.next();
    const row = next.done === true ? undefined : next.value;
    const isFull =
      row?.table !== table || texts.length === insertRowsMax || characters + row.text.length > insertCharactersMax;
    if (isFull && texts.length > 0) {
      yield { table, texts };
      texts = [];
      characters = 0;
    }
    if (next.done === true) return next.value;
    table = next.value.table;
    texts.push(next.value.text);
    characters += next.value.text.length;
  }
}

/** OFFSET 0 keeps the text of a row from being read once per column. */
async function insert(tx: Queryable, { name, columns }: BackupTable, rows: readonly string[]): Promise<void> {
  const table = sql.identifier(name);
  const values = sql.join(columns.map((column) => sql`(given.whole_row).${sql.identifier(column)}`));
  await tx.query(sql`
    INSERT INTO ${table} (${listNames(columns)}) OVERRIDING SYSTEM VALUE
    SELECT ${values} FROM (SELECT line::${table} AS whole_row FROM unnest(${rows}::text[]) AS line OFFSET 0) AS given`);
}
