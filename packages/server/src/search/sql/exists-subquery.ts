/**
 * Criteria as conditions on a resource that another table found: "has it a row that passes?". Written so that the
 * planner can only look the rows of that resource up (docs/decisions/0030).
 */
import { type Sql, sql } from '../../database/sql.ts';
import type { SearchTable } from '../kinds/kind.ts';
import { getTypeNumber } from '../numbers.ts';
import type { Chain, Combination, Has, Linked, SearchCondition } from '../query/condition.ts';
import type { Criterion } from '../query/criteria.ts';

export const tables: Readonly<Record<SearchTable, Sql>> = {
  token: sql`index_token`,
  reference: sql`index_reference`,
  date: sql`index_date`,
  string: sql`index_string`,
  number: sql`index_number`,
  resource: sql`resource`,
};

/**
 * How a criterion is asked of the resource that `d` found: `nested-loop` for each resource by itself, which is best for the
 * rows of a page; `hash`, where the planner may compare whole sets, which is best for counting very many.
 */
export type SemiJoin = 'nested-loop' | 'hash';

/** The outer row of a subquery: its resource, and how deep inside other subqueries it is. */
export interface OuterRow {
  /** Number of the resource, as an expression. */
  readonly rid: Sql;
  readonly depth: number;
}

/** The resource that the leading table `d` found. */
export const drivingRow: OuterRow = { rid: sql`d.rid`, depth: 0 };

/** Whether the resource meets the condition. */
export function buildExistsSubquery(
  firm: number,
  condition: SearchCondition,
  semiJoin: SemiJoin,
  place: OuterRow = drivingRow,
): Sql {
  switch (condition.kind) {
    case 'rows':
      return rowsSubquery(firm, condition, semiJoin, place.rid);
    case 'chain':
      return chainSubquery(firm, condition, place);
    case 'has':
      return hasSubquery(firm, condition, place);
    default:
      return combinedCondition(firm, condition, place);
  }
}

function rowsSubquery(firm: number, criterion: Criterion, semiJoin: SemiJoin, rid: Sql): Sql {
  const { table, number, tests, negated } = criterion;
  const exact = tests.every(({ order }) => order === 'rid');
  const build = semiJoin === 'hash' || exact ? buildRowSource : buildFencedRowSource;
  const from = build(firm, table, number, rid);
  const rows = tests.length === 0 ? sql`SELECT 1 ${from}` : sql`SELECT 1 ${from} AND ${buildAnyTest(criterion)}`;
  if (semiJoin === 'hash') return negated ? sql`NOT EXISTS (${rows})` : sql`EXISTS (${rows})`;
  return negated ? sql`(${rows} LIMIT 1) IS NULL` : sql`(${rows} LIMIT 1) IS NOT NULL`;
}

/** The references of the resource are few, so each is followed. */
function chainSubquery(firm: number, { parameter, targets }: Chain, { rid, depth }: OuterRow): Sql {
  const link = sql.identifier(`l${depth}`);
  const target = sql.identifier(`x${depth}`);
  const place = { rid: sql`${target}.rid`, depth: depth + 1 };
  const met = targets.map(
    (linked) => sql`(${link}.target_rtype = ${getTypeNumber(linked.type)} AND ${linkedCondition(firm, linked, place)})`,
  );
  return sql`(SELECT 1 FROM index_reference ${link} CROSS JOIN LATERAL (
    SELECT r.rid FROM resource r WHERE r.firm = ${firm} AND r.rtype = ${link}.target_rtype AND r.id = ${link}.target_id AND r.content IS NOT NULL OFFSET 0) ${target}
    WHERE ${link}.firm = ${firm} AND ${link}.param = ${parameter.number} AND ${link}.rid = ${rid} AND (${sql.join(met, sql` OR `)}) LIMIT 1) IS NOT NULL`;
}

function hasSubquery(firm: number, { type, parameter, source }: Has, { rid, depth }: OuterRow): Sql {
  const own = sql.identifier(`l${depth}`);
  const found = sql.identifier(`x${depth}`);
  return sql`(SELECT 1 FROM resource ${own} CROSS JOIN LATERAL (
    SELECT i.rid FROM index_reference i WHERE i.firm = ${firm} AND i.param = ${parameter.number} AND i.target_rtype = ${getTypeNumber(type)} AND i.target_id = ${own}.id OFFSET 0) ${found}
    WHERE ${own}.firm = ${firm} AND ${own}.rid = ${rid} AND ${linkedCondition(firm, source, { rid: sql`${found}.rid`, depth: depth + 1 })} LIMIT 1) IS NOT NULL`;
}

/** Whether a resource that a link led to meets its conditions and may be seen. */
function linkedCondition(firm: number, { criteria, mandatory }: Linked, place: OuterRow): Sql {
  const all = criteria.map((condition) => buildExistsSubquery(firm, condition, 'nested-loop', place));
  if (mandatory.length > 0) all.push(buildMandatoryCondition(firm, mandatory, 'nested-loop', place));
  return all.length === 0 ? sql`true` : sql.join(all, sql` AND `);
}

function combinedCondition(firm: number, { kind, conditions }: Combination, place: OuterRow): Sql {
  const parts = conditions.map((condition) => sql`(${buildExistsSubquery(firm, condition, 'nested-loop', place)})`);
  if (kind === 'all') return sql`(${sql.join([sql`true`, ...parts], sql` AND `)})`;
  const any = sql`(${sql.join([sql`false`, ...parts], sql` OR `)})`;
  return kind === 'any' ? any : sql`NOT ${any}`;
}

/** FROM and WHERE that reach the rows of one resource in a table, as `t`. */
export function buildRowSource(firm: number, table: SearchTable, number: number, rid: Sql): Sql {
  if (table === 'resource') return sql`FROM resource t WHERE t.firm = ${firm} AND t.rid = ${rid}`;
  return sql`FROM ${tables[table]} t WHERE t.firm = ${firm} AND t.param = ${number} AND t.rid = ${rid}`;
}

/**
 * The same, when more is said about the rows' values than that they equal a key, or when they are put in order. Behind
 * OFFSET 0 the planner cannot use it to walk the primary key past the rows of all other resources.
 */
export function buildFencedRowSource(firm: number, table: SearchTable, number: number, rid: Sql): Sql {
  return sql`FROM (SELECT * ${buildRowSource(firm, table, number, rid)} OFFSET 0) t WHERE true`;
}

/** Whether a row passes one of the tests. */
export function buildAnyTest({ tests }: Pick<Criterion, 'tests'>): Sql {
  const [first, ...more] = tests;
  if (first === undefined) return sql`true`;
  if (more.length === 0) return sql`(${first.where})`;
  const values = tests.flatMap(({ value }) => value ?? []);
  const inList = values.length < 2 ? [] : [sql`value = ANY (${values}::text[])`];
  const others = inList.length === 0 ? tests : tests.filter(({ value }) => value === undefined);
  return sql`(${sql.join([...inList, ...others.map(({ where }) => sql`(${where})`)], sql` OR `)})`;
}

/** Whether the resource is in one of the groups. */
export function buildMandatoryCondition(
  firm: number,
  groups: readonly (readonly Criterion[])[],
  semiJoin: SemiJoin,
  place: OuterRow = drivingRow,
): Sql {
  // Sets can be joined where all of them have to hold, not where one of several does.
  const within = groups.length === 1 ? semiJoin : 'nested-loop';
  const alternatives = groups
    .map((group) => group.map((criterion) => buildExistsSubquery(firm, criterion, within, place)))
    .map((conditions) => sql.join(conditions, sql` AND `));
  return groups.length === 1 ? sql.join(alternatives, sql.empty) : sql`(${sql.join(alternatives, sql` OR `)})`;
}
