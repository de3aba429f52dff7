/**
 * The versions of a type that were the last ones of their resources at a moment, in the order of their time. What is written
 * after the moment was not visible then, so it is none of them.
 *
 * Each statement names a range of one index and its order: a plan that is made while the database knows little of a firm reads
 * no more than that.
 */
import { boxStored } from '../access/disclosure.ts';
import { type Sql, sql } from '../database/sql.ts';
import { getTypeNumber } from '../search/numbers.ts';
import { isWithinBytes, pageBytesMax } from '../search/sql/page-bytes.ts';
import type { TenantScope } from '../tenancy/scope.ts';
import { encodeIntegerArray, encodeTextArray } from './index-arrays.ts';
import type { StoredResource } from './resources.ts';
import { type EpochRow, getTypeName, takeWithin } from './rows.ts';
import type { StatementRunner } from './statement-runner.ts';

/** Versions that one page looks at, at most: with their contents, or without. */
const walkedMax = { withContent: 1_000, without: 4_000 };

function findWalkedMax({ hasContent }: VersionsWanted): number {
  return hasContent ? walkedMax.withContent : walkedMax.without;
}

/** No version has a greater number. */
export const versionNumberMax = 2_147_483_647;

/** A place among the versions of a type, in the order of their time. */
export interface VersionPlace {
  readonly lastUpdatedMs: number;
  /** Number of the version among all changes. */
  readonly seq: number;
}

/** A moment: the transactions that had ended. */
export interface VersionsMoment {
  /** All transactions of earlier order epochs had (order-epoch.ts), none of later ones. */
  readonly orderEpoch: number;
  /** Those of the order epoch, as PostgreSQL writes a pg_snapshot. */
  readonly snapshot: string;
}

export interface VersionsWanted {
  readonly type: string;
  readonly moment: VersionsMoment;
  readonly after: VersionPlace;
  /** Deletions are wanted, too, and what was before this time; absent: neither. */
  readonly sinceMs?: number | undefined;
  /** Whether contents are wanted, rather than their sizes. */
  readonly hasContent: boolean;
}

/** A version that was the last one of its resource. */
export interface VersionAt {
  /** Of its content. */
  readonly bytes: number;
  /** Empty content: it is a deletion, or contents were not wanted. */
  readonly resource: StoredResource;
  /** The version before `sinceMs`, where contents were wanted; absent: there was none. */
  readonly before?: StoredResource;
}

export interface MomentPage {
  readonly versions: readonly VersionAt[];
  /** The last version that was looked at; `after` where there was none. */
  readonly end: VersionPlace;
  readonly hasMore: boolean;
}

interface VersionAtRow {
  readonly lu: number | null;
  readonly seq: number;
  readonly id: string;
  readonly vid: number;
  readonly wanted: boolean;
  readonly deleted: boolean;
  readonly bytes: number;
  readonly content: string | null;
  readonly was: string | null;
  readonly within: boolean;
}

/** The next page. @throws PraxisError `stale-access` */
export async function readVersionsAt(
  store: StatementRunner,
  scope: TenantScope,
  wanted: VersionsWanted,
): Promise<MomentPage> {
  if (!wanted.hasContent) return await readKeysAt(store, scope, wanted);
  const rows = await store.run<VersionAtRow>(scope, buildVersionsStatement(scope, wanted), { idempotent: true });
  const found = rows.filter((row): row is typeof row & { readonly lu: number } => row.lu !== null);
  const walked = takeWithin(found);
  const last = walked.at(-1);
  return {
    versions: walked.filter((row) => row.wanted).map((row) => toVersion(wanted.type, row)),
    end: last === undefined ? wanted.after : { lastUpdatedMs: last.lu, seq: last.seq },
    hasMore: found.length === findWalkedMax(wanted) || walked.length < found.length,
  };
}

/** A page in one row. Lists are JSON, of those that are wanted: the driver takes many times as long for rows. */
interface KeysRow extends EpochRow {
  readonly walked: number;
  readonly lu: number | null;
  readonly seq: number | null;
  readonly ids: string | null;
  readonly vids: string;
  readonly lus: string;
  readonly deleted: string;
  readonly bytes: string;
}

/** The next page, without contents. */
async function readKeysAt(store: StatementRunner, scope: TenantScope, wanted: VersionsWanted): Promise<MomentPage> {
  const { firm, application } = scope;
  const order = sql`ORDER BY rtype, lu, seq`; // that of the page
  const list = (column: Sql): Sql => sql`array_to_json(array_agg(${column} ${order}) FILTER (WHERE wanted))::text`;
  const statement = sql`
    SELECT e.epoch, w.walked, w.lu, w.seq, w.ids, w.vids, w.lus, w.deleted, w.bytes
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT count(*)::int AS walked, max(lu) AS lu, (array_agg(seq ${order}))[count(*)] AS seq, ${list(sql`id`)} AS ids, ${list(sql`vid`)} AS vids,
        ${list(sql`lu`)} AS lus, ${list(sql`deleted`)} AS deleted, ${list(sql`bytes`)} AS bytes
      FROM (${buildPage(scope, wanted)}) page) w ON true
    WHERE e.firm = ${firm} AND e.application = ${application}`;
  const [row] = await store.run<KeysRow>(scope, statement, { idempotent: true });
  if (row === undefined || row.lu === null || row.seq === null)
    return { versions: [], end: wanted.after, hasMore: false };
  const end = { lastUpdatedMs: row.lu, seq: row.seq };
  return { versions: toVersions(wanted.type, row), end, hasMore: row.walked === findWalkedMax(wanted) };
}

function toVersions(type: string, row: KeysRow): readonly VersionAt[] {
  if (row.ids === null) return [];
  const [ids, vids, lus, deleted, bytes] = [row.ids, row.vids, row.lus, row.deleted, row.bytes].map((list) =>
    JSON.parse(list),
  );
  return ids.map((id: string, at: number): VersionAt => {
    const resource = {
      type,
      id,
      versionId: vids[at],
      lastUpdatedMs: lus[at],
      deleted: deleted[at],
      content: noContent,
    };
    return { bytes: bytes[at], resource };
  });
}

const noContent = boxStored('');

function toVersion(type: string, row: VersionAtRow & { readonly lu: number }): VersionAt {
  const { lu, id, vid, deleted, content, was, bytes } = row;
  const resource = { type, id, versionId: vid, lastUpdatedMs: lu, deleted, content: boxStored(content ?? '') };
  const before = was === null ? undefined : { ...resource, versionId: 0, deleted: false, content: boxStored(was) };
  return { bytes, resource, ...(before === undefined ? {} : { before }) };
}

function buildVersionsStatement(scope: TenantScope, wanted: VersionsWanted): Sql {
  const { firm, application } = scope;
  const { type, sinceMs } = wanted;
  const hasDeleted = sinceMs !== undefined;
  const bytesRead = sql`coalesce(octet_length(content), 0) + coalesce(octet_length(was), 0)`;
  return sql`
    SELECT e.epoch, w.lu, w.seq, w.id, w.vid, w.wanted, w.deleted, w.bytes, CASE WHEN w.within THEN w.content END AS content,
      CASE WHEN w.within THEN w.was END AS was, w.within
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT *, ${isWithinBytes(bytesRead, sql`ORDER BY lu, seq`, pageBytesMax)} AS within FROM (
      SELECT lu, seq, id, vid, wanted, deleted, bytes, CASE WHEN wanted THEN content END AS content,
        CASE WHEN wanted AND ${hasDeleted}::boolean THEN (
          SELECT p.content FROM resource_version p
          WHERE p.firm = ${firm} AND p.rtype = ${getTypeNumber(type)} AND (p.id, p.vid) > (page.id, 0) AND (p.id, p.vid) < (page.id, page.vid)
            AND p.lu < ${sinceMs ?? 0}
          ORDER BY p.id DESC, p.vid DESC LIMIT 1) END AS was
      FROM (${buildPage(scope, wanted)}) page OFFSET 0) sized) w ON true
    WHERE e.firm = ${firm} AND e.application = ${application}
    ORDER BY w.lu, w.seq`;
}

/**
 * The versions of a page, in its order. Of the index by (firm, rtype, lu, seq); a later version of each is looked up by the primary
 * key. All bounds of the type and the time are there so that no other index looks cheaper, whatever the database knows of the firm.
 */
function buildPage({ firm }: TenantScope, wanted: VersionsWanted): Sql {
  const { type, moment, after, sinceMs, hasContent } = wanted;
  const rtype = getTypeNumber(type);
  const hasDeleted = sinceMs !== undefined;
  return sql`
        SELECT v.rtype, v.lu, v.seq, v.id, v.vid, ${hasContent ? sql`v.content` : sql`NULL::text`} AS content, v.content IS NULL AS deleted,
          coalesce(octet_length(v.content), 0) AS bytes,
          CASE WHEN v.content IS NULL AND NOT ${hasDeleted}::boolean THEN false
            WHEN NOT ${isVisibleAt(sql`v`, moment)} THEN false
            ELSE (
              SELECT NOT ${isVisibleAt(sql`n`, moment)} FROM resource_version n
              WHERE n.firm = ${firm} AND n.rtype = ${rtype} AND (n.id, n.vid) > (v.id, v.vid) AND (n.id, n.vid) <= (v.id, ${versionNumberMax}::int)
              ORDER BY n.id, n.vid LIMIT 1) IS NOT FALSE END AS wanted
        FROM resource_version v
        WHERE v.firm = ${firm} AND v.rtype >= ${rtype} AND v.rtype <= ${rtype} AND v.lu >= ${after.lastUpdatedMs}
          AND (v.rtype, v.lu, v.seq) > (${rtype}::smallint, ${after.lastUpdatedMs}::bigint, ${after.seq}::bigint)
        ORDER BY v.rtype, v.lu, v.seq LIMIT ${findWalkedMax(wanted)}`;
}

/** Those of the types of which there are versions, in no order. @throws PraxisError `stale-access` */
export async function listTypesWithVersions(
  store: StatementRunner,
  scope: TenantScope,
  types: readonly string[],
): Promise<ReadonlySet<string>> {
  const { firm, application } = scope;
  const statement = sql`
    SELECT e.epoch, t.rtype
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT k.rtype FROM unnest(${encodeIntegerArray(types.map(getTypeNumber))}::smallint[]) AS k(rtype)
      CROSS JOIN LATERAL (SELECT FROM resource_version WHERE firm = ${firm} AND rtype = k.rtype ORDER BY id, vid LIMIT 1) found OFFSET 0) t ON true
    WHERE e.firm = ${firm} AND e.application = ${application}`;
  const rows = await store.run<EpochRow & { readonly rtype: number | null }>(scope, statement, { idempotent: true });
  return new Set(rows.flatMap(({ rtype }) => (rtype === null ? [] : [getTypeName(rtype)])));
}

/** Whether the version's transaction had ended at the moment. */
export function isVisibleAt(version: Sql, { orderEpoch, snapshot }: VersionsMoment): Sql {
  return sql`(${version}.epoch < ${orderEpoch}::int OR (${version}.epoch = ${orderEpoch}::int
    AND pg_visible_in_snapshot(COALESCE(${version}.written_by, ${version}.xid), ${snapshot}::pg_snapshot)))`;
}

/** A version by its key. */
export interface VersionKey {
  readonly id: string;
  readonly versionId: number;
}

interface KeyedRow extends EpochRow {
  readonly place?: number;
  readonly id: string | null;
  readonly vid: number;
  readonly lu: number;
  readonly content: string;
}

/** The versions of a type with these keys, in their order; those that are not there are left out. @throws PraxisError `stale-access` */
export async function readVersions(
  store: StatementRunner,
  scope: TenantScope,
  type: string,
  keys: readonly VersionKey[],
): Promise<readonly StoredResource[]> {
  const { firm, application } = scope;
  const statement = sql`
    SELECT e.epoch, r.place, r.id, r.vid, r.lu, r.content
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT k.place, v.id, v.vid, v.lu, v.content
      FROM unnest(${encodeTextArray(keys.map(({ id }) => id))}::text[], ${encodeIntegerArray(keys.map(({ versionId }) => versionId))}::int[])
        WITH ORDINALITY AS k(id, vid, place)
      CROSS JOIN LATERAL (SELECT id, vid, lu, content FROM resource_version
        WHERE firm = ${firm} AND rtype = ${getTypeNumber(type)} AND (id, vid) >= (k.id, k.vid) AND (id, vid) <= (k.id, k.vid)
        ORDER BY id, vid LIMIT 1) v
      WHERE v.content IS NOT NULL OFFSET 0) r ON true
    WHERE e.firm = ${firm} AND e.application = ${application}`;
  const rows = await store.run<KeyedRow>(scope, statement, { idempotent: true });
  // They come in order as a rule. PostgreSQL does not know that, and would sort their contents.
  return toKeyed(
    type,
    rows.toSorted((left, right) => (left.place ?? 0) - (right.place ?? 0)),
  );
}

/** The last versions at a moment of resources of a type, those without content left out; in no order. @throws PraxisError `stale-access` */
export async function readLastAt(
  store: StatementRunner,
  scope: TenantScope,
  moment: VersionsMoment,
  type: string,
  ids: readonly string[],
): Promise<readonly StoredResource[]> {
  const { firm, application } = scope;
  const statement = sql`
    SELECT e.epoch, r.id, r.vid, r.lu, r.content
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT v.* FROM unnest(${encodeTextArray(ids)}::text[]) AS k(id)
      CROSS JOIN LATERAL (SELECT v.id, v.vid, v.lu, v.content FROM resource_version v
        WHERE v.firm = ${firm} AND v.rtype = ${getTypeNumber(type)} AND (v.id, v.vid) > (k.id, 0) AND (v.id, v.vid) <= (k.id, ${versionNumberMax}::int)
          AND ${isVisibleAt(sql`v`, moment)}
        ORDER BY v.id DESC, v.vid DESC LIMIT 1) v
      WHERE v.content IS NOT NULL OFFSET 0) r ON true
    WHERE e.firm = ${firm} AND e.application = ${application}`;
  return toKeyed(type, await store.run<KeyedRow>(scope, statement, { idempotent: true }));
}

/** What is known of some resources. */
export interface LastContents {
  /** The last versions with content, of those of the first `taken` that ever had any. */
  readonly versions: readonly StoredResource[];
  /** How many of the ids were looked at, at least one: a page of bytes ends there. */
  readonly taken: number;
}

/** The last versions with content of resources of a type, in the order of the ids. @throws PraxisError `stale-access` */
export async function readLastContents(
  store: StatementRunner,
  scope: TenantScope,
  type: string,
  ids: readonly string[],
): Promise<LastContents> {
  const { firm, application } = scope;
  const statement = sql`
    SELECT e.epoch, r.id, r.vid, r.lu, CASE WHEN r.within THEN r.content END AS content, r.within
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT *, ${isWithinBytes(sql`coalesce(octet_length(content), 0)`, sql`ORDER BY place`, pageBytesMax)} AS within FROM (
        SELECT k.place, k.id, v.vid, v.lu, v.content FROM unnest(${encodeTextArray(ids)}::text[]) WITH ORDINALITY AS k(id, place)
        LEFT JOIN LATERAL (SELECT vid, lu, content FROM resource_version
          WHERE firm = ${firm} AND rtype = ${getTypeNumber(type)} AND (id, vid) > (k.id, 0) AND (id, vid) <= (k.id, ${versionNumberMax}::int)
            AND content IS NOT NULL
          ORDER BY id DESC, vid DESC LIMIT 1) v ON true OFFSET 0) found) r ON true
    WHERE e.firm = ${firm} AND e.application = ${application}
    ORDER BY r.place`;
  type LastRow = KeyedRow & { readonly vid: number | null; readonly within: boolean };
  const rows = takeWithin(await store.run<LastRow>(scope, statement, { idempotent: true }));
  return {
    versions: toKeyed(
      type,
      rows.filter(({ vid }) => vid !== null),
    ),
    taken: rows.length,
  };
}

function toKeyed(type: string, rows: readonly KeyedRow[]): readonly StoredResource[] {
  return rows.flatMap(({ id, vid, lu, content }) =>
    id === null ? [] : [{ type, id, versionId: vid, lastUpdatedMs: lu, deleted: false, content: boxStored(content) }],
  );
}
