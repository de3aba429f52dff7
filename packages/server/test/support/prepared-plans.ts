/** Plans as the service has them: of prepared statements, generic, kept by the session that made them. */
import assert from 'node:assert/strict';
import type { Queryable } from '../../src/database/database.ts';
import { type Sql, sql } from '../../src/database/sql.ts';

/** A node of a plan (https://www.postgresql.org/docs/current/using-explain.html). */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
  readonly [property: string]: unknown;
}

/** A statement that the template would not make: text for PREPARE and EXECUTE, which take no parameters. */
const made = (text: string): Sql => ({ ...sql`SELECT`, text, values: [] });

/** `value` as a literal of SQL. */
function literal(value: unknown): string {
  if (value === null) return 'NULL';
  if (typeof value === 'number' || typeof value === 'boolean') return `'${value}'`;
  if (Buffer.isBuffer(value)) return `'\\x${value.toString('hex')}'`;
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`;
  if (Array.isArray(value))
    return `'{${value.map((each) => `"${String(each).replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}'`;
  return assert.fail(`no literal of ${typeof value}`);
}

/**
 * Runs the statement, prepared under the name at its first use in the transaction's session, and gives its plan. A name
 * stands for one text.
 */
export async function prepared(tx: Queryable, name: string, statement: Sql): Promise<PlanNode> {
  const quoted = `"${name}"`;
  const known = await tx.query<{ statement: string }>(
    sql`SELECT statement FROM pg_prepared_statements WHERE name = ${name}`,
  );
  const text = `PREPARE ${quoted} AS ${statement.text}`;
  if (known[0] === undefined) await tx.query(made(text));
  else assert.equal(known[0].statement, text);
  const values = statement.values.length === 0 ? '' : `(${statement.values.map(literal).join(', ')})`;
  const [row] = await tx.query<{ 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }>(
    made(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE ${quoted}${values}`),
  );
  return row?.['QUERY PLAN'][0]?.Plan ?? assert.fail('no plan');
}

/** Blocks of 8 kB that the statement looked at, in memory or on disk. */
export function blocksOf(plan: PlanNode): number {
  return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
}
