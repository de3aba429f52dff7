/**
 * All versions of a type that were visible at a moment, in the order of their time, deletions among them. What is written after the
 * moment was not visible then, so it is none of them (versions-at.ts).
 */
import { boxStored } from '../access/disclosure.ts';
import { sql } from '../database/sql.ts';
import { getTypeNumber } from '../search/numbers.ts';
import { isWithinBytes, pageBytesMax } from '../search/sql/page-bytes.ts';
import type { TenantScope } from '../tenancy/scope.ts';
import type { StoredResource } from './resources.ts';
import { takeWithin } from './rows.ts';
import type { StatementRunner } from './statement-runner.ts';
import { isVisibleAt, type VersionPlace, type VersionsMoment, versionNumberMax } from './versions-at.ts';

/** Versions that one page looks at, at most. */
const walkedMax = 1_000;

export interface HistoryWanted {
  readonly type: string;
  readonly moment: VersionsMoment;
  readonly after: VersionPlace;
}

export interface HistoryVersion {
  /** Empty content: it is a deletion. */
  readonly resource: StoredResource;
  /** Whether it was the last one of its resource at the moment. */
  readonly isLast: boolean;
}

export interface HistoryAtPage {
  readonly versions: readonly HistoryVersion[];
  /** The last version that was looked at; `after` where there was none. */
  readonly end: VersionPlace;
  readonly hasMore: boolean;
}

interface HistoryAtRow {
  readonly lu: number | null;
  readonly seq: number;
  readonly id: string;
  readonly vid: number;
  readonly visible: boolean;
  readonly last: boolean;
  readonly deleted: boolean;
  readonly content: string | null;
  readonly within: boolean;
}

/** The next page. @throws PraxisError `stale-access` */
export async function readHistoryAt(
  store: StatementRunner,
  scope: TenantScope,
  { type, moment, after }: HistoryWanted,
): Promise<HistoryAtPage> {
  const { firm, application } = scope;
  const rtype = getTypeNumber(type);
  const statement = sql`
    SELECT e.epoch, w.lu, w.seq, w.id, w.vid, w.visible, w.last, w.deleted, CASE WHEN w.within THEN w.content END AS content, w.within
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT *, ${isWithinBytes(sql`coalesce(octet_length(content), 0)`, sql`ORDER BY lu, seq`, pageBytesMax)} AS within FROM (
        SELECT v.lu, v.seq, v.id, v.vid, v.content, v.content IS NULL AS deleted, ${isVisibleAt(sql`v`, moment)} AS visible, (
            SELECT NOT ${isVisibleAt(sql`n`, moment)} FROM resource_version n
            WHERE n.firm = ${firm} AND n.rtype = ${rtype} AND (n.id, n.vid) > (v.id, v.vid) AND (n.id, n.vid) <= (v.id, ${versionNumberMax}::int)
            ORDER BY n.id, n.vid LIMIT 1) IS NOT FALSE AS last
        FROM resource_version v
        WHERE v.firm = ${firm} AND v.rtype >= ${rtype} AND v.rtype <= ${rtype} AND v.lu >= ${after.lastUpdatedMs}
          AND (v.rtype, v.lu, v.seq) > (${rtype}::smallint, ${after.lastUpdatedMs}::bigint, ${after.seq}::bigint)
        ORDER BY v.rtype, v.lu, v.seq LIMIT ${walkedMax}) page OFFSET 0) w ON true
    WHERE e.firm = ${firm} AND e.application = ${application}
    ORDER BY w.lu, w.seq`;
  const rows = await store.run<HistoryAtRow>(scope, statement, { idempotent: true });
  const found = rows.filter((row): row is typeof row & { readonly lu: number } => row.lu !== null);
  const walked = takeWithin(found);
  const last = walked.at(-1);
  return {
    versions: walked
      .filter(({ visible }) => visible)
      .map(({ lu, id, vid, deleted, content, last: isLast }) => ({
        resource: { type, id, versionId: vid, lastUpdatedMs: lu, deleted, content: boxStored(content ?? '') },
        isLast,
      })),
    end: last === undefined ? after : { lastUpdatedMs: last.lu, seq: last.seq },
    hasMore: found.length === walkedMax || walked.length < found.length,
  };
}
