/**
 * The stretches of a search that page statements are made of, in each of the orders that a lead or sort keys give. `d` is
 * the lead's table; conditions name its columns without a qualifier.
 */
import { type Sql, sql } from '../../database/sql.ts';
import type { SortKey } from '../query/sorting.ts';
import { candidates, filters, resourcesOf, source, type Wanted } from './found.ts';
import { after, type Direction, type Ordered, orderBy, type RowPlace, ridColumn, walkedIn } from './keyset.ts';
import { allOfType, type Lead } from './lead.ts';
import { fencedRows, rowsOfResource, tables } from './probes.ts';
import { lookedUpColumns, selectList, walkedColumns } from './sort-columns.ts';

/** Where a stretch of the result begins, which way it goes, and how long it is; its rows come in the order of the walk. */
export interface Stretch {
  readonly direction: Direction;
  /** The row before the stretch; absent: it begins where the result does in that direction. */
  readonly row: RowPlace | undefined;
  readonly limit: number;
}

const rid = sql`d.rid`;
const and = sql` AND `;

/** The next resources by their number: `rid`. For leads whose rows come in that order, or in none. */
export function firstByNumber(wanted: Wanted, lead: Lead, { direction, row, limit }: Stretch): Sql {
  const order = (number: Sql): readonly Ordered[] => walkedIn(direction, [ridColumn(number, [])]);
  const begin = row === undefined ? [] : [after(order(rid), row)];
  const found = orderBy(order(sql`rid`));
  if (lead.order === 'gathered') {
    return sql`SELECT rid FROM (${resourcesOf(wanted, lead, begin)} OFFSET 0) g ${found} LIMIT ${limit}`;
  }
  const select = lead.repeats ? sql`SELECT DISTINCT d.rid` : sql`SELECT d.rid`;
  const from = sql`FROM ${tables[lead.table]} d`;
  const parts = lead.branches.map(
    (branch) =>
      sql`(${select} ${from} ${candidates(wanted, lead, branch, begin)} ${orderBy(order(rid))} LIMIT ${limit})`,
  );
  if (parts.length === 1) return sql.join(parts, sql.empty);
  return sql`SELECT DISTINCT rid FROM (${sql.join(parts, sql` UNION ALL `)}) b ${found} LIMIT ${limit}`;
}

export interface Walk {
  readonly lead: Lead;
  readonly descending: boolean;
  /** Sort keys after the one that the lead's columns are. */
  readonly more: readonly SortKey[];
  /** Condition on the whole walk, or none. */
  readonly gate: readonly Sql[];
}

/**
 * The next resources in the order of the lead's columns: `rid`, `k0`, `k1`, …. A resource with several rows stands at the
 * first of them. With `more` keys, resources that equal the last one in the lead's columns come in addition.
 */
export function firstByColumns(
  wanted: Wanted,
  { lead, descending, more, gate }: Walk,
  { direction, row, limit }: Stretch,
): Sql {
  const own = walkedIn(direction, walkedColumns(lead.columns, descending));
  const { joins, columns } = lookedUpColumns(wanted.firm, more, rid, own.length);
  const order = [...own, ...walkedIn(direction, columns), ridColumn(rid, own)];
  const conditions = [...gate, ...firstRowOnly(wanted, lead, descending), ...beginning(own, order, row)];
  const end =
    more.length === 0
      ? sql`${orderBy(order)} LIMIT ${limit}`
      : sql`${orderBy(own)} FETCH FIRST (${limit}) ROWS WITH TIES`;
  const select = lead.repeats ? sql`SELECT DISTINCT` : sql`SELECT`;
  const from = sql`${select} ${selectList(rid, [...own, ...columns])} FROM ${tables[lead.table]} d${joins}`;
  const parts = lead.branches.map((branch) => sql`(${from} ${candidates(wanted, lead, branch, conditions)} ${end})`);
  return sql.join(parts, sql` UNION `);
}

/**
 * As `firstByColumns` for a single key, among the next `rowsMax` rows of the lead at most: when fewer than the limit are
 * found, the others may lie further on.
 */
export function nextByColumns(
  wanted: Wanted,
  { lead, descending, gate }: Walk,
  { direction, row, limit }: Stretch,
  rowsMax: number,
): Sql {
  const own = walkedIn(direction, walkedColumns(lead.columns, descending));
  const order = [...own, ridColumn(rid, own)];
  const names = sql.join([rid, ...own.map(({ expression }) => expression)], sql`, `);
  const begin = beginning(own, order, row);
  const conditions = sql.join([...firstRowOnly(wanted, lead, descending), ...filters(wanted, lead, 'look-up')], and);
  const select = lead.repeats ? sql`SELECT DISTINCT` : sql`SELECT`;
  const parts = lead.branches.map((branch) => {
    const rows = sql.join([...gate, ...source(wanted, lead), ...begin, sql`(${branch})`], and);
    const stretch = sql`SELECT ${names} FROM ${tables[lead.table]} d WHERE ${rows} ${orderBy(order)} LIMIT ${rowsMax}`;
    return sql`(${select} ${selectList(rid, own)} FROM (${stretch}) d WHERE ${conditions} ${orderBy(order)} LIMIT ${limit})`;
  });
  return sql.join(parts, sql` UNION `);
}

/** Of several rows of a resource that pass, the first in the order stands for it, whichever way the order is walked. */
function firstRowOnly({ firm }: Wanted, lead: Lead, descending: boolean): readonly Sql[] {
  if (!lead.repeats) return [];
  const mine = sql.join(
    lead.columns.map(({ name }) => sql`d.${name}`),
    sql`, `,
  );
  const other = sql.join(
    lead.columns.map(({ name }) => sql`t.${name}`),
    sql`, `,
  );
  const earlier = descending ? sql`(${other}) > (${mine})` : sql`(${other}) < (${mine})`;
  const rows = fencedRows(firm, lead.table, lead.number, rid);
  return [sql`(SELECT 1 ${rows} AND (${lead.where}) AND ${earlier} LIMIT 1) IS NULL`];
}

/** That a row comes after the one before the stretch; in the lead's columns first, where the index can answer it. */
function beginning(own: readonly Ordered[], order: readonly Ordered[], row: RowPlace | undefined): readonly Sql[] {
  if (row === undefined) return [];
  const whole = after(order, row);
  if (order.length === own.length + 1) return [whole];
  const columns = sql.join(
    own.map(({ expression }) => expression),
    sql`, `,
  );
  const values = sql.join(
    own.map(({ cast }, place) => sql`${row.keys[place] ?? null}${cast}`),
    sql`, `,
  );
  return [own[0]?.descending ? sql`(${columns}) <= (${values})` : sql`(${columns}) >= (${values})`, whole];
}

/** The next resources in the order of sort keys that are looked up for each: `rid`, `k0`, `k1`, …. */
export function firstBySortKeys(
  wanted: Wanted,
  lead: Lead,
  keys: readonly SortKey[],
  { direction, row, limit }: Stretch,
  more: readonly Sql[],
): Sql {
  const number = sql`h.rid`;
  const { joins, columns } = lookedUpColumns(wanted.firm, keys, number, 0);
  const order = walkedIn(direction, [...columns, ridColumn(number, columns)]);
  const begin = row === undefined ? sql.empty : sql`WHERE ${after(order, row)} `;
  const found = resourcesOf(wanted, lead, more);
  return sql`SELECT ${selectList(number, columns)} FROM (${found} OFFSET 0) h${joins} ${begin}${orderBy(order)} LIMIT ${limit}`;
}

/** That a resource of `d` lacks the key; a join, since it is asked of many resources at once. */
export function lacksKey(firm: number, { table, number, sortable }: SortKey): Sql {
  return sql`NOT EXISTS (SELECT 1 ${rowsOfResource(firm, table, number, rid)} AND ${sortable})`;
}

/** The opposite. */
export function hasKey(firm: number, { table, number, sortable }: SortKey): Sql {
  return sql`EXISTS (SELECT 1 ${rowsOfResource(firm, table, number, rid)} AND ${sortable})`;
}

/** The next resources of the type that lack the key, by id: `rid`, the key's columns as NULL, and the id. */
export function firstLacking(
  wanted: Wanted,
  key: SortKey,
  { direction, row, limit }: Stretch,
  gate: readonly Sql[],
): Sql {
  const nulls = key.columns.map(({ cast }) => ({ expression: sql`NULL${cast}` }));
  const rows = rowsOfResource(wanted.firm, key.table, key.number, rid);
  const id = row?.keys.at(-1);
  const back = direction === 'backward';
  const conditions = [
    ...gate,
    sql`(SELECT 1 ${rows} AND ${key.sortable} LIMIT 1) IS NULL`,
    ...(id === undefined ? [] : [back ? sql`d.id < ${id}` : sql`d.id > ${id}`]),
  ];
  const list = selectList(rid, [...nulls, { expression: sql`d.id` }]);
  return sql`SELECT ${list} FROM resource d ${candidates(wanted, allOfType, sql`true`, conditions)} ORDER BY d.id${back ? sql` DESC` : sql.empty} LIMIT ${limit}`;
}
