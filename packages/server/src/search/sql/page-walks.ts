/**
 * The ranges of a search that page statements are made of, in each of the orders that a driving index or sort keys
 * give. `d` is the driving index's table; conditions name its columns without a qualifier.
 */
import { type Sql, sql } from '../../database/sql.ts';
import type { SortKey } from '../query/sorting.ts';
import { allOfType, type DrivingIndex } from './driving-index.ts';
import { buildFencedRowSource, buildRowSource, tables } from './exists-subquery.ts';
import {
  buildAfterCondition,
  buildRidColumn,
  compareColumns,
  type Direction,
  type Ordered,
  orderBy,
  orientColumns,
  type RowPlace,
} from './keyset.ts';
import {
  buildBranchWhere,
  buildOtherConditions,
  buildSourceConditions,
  selectMatchingIds,
  type Wanted,
} from './matching-ids.ts';
import { buildLookupColumns, buildWalkColumns, selectList } from './sort-columns.ts';

/** Where a range of the result begins, which way it goes, and how long it is; its rows come in the order of the walk. */
export interface PageRange {
  readonly direction: Direction;
  /** The row before the range; absent: it begins where the result does in that direction. */
  readonly row: RowPlace | undefined;
  readonly limit: number;
}

const rid = sql`d.rid`;
const and = sql` AND `;

/** The next resources by their number: `rid`. For driving indexes whose rows come in that order, or in none. */
export function selectFirstByNumber(wanted: Wanted, driving: DrivingIndex, { direction, row, limit }: PageRange): Sql {
  const order = (number: Sql): readonly Ordered[] => orientColumns(direction, [buildRidColumn(number, [])]);
  const begin = row === undefined ? [] : [buildAfterCondition(order(rid), row)];
  const found = orderBy(order(sql`rid`));
  if (driving.order === 'gathered') {
    return sql`SELECT rid FROM (${selectMatchingIds(wanted, driving, begin)} OFFSET 0) g ${found} LIMIT ${limit}`;
  }
  const select = driving.repeats ? sql`SELECT DISTINCT d.rid` : sql`SELECT d.rid`;
  const from = sql`FROM ${tables[driving.table]} d`;
  const parts = driving.branches.map(
    (branch) =>
      sql`(${select} ${from} ${buildBranchWhere(wanted, driving, branch, begin)} ${orderBy(order(rid))} LIMIT ${limit})`,
  );
  if (parts.length === 1) return sql.join(parts, sql.empty);
  return sql`SELECT DISTINCT rid FROM (${sql.join(parts, sql` UNION ALL `)}) b ${found} LIMIT ${limit}`;
}

export interface Walk {
  readonly driving: DrivingIndex;
  readonly descending: boolean;
  /** Sort keys after the one that the driving index's columns are. */
  readonly more: readonly SortKey[];
  /** Condition on the whole walk, or none. */
  readonly gate: readonly Sql[];
}

/**
 * The next resources in the order of the driving index's columns: `rid`, `k0`, `k1`, …. A resource with several rows
 * stands at the first of them. With `more` keys, resources that equal the last one in the driving index's columns come
 * in addition.
 */
export function selectFirstByColumns(
  wanted: Wanted,
  { driving, descending, more, gate }: Walk,
  { direction, row, limit }: PageRange,
): Sql {
  const own = orientColumns(direction, buildWalkColumns(driving.columns, descending));
  const { joins, columns } = buildLookupColumns(wanted.firm, more, rid, own.length);
  const order = [...own, ...orientColumns(direction, columns), buildRidColumn(rid, own)];
  const conditions = [...gate, ...firstRowOnly(wanted, driving, descending), ...afterRow(own, order, row)];
  const end =
    more.length === 0
      ? sql`${orderBy(order)} LIMIT ${limit}`
      : sql`${orderBy(own)} FETCH FIRST (${limit}) ROWS WITH TIES`;
  const select = driving.repeats ? sql`SELECT DISTINCT` : sql`SELECT`;
  const from = sql`${select} ${selectList(rid, [...own, ...columns])} FROM ${tables[driving.table]} d${joins}`;
  const parts = driving.branches.map(
    (branch) => sql`(${from} ${buildBranchWhere(wanted, driving, branch, conditions)} ${end})`,
  );
  return sql.join(parts, sql` UNION `);
}

/**
 * As `selectFirstByColumns` for a single key, among the next `rowsMax` rows of the driving index at most: when fewer than the
 * limit are found, the others may lie further on.
 */
export function selectNextByColumns(
  wanted: Wanted,
  { driving, descending, gate }: Walk,
  { direction, row, limit }: PageRange,
  rowsMax: number,
): Sql {
  const own = orientColumns(direction, buildWalkColumns(driving.columns, descending));
  const order = [...own, buildRidColumn(rid, own)];
  const names = sql.join([rid, ...own.map(({ expression }) => expression)]);
  const begin = afterRow(own, order, row);
  const others = buildOtherConditions(wanted, driving, 'nested-loop');
  const conditions = sql.join([...firstRowOnly(wanted, driving, descending), ...others], and);
  const select = driving.repeats ? sql`SELECT DISTINCT` : sql`SELECT`;
  const parts = driving.branches.map((branch) => {
    const rows = sql.join([...gate, ...buildSourceConditions(wanted, driving), ...begin, sql`(${branch})`], and);
    const range = sql`SELECT ${names} FROM ${tables[driving.table]} d WHERE ${rows} ${orderBy(order)} LIMIT ${rowsMax}`;
    return sql`(${select} ${selectList(rid, own)} FROM (${range}) d WHERE ${conditions} ${orderBy(order)} LIMIT ${limit})`;
  });
  return sql.join(parts, sql` UNION `);
}

/** Of several rows of a resource that pass, the first in the order stands for it, whichever way the order is walked. */
function firstRowOnly({ firm }: Wanted, driving: DrivingIndex, descending: boolean): readonly Sql[] {
  if (!driving.repeats) return [];
  const mine = sql.join(driving.columns.map(({ name }) => sql`d.${name}`));
  const other = sql.join(driving.columns.map(({ name }) => sql`t.${name}`));
  const earlier = descending ? sql`(${other}) > (${mine})` : sql`(${other}) < (${mine})`;
  const rows = buildFencedRowSource(firm, driving.table, driving.number, rid);
  return [sql`(SELECT 1 ${rows} AND (${driving.where}) AND ${earlier} LIMIT 1) IS NULL`];
}

/** That a row comes after the one before the range; in the driving index's columns first, where the index can answer it. */
function afterRow(own: readonly Ordered[], order: readonly Ordered[], row: RowPlace | undefined): readonly Sql[] {
  if (row === undefined) return [];
  const whole = buildAfterCondition(order, row);
  if (order.length === own.length + 1) return [whole];
  return [compareColumns(own, own[0]?.descending ? sql`<=` : sql`>=`, row.keys), whole];
}

/** The next resources in the order of sort keys that are looked up for each: `rid`, `k0`, `k1`, …. */
export function selectFirstBySortKeys(
  wanted: Wanted,
  driving: DrivingIndex,
  keys: readonly SortKey[],
  { direction, row, limit }: PageRange,
  more: readonly Sql[],
): Sql {
  const number = sql`h.rid`;
  const { joins, columns } = buildLookupColumns(wanted.firm, keys, number, 0);
  const order = orientColumns(direction, [...columns, buildRidColumn(number, columns)]);
  const begin = row === undefined ? sql.empty : sql`WHERE ${buildAfterCondition(order, row)} `;
  const found = selectMatchingIds(wanted, driving, more);
  return sql`SELECT ${selectList(number, columns)} FROM (${found} OFFSET 0) h${joins} ${begin}${orderBy(order)} LIMIT ${limit}`;
}

/** That a resource of `d` has the key; a join, since it is asked of many resources at once. */
export function hasKey(firm: number, { table, number, sortable }: SortKey): Sql {
  return sql`EXISTS (SELECT 1 ${buildRowSource(firm, table, number, rid)} AND ${sortable})`;
}

/** The next resources of the type that lack the key, by id: `rid`, the key's columns as NULL, and the id. */
export function selectFirstLacking(
  wanted: Wanted,
  key: SortKey,
  { direction, row, limit }: PageRange,
  gate: readonly Sql[],
): Sql {
  const nulls = key.columns.map(({ cast }) => ({ expression: sql`NULL${cast}` }));
  const rows = buildRowSource(wanted.firm, key.table, key.number, rid);
  const id = row?.keys.at(-1);
  const back = direction === 'backward';
  const conditions = [
    ...gate,
    sql`(SELECT 1 ${rows} AND ${key.sortable} LIMIT 1) IS NULL`,
    ...(id === undefined ? [] : [back ? sql`d.id < ${id}` : sql`d.id > ${id}`]),
  ];
  const list = selectList(rid, [...nulls, { expression: sql`d.id` }]);
  return sql`SELECT ${list} FROM resource d ${buildBranchWhere(wanted, allOfType, sql`true`, conditions)} ORDER BY d.id${back ? sql` DESC` : sql.empty} LIMIT ${limit}`;
}
