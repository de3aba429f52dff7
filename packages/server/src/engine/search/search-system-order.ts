/**
 * One order over several types (https://hl7.org/fhir/R4/search.html#sort): each type is read in its own order from the same
 * place on, and the rows are merged. Among equals the types follow each other by name (docs/decisions/0107).
 */

import { refuseValue } from '../../search/query/search-values.ts';
import type { RowPlace } from '../../search/sql/keyset.ts';
import { pageBytesMax } from '../../search/sql/page-bytes.ts';
import { listOrderColumns, type SearchPage, type SearchTarget, sealCursorAfter } from '../../search/sql/plan.ts';
import { countBytes, type PageRow } from '../../storage/store.ts';
import type { InteractionContext } from '../context.ts';
import { selectPage } from './select-page.ts';

/** Rows that one page reads of all types together, at most: many types make short pages. */
const rowsReadMax = 1_000;

/** Beyond the number of every resource. */
const ridMax = Number.MAX_SAFE_INTEGER;

/** Byte by byte behind every id (https://hl7.org/fhir/R4/datatypes.html#id). */
const behindIds = '~';

/** The last row of the page before. */
export interface MergedPlace extends RowPlace {
  readonly type: string;
}

/**
 * Passes searches whose sort keys have values of the same kind in every type.
 * @throws PraxisError `search-invalid`
 */
export function requireOneOrder(targets: readonly SearchTarget[]): void {
  const kinds = new Set(targets.map((target) => JSON.stringify(columnsOf(target))));
  if (kinds.size > 1) refuseValue('_sort', 'names what has values of different kinds in the types that are searched');
}

/**
 * The rows after `start`, in one order. Each type has its part of the page's bytes; the page ends before the first row that
 * came without its content.
 * @returns `last` is present when more rows follow
 * @throws PraxisError `statement-timeout`
 */
export async function selectMergedPage(
  context: InteractionContext,
  targets: readonly SearchTarget[],
  start: MergedPlace | undefined,
): Promise<{ readonly rows: readonly PageRow[]; readonly last: MergedPlace | undefined }> {
  const room = Math.max(1, Math.floor(rowsReadMax / targets.length));
  const count = Math.min(room, ...targets.map(({ query }) => query.count));
  const share = Math.ceil(pageBytesMax / targets.length);
  const found: PageRow[] = [];
  let isMore = false;
  let bytesLeft = pageBytesMax;
  for (const target of targets) {
    const page = await pageAfter(context, target, start, { count, bytesMax: Math.min(share, bytesLeft) });
    found.push(...page.rows, ...(page.leftOut === undefined ? [] : [page.leftOut]));
    isMore ||= page.next !== undefined;
    bytesLeft = Math.max(0, bytesLeft - countBytes(page.rows));
  }
  const columns = targets[0] === undefined ? [] : columnsOf(targets[0]);
  // Sorting is stable: rows of one type stay in their order, and types in theirs.
  const sorted = found.sort((one, other) => compareKeys(columns, one, other));
  const rows = await withContent(context, targets, start, sorted.slice(0, count));
  const last = found.length > rows.length || isMore ? rows.at(-1) : undefined;
  return { rows, last: last && { type: last.type, keys: last.keys, rid: last.rid } };
}

async function pageAfter(
  context: InteractionContext,
  target: SearchTarget,
  start: MergedPlace | undefined,
  { count, bytesMax }: { readonly count: number; readonly bytesMax: number },
): Promise<SearchPage<PageRow>> {
  const cursor = start && sealCursorAfter(target, placeIn(target, start));
  return await selectPage(context, { ...target, query: { ...target.query, count, cursor } }, bytesMax);
}

/** The rows before the first without content; where that is the first of all, it is read alone. */
async function withContent(
  context: InteractionContext,
  targets: readonly SearchTarget[],
  start: MergedPlace | undefined,
  rows: readonly PageRow[],
): Promise<readonly PageRow[]> {
  const end = rows.findIndex(({ deleted }) => deleted);
  if (end !== 0) return end < 0 ? rows : rows.slice(0, end);
  const target = targets.find(({ query }) => query.type === rows[0]?.type);
  if (target === undefined) throw new TypeError('a row has a type that was not searched');
  return (await pageAfter(context, target, start, { count: 1, bytesMax: pageBytesMax })).rows;
}

/**
 * Where the type goes on: of rows that are equal to the last one, those of types before it were shown, those after not.
 * A type whose way of finding orders by the id as well, which rows with the sort key lack and rows without it have, goes on
 * before or behind all ids.
 */
function placeIn(target: SearchTarget, { type, keys, rid }: MergedPlace): RowPlace {
  const { query } = target;
  if (query.type === type) return { keys, rid };
  const isShown = query.type < type;
  const isDescending = query.sort[0]?.descending ?? false;
  const shared = keys.slice(0, columnsOf(target).length);
  const behind = shared[0] === null ? behindIds : null;
  const own = listOrderColumns(target).slice(shared.length);
  return {
    keys: [...shared, ...own.map(() => (isShown ? behind : ''))],
    rid: isShown === isDescending ? -1 : ridMax,
  };
}

/** `cast`: the type of its values, such as `::bigint`. */
function columnsOf({ query }: SearchTarget) {
  return query.sort.flatMap(({ columns, descending }) => columns.map(({ cast }) => ({ cast: cast.text, descending })));
}

/** As the statements order: missing values come last in both directions. */
function compareKeys(columns: ReturnType<typeof columnsOf>, one: PageRow, other: PageRow): number {
  for (const [place, { cast, descending }] of columns.entries()) {
    const [left, right] = [one.keys[place] ?? null, other.keys[place] ?? null];
    if (left === right) continue;
    if (left === null || right === null) return left === null ? 1 : -1;
    const difference = compareTexts(cast, left, right);
    if (difference !== 0) return descending ? -difference : difference;
  }
  return 0;
}

/** Texts of columns are compared byte by byte (COLLATE "C"), numbers by their values. */
function compareTexts(cast: string, left: string, right: string): number {
  if (cast === '::text') return Buffer.compare(Buffer.from(left), Buffer.from(right));
  if (cast === '::float8') return Number(left) - Number(right);
  const [one, other] = [BigInt(left), BigInt(right)];
  return one < other ? -1 : one > other ? 1 : 0;
}
