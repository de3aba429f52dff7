/**
 * The columns of an order as a statement reads them: those of the table that is walked, and those of sort keys that are
 * looked up for each resource. In a page they are named `k0`, `k1`, ….
 */
import { type Sql, sql } from '../../database/sql.ts';
import type { OrderColumn, SortKey } from '../query/sorting.ts';
import { buildFencedRowSource } from './exists-subquery.ts';
import type { Ordered } from './keyset.ts';

/** Name of the sort column at a place: `k0`, `k1`, …. */
export function nameSortColumn(place: number): Sql {
  return sql.identifier(`k${place}`);
}

/** Columns of the walked table `d`, whose rows all have a value. */
export function buildWalkColumns(columns: readonly OrderColumn[], descending: boolean): readonly Ordered[] {
  return columns.map(({ name, cast }) => ({ expression: sql`d.${name}`, cast, descending, nulls: 'none' }));
}

export interface LookedUp {
  /** Joins that yield the columns. */
  readonly joins: Sql;
  readonly columns: readonly Ordered[];
}

/**
 * The sort keys of the resource numbered `rid`: of each key the value that comes first in its direction, or NULL.
 * @param first place of the first column among the sort columns of the page
 */
export function buildLookupColumns(firm: number, keys: readonly SortKey[], rid: Sql, first: number): LookedUp {
  const joins: Sql[] = [];
  const columns: Ordered[] = [];
  for (const key of keys) {
    const table = sql.identifier(`s${first + columns.length}`);
    const own = key.columns.map(({ name, cast }, index) => ({
      source: sql`t.${name}`,
      name: nameSortColumn(first + columns.length + index),
      cast,
    }));
    const list = sql.join(
      own.map(({ source, name }) => sql`${source} AS ${name}`),
      sql`, `,
    );
    const order = sql.join(
      own.map(({ source }) => (key.descending ? sql`${source} DESC` : source)),
      sql`, `,
    );
    const rows = buildFencedRowSource(firm, key.table, key.number, rid);
    joins.push(
      sql` LEFT JOIN LATERAL (SELECT ${list} ${rows} AND ${key.sortable} ORDER BY ${order} LIMIT 1) ${table} ON true`,
    );
    for (const { name, cast } of own) {
      columns.push({
        expression: sql`${table}.${name}`,
        cast,
        descending: key.descending,
        nulls: key.always ? 'none' : 'last',
      });
    }
  }
  return { joins: sql.join(joins, sql.empty), columns };
}

/** `rid` and the columns under their names in a page. */
export function selectList(rid: Sql, columns: readonly Pick<Ordered, 'expression'>[]): Sql {
  return sql.join(
    [rid, ...columns.map(({ expression }, place) => sql`${expression} AS ${nameSortColumn(place)}`)],
    sql`, `,
  );
}
