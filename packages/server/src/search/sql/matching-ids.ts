/**
 * The resources that a driving index finds and that meet every other condition, each once and in no order. `d` is the
 * driving index's table; conditions name its columns without a qualifier.
 */
import { type Sql, sql } from '../../database/sql.ts';
import { getTypeNumber } from '../numbers.ts';
import type { SearchCondition } from '../query/condition.ts';
import type { Criterion } from '../query/criteria.ts';
import type { DrivingIndex } from './driving-index.ts';
import { buildExistsSubquery, buildMandatoryCondition, type SemiJoin, tables } from './exists-subquery.ts';

/** What a search is about, apart from its order and its page. */
export interface Wanted {
  readonly firm: number;
  readonly type: string;
  readonly criteria: readonly SearchCondition[];
  /** The rows that the caller may see: those of at least one group; none: all. Never mixed with what the caller asks. */
  readonly mandatory: readonly (readonly Criterion[])[];
}

const and = sql` AND `;

/** What makes a row of the driving index's table one of this firm and parameter, or of this firm and type. */
export function buildSourceConditions({ firm, type }: Wanted, driving: DrivingIndex): readonly Sql[] {
  if (driving.table !== 'resource') return [sql`d.firm = ${firm}`, sql`d.param = ${driving.number}`];
  return [sql`d.firm = ${firm}`, sql`d.rtype = ${getTypeNumber(type)}`, sql`d.content IS NOT NULL`];
}

/**
 * WHERE of the rows of a branch of the driving index that meet all criteria and `more`. In this order: of several lower
 * bounds of an index's column the scan begins at the one named first, and the row that a page comes after has to be
 * that one.
 */
export function buildBranchWhere(
  wanted: Wanted,
  driving: DrivingIndex,
  branch: Sql,
  more: readonly Sql[],
  semiJoin: SemiJoin = 'nested-loop',
): Sql {
  return sql`WHERE ${sql.join([...buildSourceConditions(wanted, driving), ...more, sql`(${branch})`, ...buildOtherConditions(wanted, driving, semiJoin)], and)}`;
}

/** What the driving index does not see to: the other criteria, and the row restrictions of the caller. */
export function buildOtherConditions(
  { firm, criteria, mandatory }: Wanted,
  driving: DrivingIndex,
  semiJoin: SemiJoin,
): readonly Sql[] {
  const others = criteria.filter((condition) => !driving.covered.has(condition));
  const asked = others.map((condition) => buildExistsSubquery(firm, condition, semiJoin));
  return isLed(mandatory, driving) ? asked : [...asked, buildMandatoryCondition(firm, mandatory, semiJoin)];
}

/** Whether the driving index sees to all conditions. */
export function coversAll({ criteria, mandatory }: Wanted, driving: DrivingIndex): boolean {
  return criteria.every((condition) => driving.covered.has(condition)) && isLed(mandatory, driving);
}

function isLed(mandatory: Wanted['mandatory'], driving: DrivingIndex): boolean {
  if (mandatory.length === 0) return true;
  return mandatory.length === 1 && findSoleGroup(mandatory).every((criterion) => driving.covered.has(criterion));
}

/** What every row has in common that the caller may see; nothing where it may see rows of several kinds. */
export function findSoleGroup(mandatory: Wanted['mandatory']): readonly Criterion[] {
  const [group = [], ...others] = mandatory;
  return others.length === 0 ? group : [];
}

/**
 * One row, `few`: whether at most `limit` rows drive the search, whatever the other conditions leave of them; of resources
 * that are linked, whether so many lead to them.
 */
export function drivesFew(wanted: Wanted, driving: DrivingIndex, limit: number): Sql {
  if (driving.gathersFew !== undefined) return driving.gathersFew(limit);
  const conditions = sql.join([...buildSourceConditions(wanted, driving), sql`(${driving.where})`], and);
  return sql`SELECT count(*) <= ${limit} AS few FROM (SELECT 1 FROM ${tables[driving.table]} d WHERE ${conditions} LIMIT ${limit + 1}) c`;
}

/** The resources that the search finds: `rid`, each once, in no order. */
export function selectMatchingIds(
  wanted: Wanted,
  driving: DrivingIndex,
  more: readonly Sql[] = [],
  semiJoin: SemiJoin = 'nested-loop',
): Sql {
  const from = sql`FROM ${tables[driving.table]} d`;
  const parts = driving.branches.map(
    (branch) => sql`SELECT d.rid ${from} ${buildBranchWhere(wanted, driving, branch, more, semiJoin)}`,
  );
  const all = sql.join(parts, sql` UNION ALL `);
  return parts.length === 1 && !driving.repeats ? all : sql`SELECT DISTINCT rid FROM (${all} OFFSET 0) c`;
}
