/**
 * Criteria as conditions on a resource that another table found: "has it a row that passes?". Written so that the
 * planner can only look the rows of that resource up (docs/decisions/0030).
 */
import { type Sql, sql } from '../database/sql.ts';
import type { Criterion } from './criteria.ts';
import type { SearchTable } from './kind.ts';
import { tokenParameter } from './match.ts';
import { splitUnescaped } from './search-values.ts';
import { parseToken, tokenTest } from './types/token.ts';

export const tables: Readonly<Record<SearchTable, Sql>> = {
  token: sql`index_token`,
  reference: sql`index_reference`,
  date: sql`index_date`,
  string: sql`index_string`,
  number: sql`index_number`,
  resource: sql`resource`,
};

/** Row criteria of access entries: token values (`system|code`, `code`), ORed. */
export interface RowCriterion {
  /** Code of a token search parameter of the type. */
  readonly parameter: string;
  readonly values: readonly string[];
}

/**
 * How a criterion is asked of the resource that `d` found: `look-up` for each resource by itself, which is best for the
 * rows of a page; `join`, where the planner may compare whole sets, which is best for counting very many.
 */
export type Asking = 'look-up' | 'join';

/** Whether the resource that `d` found fits the criterion. */
export function probe(firm: number, criterion: Criterion, asking: Asking): Sql {
  const { table, number, tests, negated } = criterion;
  const exact = tests.every(({ order }) => order === 'rid');
  const from =
    asking === 'join' || exact
      ? rowsOfResource(firm, table, number, sql`d.rid`)
      : fencedRows(firm, table, number, sql`d.rid`);
  const rows = tests.length === 0 ? sql`SELECT 1 ${from}` : sql`SELECT 1 ${from} AND ${anyTest(criterion)}`;
  if (asking === 'join') return negated ? sql`NOT EXISTS (${rows})` : sql`EXISTS (${rows})`;
  return negated ? sql`(${rows} LIMIT 1) IS NULL` : sql`(${rows} LIMIT 1) IS NOT NULL`;
}

/** FROM and WHERE that reach the rows of one resource in a table, as `t`. */
export function rowsOfResource(firm: number, table: SearchTable, number: number, rid: Sql): Sql {
  if (table === 'resource') return sql`FROM resource t WHERE t.firm = ${firm} AND t.rid = ${rid}`;
  return sql`FROM ${tables[table]} t WHERE t.firm = ${firm} AND t.param = ${number} AND t.rid = ${rid}`;
}

/**
 * The same, when more is said about the rows' values than that they equal a key, or when they are put in order. Behind
 * OFFSET 0 the planner cannot use it to walk the primary key past the rows of all other resources.
 */
export function fencedRows(firm: number, table: SearchTable, number: number, rid: Sql): Sql {
  return sql`FROM (SELECT * ${rowsOfResource(firm, table, number, rid)} OFFSET 0) t WHERE true`;
}

/** Whether a row passes one of the tests. */
export function anyTest({ tests }: Pick<Criterion, 'tests'>): Sql {
  const [first, ...more] = tests;
  if (first === undefined) return sql`true`;
  if (more.length === 0) return sql`(${first.where})`;
  return sql`(${sql.join(
    tests.map(({ where }) => sql`(${where})`),
    sql` OR `,
  )})`;
}

/**
 * The rows that a caller may see, as criteria: those that meet every criterion of at least one group. Empty when a group
 * has no criteria, and so takes all rows.
 * @throws TypeError for no groups at all: who may see nothing must be refused before a search is planned
 */
export function mandatoryGroups(
  type: string,
  groups: readonly (readonly RowCriterion[])[],
): readonly (readonly Criterion[])[] {
  if (groups.length === 0)
    throw new TypeError('a search needs a group of mandatory criteria; one without criteria takes all rows');
  if (groups.some((group) => group.length === 0)) return [];
  return groups.map((group) => group.map((criterion) => tokenCriterion(type, criterion)));
}

/** Whether the resource that `d` found is in one of the groups. */
export function mandatoryProbe(firm: number, groups: readonly (readonly Criterion[])[], asking: Asking): Sql {
  // Sets can be joined where all of them have to hold, not where one of several does.
  const within = groups.length === 1 ? asking : 'look-up';
  const alternatives = groups.map((group) =>
    sql.join(
      group.map((criterion) => probe(firm, criterion, within)),
      sql` AND `,
    ),
  );
  return groups.length === 1 ? sql.join(alternatives, sql.empty) : sql`(${sql.join(alternatives, sql` OR `)})`;
}

function tokenCriterion(type: string, { parameter: code, values }: RowCriterion): Criterion {
  const parameter = tokenParameter(type, code);
  const tests = values
    .flatMap((value) => splitUnescaped(value, ','))
    .map((value) => tokenTest(parseToken(value, code, parameter.facts), parameter.facts));
  if (tests.length === 0) throw new TypeError(`the row criterion on ${type} ${code} has no values`);
  return { parameter, table: 'token', number: parameter.number, negated: false, tests };
}
