/**
 * All rows of all tables, or of those of tenants, condensed: equal before and after means that nothing was written,
 * whatever the table. The tables are read from the catalogue of the database.
 */
import { controlPlaneTables } from '../../src/database/control-plane.ts';
import type { Database } from '../../src/database/database.ts';
import { sql } from '../../src/database/sql.ts';

/** Table → number of rows and digest of their contents. */
export type Rows = Readonly<Record<string, { rows: number; digest: string }>>;

/** The rows of tenant tables. @param owner sees the rows of every firm */
export async function tenantRows(owner: Database): Promise<Rows> {
  return await rowsOf(owner, await tenantTables(owner));
}

/** The rows of every table that there is. @param owner sees the rows of every firm */
export async function everyRow(owner: Database): Promise<Rows> {
  return await rowsOf(owner, await everyTable(owner));
}

/**
 * What reads and refusals leave in the audit ledger, a little later, changes nothing that a caller can ask for, nor does the
 * probe of writes.
 */
const ofAnyRequest: ReadonlySet<string> = new Set([
  'audit_patient_key',
  'audit_caller',
  'audit_action',
  'audit_elements',
  'audit_seal',
  'write_probe',
]);

/** In one statement: tests ask often, and it sees all tables at one moment. */
async function rowsOf(owner: Database, tables: readonly string[]): Promise<Rows> {
  const counted = tables
    .filter((table) => !ofAnyRequest.has(table))
    .map((table) => {
      const writes = table === 'audit_event' ? sql`WHERE shown IS NULL` : sql.empty;
      return sql`
        SELECT ${table}::text AS name, count(*) AS rows, md5(COALESCE(string_agg(t::text, E'\n' ORDER BY t::text), '')) AS digest
        FROM ${sql.identifier(table)} t ${writes}`;
    });
  const found = await owner.query<{ name: string; rows: number; digest: string }>(sql.join(counted, sql` UNION ALL `));
  return Object.fromEntries(found.map(({ name, rows, digest }) => [name, { rows, digest }]));
}

/** The tables that hold rows of firms: all with a column `firm` but those of the control plane. */
export async function tenantTables(owner: Database): Promise<readonly string[]> {
  const tables = await owner.query<{ name: string }>(sql`
    SELECT c.relname::text AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'firm'
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') ORDER BY 1`);
  return tables.map(({ name }) => name).filter((name) => !(name in controlPlaneTables));
}

/** Every table of the database that is not PostgreSQL's own, with its partitions. */
export async function everyTable(owner: Database): Promise<readonly string[]> {
  const tables = await owner.query<{ name: string; schema: string }>(sql`
    SELECT c.relname::text AS name, c.relnamespace::regnamespace::text AS schema FROM pg_class c
    WHERE c.relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace, 'pg_toast'::regnamespace)
      AND c.relkind IN ('r', 'p', 'm') AND c.relpersistence <> 't' ORDER BY 1`);
  const elsewhere = tables.filter(({ schema }) => schema !== 'public');
  if (elsewhere.length > 0) throw new Error(`tables outside of public: ${elsewhere.map(({ name }) => name).join()}`);
  return tables.map(({ name }) => name);
}
