/**
 * The change feed of a firm: its versions in the order (epoch, xid, seq), never past the oldest transaction under way, so
 * that nothing can appear before what was told (docs/decisions/0170).
 */
import { boxStored } from '../access/disclosure.ts';
import { pointRead } from '../database/database.ts';
import { type Sql, sql } from '../database/sql.ts';
import { getTypeNumber } from '../search/numbers.ts';
import { isWithinBytes, pageBytesMax } from '../search/sql/page-bytes.ts';
import { toFirmTime } from '../tenancy/firm-time.ts';
import type { TenantScope } from '../tenancy/scope.ts';
import { encodeIntegerArray } from './index-arrays.ts';
import { countBytes, type StoredResource } from './resources.ts';
import { type EpochRow, getTypeName, takeWithin } from './rows.ts';
import type { Ask } from './statement-runner.ts';

/** Versions that one page looks at, at most: those of types that nobody asked for cost something, too. */
const walkedMax = 1000;

/** As many times more versions are looked at than are wanted, where not all types are. */
const walkedPerWanted = 4;

function walkLimit({ limit, types }: ChangesPage): number {
  return types === undefined ? limit : Math.min(walkedMax, limit * walkedPerWanted);
}

/** A place in the order of changes. */
export interface ChangePlace {
  readonly epoch: number;
  /** A 64-bit number as text. */
  readonly xid: string;
  readonly seq: number;
  /** Whether a version stands at this very place; else it lies between two. */
  readonly isVersion: boolean;
}

/** Before every change. */
export const firstPlace: ChangePlace = { epoch: 0, xid: '0', seq: 0, isVersion: false };

export interface ChangesPage {
  readonly after: ChangePlace;
  /** Changes at most. */
  readonly limit: number;
  /** undefined: all. */
  readonly types: readonly string[] | undefined;
  /** Types of which the version before each change is wanted with its content. */
  readonly comparedTypes: readonly string[];
  /** Nobody asks whether there are later versions: `isSuperseded` is false of all. */
  readonly withoutLater?: boolean;
}

/** A version, and what was before it. */
export interface Change {
  readonly place: ChangePlace;
  /** Without content where it was deleted. */
  readonly now: StoredResource;
  /** Absent for a first version; without content where it was deleted, or its type is none of `listComparedTypes`. */
  readonly before: StoredResource | undefined;
  /** A later version of the resource can be seen. */
  readonly isSuperseded: boolean;
}

export interface Changes {
  readonly changes: readonly Change[];
  /** Where this page ends; equal to `after` where nothing new was found. */
  readonly end: ChangePlace;
  /** Of the contents that were read. */
  readonly bytes: number;
  /** Whether more can be read at once. */
  readonly hasMore: boolean;
  /** The place that no page of this moment passes. */
  readonly horizon: ChangePlace;
}

interface ChangeRow extends EpochRow {
  readonly order_epoch: number;
  readonly horizon: string;
  readonly known: boolean;
  readonly at_epoch: number | null;
  readonly xid: string;
  readonly seq: number;
  readonly rtype: number;
  readonly id: string;
  readonly vid: number;
  readonly lu: number;
  readonly deleted: boolean;
  readonly content: string | null;
  readonly was_deleted: boolean | null;
  readonly was_lu: number;
  readonly was: string | null;
  readonly superseded: boolean;
  readonly wanted: boolean;
  readonly nth: number;
  readonly walked: number;
  readonly within: boolean;
}

const bytesOfChange = sql`coalesce(octet_length(content), 0) + coalesce(octet_length(was), 0)`;

/**
 * That a version is the one of the row `w` with this number, alone and last in its WHERE. The bounds and the order are those of
 * the primary key: by plain equations PostgreSQL takes any index of the firm while it knows of few rows.
 */
function isOfKey(version: Sql, firm: number, vid: Sql): Sql {
  const key = sql`(${version}.id, ${version}.vid)`;
  return sql`${version}.firm = ${firm} AND ${version}.rtype = w.rtype AND ${key} >= (w.id, ${vid}) AND ${key} <= (w.id, ${vid})
    ORDER BY ${version}.id, ${version}.vid LIMIT 1`;
}

/**
 * A page of changes. Only wanted rows come with content; the last row that was walked always comes, for its place. The
 * bounds of the order are one comparison each, so the index serves both.
 */
function buildChangesStatement({ firm, application }: TenantScope, page: ChangesPage): Sql {
  const { after, limit, types, comparedTypes, withoutLater = false } = page;
  const wanted = types === undefined ? null : encodeIntegerArray(types.map(getTypeNumber));
  const compared = encodeIntegerArray(comparedTypes.map(getTypeNumber));
  return sql`
    SELECT e.epoch, o.epoch AS order_epoch, pg_snapshot_xmin(pg_current_snapshot())::text AS horizon,
      (SELECT true FROM resource_version k WHERE k.firm = ${firm}
        AND (k.epoch, k.xid, k.seq) >= (${after.epoch}::int, ${after.xid}::xid8, ${after.seq}::bigint)
        AND (k.epoch, k.xid, k.seq) <= (${after.epoch}::int, ${after.xid}::xid8, ${after.seq}::bigint)
        ORDER BY k.epoch, k.xid, k.seq LIMIT 1) IS NOT NULL AS known,
      r.at_epoch, r.xid, r.seq, r.rtype, r.id, r.vid, r.lu, r.deleted, CASE WHEN r.within THEN r.content END AS content,
      r.was_deleted, r.was_lu, CASE WHEN r.within THEN r.was END AS was, r.superseded, r.wanted, r.nth, r.walked, r.within
    FROM access_epoch e CROSS JOIN order_epoch o LEFT JOIN LATERAL (
      SELECT *, ${isWithinBytes(bytesOfChange, sql`ORDER BY walked`, pageBytesMax)} AS within FROM (
      SELECT w.epoch AS at_epoch, w.xid::text, w.seq, w.rtype, w.id, w.vid, w.lu, w.deleted, w.wanted, w.nth, w.walked,
        CASE WHEN w.wanted THEN (SELECT c.content FROM resource_version c WHERE ${isOfKey(sql`c`, firm, sql`w.vid`)}) END AS content,
        b.deleted AS was_deleted, b.lu AS was_lu, b.content AS was,
        ${withoutLater ? sql`false` : sql`(SELECT true FROM resource_version s WHERE ${isOfKey(sql`s`, firm, sql`w.vid + 1`)}) IS NOT NULL`} AS superseded
      FROM (
        SELECT v.epoch, v.xid, v.seq, v.rtype, v.id, v.vid, v.lu, v.content IS NULL AS deleted,
          COALESCE(v.rtype = ANY (${wanted}::smallint[]), true) AS wanted,
          count(*) FILTER (WHERE COALESCE(v.rtype = ANY (${wanted}::smallint[]), true)) OVER (ORDER BY v.epoch, v.xid, v.seq ROWS UNBOUNDED PRECEDING)::int AS nth,
          row_number() OVER (ORDER BY v.epoch, v.xid, v.seq)::int AS walked
        FROM resource_version v
        WHERE v.firm = ${firm} AND (v.epoch, v.xid, v.seq) > (${after.epoch}::int, ${after.xid}::xid8, ${after.seq}::bigint)
          AND (v.epoch, v.xid) < (o.epoch, pg_snapshot_xmin(pg_current_snapshot()))
        ORDER BY v.epoch, v.xid, v.seq LIMIT ${walkLimit(page)}) w
      LEFT JOIN LATERAL (
        SELECT p.lu, p.content IS NULL AS deleted, CASE WHEN w.rtype = ANY (${compared}::smallint[]) THEN p.content END AS content
        FROM resource_version p WHERE w.wanted AND ${isOfKey(sql`p`, firm, sql`w.vid - 1`)}) b ON true
      WHERE w.nth < ${limit} OR (w.nth = ${limit} AND w.wanted)
      OFFSET 0) page) r ON true
    WHERE e.firm = ${firm} AND e.application = ${application}
    ORDER BY r.at_epoch, r.xid::xid8, r.seq`;
}

/** Undefined when the place that the page comes after is that of a version which is no longer there. */
function changesOf(rows: readonly ChangeRow[], page: ChangesPage): Changes | undefined {
  const [first] = rows;
  if (first === undefined || (page.after.isVersion && !first.known)) return undefined;
  const rowsWalked = rows.filter((row) => row.at_epoch !== null);
  const walked = takeWithin(rowsWalked);
  const last = walked.at(-1);
  const changes = walked.filter(({ wanted }) => wanted).map(changeOf);
  return {
    changes,
    end: last === undefined ? page.after : placeOf(last, true),
    bytes: countBytes(changes.flatMap(({ now, before }) => (before === undefined ? [now] : [now, before]))),
    hasMore:
      walked.length < rowsWalked.length || changes.length >= page.limit || (last?.walked ?? 0) >= walkLimit(page),
    horizon: { epoch: first.order_epoch, xid: first.horizon, seq: 0, isVersion: false },
  };
}

type PlaceRow = Pick<ChangeRow, 'epoch' | 'at_epoch' | 'xid' | 'seq'>;

function placeOf({ at_epoch, xid, seq }: PlaceRow, isVersion: boolean): ChangePlace {
  return { epoch: at_epoch ?? 0, xid, seq, isVersion };
}

function changeOf(row: ChangeRow): Change {
  const { rtype, id, vid, lu, deleted, content, was_deleted, was_lu, was, superseded } = row;
  const type = getTypeName(rtype);
  const now = { type, id, versionId: vid, lastUpdatedMs: lu, deleted, content: boxStored(content ?? '') };
  const before =
    was_deleted === null
      ? undefined
      : { type, id, versionId: vid - 1, lastUpdatedMs: was_lu, deleted: was_deleted, content: boxStored(was ?? '') };
  return { place: placeOf(row, true), now, before, isSuperseded: superseded };
}

/**
 * The place after which every version made at `sinceMs` or later stands, also of transactions that are under way: the
 * first such version's, or the horizon where that comes before it.
 */
function placeSinceStatement({ firm, application }: TenantScope, sinceMs: number): Sql {
  return sql`
    SELECT e.epoch, p.at_epoch, p.xid, p.seq
    FROM access_epoch e CROSS JOIN LATERAL (
      SELECT epoch AS at_epoch, xid::text, seq FROM (
        SELECT v.epoch, v.xid, v.seq - 1 AS seq FROM resource_version v WHERE v.firm = ${firm} AND v.lu >= ${sinceMs}
        UNION ALL SELECT o.epoch, pg_snapshot_xmin(pg_current_snapshot()), 0 FROM order_epoch o) c
      ORDER BY c.epoch, c.xid, c.seq LIMIT 1 OFFSET 0) p
    WHERE e.firm = ${firm} AND e.application = ${application}`;
}

/** What a store offers of the feed. */
export interface ChangeFeed {
  /** The next changes; undefined: a restore has taken back what the reader had come to, so it has to begin anew. */
  changes(scope: TenantScope, page: ChangesPage): Promise<Changes | undefined>;

  /** The place after which every version made at `sinceMs` or later stands, also those of transactions under way. */
  placeSince(scope: TenantScope, sinceMs: number): Promise<ChangePlace>;

  /** Milliseconds since 1970 up to which every version there will ever be can be seen by now; 0: that is not known. */
  completeUntil(scope: TenantScope): Promise<number>;
}

export function changeFeedOver(ask: Ask): ChangeFeed {
  return {
    changes: async (scope, page) => changesOf(await ask<ChangeRow>(scope, buildChangesStatement(scope, page)), page),
    async placeSince(scope, sinceMs) {
      const [row] = await ask<PlaceRow>(scope, placeSinceStatement(scope, sinceMs));
      return row === undefined ? firstPlace : placeOf(row, false);
    },
    async completeUntil(scope) {
      const { firm, application } = scope;
      const statement = sql`SELECT e.epoch, c.settled FROM access_epoch e CROSS JOIN completeness c WHERE e.firm = ${firm} AND e.application = ${application}`;
      const [row] = await ask<EpochRow & { readonly settled: number }>(scope, statement, pointRead);
      return row === undefined || row.settled === 0 ? 0 : toFirmTime(scope, row.settled);
    },
  };
}
