/**
 * The tables and sequences of the database as the catalogue lists them, so that a backup also has those of later migrations
 * (https://www.postgresql.org/docs/current/catalogs.html).
 */
import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';

export interface BackupTable {
  readonly name: string;
  /** Those that are stored, not computed. */
  readonly columns: readonly string[];
}

/** What the schema is, made by migrations; and the data keys, which the header has and a restore wraps anew. */
const tablesApart = ['migration', 'data_key'];

/** Every table with data that is to last, each after those that its foreign keys point to. */
export async function listTables(owner: Queryable): Promise<BackupTable[]> {
  const tables = await owner.query<BackupTable & { readonly needs: readonly string[] }>(sql`
    SELECT c.relname::text AS name,
      (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
       WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns,
      ARRAY(SELECT DISTINCT t.relname::text FROM pg_constraint f JOIN pg_class t ON t.oid = f.confrelid
       WHERE f.conrelid = c.oid AND f.contype = 'f' AND t.oid <> c.oid) AS needs
    FROM pg_class c
    WHERE c.relkind IN ('r', 'p') AND c.relpersistence = 'p' AND NOT c.relispartition AND c.relnamespace = current_schema()::regnamespace
      AND c.relname <> ALL (${tablesApart}::text[])
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
    ORDER BY c.relname`);
  const ordered: BackupTable[] = [];
  const placed = new Set<string>();
  while (ordered.length < tables.length) {
    const next = tables.filter(({ name, needs }) => !placed.has(name) && needs.every((table) => placed.has(table)));
    if (next.length === 0) throw new Error('foreign keys of tables form a circle');
    for (const { name, columns } of next) {
      ordered.push({ name, columns });
      placed.add(name);
    }
  }
  return ordered;
}

/** The last value of every sequence, those of identity columns too; null where none was taken yet. */
export async function readSequences(owner: Queryable): Promise<Record<string, number | null>> {
  const rows = await owner.query<{ name: string; last: number | null }>(
    sql`SELECT sequencename::text AS name, last_value AS last FROM pg_sequences WHERE schemaname = current_schema() ORDER BY 1`,
  );
  return Object.fromEntries(rows.map(({ name, last }) => [name, last]));
}

/**
 * For the rest of a transaction: values are written so that they are read back the same, and a role that row-level security
 * binds gets an error rather than a part of the rows.
 */
export async function useWholeTables(tx: Queryable): Promise<void> {
  await tx.query(
    sql`SELECT set_config('row_security', 'off', true), set_config('extra_float_digits', '1', true), set_config('bytea_output', 'hex', true)`,
  );
}
