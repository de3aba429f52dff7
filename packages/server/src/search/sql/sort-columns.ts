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

/** The columns of a sort key. */
export function listKeyColumns({ columns, descending, always }: SortKey): readonly Omit<Ordered, 'expression'>[] {
  return columns.map(({ cast }) => ({ cast, descending, nulls: always ? 'none' : 'last' }));
}

/** The columns as `table` has them, under their names in a page, from `k<first>` on. */
export function nameColumns(columns: readonly Omit<Ordered, 'expression'>[], table: Sql, first = 0): Ordered[] {
  return columns.map((column, index) => ({ ...column, expression: sql`${table}.${nameSortColumn(first + index)}` }));
}

/**
 * The sort keys of the resource numbered `rid`: of each key the value that comes first in its direction, or NULL; with the
 * joins that yield them.
 * @param first place of the first column among the sort columns of the page
 */
export function buildLookupColumns(firm: number, keys: readonly SortKey[], rid: Sql, first: number) {
  const joins: Sql[] = [];
  const columns: Ordered[] = [];
  for (const key of keys) {
    const place = first + columns.length;
    const table = sql.identifier(`s${place}`);
    const list = key.columns.map(({ name }, index) => sql`t.${name} AS ${nameSortColumn(place + index)}`);
    const order = key.columns.map(({ name }) => (key.descending ? sql`t.${name} DESC` : sql`t.${name}`));
    const rows = buildFencedRowSource(firm, key.table, key.number, rid);
    joins.push(
      sql` LEFT JOIN LATERAL (SELECT ${sql.join(list)} ${rows} AND ${key.sortable} ORDER BY ${sql.join(order)} LIMIT 1) ${table} ON true`,
    );
    columns.push(...nameColumns(listKeyColumns(key), table, place));
  }
  return { joins: sql.join(joins, sql.empty), columns };
}

/** `rid` and the columns under their names in a page. */
export function selectList(rid: Sql, columns: readonly Pick<Ordered, 'expression'>[]): Sql {
  return sql.join([rid, ...columns.map(({ expression }, place) => sql`${expression} AS ${nameSortColumn(place)}`)]);
}
