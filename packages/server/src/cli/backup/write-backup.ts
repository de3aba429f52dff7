/**
 * Writing a backup: all tables as one snapshot sees them, while the service runs on
 * (https://www.postgresql.org/docs/current/transaction-iso.html#XACT-REPEATABLE-READ).
 */
import type { Hmac } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Platform } from '../../app.ts';
import { toInstant } from '../../base/clock.ts';
import type { Queryable } from '../../database/database.ts';
import { type Sql, sql } from '../../database/sql.ts';
import { version } from '../../version.ts';
import {
  type BackupHeader,
  type BackupTrailer,
  buildKeysHeader,
  formatVersion,
  openDigest,
  readCurrentSchema,
} from './format.ts';
import { type BackupTable, listTables, readSequences, useWholeTables } from './tables.ts';

/** Statements that fetch so many rows at once; FETCH takes no parameter. */
const fetches: readonly { readonly rows: number; readonly from: (cursor: Sql) => Sql }[] = [
  { rows: 4000, from: (cursor) => sql`FETCH 4000 FROM ${cursor}` },
  { rows: 500, from: (cursor) => sql`FETCH 500 FROM ${cursor}` },
  { rows: 50, from: (cursor) => sql`FETCH 50 FROM ${cursor}` },
  { rows: 5, from: (cursor) => sql`FETCH 5 FROM ${cursor}` },
  { rows: 1, from: (cursor) => sql`FETCH 1 FROM ${cursor}` },
];
/** What rows fetched at once may have together, by the average of those before them. */
const fetchCharacters = 1024 * 1024;
/** Rows are taken to be so long before the first are seen. */
const firstRowCharacters = fetchCharacters / 50;
/** Of zlib: three times as fast as the default, for a tenth more bytes. */
const compressionLevel = 3;

/**
 * Writes `file`, which its owner alone can read, and returns the number of rows. It is called `.partial` until it is complete
 * and on the disk; then it takes the place of an older one.
 */
export async function writeBackup(
  platform: Platform,
  file: string,
  onProgress: (rows: number) => void,
): Promise<number> {
  const partial = `${file}.partial`;
  const header: BackupHeader = {
    praxisBackup: formatVersion,
    createdAt: toInstant(platform.clock.now()),
    software: version,
    schema: await readCurrentSchema(),
    ...buildKeysHeader(platform.keys),
  };
  try {
    const rows = await platform.asOwner((owner) =>
      owner.transaction(
        undefined,
        async (tx) => {
          // The transaction may be run again from its beginning, and then the file is, too.
          await rm(partial, { force: true });
          await useWholeTables(tx);
          let rows = 0;
          const lines = backupLines(tx, header, openDigest(platform.keys.dataKeys), (more) => {
            rows += more;
            onProgress(rows);
          });
          // flush: it is on the disk before it is closed, and so before it is called complete.
          const stream = createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true });
          await pipeline(Readable.from(lines), createGzip({ level: compressionLevel }), stream);
          return rows;
        },
        { isolation: 'repeatable read', statementTimeoutMs: 0 },
      ),
    );
    await rename(partial, file);
    return rows;
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** The lines of the file, many in each text. */
async function* backupLines(
  tx: Queryable,
  header: BackupHeader,
  digest: Hmac,
  onRows: (rows: number) => void,
): AsyncGenerator<string> {
  const digested = (text: string): string => {
    digest.update(text);
    return text;
  };
  yield digested(`${JSON.stringify(header)}\n`);
  const rows: Record<string, number> = {};
  for (const table of await listTables(tx)) {
    yield digested(`${JSON.stringify({ table: table.name })}\n`);
    rows[table.name] = 0;
    for await (const texts of rowsOf(tx, table)) {
      yield digested(texts.map((text) => `${JSON.stringify(text)}\n`).join(''));
      rows[table.name] = (rows[table.name] ?? 0) + texts.length;
      onRows(texts.length);
    }
  }
  // Read last: sequences belong to no snapshot, so now they are past every row of it.
  const trailer: BackupTrailer = { rows, sequences: await readSequences(tx), digest: digest.digest('hex') };
  yield `${JSON.stringify(trailer)}\n`;
}

/** The rows of a table as texts of its composite type, some at a time. */
async function* rowsOf(tx: Queryable, { name }: BackupTable): AsyncGenerator<string[]> {
  const cursor = sql.identifier(`backup_of_${name}`);
  await tx.query(
    sql`DECLARE ${cursor} NO SCROLL CURSOR FOR SELECT whole_row::text AS text FROM ${sql.identifier(name)} AS whole_row`,
  );
  let rowCharacters = firstRowCharacters;
  for (;;) {
    const fetch = fetches.find(({ rows }) => rows * rowCharacters <= fetchCharacters || rows === 1);
    if (fetch === undefined) break;
    const texts = (await tx.query<{ text: string }>(fetch.from(cursor))).map(({ text }) => text);
    if (texts.length === 0) break;
    yield texts;
    rowCharacters = texts.reduce((sum, text) => sum + text.length, 0) / texts.length;
  }
  await tx.query(sql`CLOSE ${cursor}`);
}
