// Row-level security by firm is on for every tenant table, and every key of a tenant table begins with the firm.
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { controlPlaneTables } from '../../src/database/control-plane.ts';
import { sql } from '../../src/database/sql.ts';
import { openTestDatabase } from '../support/database.ts';

const { owner } = await openTestDatabase({ after });

interface TableRow {
  readonly name: string;
  readonly tenant: boolean;
  readonly secured: boolean;
  readonly policies: readonly {
    readonly name: string;
    readonly roles: readonly string[];
    readonly command: string;
    readonly rows: string | null;
    readonly check: string | null;
    readonly permissive: boolean;
  }[];
}

const tables = await owner.query<TableRow>(sql`
  SELECT c.relname::text AS name, c.relrowsecurity AS secured,
    EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'firm') AS tenant,
    COALESCE((SELECT jsonb_agg(jsonb_build_object('name', p.policyname, 'roles', p.roles, 'command', p.cmd, 'rows', p.qual, 'check', p.with_check, 'permissive', p.permissive = 'PERMISSIVE'))
       FROM pg_policies p WHERE p.schemaname = 'public' AND p.tablename = c.relname), '[]') AS policies
  FROM pg_class c
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'm', 'f') ORDER BY c.relname`);

const tenantTables = tables.filter((table) => table.tenant && !(table.name in controlPlaneTables));
const firmCondition = "(firm = (NULLIF(current_setting('praxis.firm'::text, true), ''::text))::integer)";

test('every table is a tenant table or a control-plane table with a reason', () => {
  const others = tables
    .filter((table) => !table.tenant && !(table.name in controlPlaneTables))
    .map((table) => table.name);
  assert.deepEqual(others, []);
  const names = new Set(tables.map((table) => table.name));
  assert.deepEqual(
    Object.keys(controlPlaneTables).filter((name) => !names.has(name)),
    [],
  );
  assert.ok(tenantTables.length >= 8);
});

test('every tenant table has row-level security with exactly the policy by firm', () => {
  for (const table of tenantTables) {
    assert.equal(table.secured, true, table.name);
    assert.ok(table.policies.length > 0, table.name);
    for (const policy of table.policies) {
      assert.deepEqual(policy.roles, ['praxis_runtime'], table.name);
      // A permissive policy widens what is seen, so each one must be by firm.
      if (policy.rows !== null || policy.command !== 'INSERT')
        assert.equal(policy.rows, firmCondition, `${table.name} ${policy.name}`);
      if (policy.check !== null) assert.equal(policy.check, firmCondition, `${table.name} ${policy.name}`);
    }
  }
});

test('the firm of a tenant table is a number and never missing', async () => {
  for (const table of tenantTables) {
    const rows = await owner.query(sql`
      SELECT format_type(atttypid, atttypmod) AS type, attnotnull AS required
      FROM pg_attribute WHERE attrelid = ${table.name}::regclass AND attname = 'firm'`);
    assert.deepEqual(rows, [{ type: 'integer', required: true }], table.name);
  }
});

test('every primary key, unique and exclusion constraint and unique index of a tenant table begins with the firm', async () => {
  for (const table of tenantTables) {
    const indexes = await owner.query<{ name: string; first: string | null; primary: boolean }>(sql`
      SELECT i.indexrelid::regclass::text AS name, i.indisprimary AS primary,
        (SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = i.indrelid AND a.attnum = i.indkey[0]) AS first
      FROM pg_index i WHERE i.indrelid = ${table.name}::regclass AND (i.indisunique OR i.indisexclusion)`);
    assert.ok(
      indexes.some((index) => index.primary),
      `${table.name} has no primary key`,
    );
    for (const index of indexes) assert.equal(index.first, 'firm', index.name);
  }
});

test('no function or view lends the runtime role the rights of its owner', async () => {
  const definers = await owner.query(
    sql`SELECT proname::text AS name FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosecdef`,
  );
  assert.deepEqual(definers, []);
  const views = await owner.query(sql`
    SELECT relname::text AS name FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'v' AND NOT COALESCE('security_invoker=true' = ANY(reloptions), false)`);
  assert.deepEqual(views, []);
});
