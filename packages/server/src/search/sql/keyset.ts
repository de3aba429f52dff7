/**
 * Orders of rows and the condition "after this row" in them, for paging by keys: each page begins exactly after the last
 * row of the one before, or ends exactly before the first row of the one after, whatever was inserted or removed in
 * between. Missing values come last in both directions of a sort; walked backward, every order is turned round.
 */
import { type Sql, sql } from '../../database/sql.ts';

/** A column of an order, as the statement names it at the place where the order is used. */
export interface Ordered {
  readonly expression: Sql;
  /** Casts a text to the column's type. */
  readonly cast: Sql;
  readonly descending: boolean;
  /** Where rows stand that lack the value; `none`: all have one. */
  readonly nulls: 'none' | 'last' | 'first';
}

/** Which way a result is walked: from a row on, or from a row back to the beginning. */
export type Direction = 'forward' | 'backward';

/** The place of a row in an order. */
export interface RowPlace {
  /** Its values in the columns of the order, as text; null where it has none. */
  readonly keys: readonly (string | null)[];
  /** Number of its resource. */
  readonly rid: number;
}

/** The number of the resource, which makes every order total; it follows the direction of the first column. */
export function buildRidColumn(expression: Sql, columns: readonly Pick<Ordered, 'descending'>[]): Ordered {
  return { expression, cast: sql`::bigint`, descending: columns[0]?.descending ?? false, nulls: 'none' };
}

/** The order in which rows come that are walked in the direction. */
export function orientColumns(direction: Direction, columns: readonly Ordered[]): readonly Ordered[] {
  return direction === 'forward' ? columns : columns.map(turned);
}

function turned(column: Ordered): Ordered {
  const { descending, nulls } = column;
  return { ...column, descending: !descending, nulls: nulls === 'none' ? nulls : nulls === 'last' ? 'first' : 'last' };
}

/** `ORDER BY …` by the columns, the last of which is the resource's number. */
export function orderBy(columns: readonly Ordered[]): Sql {
  return sql`ORDER BY ${sql.join(columns.map(sortTerm))}`;
}

function sortTerm({ expression, descending, nulls }: Ordered): Sql {
  if (descending) return nulls === 'last' ? sql`${expression} DESC NULLS LAST` : sql`${expression} DESC`;
  return nulls === 'first' ? sql`${expression} NULLS FIRST` : expression;
}

/**
 * The condition that a row comes after the given one.
 * @param columns of the order; the last is the resource's number
 */
export function buildAfterCondition(columns: readonly Ordered[], row: RowPlace): Sql {
  const values = [...row.keys, String(row.rid)];
  if (columns.length !== values.length)
    throw new TypeError(`a cursor of ${values.length} values for ${columns.length} columns`);
  if (columns.every(({ nulls, descending }) => nulls === 'none' && descending === columns[0]?.descending)) {
    return compareColumns(columns, columns[0]?.descending ? sql`<` : sql`>`, values);
  }
  return columns.reduceRight((rest, column, place) => afterColumn(column, values[place] ?? null, rest), sql`false`);
}

/** A comparison of whole rows, which the index answers. */
export function compareColumns(columns: readonly Ordered[], operator: Sql, values: readonly (string | null)[]): Sql {
  const left = sql.join(columns.map(({ expression }) => expression));
  const right = sql.join(columns.map(({ cast }, place) => sql`${values[place] ?? null}${cast}`));
  return sql`(${left}) ${operator} (${right})`;
}

/** After it in this column, or equal in it and after it in the rest. */
function afterColumn({ expression, cast, descending, nulls }: Ordered, value: string | null, rest: Sql): Sql {
  if (value === null) {
    const equal = sql`(${expression} IS NULL AND ${rest})`;
    return nulls === 'first' ? sql`(${expression} IS NOT NULL OR ${equal})` : equal;
  }
  const later = descending ? sql`${expression} < ${value}${cast}` : sql`${expression} > ${value}${cast}`;
  const equal = sql`${expression} = ${value}${cast} AND ${rest}`;
  return nulls === 'last' ? sql`(${expression} IS NULL OR ${later} OR (${equal}))` : sql`(${later} OR (${equal}))`;
}
