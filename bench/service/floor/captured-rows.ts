/**
 * The rows that a write of the product leaves in the database, told by the id of its request.
 */
import type { Database } from '../../../packages/server/src/database/database.ts';
import { type Sql, sql } from '../../../packages/server/src/database/sql.ts';

/** A table as writes fill it; columns that it has besides are null. */
export interface WrittenTable {
  /** The column with a number of the sequence of resources. */
  readonly number: 'rid' | 'seq';
  /** The column with the time of the write. */
  readonly time?: 'at' | 'lu';
  /** Whether it has the number of the transaction, `xid`. */
  readonly tellsTransaction?: true;
  /** The others, with their types, as pg_type names them. */
  readonly columns: Readonly<Record<string, string>>;
}

export const logTables = {
  resource: {
    number: 'rid',
    time: 'lu',
    columns: { vid: 'int4', rtype: 'int2', id: 'text', content: 'text' },
  },
  resource_version: {
    number: 'seq',
    time: 'lu',
    tellsTransaction: true,
    columns: {
      vid: 'int4',
      epoch: 'int4',
      application: 'int4',
      rtype: 'int2',
      method: 'char',
      id: 'text',
      content: 'text',
    },
  },
  audit_event: {
    number: 'seq',
    time: 'at',
    tellsTransaction: true,
    columns: {
      epoch: 'int4',
      caller: 'int8',
      action: 'int8',
      vid: 'int4',
      shown: 'int4',
      times: 'int4',
      patient_key: 'int4',
      resource_uuid: 'uuid',
      id: 'text',
      request_uuid: 'uuid',
      request_id: 'text',
      patient_uuid: 'uuid',
      patients: 'text',
      proof: 'bytea',
    },
  },
  audit_patient_key: { number: 'seq', time: 'at', columns: { patient_key: 'int4' } },
} as const satisfies Readonly<Record<string, WrittenTable>>;

export const indexTables = {
  index_token: { number: 'rid', columns: { system: 'int8', param: 'int4', code: 'text' } },
  index_reference: { number: 'rid', columns: { param: 'int4', target_rtype: 'int2', target_id: 'text' } },
  index_date: { number: 'rid', columns: { lo: 'int8', hi: 'int8', param: 'int4' } },
  index_string: { number: 'rid', columns: { param: 'int4', value: 'text', original: 'text' } },
  index_number: {
    number: 'rid',
    columns: { system: 'int8', lo: 'float8', hi: 'float8', param: 'int4', code: 'text' },
  },
} as const satisfies Readonly<Record<string, WrittenTable>>;

export type LogTable = keyof typeof logTables;
export type IndexTable = keyof typeof indexTables;

/** Columns as texts, by name. */
export type CapturedRow = Readonly<Record<string, string | null>>;
export type CapturedRows = Readonly<Record<LogTable | IndexTable, readonly CapturedRow[]>>;

/** The rows of the request in the firm, with all index rows of the resources that it wrote. */
export async function captureRows(owner: Database, firm: number, requestId: string): Promise<CapturedRows> {
  const ofRequest = sql`firm = ${firm} AND (at, seq) IN (SELECT at, seq FROM audit_ledger WHERE firm = ${firm} AND request_id = ${requestId})`;
  // A row of the ledger that is of a write shows nothing.
  const writer = sql`SELECT xid FROM audit_event WHERE ${ofRequest} AND shown IS NULL`;
  const versions = sql`firm = ${firm} AND COALESCE(written_by, xid) IN (${writer})`;
  const resources = sql`firm = ${firm} AND (rtype, id) IN (SELECT rtype, id FROM resource_version WHERE ${versions})`;
  const patients = sql`firm = ${firm} AND (at, seq) IN (SELECT at, seq FROM audit_event WHERE ${ofRequest})`;
  const read = async (name: LogTable | IndexTable, where: Sql): Promise<readonly CapturedRow[]> => {
    const { number, columns }: WrittenTable =
      name in logTables ? logTables[name as LogTable] : indexTables[name as IndexTable];
    const texts = [number, ...Object.keys(columns)].map((column) => sql`${sql.identifier(column)}::text`);
    return await owner.query(
      sql`SELECT ${sql.join(texts)} FROM ${sql.identifier(name)} WHERE ${where} ORDER BY ${sql.identifier(number)}`,
    );
  };
  const indexed = sql`firm = ${firm} AND rid IN (SELECT rid FROM resource WHERE ${resources})`;
  return {
    resource: await read('resource', resources),
    resource_version: await read('resource_version', versions),
    audit_event: await read('audit_event', ofRequest),
    audit_patient_key: await read('audit_patient_key', patients),
    index_token: await read('index_token', indexed),
    index_reference: await read('index_reference', indexed),
    index_date: await read('index_date', indexed),
    index_string: await read('index_string', indexed),
    index_number: await read('index_number', indexed),
  };
}

/** Numbers of rows by table, for comparison. */
export function countRows(rows: CapturedRows): string {
  return Object.entries(rows)
    .map(([name, { length }]) => `${name} ${length}`)
    .join(', ');
}
