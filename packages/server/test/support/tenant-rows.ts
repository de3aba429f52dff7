/**
 * All rows of all tenant tables, condensed: equal before and after means that nothing was written, whatever the table.
 */
import { controlPlaneTables } from '../../src/database/control-plane.ts';
import type { Database } from '../../src/database/database.ts';
import { sql } from '../../src/database/sql.ts';

/** Table → number of rows and digest of their contents. @param owner sees the rows of every firm */
export async function tenantRows(owner: Database): Promise<Readonly<Record<string, { rows: number; digest: string }>>> {
  const found: Record<string, { rows: number; digest: string }> = {};
  for (const table of await tenantTables(owner)) {
    const [row] = await owner.query<{ rows: number; digest: string }>(sql`
      SELECT count(*) AS rows, md5(COALESCE(string_agg(t::text, E'\n' ORDER BY t::text), '')) AS digest
      FROM ${sql.identifier(table)} t`);
    if (row !== undefined) found[table] = row;
  }
  return found;
}

/** The tables that hold rows of firms: all with a column `firm` but those of the control plane. */
export async function tenantTables(owner: Database): Promise<readonly string[]> {
  const tables = await owner.query<{ name: string }>(sql`
    SELECT c.relname::text AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'firm'
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') ORDER BY 1`);
  return tables.map(({ name }) => name).filter((name) => !(name in controlPlaneTables));
}
