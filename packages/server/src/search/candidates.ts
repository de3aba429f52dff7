/**
 * The parts that page and count statements are made of: the resources that a lead finds and that meet every other
 * criterion, each once. `d` is the lead's table; conditions name its columns without a qualifier.
 */
import { type Sql, sql } from '../database/sql.ts';
import type { Criterion } from './criteria.ts';
import type { Cursor } from './cursor.ts';
import { after, type Ordered, orderBy, ridColumn } from './keyset.ts';
import { allOfType, type Lead } from './leads.ts';
import { typeNumber } from './numbers.ts';
import { type Asking, fencedRows, mandatoryProbe, probe, rowsOfResource, tables } from './probes.ts';
import { lookedUpColumns, selectList, walkedColumns } from './sort-columns.ts';
import type { SortKey } from './sorting.ts';

/** What a search is about, apart from its order and its page. */
export interface Wanted {
  readonly firm: number;
  readonly type: string;
  readonly criteria: readonly Criterion[];
  /** The rows that the caller may see: those of at least one group; none: all. Never mixed with what the caller asks. */
  readonly mandatory: readonly (readonly Criterion[])[];
}

/** Where a stretch of the result begins and how long it is. */
export interface Stretch {
  readonly cursor: Cursor | undefined;
  readonly limit: number;
}

const rid = sql`d.rid`;
const and = sql` AND `;

/** What makes a row of the lead's table one of this firm and parameter, or of this firm and type. */
function source({ firm, type }: Wanted, lead: Lead): readonly Sql[] {
  if (lead.table !== 'resource') return [sql`d.firm = ${firm}`, sql`d.param = ${lead.number}`];
  return [sql`d.firm = ${firm}`, sql`d.rtype = ${typeNumber(type)}`, sql`d.content IS NOT NULL`];
}

/** WHERE of the rows of a branch of the lead that meet all criteria and `more`. */
function candidates(wanted: Wanted, lead: Lead, branch: Sql, more: readonly Sql[], asking: Asking = 'look-up'): Sql {
  return sql`WHERE ${sql.join([...source(wanted, lead), sql`(${branch})`, ...more, ...filters(wanted, lead, asking)], and)}`;
}

/** What the lead does not see to: the other criteria, and the row restrictions of the caller. */
function filters({ firm, criteria, mandatory }: Wanted, lead: Lead, asking: Asking): readonly Sql[] {
  const others = criteria.filter((criterion) => !lead.covered.has(criterion));
  const asked = others.map((criterion) => probe(firm, criterion, asking));
  return mandatory.length === 0 ? asked : [...asked, mandatoryProbe(firm, mandatory, asking)];
}

/** One row, `few`: whether at most `limit` rows lead the search, whatever the other criteria leave of them. */
export function leadsFew(wanted: Wanted, lead: Lead, limit: number): Sql {
  const conditions = sql.join([...source(wanted, lead), sql`(${lead.where})`], and);
  return sql`SELECT count(*) <= ${limit} AS few FROM (SELECT 1 FROM ${tables[lead.table]} d WHERE ${conditions} LIMIT ${limit + 1}) c`;
}

/** The resources that the search finds: `rid`, each once, in no order. */
export function resourcesOf(wanted: Wanted, lead: Lead, more: readonly Sql[] = [], asking: Asking = 'look-up'): Sql {
  const from = sql`FROM ${tables[lead.table]} d`;
  const parts = lead.branches.map(
    (branch) => sql`SELECT d.rid ${from} ${candidates(wanted, lead, branch, more, asking)}`,
  );
  const all = sql.join(parts, sql` UNION ALL `);
  return parts.length === 1 && !lead.repeats ? all : sql`SELECT DISTINCT rid FROM (${all} OFFSET 0) c`;
}

/** The first resources by their number: `rid`. For leads whose rows come in that order, or in none. */
export function firstByNumber(wanted: Wanted, lead: Lead, { cursor, limit }: Stretch): Sql {
  const begin = cursor === undefined ? [] : [after([ridColumn(rid, [])], cursor)];
  if (lead.order === 'gathered') {
    return sql`SELECT rid FROM (${resourcesOf(wanted, lead, begin)} OFFSET 0) g ORDER BY rid LIMIT ${limit}`;
  }
  const select = lead.repeats ? sql`SELECT DISTINCT d.rid` : sql`SELECT d.rid`;
  const from = sql`FROM ${tables[lead.table]} d`;
  const parts = lead.branches.map(
    (branch) => sql`(${select} ${from} ${candidates(wanted, lead, branch, begin)} ORDER BY d.rid LIMIT ${limit})`,
  );
  if (parts.length === 1) return sql.join(parts, sql.empty);
  return sql`SELECT DISTINCT rid FROM (${sql.join(parts, sql` UNION ALL `)}) b ORDER BY rid LIMIT ${limit}`;
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
 * The first resources in the order of the lead's columns: `rid`, `k0`, `k1`, …. A resource with several rows stands at the
 * first of them. With `more` keys, resources that equal the last one in the lead's columns come in addition.
 */
export function firstByColumns(
  wanted: Wanted,
  { lead, descending, more, gate }: Walk,
  { cursor, limit }: Stretch,
): Sql {
  const own = walkedColumns(lead.columns, descending);
  const { joins, columns } = lookedUpColumns(wanted.firm, more, rid, own.length);
  const order = [...own, ...columns, ridColumn(rid, own)];
  const conditions = [...gate, ...firstRowOnly(wanted, lead, descending), ...beginning(own, order, cursor)];
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
  { cursor, limit }: Stretch,
  rowsMax: number,
): Sql {
  const own = walkedColumns(lead.columns, descending);
  const order = [...own, ridColumn(rid, own)];
  const names = sql.join([rid, ...own.map(({ expression }) => expression)], sql`, `);
  const begin = beginning(own, order, cursor);
  const conditions = sql.join([...firstRowOnly(wanted, lead, descending), ...filters(wanted, lead, 'look-up')], and);
  const select = lead.repeats ? sql`SELECT DISTINCT` : sql`SELECT`;
  const parts = lead.branches.map((branch) => {
    const rows = sql.join([...gate, ...source(wanted, lead), sql`(${branch})`, ...begin], and);
    const stretch = sql`SELECT ${names} FROM ${tables[lead.table]} d WHERE ${rows} ${orderBy(order)} LIMIT ${rowsMax}`;
    return sql`(${select} ${selectList(rid, own)} FROM (${stretch}) d WHERE ${conditions} ${orderBy(order)} LIMIT ${limit})`;
  });
  return sql.join(parts, sql` UNION `);
}

/** Of several rows of a resource that pass, the first in the order stands for it. */
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

/** That a row comes after the cursor's; in the lead's columns first, where the index can answer it. */
function beginning(own: readonly Ordered[], order: readonly Ordered[], cursor: Cursor | undefined): readonly Sql[] {
  if (cursor === undefined) return [];
  const whole = after(order, cursor);
  if (order.length === own.length + 1) return [whole];
  const columns = sql.join(
    own.map(({ expression }) => expression),
    sql`, `,
  );
  const values = sql.join(
    own.map(({ cast }, place) => sql`${cursor.keys[place] ?? null}${cast}`),
    sql`, `,
  );
  return [own[0]?.descending ? sql`(${columns}) <= (${values})` : sql`(${columns}) >= (${values})`, whole];
}

/** The first resources in the order of sort keys that are looked up for each: `rid`, `k0`, `k1`, …. */
export function firstBySortKeys(
  wanted: Wanted,
  lead: Lead,
  keys: readonly SortKey[],
  { cursor, limit }: Stretch,
  more: readonly Sql[],
): Sql {
  const number = sql`h.rid`;
  const { joins, columns } = lookedUpColumns(wanted.firm, keys, number, 0);
  const order = [...columns, ridColumn(number, columns)];
  const begin = cursor === undefined ? sql.empty : sql`WHERE ${after(order, cursor)} `;
  const found = resourcesOf(wanted, lead, more);
  return sql`SELECT ${selectList(number, columns)} FROM (${found} OFFSET 0) h${joins} ${begin}${orderBy(order)} LIMIT ${limit}`;
}

/** That a resource of `d` lacks the key; a join, since it is asked of many resources at once. */
export function lacksKey(firm: number, { table, number, sortable }: SortKey): Sql {
  return sql`NOT EXISTS (SELECT 1 ${rowsOfResource(firm, table, number, rid)} AND ${sortable})`;
}

/** The first resources of the type that lack the key, by id: `rid`, the key's columns as NULL, and the id. */
export function firstLacking(wanted: Wanted, key: SortKey, { cursor, limit }: Stretch, gate: readonly Sql[]): Sql {
  const nulls = key.columns.map(({ cast }) => ({ expression: sql`NULL${cast}` }));
  const rows = rowsOfResource(wanted.firm, key.table, key.number, rid);
  const id = cursor?.keys.at(-1) ?? undefined;
  const conditions = [
    ...gate,
    sql`(SELECT 1 ${rows} AND ${key.sortable} LIMIT 1) IS NULL`,
    ...(id === undefined ? [] : [sql`d.id > ${id}`]),
  ];
  const list = selectList(rid, [...nulls, { expression: sql`d.id` }]);
  return sql`SELECT ${list} FROM resource d ${candidates(wanted, allOfType, sql`true`, conditions)} ORDER BY d.id LIMIT ${limit}`;
}
