/**
 * Removing what the sandbox plan made: the practices' data, and on demand firms, applications and credentials, too.
 */
import type { Platform } from '../../app.ts';
import { controlPlaneTables } from '../../database/control-plane.ts';
import type { Queryable } from '../../database/database.ts';
import { type Sql, sql } from '../../database/sql.ts';
import { sandboxPlan } from './seed.ts';

/** Tables of the legacy flow with firm and application. */
const legacyTables = ['legacy_account', 'legacy_use', 'legacy_sunset', 'legacy_brown_out'] as const;

const rightsTables = ['authorisation_version', 'authorisation', 'access_epoch'] as const;

/** Removes all resources, versions and index rows of the plan's firms; credentials and the audit ledger stay. */
export async function removePractices(platform: Platform): Promise<void> {
  await platform.asOwner((owner) =>
    owner.transaction(undefined, async (tx) => {
      const tables = await listTenantTables(tx);
      const kept = tables.filter((name) => !name.startsWith('audit_'));
      await removeRows(tx, kept, sql`firm = ANY(${await firmIds(tx)}::int[])`);
    }),
  );
}

/** Removes the plan's firms and applications with everything that belongs to them. */
export async function removeSandbox(platform: Platform): Promise<void> {
  await platform.asOwner((owner) =>
    owner.transaction(undefined, async (tx) => {
      const firms = await firmIds(tx);
      const theirs = sql`firm = ANY(${firms}::int[])`;
      await removeRows(tx, [...(await listTenantTables(tx)), ...legacyTables], theirs);
      await removeAdministrators(tx, theirs);
      await removeRows(tx, rightsTables, theirs);
      await removeRows(tx, ['firm'], sql`id = ANY(${firms}::int[])`);
      for (const row of sandboxPlan) {
        for (const { name } of row.applications) await removeApplication(tx, row.environment, name);
      }
    }),
  );
}

async function removeRows(tx: Queryable, tables: readonly string[], condition: Sql): Promise<void> {
  for (const table of tables) await tx.query(sql`DELETE FROM ${sql.identifier(table)} WHERE ${condition}`);
}

async function firmIds(tx: Queryable): Promise<number[]> {
  const ids: number[] = [];
  for (const { environment, firms } of sandboxPlan) {
    const prefixes = firms.map((firm) => firm.prefix);
    const rows = await tx.query<{ id: number }>(sql`
      SELECT f.id FROM firm f JOIN environment e ON e.id = f.environment
      WHERE e.name = ${environment} AND f.prefix = ANY(${prefixes}::text[])`);
    ids.push(...rows.map((row) => row.id));
  }
  return ids;
}

/** Every table with a firm column that is not control plane holds tenant rows, also those of later migrations. */
async function listTenantTables(tx: Queryable): Promise<string[]> {
  const tables = await tx.query<{ name: string }>(sql`
    SELECT c.relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND a.attname = 'firm' AND NOT a.attisdropped
    ORDER BY c.relname`);
  return tables.map(({ name }) => name).filter((name) => !(name in controlPlaneTables));
}

async function removeApplication(tx: Queryable, environment: string, name: string): Promise<void> {
  const id = sql`(SELECT a.id FROM application a JOIN environment e ON e.id = a.environment WHERE e.name = ${environment} AND a.name = ${name})`;
  const its = sql`application = ${id}`;
  await removeRows(tx, ['api_key', 'client', ...legacyTables, 'legacy_agent'], its);
  await removeAdministrators(tx, its);
  await removeRows(tx, rightsTables, its);
  await removeRows(tx, ['application'], sql`id = ${id}`);
}

async function removeAdministrators(tx: Queryable, theirs: Sql): Promise<void> {
  const of = sql`(SELECT id FROM administrator WHERE ${theirs})`;
  await removeRows(tx, ['admin_session', 'admin_address'], sql`administrator IN ${of}`);
  await removeRows(tx, ['administrator'], theirs);
}
