/** What a firm keeps beside its resources, as rows of JSON in `configuration/`: all of one moment, and no secret. */
import type { Queryable } from '../../../database/database.ts';
import { type Sql, sql } from '../../../database/sql.ts';
import { type ExportedRows, erasedTables, typeColumn } from '../../../offboarding/firm-tables.ts';
import { getTypeName } from '../../../storage/rows.ts';
import type { Firm } from '../../../tenancy/firms.ts';
import type { ExportDirectory } from './export-directory.ts';
import type { ListedFile } from './manifest.ts';

const rowsOfPage = 1_000;

type JsonRow = Readonly<Record<string, unknown>>;

/** Writes a file for each kind that the firm has rows of. @param tx of the moment */
export async function exportConfiguration(
  tx: Queryable,
  directory: ExportDirectory,
  firm: Firm,
): Promise<readonly ListedFile[]> {
  const files: ListedFile[] = [];
  const { id, environment, prefix, name, timeZone, state, requiresReferences } = firm;
  const own = [{ environment, prefix, name, timeZone, state, requiresReferences, ledger: id }];
  const write = async (type: string, rows: AsyncIterable<JsonRow> | Iterable<JsonRow>): Promise<void> => {
    const file = await writeRows(directory, type, rows);
    if (file !== undefined) files.push(file);
  };
  await write('firm', own);
  await write('application', await tx.query<JsonRow>(selectApplications(id)));
  for (const table of erasedTables)
    if (typeof table.exported !== 'string') await write(table.name, readRows(tx, table.name, table.exported, id));
  return files;
}

async function writeRows(
  directory: ExportDirectory,
  type: string,
  rows: AsyncIterable<JsonRow> | Iterable<JsonRow>,
): Promise<ListedFile | undefined> {
  let file: Awaited<ReturnType<ExportDirectory['begin']>> | undefined;
  for await (const row of rows) {
    file ??= await directory.begin(`configuration/${type}.ndjson`);
    await file.write(JSON.stringify(row));
  }
  return file === undefined ? undefined : { ...(await file.finish()), kind: 'configuration', type };
}

/** The applications that other rows name by their number. */
function selectApplications(firm: number): Sql {
  return sql`
    SELECT a.id AS application, a.name, a.acl FROM application a
    WHERE EXISTS (SELECT FROM authorisation z WHERE z.firm = ${firm} AND z.application = a.id) ORDER BY a.id`;
}

/** Page by page behind the key of the last row. */
async function* readRows(
  tx: Queryable,
  table: string,
  { columns, key }: ExportedRows,
  firm: number,
): AsyncGenerator<JsonRow> {
  const names = sql.join(columns.map((column) => sql.identifier(column)));
  const keys = sql.join(key.map((column) => sql.identifier(column)));
  for (let after: Sql = sql.empty; ; ) {
    const page = await tx.query<{ row: JsonRow }>(sql`
      SELECT to_jsonb(r) AS row FROM (
        SELECT ${names} FROM ${sql.identifier(table)} WHERE firm = ${firm} ${after} ORDER BY ${keys} LIMIT ${rowsOfPage}) r`);
    for (const { row } of page) yield withTypeName(row);
    const last = page.at(-1);
    if (last === undefined || page.length < rowsOfPage) return;
    after = sql`AND (${keys}) > (${sql.join(key.map((column) => sql`${last.row[column] ?? null}`))})`;
  }
}

function withTypeName({ [typeColumn.stored]: rtype, ...row }: JsonRow): JsonRow {
  return typeof rtype === 'number' ? { [typeColumn.exported]: getTypeName(rtype), ...row } : row;
}
