/**
 * Which resources a page holds, before their contents are fetched: the strategies by which they are found in order.
 * docs/decisions/0030 has the measurements.
 */
import { type Sql, sql } from '../../database/sql.ts';
import { noSearchParameters } from '../../tenancy/search-parameters.ts';
import { selectivities } from '../kinds/kind.ts';
import { isCriterion } from '../query/condition.ts';
import { parseSort, type SortKey } from '../query/sorting.ts';
import { chooseDrivingIndex, chooseSortDrivingIndex, readSameRows } from './choose-driving-index.ts';
import { allOfType, type DrivingIndex } from './driving-index.ts';
import type { Ordered } from './keyset.ts';
import { coversAll, drivesFew, type Wanted } from './matching-ids.ts';
import {
  hasKey,
  type PageRange,
  selectFirstByColumns,
  selectFirstByNumber,
  selectFirstBySortKeys,
  selectFirstLacking,
  selectNextByColumns,
} from './page-walks.ts';
import { buildWalkColumns, listKeyColumns, nameColumns, nameSortColumn } from './sort-columns.ts';

export interface PagePlan {
  /** Common table expressions that `page` reads, each `name AS …`. */
  readonly parts: readonly Sql[];
  /** Yields `rid`, `k0`, `k1`, …; perhaps more rows than asked for. */
  readonly page: Sql;
  /** The order of the page's columns, as it is walked forward; the resource's number follows. */
  readonly order: readonly Ordered[];
}

export interface ChosenPlan extends PagePlan {
  /** Whether it reads few rows, as far as the kinds of the conditions tell: hundreds at most, of most data. */
  readonly readsFew: boolean;
}

/** Rows of a driving index up to which they are gathered and sorted without a try to walk the sort key's index. */
const gatheredMax = 500;

/** Rows of the sort key's index among which the page is looked for; when they do not fill it, all matches are sorted. */
const walkedMax = 3000;

/** Rows of a page that is read by few. */
const fewMax = 128;

/** As `gatheredMax`, with several sort keys: the walk then has to complete groups of equal rows, whatever their size. */
const gatheredInGroupsMax = 2000;

/** A sorted range of a search: what drives the search, and what is walked in the order of the first key. */
interface SortedRange {
  readonly wanted: Wanted;
  readonly driving: DrivingIndex;
  readonly walk: DrivingIndex;
  readonly keys: readonly [SortKey, ...SortKey[]];
  readonly range: PageRange;
}

/** The plan of the range of a search, in the order of `sort`, or without one in the order of the driving index. */
export function choosePagePlan(wanted: Wanted, sort: readonly SortKey[], range: PageRange): ChosenPlan {
  const driving = chooseDrivingIndex(wanted);
  return { ...planRange(wanted, sort, range, driving), readsFew: readsFewRows(wanted, sort, range, driving) };
}

function planRange(wanted: Wanted, sort: readonly SortKey[], range: PageRange, driving: DrivingIndex): PagePlan {
  const [first, ...more] = sort;
  if (first === undefined) {
    const key = impliedKey(wanted, driving);
    if (key === undefined) return inOrderOfDrivingIndex(wanted, driving, range);
    return planRange(wanted, parseSort(wanted.type, key, noSearchParameters), range, driving);
  }
  const walk = chooseSortDrivingIndex(first, driving, wanted);
  const sorted: SortedRange = { wanted, driving, walk, keys: [first, ...more], range };
  if (driving === allOfType && more.length === 0 && !neverLacking(wanted, first)) return walkedThenById(sorted);
  if (readSameRows(walk, driving) || driving === allOfType) return walkedThenSorted(sorted);
  if (driving.selectivity < selectivities.some) {
    return { parts: [], page: selectFirstBySortKeys(wanted, driving, sort, range, []), order: orderOfKeys(sort) };
  }
  // Of two branches, the one that is cut off might have rows before the last of the other.
  return more.length === 0 && walk.branches.length === 1 ? triedWalk(sorted) : gatedWalk(sorted);
}

/**
 * Whether the driving index has few rows, or yields them in the order of the page and nothing leaves one out: then no more of them
 * are read than the page holds.
 */
function readsFewRows(wanted: Wanted, sort: readonly SortKey[], { limit }: PageRange, driving: DrivingIndex): boolean {
  if (limit > fewMax) return false;
  if (driving.selectivity < selectivities.some) return true;
  if (driving.order === 'gathered' || !coversAll(wanted, driving)) return false;
  const [first, ...more] = sort;
  if (first === undefined) return driving.gathersFew === undefined;
  return (
    more.length === 0 &&
    neverLacking(wanted, first) &&
    readSameRows(chooseSortDrivingIndex(first, driving, wanted), driving)
  );
}

/**
 * The key that an unsorted search is ordered by where only the data tell which way of finding it is short: either way then
 * gives the same order. What is gathered may be much or little; what has changed since a moment, and what else is asked.
 */
function impliedKey({ criteria }: Wanted, driving: DrivingIndex): string | undefined {
  if (driving.selectivity < selectivities.some) return undefined;
  if (driving.gathersFew !== undefined) return '_id';
  const changed = criteria.filter(isCriterion).filter(({ parameter }) => parameter.code === '_lastUpdated');
  return changed.some((criterion) => !driving.covered.has(criterion)) ? '_lastUpdated' : undefined;
}

function inOrderOfDrivingIndex(wanted: Wanted, driving: DrivingIndex, range: PageRange): PagePlan {
  if (driving.order !== 'value') return { parts: [], page: selectFirstByNumber(wanted, driving, range), order: [] };
  const page = selectFirstByColumns(wanted, { driving, descending: false, more: [], gate: [] }, range);
  return { parts: [], page, order: nameColumns(buildWalkColumns(driving.columns, false), sql`page`) };
}

/** With a last column for the id, by which resources without the key are ordered: so they can be walked, too. */
function walkedThenById({ wanted, walk, keys: [first], range }: SortedRange): PagePlan {
  const order = nameColumns(
    [...listKeyColumns(first), { cast: sql`::text`, descending: false, nulls: 'last' }],
    sql`page`,
  );
  const noId = sql`NULL::text AS ${nameSortColumn(order.length - 1)}`;
  const found = nullsLastStages(range, {
    having(from, gate) {
      const row = from.row && { ...from.row, keys: from.row.keys.slice(0, -1) };
      const walking = { driving: walk, descending: first.descending, more: [], gate };
      return sql`SELECT *, ${noId} FROM (${selectFirstByColumns(wanted, walking, { ...from, row })}) h`;
    },
    lacking: (from, gate) => selectFirstLacking(wanted, first, from, gate),
  });
  return { ...found, order };
}

/** The index of the first key is walked; what lacks the key comes after it. */
function walkedThenSorted({ wanted, driving, walk, keys, range }: SortedRange, gate: readonly Sql[] = []): PagePlan {
  const [first, ...more] = keys;
  const having = (from: PageRange, also: readonly Sql[]): Sql =>
    selectFirstByColumns(wanted, { driving: walk, descending: first.descending, more, gate: [...gate, ...also] }, from);
  const lacking = (from: PageRange, also: readonly Sql[]): Sql =>
    selectFirstBySortKeys(wanted, driving, keys, from, [...gate, ...also, sql`NOT ${hasKey(wanted.firm, first)}`]);
  const order = orderOfKeys(keys);
  if (neverLacking(wanted, first)) return { parts: [], page: sql`(${having(range, [])})`, order };
  return { ...nullsLastStages(range, { having, lacking }), order };
}

type Stage = 'having' | 'lacking';

/**
 * Resources that have the first key come before those that lack it; walked backward, after them. The range begins among
 * those to which the row before it belongs, and goes on among the others only if these do not fill it.
 */
function nullsLastStages(
  range: PageRange,
  find: Readonly<Record<Stage, (from: PageRange, gate: readonly Sql[]) => Sql>>,
): Omit<PagePlan, 'order'> {
  const [begun, following] = stagesOf(range);
  const start = find[begun](range, []);
  if (following === undefined) return { parts: [], page: sql`(${start})` };
  const rest = find[following]({ ...range, row: undefined }, [unfilled(sql`begun`, range.limit)]);
  return {
    parts: [sql`begun AS MATERIALIZED (${start})`, sql`rest AS MATERIALIZED (${rest})`],
    page: sql`SELECT * FROM begun UNION ALL SELECT * FROM rest`,
  };
}

/** The stages that the range can hold resources of, in the order of the walk. */
function stagesOf({ direction, row }: PageRange): readonly [Stage, Stage?] {
  const lacks = row?.keys[0] === null;
  if (direction === 'forward') return lacks ? ['lacking'] : ['having', 'lacking'];
  return row === undefined || lacks ? ['lacking', 'having'] : ['having'];
}

/**
 * Whether the driving index has few rows or many, the kinds of its criteria do not tell. So the statement counts them,
 * as far as it matters: few are sorted. Many are likely to fill the page among the next rows of the sort key's index;
 * if they do not, they are sorted as well. Parts that are not needed are not executed.
 */
function triedWalk({ wanted, driving, walk, keys: [first], range }: SortedRange): PagePlan {
  const order = orderOfKeys([first]);
  const { limit } = range;
  if (stagesOf(range)[0] === 'lacking') {
    const sorted = (from: PageRange, gate: readonly Sql[]): Sql =>
      selectFirstBySortKeys(wanted, driving, [first], from, gate);
    const found = nullsLastStages(range, {
      having: (from, gate) => sorted(from, [...gate, hasKey(wanted.firm, first)]),
      lacking: (from, gate) => sorted(from, [...gate, sql`NOT ${hasKey(wanted.firm, first)}`]),
    });
    return { ...found, order };
  }
  const gate = [sql`(SELECT NOT few FROM gate)`];
  const walking = { driving: walk, descending: first.descending, more: [], gate };
  const next = selectNextByColumns(wanted, walking, range, walkedMax);
  const sorted = selectFirstBySortKeys(wanted, driving, [first], range, [unfilled(sql`walked`, limit)]);
  return {
    parts: [
      sql`gate AS MATERIALIZED (${drivesFew(wanted, driving, gatheredMax)})`,
      sql`walked AS MATERIALIZED (${next})`,
    ],
    page: sql`SELECT * FROM walked WHERE (SELECT count(*) FROM walked) >= ${limit} UNION ALL (${sorted})`,
    order,
  };
}

/** As `triedWalk`; but once begun, the walk goes on to the end. */
function gatedWalk(asked: SortedRange): PagePlan {
  const { wanted, driving, keys, range } = asked;
  const selection = walkedThenSorted(asked, [sql`(SELECT NOT few FROM gate)`]);
  const sorted = selectFirstBySortKeys(wanted, driving, keys, range, [sql`(SELECT few FROM gate)`]);
  return {
    parts: [sql`gate AS MATERIALIZED (${drivesFew(wanted, driving, gatheredInGroupsMax)})`, ...selection.parts],
    page: sql`${selection.page} UNION ALL (${sorted})`,
    order: selection.order,
  };
}

function unfilled(part: Sql, limit: number): Sql {
  return sql`(SELECT count(*) FROM ${part}) < ${limit}`;
}

/** Whether every match has the key: every resource has it, or a criterion asks for a value of it. */
function neverLacking({ criteria }: Wanted, { parameter, number, always }: SortKey): boolean {
  if (always) return true;
  const own = criteria.filter(isCriterion).filter((criterion) => criterion.parameter === parameter);
  return own.some((criterion) => criterion.number === number && !criterion.negated);
}

function orderOfKeys(keys: readonly SortKey[]): readonly Ordered[] {
  return nameColumns(keys.flatMap(listKeyColumns), sql`page`);
}
