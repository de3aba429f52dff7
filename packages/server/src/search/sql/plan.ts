/**
 * From a search to one statement for a page, and one for the number of matches. https://hl7.org/fhir/R4/search.html#sort
 * and #count; how the statements stay fast: docs/decisions/0030.
 *
 * The order is part of what is asked. With `_sort` it is that of the sort keys; without, it is the one in which the
 * leading index yields the matches (docs/decisions/0031). Either way the resource's number makes it total, and a page
 * continues after the last row of the one before it, ends before the first row of the one after it, or, for a bare
 * `page=N`, begins after a number of rows (docs/decisions/0110).
 */
import { fail } from '../../base/errors.ts';
import type { Secrets } from '../../base/secrets.ts';
import { type Sql, sql } from '../../database/sql.ts';
import type { TenantScope } from '../../tenancy/scope.ts';
import { selectivities } from '../kinds/kind.ts';
import type { SearchQuery } from '../query/query.ts';
import { buildMandatoryGroups, type RowCriterion } from '../query/row-criteria.ts';
import { chooseDrivingIndex } from './choose-driving-index.ts';
import { type Cursor, type CursorBinding, openCursor, sealCursor } from './cursor.ts';
import { estimate } from './estimate.ts';
import { buildRidColumn, type Direction, type Ordered, orderBy, orientColumns, type RowPlace } from './keyset.ts';
import { selectMatchingIds, type Wanted } from './matching-ids.ts';
import { isWithinBytes, pageBytesMax } from './page-bytes.ts';
import { choosePagePlan, type PagePlan } from './page-strategy.ts';
import { nameSortColumn } from './sort-columns.ts';

export interface SearchTarget {
  readonly scope: TenantScope;
  readonly query: SearchQuery;
  /**
   * Row restrictions of the caller: a row is shown when it meets all criteria of at least one group. A group without
   * criteria admits every row. Never empty: who may see nothing is refused before.
   */
  readonly mandatory: readonly (readonly RowCriterion[])[];
  /** What page links are sealed with and bound to. */
  readonly cursor: { readonly secrets: Secrets; readonly policyFingerprint: string };
}

/** What a page needs to know of a row that the statement selected. */
export interface RankedRow {
  readonly rid: number;
  /** `k0`, `k1`, … as text. */
  readonly keys: readonly (string | null)[];
  /** It came without its content: the rows before it reach the limit of bytes. */
  readonly deleted: boolean;
}

export interface SearchPage<Row = unknown> {
  readonly rows: readonly Row[];
  /** Number of this page, from 1. */
  readonly page: number;
  /** The number of all matches, where this page tells it: it is the first and the last one. */
  readonly total: number | undefined;
  /** Present when more rows follow. */
  readonly next: PageStart | undefined;
  /** What follows the last row shown, whether there is anything or not; undefined: no row is shown. */
  readonly after: () => PageStart | undefined;
  /** Present when there are rows before the page. */
  readonly previous: PageStart | undefined;
  /** The row before which the limit of bytes ended the page; undefined: it ended at its rows. */
  readonly leftOut: Row | undefined;
}

/** How another page is asked for: the sealed `_cursor`, and the number of the page. */
export interface PageStart {
  readonly cursor: string;
  readonly page: number;
}

export interface PlannedPage {
  /**
   * What `read` sends first. Columns: epoch, rtype, id, vid, lu, content, rid, k0, k1, …; the others are null in the one row of
   * an empty page. No row at all when firm and application have no access epoch.
   */
  buildStatement(): Sql;
  /** Whether the statement reads few rows, as far as the kinds of its conditions tell. */
  readonly readsFew: boolean;
  /**
   * The page, of the rows that `select` returns for a statement with the columns of `buildStatement`; the row beyond it only tells
   * that there is a further one. A page whose contents reach the limit of bytes ends early, and `next` continues there.
   * @throws PraxisError `too-costly` where the page is asked for by its number alone: the one after it would leave rows out
   */
  read<Row extends RankedRow>(
    select: (statement: Sql, readsFew: boolean) => Promise<readonly Row[]>,
  ): Promise<SearchPage<Row>>;
  /** The last of the pages that `total` matches fill, found from the end of the result; none where one page holds all. */
  last(total: number): PageStart | undefined;
}

/**
 * The page of the search.
 * @param bytesMax bytes of content that the page reads at most; 0: its rows come without content; infinite: there is no limit
 * @throws PraxisError `cursor-invalid`
 */
export function planPage(target: SearchTarget, bytesMax: number = pageBytesMax): PlannedPage {
  const { query } = target;
  const binding = bindingOf(target);
  const { secrets } = target.cursor;
  const cursor = query.cursor === undefined ? undefined : openCursor(secrets, query.cursor, binding);
  const start = (begin: Cursor): PageStart => ({ cursor: sealCursor(secrets, begin, binding), page: begin.page });
  const rows = sizeOf(query, cursor) + 1;
  const direction = cursor?.direction ?? 'forward';
  const range = { direction, row: cursor?.row, limit: query.offset + rows };
  const plan = choosePagePlan(wantedOf(target), query.sort, range);
  const build = (content: ContentColumn) => pageStatement(target, plan, { direction, rows }, content);
  const byRow = contentOfPart(bytesMax, rows);
  const buildStatement = () => build(byRow ?? contentWithin(bytesMax));
  return {
    buildStatement,
    readsFew: plan.readsFew,
    async read(select) {
      const found = await select(buildStatement(), plan.readsFew);
      const lacksContents = byRow !== undefined && found.some(({ deleted }) => deleted);
      const whole = lacksContents ? await select(build(contentWithin(bytesMax)), false) : found;
      return cutPage(query, cursor, bytesMax, whole, start);
    },
    last(total) {
      const page = Math.ceil(total / query.count);
      if (page < 2) return undefined;
      return start({ direction: 'backward', row: undefined, page, rowsMax: total - (page - 1) * query.count });
    },
  };
}

function bindingOf({ scope, query, cursor }: SearchTarget): CursorBinding {
  const { firm, application } = scope;
  const { canonical, nowMs } = query;
  return { firm, application, policyFingerprint: cursor.policyFingerprint, canonical, nowMs };
}

/** The cursor of the page after a place in the order of the search, whether a row is there or not. */
export function sealCursorAfter(target: SearchTarget, row: RowPlace): string {
  const begin: Cursor = { direction: 'forward', row, page: 1, rowsMax: undefined };
  return sealCursor(target.cursor.secrets, begin, bindingOf(target));
}

/**
 * The columns that the rows of the search are ordered by, in order, before the resource's number: those of its sort
 * keys, and perhaps one more that the way of finding them adds.
 */
export function listOrderColumns(target: SearchTarget): readonly Ordered[] {
  return choosePagePlan(wantedOf(target), target.query.sort, { direction: 'forward', row: undefined, limit: 1 }).order;
}

function cutPage<Row extends RankedRow>(
  query: SearchQuery,
  cursor: Cursor | undefined,
  bytesMax: number,
  rows: readonly Row[],
  start: (begin: Cursor) => PageStart,
): SearchPage<Row> {
  const asked = rows.slice(0, sizeOf(query, cursor));
  const page = query.page ?? cursor?.page ?? 1;
  const back = cursor?.direction === 'backward';
  const end = bytesMax === 0 ? -1 : asked.findIndex(({ deleted }) => deleted);
  if (end >= 0 && cursor === undefined && query.page !== undefined) refuseNumbered(query, end);
  const fitting = end < 0 ? asked : asked.slice(0, end);
  const shown = back ? fitting.toReversed() : fitting;
  const more = rows.length > fitting.length;
  const begun = cursor?.row !== undefined || query.offset > 0;
  const whole = !more && cursor === undefined && (shown.length > 0 || query.offset === 0);
  const step = (direction: Direction, row: Row | undefined): PageStart => {
    const number = direction === 'forward' ? page + 1 : Math.max(1, page - 1);
    const place = row && { keys: row.keys, rid: row.rid };
    return start({ direction, row: place, page: number, rowsMax: undefined });
  };
  return {
    rows: shown,
    page,
    total: whole ? query.offset + shown.length : undefined,
    next: (back ? begun : more) ? step('forward', shown.at(-1)) : undefined,
    after: () => (shown.length === 0 ? undefined : step('forward', shown.at(-1))),
    previous: (back ? more : begun) ? step('backward', shown[0]) : undefined,
    leftOut: asked[fitting.length],
  };
}

/** @param fitting number of the page's rows that the limit of bytes admits */
function refuseNumbered({ page, count }: SearchQuery, fitting: number): never {
  return fail('too-costly', {
    diagnostics: `page=${page} of ${count} resources takes more than ${pageBytesMax} bytes, the limit of one page: ask with _count=${fitting}, or follow next links from a search without page`,
    expression: ['page'],
  });
}

/** The column of the contents. */
type ContentColumn = (order: Sql) => Sql;

function contentWithin(bytesMax: number): ContentColumn {
  if (bytesMax === 0) return () => sql`NULL::text`;
  if (bytesMax === Number.POSITIVE_INFINITY) return () => sql`r.content`;
  return (order) => sql`CASE WHEN ${isWithinBytes(contentBytes, order, bytesMax)} THEN r.content END`;
}

/**
 * Contents that take no more than their part of the limit, so that all of them together stay within it: it takes no window
 * function, which costs some percent of a search (docs/decisions/0280).
 * @returns undefined where contents are larger too often, or there is no limit
 */
function contentOfPart(bytesMax: number, rows: number): ContentColumn | undefined {
  const part = Math.floor(bytesMax / rows);
  if (part < partMin || bytesMax === Number.POSITIVE_INFINITY) return undefined;
  return () => sql`CASE WHEN ${contentBytes} <= ${part} THEN r.content END`;
}

const contentBytes = sql`octet_length(r.content)`;

/** Few resources are larger. */
const partMin = 32 * 1024;

function sizeOf(query: SearchQuery, cursor: Cursor | undefined): number {
  return Math.min(query.count, cursor?.rowsMax ?? query.count);
}

/** The number of matches. Columns: epoch, total. No row when firm and application have no access epoch. */
export function planCount(target: SearchTarget): Sql {
  const wanted = wantedOf(target);
  const { firm, application } = target.scope;
  const driving = chooseDrivingIndex(wanted);
  const semiJoin = driving.selectivity < selectivities.part ? 'nested-loop' : 'hash';
  const found = selectMatchingIds(wanted, driving, [], semiJoin);
  return sql`
    SELECT e.epoch, c.total FROM access_epoch e CROSS JOIN (SELECT count(*) AS total FROM (${found}) f) c
    WHERE e.firm = ${firm} AND e.application = ${application}`;
}

/**
 * The number of matches, roughly. Columns: epoch, total, sampled, bounded (search/sql/estimate.ts). No row as for a
 * count.
 */
export function planEstimate(target: SearchTarget): Sql {
  const wanted = wantedOf(target);
  const { firm, application } = target.scope;
  return sql`
    SELECT e.epoch, c.total, c.sampled, c.bounded FROM access_epoch e CROSS JOIN (${estimate(wanted, chooseDrivingIndex(wanted))}) c
    WHERE e.firm = ${firm} AND e.application = ${application}`;
}

function wantedOf({ scope, query, mandatory }: SearchTarget): Wanted {
  const { type, criteria } = query;
  return { firm: scope.firm, type, criteria, mandatory: buildMandatoryGroups(type, mandatory) };
}

function pageStatement(
  { scope, query }: SearchTarget,
  selection: PagePlan,
  { direction, rows }: { readonly direction: Direction; readonly rows: number },
  content: ContentColumn,
): Sql {
  const order = orientColumns(direction, [...selection.order, buildRidColumn(sql`page.rid`, selection.order)]);
  const offset = query.offset > 0 ? sql` OFFSET ${query.offset}` : sql.empty;
  const keys = selection.order.map(
    (_, place) => sql`, page.${nameSortColumn(place)}::text AS ${nameSortColumn(place)}`,
  );
  const parts = selection.parts.map((part) => sql`${part}, `);
  return sql`
    WITH ${sql.join(parts, sql.empty)}page AS MATERIALIZED (
      SELECT * FROM (${selection.page}) page ${orderBy(order)} LIMIT ${rows}${offset})
    SELECT e.epoch, r.rtype, r.id, r.vid, r.lu,
      ${content(orderBy(order))} AS content, page.rid${sql.join(keys, sql.empty)}
    FROM access_epoch e LEFT JOIN (page CROSS JOIN LATERAL (
      SELECT rtype, id, vid, lu, content FROM resource WHERE firm = ${scope.firm} AND rid = page.rid OFFSET 0) r) ON true
    WHERE e.firm = ${scope.firm} AND e.application = ${scope.application}
    ${orderBy(order)}`;
}
