/**
 * From a search to one statement for a page, and one for the number of matches. https://hl7.org/fhir/R4/search.html#sort
 * and #count; how the statements stay fast: docs/decisions/0030.
 *
 * The order is part of what is asked. With `_sort` it is that of the sort keys; without, it is the one in which the
 * leading index yields the matches (docs/decisions/0031). Either way the resource's number makes it total, and a page
 * continues after the last row of the one before it, or, for a bare `page=N`, after a number of rows.
 */
import type { Secrets } from '../base/secrets.ts';
import { type Sql, sql } from '../database/sql.ts';
import type { TenantScope } from '../tenancy/scope.ts';
import { resourcesOf, type Wanted } from './candidates.ts';
import { type Cursor, type CursorBinding, openCursor, sealCursor } from './cursor.ts';
import { orderBy, ridColumn } from './keyset.ts';
import { shares } from './kind.ts';
import { chooseLead } from './leads.ts';
import { mandatoryGroups, type RowCriterion } from './probes.ts';
import type { SearchQuery } from './query.ts';
import { select } from './selection.ts';
import { columnName } from './sort-columns.ts';

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
}

export interface SearchPage<Row = unknown> {
  readonly rows: readonly Row[];
  /** Number of this page, from 1. */
  readonly page: number;
  /** The number of all matches, where this page tells it: it is the first and the last one. */
  readonly total: number | undefined;
  /** Present when more rows follow: the sealed `_cursor` and the number of the next page. */
  readonly next: { readonly cursor: string; readonly page: number } | undefined;
}

export interface PlannedPage {
  /**
   * Columns: epoch, rtype, id, vid, lu, content, rid, k0, k1, …; the others are null in the one row of an empty page. No
   * row at all when firm and application have no access epoch.
   */
  readonly statement: Sql;
  /** The page, of the rows that the statement selected; the row beyond it only tells that there is a next one. */
  cut<Row extends RankedRow>(rows: readonly Row[]): SearchPage<Row>;
}

/**
 * The page of the search.
 * @throws PraxisError `cursor-invalid`
 */
export function planPage(target: SearchTarget): PlannedPage {
  const { query, scope } = target;
  const binding: CursorBinding = {
    firm: scope.firm,
    application: scope.application,
    policyFingerprint: target.cursor.policyFingerprint,
    canonical: query.canonical,
    nowMs: query.nowMs,
  };
  const cursor = query.cursor === undefined ? undefined : openCursor(target.cursor.secrets, query.cursor, binding);
  const page = query.page ?? cursor?.page ?? 1;
  return {
    statement: pageStatement(target, cursor),
    cut(rows) {
      const shown = rows.slice(0, query.count);
      const last = shown.at(-1);
      const more = rows.length > query.count && last !== undefined;
      const whole = !more && cursor === undefined && (shown.length > 0 || query.offset === 0);
      return {
        rows: shown,
        page,
        total: whole ? query.offset + shown.length : undefined,
        next: more
          ? {
              cursor: sealCursor(target.cursor.secrets, { keys: last.keys, rid: last.rid, page: page + 1 }, binding),
              page: page + 1,
            }
          : undefined,
      };
    },
  };
}

/** The number of matches. Columns: epoch, total. No row when firm and application have no access epoch. */
export function planCount(target: SearchTarget): Sql {
  const wanted = wantedOf(target);
  const { firm, application } = target.scope;
  const lead = chooseLead(wanted.criteria);
  const found = resourcesOf(wanted, lead, [], lead.share < shares.part ? 'look-up' : 'join');
  return sql`
    SELECT e.epoch, c.total FROM access_epoch e CROSS JOIN (SELECT count(*) AS total FROM (${found}) f) c
    WHERE e.firm = ${firm} AND e.application = ${application}`;
}

function wantedOf({ scope, query, mandatory }: SearchTarget): Wanted {
  return {
    firm: scope.firm,
    type: query.type,
    criteria: query.criteria,
    mandatory: mandatoryGroups(query.type, mandatory),
  };
}

function pageStatement(target: SearchTarget, cursor: Cursor | undefined): Sql {
  const { scope, query } = target;
  const wanted = wantedOf(target);
  const limit = query.count + 1;
  const selection = select(wanted, query.sort, { cursor, limit: query.offset + limit });
  const order = [...selection.order, ridColumn(sql`page.rid`, selection.order)];
  const offset = query.offset > 0 ? sql` OFFSET ${query.offset}` : sql.empty;
  const keys = selection.order.map((_column, place) => sql`, page.${columnName(place)}::text AS ${columnName(place)}`);
  return sql`
    WITH ${sql.join(
      selection.parts.map((part) => sql`${part}, `),
      sql.empty,
    )}page AS MATERIALIZED (
      SELECT * FROM (${selection.page}) page ${orderBy(order)} LIMIT ${limit}${offset})
    SELECT e.epoch, r.rtype, r.id, r.vid, r.lu, r.content, page.rid${sql.join(keys, sql.empty)}
    FROM access_epoch e LEFT JOIN (page CROSS JOIN LATERAL (
      SELECT rtype, id, vid, lu, content FROM resource WHERE firm = ${scope.firm} AND rid = page.rid OFFSET 0) r) ON true
    WHERE e.firm = ${scope.firm} AND e.application = ${scope.application}
    ${orderBy(order)}`;
}
