/** What PostgreSQL does for a statement, by EXPLAIN (ANALYZE): counted in pages, which no other load of the machine changes. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { type Sql, sql } from '../../src/database/sql.ts';
import type { SearchWorld } from './world.ts';

/** A node of a plan (https://www.postgresql.org/docs/18/using-explain.html). */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  /** Of one loop, on average. */
  readonly 'Actual Rows': number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Runs the statement as the firm's and gives its plan. */
export async function explained({ database, scope }: SearchWorld, statement: Sql): Promise<PlanNode> {
  const [row] = await database.runtime
    .forFirm(scope.firm)
    .query<{ 'QUERY PLAN': readonly { Plan: PlanNode }[] }>(sql`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement}`);
  return row?.['QUERY PLAN'][0]?.Plan ?? assert.fail('no plan');
}

/** The node and all below it. */
export function nodesOf(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/** Pages of 8 kB that the plan read, from memory or from disk. */
export function pagesOf(node: PlanNode): number {
  return (node['Shared Hit Blocks'] ?? 0) + (node['Shared Read Blocks'] ?? 0);
}

/** Times that tables are vacuumed until all their pages are visible to all, at most. */
const vacuumsMax = 50;

/**
 * Vacuums and analyses all tables, so that plans meet them as autovacuum leaves them. Tests commit without waiting for the
 * disk, and pages are marked visible to all only when their transactions have reached it, some tenths of a second later.
 */
export async function vacuumed({ database: { owner } }: SearchWorld): Promise<void> {
  for (let vacuums = 1; vacuums <= vacuumsMax; vacuums += 1) {
    await owner.query(sql`VACUUM ANALYZE`);
    const hidden = await owner.query(sql`
      SELECT relname FROM pg_class WHERE relname IN ('resource', 'index_date', 'index_token') AND relallvisible < relpages`);
    if (hidden.length === 0) return;
    await delay(100);
  }
  assert.fail('pages are still hidden from some transaction');
}
