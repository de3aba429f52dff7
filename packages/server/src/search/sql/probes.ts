/**
 * Criteria as conditions on a resource that another table found: "has it a row that passes?". Written so that the
 * planner can only look the rows of that resource up (docs/decisions/0030).
 */
import { type Sql, sql } from '../../database/sql.ts';
import type { SearchTable } from '../kinds/kind.ts';
import { typeNumber } from '../numbers.ts';
import type { Chain, Combination, Condition, Has, Linked } from '../query/condition.ts';
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
 * How a criterion is asked of the resource that `d` found: `look-up` for each resource by itself, which is best for the
 * rows of a page; `join`, where the planner may compare whole sets, which is best for counting very many.
 */
export type Asking = 'look-up' | 'join';

/** Where a probe stands: the resource it asks about, and how deep inside other probes it is. */
export interface Place {
  /** Number of the resource, as an expression. */
  readonly rid: Sql;
  readonly depth: number;
}

/** The resource that the leading table `d` found. */
export const ofLead: Place = { rid: sql`d.rid`, depth: 0 };

/** Whether the resource meets the condition. */
export function probe(firm: number, condition: Condition, asking: Asking, place: Place = ofLead): Sql {
  switch (condition.kind) {
    case 'rows':
      return rowsProbe(firm, condition, asking, place.rid);
    case 'chain':
      return chainProbe(firm, condition, place);
    case 'has':
      return hasProbe(firm, condition, place);
    default:
      return combinedProbe(firm, condition, place);
  }
}

function rowsProbe(firm: number, criterion: Criterion, asking: Asking, rid: Sql): Sql {
  const { table, number, tests, negated } = criterion;
  const exact = tests.every(({ order }) => order === 'rid');
  const from =
    asking === 'join' || exact ? rowsOfResource(firm, table, number, rid) : fencedRows(firm, table, number, rid);
  const rows = tests.length === 0 ? sql`SELECT 1 ${from}` : sql`SELECT 1 ${from} AND ${anyTest(criterion)}`;
  if (asking === 'join') return negated ? sql`NOT EXISTS (${rows})` : sql`EXISTS (${rows})`;
  return negated ? sql`(${rows} LIMIT 1) IS NULL` : sql`(${rows} LIMIT 1) IS NOT NULL`;
}

/** The references of the resource are few, so each is followed. */
function chainProbe(firm: number, { parameter, targets }: Chain, { rid, depth }: Place): Sql {
  const link = sql.identifier(`l${depth}`);
  const target = sql.identifier(`x${depth}`);
  const met = targets.map(
    (linked) =>
      sql`(${link}.target_rtype = ${typeNumber(linked.type)} AND ${linkedProbe(firm, linked, { rid: sql`${target}.rid`, depth: depth + 1 })})`,
  );
  return sql`(SELECT 1 FROM index_reference ${link} CROSS JOIN LATERAL (
    SELECT r.rid FROM resource r WHERE r.firm = ${firm} AND r.rtype = ${link}.target_rtype AND r.id = ${link}.target_id AND r.content IS NOT NULL OFFSET 0) ${target}
    WHERE ${link}.firm = ${firm} AND ${link}.param = ${parameter.number} AND ${link}.rid = ${rid} AND (${sql.join(met, sql` OR `)}) LIMIT 1) IS NOT NULL`;
}

function hasProbe(firm: number, { type, parameter, source }: Has, { rid, depth }: Place): Sql {
  const own = sql.identifier(`l${depth}`);
  const found = sql.identifier(`x${depth}`);
  return sql`(SELECT 1 FROM resource ${own} CROSS JOIN LATERAL (
    SELECT i.rid FROM index_reference i WHERE i.firm = ${firm} AND i.param = ${parameter.number} AND i.target_rtype = ${typeNumber(type)} AND i.target_id = ${own}.id OFFSET 0) ${found}
    WHERE ${own}.firm = ${firm} AND ${own}.rid = ${rid} AND ${linkedProbe(firm, source, { rid: sql`${found}.rid`, depth: depth + 1 })} LIMIT 1) IS NOT NULL`;
}

/** Whether a resource that a link led to meets its conditions and may be seen. */
function linkedProbe(firm: number, { criteria, mandatory }: Linked, place: Place): Sql {
  const asked = criteria.map((condition) => probe(firm, condition, 'look-up', place));
  const all = mandatory.length === 0 ? asked : [...asked, mandatoryProbe(firm, mandatory, 'look-up', place)];
  return all.length === 0 ? sql`true` : sql.join(all, sql` AND `);
}

function combinedProbe(firm: number, { kind, conditions }: Combination, place: Place): Sql {
  const parts = conditions.map((condition) => sql`(${probe(firm, condition, 'look-up', place)})`);
  if (kind === 'all') return sql`(${sql.join([sql`true`, ...parts], sql` AND `)})`;
  const any = sql`(${sql.join([sql`false`, ...parts], sql` OR `)})`;
  return kind === 'any' ? any : sql`NOT ${any}`;
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
  const values = tests.flatMap(({ value }) => value ?? []);
  const inList = values.length < 2 ? [] : [sql`value = ANY (${values}::text[])`];
  const others = inList.length === 0 ? tests : tests.filter(({ value }) => value === undefined);
  return sql`(${sql.join([...inList, ...others.map(({ where }) => sql`(${where})`)], sql` OR `)})`;
}

/** Whether the resource is in one of the groups. */
export function mandatoryProbe(
  firm: number,
  groups: readonly (readonly Criterion[])[],
  asking: Asking,
  place: Place = ofLead,
): Sql {
  // Sets can be joined where all of them have to hold, not where one of several does.
  const within = groups.length === 1 ? asking : 'look-up';
  const alternatives = groups.map((group) =>
    sql.join(
      group.map((criterion) => probe(firm, criterion, within, place)),
      sql` AND `,
    ),
  );
  return groups.length === 1 ? sql.join(alternatives, sql.empty) : sql`(${sql.join(alternatives, sql` OR `)})`;
}
