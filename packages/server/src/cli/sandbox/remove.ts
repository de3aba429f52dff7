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

/** Removes all resources, versions and index rows of the plan's firms; credentials and the audit ledger stay. */
export async function removePractices(platform: Platform): Promise<void> {
  await platform.asOwner((owner) =>
    owner.transaction(undefined, async (tx) => await removeTenantRows(tx, await firmIds(tx), 'keeps-ledger')),
  );
}

/** Removes the plan's firms and applications with everything that belongs to them. */
export async function removeSandbox(platform: Platform): Promise<void> {
  await platform.asOwner((owner) =>
    owner.transaction(undefined, async (tx) => {
      const firms = await firmIds(tx);
      await removeTenantRows(tx, firms, 'whole');
      for (const table of legacyTables)
        await tx.query(sql`DELETE FROM ${sql.identifier(table)} WHERE firm = ANY(${firms}::int[])`);
      await removeAdministrators(tx, sql`firm = ANY(${firms}::int[])`);
      await tx.query(sql`DELETE FROM authorisation_version WHERE firm = ANY(${firms}::int[])`);
      await tx.query(sql`DELETE FROM authorisation WHERE firm = ANY(${firms}::int[])`);
      await tx.query(sql`DELETE FROM access_epoch WHERE firm = ANY(${firms}::int[])`);
      await tx.query(sql`DELETE FROM firm WHERE id = ANY(${firms}::int[])`);
      for (const row of sandboxPlan) {
        for (const { name } of row.applications) await removeApplication(tx, row.environment, name);
      }
    }),
  );
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
async function removeTenantRows(
  tx: Queryable,
  firms: readonly number[],
  extent: 'whole' | 'keeps-ledger',
): Promise<void> {
  const tables = await tx.query<{ name: string }>(sql`
    SELECT c.relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND a.attname = 'firm' AND NOT a.attisdropped
    ORDER BY c.relname`);
  for (const { name } of tables) {
    if (name in controlPlaneTables || (extent === 'keeps-ledger' && name.startsWith('audit_'))) continue;
    await tx.query(sql`DELETE FROM ${sql.identifier(name)} WHERE firm = ANY(${firms}::int[])`);
  }
}

async function removeApplication(tx: Queryable, environment: string, name: string): Promise<void> {
  const id = sql`(SELECT a.id FROM application a JOIN environment e ON e.id = a.environment WHERE e.name = ${environment} AND a.name = ${name})`;
  await tx.query(sql`DELETE FROM api_key WHERE application = ${id}`);
  await tx.query(sql`DELETE FROM client WHERE application = ${id}`);
  for (const table of [...legacyTables, 'legacy_agent'])
    await tx.query(sql`DELETE FROM ${sql.identifier(table)} WHERE application = ${id}`);
  await removeAdministrators(tx, sql`application = ${id}`);
  await tx.query(sql`DELETE FROM authorisation_version WHERE application = ${id}`);
  await tx.query(sql`DELETE FROM authorisation WHERE application = ${id}`);
  await tx.query(sql`DELETE FROM access_epoch WHERE application = ${id}`);
  await tx.query(sql`DELETE FROM application WHERE id = ${id}`);
}

async function removeAdministrators(tx: Queryable, theirs: Sql): Promise<void> {
  for (const table of ['admin_session', 'admin_address']) {
    const of = sql`(SELECT id FROM administrator WHERE ${theirs})`;
    await tx.query(sql`DELETE FROM ${sql.identifier(table)} WHERE administrator IN ${of}`);
  }
  await tx.query(sql`DELETE FROM administrator WHERE ${theirs}`);
}
