/**
 * Which resources a page holds, before their contents are fetched: the strategies by which they are found in order.
 * docs/decisions/0030 has the measurements.
 */
import { type Sql, sql } from '../database/sql.ts';
import {
  firstByColumns,
  firstByNumber,
  firstBySortKeys,
  firstLacking,
  lacksKey,
  leadsFew,
  nextByColumns,
  type Stretch,
  type Wanted,
} from './candidates.ts';
import type { Ordered } from './keyset.ts';
import { shares } from './kind.ts';
import { allOfType, areSame, chooseLead, type Lead, leadOfSort } from './leads.ts';
import { columnName } from './sort-columns.ts';
import type { SortKey } from './sorting.ts';

export interface Selection {
  /** Common table expressions that `page` reads, each `name AS …`. */
  readonly parts: readonly Sql[];
  /** Yields `rid`, `k0`, `k1`, …; perhaps more rows than asked for. */
  readonly page: Sql;
  /** The order of the page's columns; the resource's number follows. */
  readonly order: readonly Ordered[];
}

/** Rows of a lead up to which they are gathered and sorted without a try to walk the sort key's index. */
const gatheredMax = 500;

/** Rows of the sort key's index among which the page is looked for; when they do not fill it, all matches are sorted. */
const walkedMax = 3000;

/** As `gatheredMax`, with several sort keys: the walk then has to complete groups of equal rows, whatever their size. */
const gatheredInGroupsMax = 2000;

/** The selection of the stretch of a search, in the order of `sort`, or without one in the order of the lead. */
export function select(wanted: Wanted, sort: readonly SortKey[], stretch: Stretch): Selection {
  const lead = chooseLead(wanted.criteria);
  const [first, ...more] = sort;
  if (first === undefined) return inOrderOfLead(wanted, lead, stretch);
  const walk = leadOfSort(first, lead, wanted.criteria);
  if (areSame(walk, lead) || lead === allOfType) return walked(wanted, walk, lead, first, more, stretch);
  if (lead.share < shares.some) {
    return { parts: [], page: firstBySortKeys(wanted, lead, sort, stretch, []), order: orderOfKeys(sort) };
  }
  // Of two branches, the one that is cut off might have rows before the last of the other.
  const bounded = more.length === 0 && walk.branches.length === 1;
  return bounded ? triedWalk(wanted, walk, lead, first, stretch) : gatedWalk(wanted, walk, lead, first, more, stretch);
}

function inOrderOfLead(wanted: Wanted, lead: Lead, stretch: Stretch): Selection {
  if (lead.order !== 'value') return { parts: [], page: firstByNumber(wanted, lead, stretch), order: [] };
  const page = firstByColumns(wanted, { lead, descending: false, more: [], gate: [] }, stretch);
  return {
    parts: [],
    page,
    order: pageColumns(lead.columns.map(({ cast }) => ({ cast, descending: false, nullable: false }))),
  };
}

/** The index of the first key is walked; what lacks the key comes after it. */
function walked(
  wanted: Wanted,
  walk: Lead,
  lead: Lead,
  first: SortKey,
  more: readonly SortKey[],
  stretch: Stretch,
): Selection {
  const keys = [first, ...more];
  if (neverLacking(wanted, first)) {
    const page = firstByColumns(wanted, { lead: walk, descending: first.descending, more, gate: [] }, stretch);
    return { parts: [], page, order: orderOfKeys(keys) };
  }
  if (lead === allOfType && more.length === 0) return walkedThenById(wanted, walk, first, stretch);
  return walkedThenSorted(wanted, walk, lead, keys, stretch, []);
}

/** With a last column for the id, by which resources without the key are ordered: so they can be walked, too. */
function walkedThenById(wanted: Wanted, walk: Lead, first: SortKey, { cursor, limit }: Stretch): Selection {
  const order = pageColumns([...columnsOf(first), { cast: sql`::text`, descending: false, nullable: true }]);
  if (cursor?.keys[0] === null) return { parts: [], page: firstLacking(wanted, first, { cursor, limit }, []), order };
  const begin = cursor && { ...cursor, keys: cursor.keys.slice(0, -1) };
  const having = firstByColumns(
    wanted,
    { lead: walk, descending: first.descending, more: [], gate: [] },
    { cursor: begin, limit },
  );
  const lacking = firstLacking(wanted, first, { cursor: undefined, limit }, [unfilled(limit)]);
  return {
    parts: [sql`walked AS MATERIALIZED (${having})`, sql`rest AS MATERIALIZED (${lacking})`],
    page: sql`SELECT *, NULL::text AS ${columnName(order.length - 1)} FROM walked UNION ALL SELECT * FROM rest`,
    order,
  };
}

function walkedThenSorted(
  wanted: Wanted,
  walk: Lead,
  lead: Lead,
  keys: readonly SortKey[],
  { cursor, limit }: Stretch,
  gate: readonly Sql[],
): Selection {
  const [first, ...more] = keys;
  const order = orderOfKeys(keys);
  if (first === undefined) return { parts: [], page: sql.empty, order };
  const lacks = lacksKey(wanted.firm, first);
  if (cursor?.keys[0] === null) {
    const rest = firstBySortKeys(wanted, lead, keys, { cursor, limit }, [...gate, lacks]);
    return { parts: [], page: sql`(${rest})`, order };
  }
  const having = firstByColumns(wanted, { lead: walk, descending: first.descending, more, gate }, { cursor, limit });
  const parts = [sql`walked AS MATERIALIZED (${having})`];
  if (neverLacking(wanted, first)) return { parts, page: sql`SELECT * FROM walked`, order };
  const rest = firstBySortKeys(wanted, lead, keys, { cursor: undefined, limit }, [...gate, unfilled(limit), lacks]);
  return {
    parts: [...parts, sql`rest AS MATERIALIZED (${rest})`],
    page: sql`SELECT * FROM walked UNION ALL SELECT * FROM rest`,
    order,
  };
}

/**
 * Whether the lead has few rows or many, the kinds of its criteria do not tell. So the statement counts them, as far as it
 * matters: few are sorted. Many are likely to fill the page among the next rows of the sort key's index; if they do not,
 * they are sorted as well. Parts that are not needed are not executed.
 */
function triedWalk(wanted: Wanted, walk: Lead, lead: Lead, first: SortKey, { cursor, limit }: Stretch): Selection {
  const order = orderOfKeys([first]);
  if (cursor?.keys[0] === null) {
    const rest = firstBySortKeys(wanted, lead, [first], { cursor, limit }, [lacksKey(wanted.firm, first)]);
    return { parts: [], page: rest, order };
  }
  const many = [sql`(SELECT NOT few FROM gate)`];
  const next = nextByColumns(
    wanted,
    { lead: walk, descending: first.descending, more: [], gate: many },
    { cursor, limit },
    walkedMax,
  );
  const sorted = firstBySortKeys(wanted, lead, [first], { cursor, limit }, [unfilled(limit)]);
  return {
    parts: [sql`gate AS MATERIALIZED (${leadsFew(wanted, lead, gatheredMax)})`, sql`walked AS MATERIALIZED (${next})`],
    page: sql`SELECT * FROM walked WHERE (SELECT count(*) FROM walked) >= ${limit} UNION ALL (${sorted})`,
    order,
  };
}

/** As `triedWalk`; but once begun, the walk goes on to the end. */
function gatedWalk(
  wanted: Wanted,
  walk: Lead,
  lead: Lead,
  first: SortKey,
  more: readonly SortKey[],
  stretch: Stretch,
): Selection {
  const keys = [first, ...more];
  const selection = walkedThenSorted(wanted, walk, lead, keys, stretch, [sql`(SELECT NOT few FROM gate)`]);
  const sorted = firstBySortKeys(wanted, lead, keys, stretch, [sql`(SELECT few FROM gate)`]);
  return {
    parts: [sql`gate AS MATERIALIZED (${leadsFew(wanted, lead, gatheredInGroupsMax)})`, ...selection.parts],
    page: sql`${selection.page} UNION ALL (${sorted})`,
    order: selection.order,
  };
}

function unfilled(limit: number): Sql {
  return sql`(SELECT count(*) FROM walked) < ${limit}`;
}

/** Whether every match has the key: R4 requires the element, or a criterion asks for a value of it. */
function neverLacking({ criteria }: Wanted, { parameter, number, always }: SortKey): boolean {
  return (
    always ||
    criteria.some((criterion) => criterion.parameter === parameter && criterion.number === number && !criterion.negated)
  );
}

function orderOfKeys(keys: readonly SortKey[]): readonly Ordered[] {
  return pageColumns(keys.flatMap(columnsOf));
}

function columnsOf({ columns, descending, always }: SortKey): readonly Omit<Ordered, 'expression'>[] {
  return columns.map(({ cast }) => ({ cast, descending, nullable: !always }));
}

function pageColumns(columns: readonly Omit<Ordered, 'expression'>[]): readonly Ordered[] {
  return columns.map((column, place) => ({ ...column, expression: sql`page.${columnName(place)}` }));
}
