/**
 * Orders of rows and the condition "after this row" in them, for paging by keys: each page begins exactly after the last
 * row of the one before, whatever was inserted or removed in between. Missing values come last in both directions.
 */
import { type Sql, sql } from '../database/sql.ts';
import type { Cursor } from './cursor.ts';

/** A column of an order, as the statement names it at the place where the order is used. */
export interface Ordered {
  readonly expression: Sql;
  /** Casts a text to the column's type. */
  readonly cast: Sql;
  readonly descending: boolean;
  /** Whether rows can lack the value. */
  readonly nullable: boolean;
}

/** The number of the resource, which makes every order total; it follows the direction of the first column. */
export function ridColumn(expression: Sql, columns: readonly Pick<Ordered, 'descending'>[]): Ordered {
  return { expression, cast: sql`::bigint`, descending: columns[0]?.descending ?? false, nullable: false };
}

/** `ORDER BY …` by the columns, the last of which is the resource's number. */
export function orderBy(columns: readonly Ordered[]): Sql {
  return sql`ORDER BY ${sql.join(columns.map(direction), sql`, `)}`;
}

function direction({ expression, descending, nullable }: Ordered): Sql {
  if (!descending) return expression;
  return nullable ? sql`${expression} DESC NULLS LAST` : sql`${expression} DESC`;
}

/**
 * The condition that a row comes after the cursor's row.
 * @param columns of the order; the last is the resource's number
 */
export function after(columns: readonly Ordered[], cursor: Cursor): Sql {
  const values = [...cursor.keys, String(cursor.rid)];
  if (columns.length !== values.length)
    throw new TypeError(`a cursor of ${values.length} values for ${columns.length} columns`);
  if (columns.every(({ nullable, descending }) => !nullable && descending === columns[0]?.descending)) {
    return afterInOneDirection(columns, values);
  }
  return columns.reduceRight<Sql>(
    (rest, column, index) => afterColumn(column, values[index] ?? null, rest),
    sql`false`,
  );
}

/** A comparison of whole rows, which the index answers. */
function afterInOneDirection(columns: readonly Ordered[], values: readonly (string | null)[]): Sql {
  const left = sql.join(
    columns.map(({ expression }) => expression),
    sql`, `,
  );
  const right = sql.join(
    columns.map(({ cast }, index) => sql`${values[index] ?? null}${cast}`),
    sql`, `,
  );
  return columns[0]?.descending ? sql`(${left}) < (${right})` : sql`(${left}) > (${right})`;
}

/** After it in this column, or equal in it and after it in the rest. */
function afterColumn({ expression, cast, descending, nullable }: Ordered, value: string | null, rest: Sql): Sql {
  if (value === null) return sql`(${expression} IS NULL AND ${rest})`;
  const later = descending ? sql`${expression} < ${value}${cast}` : sql`${expression} > ${value}${cast}`;
  const equal = sql`${expression} = ${value}${cast} AND ${rest}`;
  return nullable ? sql`(${expression} IS NULL OR ${later} OR (${equal}))` : sql`(${later} OR (${equal}))`;
}
