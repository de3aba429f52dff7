/**
 * The index that drives a search: from which candidates are read in order, while every other criterion is looked up for
 * each of them. The server chooses it, not the database's planner: a wrong one costs a hundredfold (docs/decisions/0030).
 */
import { type Sql, sql } from '../../database/sql.ts';
import { estimateSpanSelectivity } from '../kinds/date.ts';
import { compareMoments, type Microseconds } from '../kinds/date-range.ts';
import { selectivities, type Test } from '../kinds/kind.ts';
import { isCriterion, type SearchCondition } from '../query/condition.ts';
import type { Criterion } from '../query/criteria.ts';
import { getTableOrder, type SortKey } from '../query/sorting.ts';
import { allOfType, type DrivingIndex, selectivityOfAll } from './driving-index.ts';
import { findChainDrivingIndex, findCombinationDrivingIndex, findHasDrivingIndex } from './driving-links.ts';
import { buildAnyTest } from './exists-subquery.ts';
import { findSoleGroup, type Wanted } from './matching-ids.ts';

/** Stretches of the primary key that are read apart and merged, at most. */
const branchesMax = 8;

/** What a text ranks behind others of its share: more people share the beginning of a name than a day of birth. */
const textSelectivity = 0.02;

/**
 * The driving index that lets the fewest rows through, by the kinds of the conditions; all of the type when none can
 * drive. What all rows that the caller may see have in common can drive as well as what it asks for, which comes first
 * between equals.
 */
export function chooseDrivingIndex({ firm, criteria, mandatory }: Wanted): DrivingIndex {
  return takeBest(allOfType, drivingIndexesOf(firm, [...criteria, ...findSoleGroup(mandatory)]));
}

/** The first of those that let the fewest rows through. */
function takeBest(first: DrivingIndex, others: readonly DrivingIndex[]): DrivingIndex {
  return others.reduce((best, driving) => (rank(driving) < rank(best) ? driving : best), first);
}

function drivingIndexesOf(firm: number, conditions: readonly SearchCondition[]): readonly DrivingIndex[] {
  const criteria = conditions.filter(isCriterion);
  const others = conditions.filter((condition) => !isCriterion(condition));
  return [
    ...criteria.filter(canDrive).map(drivingIndexOf),
    ...mergeRanges(criteria),
    ...others.flatMap((condition) => drivingIndexOfOther(firm, condition) ?? []),
  ];
}

function drivingIndexOfOther(firm: number, condition: Exclude<SearchCondition, Criterion>): DrivingIndex | undefined {
  switch (condition.kind) {
    case 'chain':
      return findChainDrivingIndex(firm, condition, chooseDrivingIndex);
    case 'has':
      return findHasDrivingIndex(firm, condition, chooseDrivingIndex);
    default:
      return findCombinationDrivingIndex(firm, condition, chooseDrivingIndex);
  }
}

/**
 * The driving index that yields rows in the order of a sort key: the search's own driving index or another criterion's,
 * where it reads just the rows that resources are sorted by, else all rows of the key.
 */
export function chooseSortDrivingIndex(key: SortKey, driving: DrivingIndex, { firm, criteria }: Wanted): DrivingIndex {
  const { table, number, sortable, columns, parameter } = key;
  const fitting = [driving, ...drivingIndexesOf(firm, criteria)].filter((candidate) => readsKey(candidate, key));
  const [first, ...others] = fitting;
  if (first !== undefined) return { ...takeBest(first, others), columns };
  return {
    table,
    number,
    where: sortable,
    branches: [sortable],
    order: 'value',
    columns,
    repeats: table !== 'resource' && parameter.facts.repeats,
    selectivity: selectivityOfAll,
    covered: new Set(),
  };
}

/** Whether the driving index yields, in their order, just those rows of the sort key that a resource is sorted by. */
function readsKey(driving: DrivingIndex, key: SortKey): boolean {
  if (driving.order !== 'value' || driving.table !== key.table) return false;
  if (driving.table === 'resource') return driving.columns[0] === key.columns[0];
  return driving.number === key.number && !driving.repeats;
}

/** Whether two leads read the same rows, in whatever order. */
export function readSameRows(a: DrivingIndex, b: DrivingIndex): boolean {
  return a.covered === b.covered;
}

/** Between equals the driving index that covers more, then one whose rows come in the order of resources. */
function rank(driving: DrivingIndex): number {
  return driving.selectivity * 10 - driving.covered.size - (driving.order === 'rid' ? 0.5 : 0);
}

function canDrive({ negated, tests }: Criterion): boolean {
  return !negated && tests.length > 0;
}

function drivingIndexOf(criterion: Criterion): DrivingIndex {
  const { tests, parameter, table, number } = criterion;
  const branches = tests.flatMap((test) => test.branches ?? [test.where]);
  const where = buildAnyTest(criterion);
  const gathered = branches.length > branchesMax || tests.some(({ order }) => order === 'gathered');
  const byRid = tests.every(({ order }) => order === 'rid');
  const orderOfRows = byRid ? 'rid' : 'value';
  return {
    table,
    number,
    where,
    branches: gathered ? [where] : branches,
    order: gathered ? 'gathered' : orderOfRows,
    columns: byRid || gathered ? [] : getTableOrder(table, parameter.code).columns,
    repeats: mayRepeat(criterion) && !(table === 'reference' && byRid && branches.length === 1),
    selectivity:
      Math.max(...tests.map(({ selectivity }) => selectivity)) + (table === 'string' && !byRid ? textSelectivity : 0),
    covered: new Set([criterion]),
  };
}

function mayRepeat({ parameter, table }: Criterion): boolean {
  return table !== 'resource' && parameter.facts.repeats;
}

/** `date=ge2024-01-01&date=lt2024-02-01`: one range where a resource has but one date. */
function mergeRanges(criteria: readonly Criterion[]): readonly DrivingIndex[] {
  const isRange = ({ tests }: Criterion) => tests.length === 1 && tests[0]?.span !== undefined;
  const ranges = criteria.filter((criterion) => canDrive(criterion) && isRange(criterion) && !mayRepeat(criterion));
  const byParameter = Map.groupBy(ranges, ({ parameter }) => parameter);
  return [...byParameter.values()].filter((parts) => parts.length > 1).map(merged);
}

function merged(parts: readonly Criterion[]): DrivingIndex {
  const tests = parts.flatMap((part) => part.tests);
  const all = (wheres: readonly Sql[]): Sql => sql.join(wheres, sql` AND `);
  const split = tests.find(({ branches }) => branches !== undefined);
  const others = tests.filter((test) => test !== split).map(({ where }) => sql`(${where})`);
  const [first] = parts;
  const where = all(tests.map((test) => sql`(${test.where})`));
  return {
    table: first?.table ?? 'date',
    number: first?.number ?? 0,
    where,
    branches: split?.branches?.map((branch) => all([sql`(${branch})`, ...others])) ?? [where],
    order: 'value',
    columns: getTableOrder(first?.table ?? 'date', first?.parameter.code ?? '').columns,
    repeats: false,
    selectivity: selectivityOfTests(tests),
    covered: new Set(parts),
  };
}

/** The share of rows in the span that the tests leave together. */
function selectivityOfTests(tests: readonly Test[]): number {
  let from: Microseconds | undefined;
  let to: Microseconds | undefined;
  for (const { span } of tests) {
    if (span?.from !== undefined && (from === undefined || compareMoments(span.from, from) > 0)) from = span.from;
    if (span?.to !== undefined && (to === undefined || compareMoments(span.to, to) < 0)) to = span.to;
  }
  return from === undefined || to === undefined ? selectivities.most : estimateSpanSelectivity(from, to);
}
