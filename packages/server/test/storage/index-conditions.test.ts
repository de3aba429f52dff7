/**
 * Under row-level security PostgreSQL uses a comparison as an index condition only when it is leakproof
 * (https://www.postgresql.org/docs/current/ddl-rowsecurity.html); otherwise every lookup reads the whole firm.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { openTestDatabase } from '../support/database.ts';
import { tenantTables } from './fixture.ts';

const { owner } = await openTestDatabase({ after });

/** Comparisons of each indexed column by its index's operator class. */
const indexedComparisons = sql`
  SELECT DISTINCT c.relname::text AS "table", a.attname::text AS "column", p.oid::regprocedure::text AS comparison, p.proleakproof AS leakproof
  FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
  CROSS JOIN LATERAL unnest(i.indkey::int2[], i.indclass::oid[]) AS k(attnum, opclass)
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
  JOIN pg_opclass o ON o.oid = k.opclass
  JOIN pg_amop m ON m.amopfamily = o.opcfamily AND m.amoplefttype = o.opcintype AND m.amoprighttype = o.opcintype
  JOIN pg_operator op ON op.oid = m.amopopr JOIN pg_proc p ON p.oid = op.oprcode
  WHERE c.relname = ANY (${tenantTables}::text[])`;

test('every comparison that an index serves is leakproof', async () => {
  const comparisons = await owner.query<{ table: string; column: string; comparison: string; leakproof: boolean }>(
    indexedComparisons,
  );
  assert.deepEqual(
    comparisons.filter(({ leakproof }) => !leakproof),
    [],
  );
  assert.deepEqual(new Set(comparisons.map(({ table }) => table)), new Set(tenantTables));
});
