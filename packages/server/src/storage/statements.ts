/**
 * Every statement that storage sends, search pages apart (search/sql/plan.ts makes those by the same pattern). Each names the
 * firm as a bound value, beside row-level security, so that it uses keys that begin with the firm and goes to one shard of
 * a distributed database.
 *
 * Reads begin at the row of `access_epoch` and return its epoch beside what they find, null columns where they find
 * nothing: rights that changed since the caller was authenticated are noticed by the statement that would use them, and
 * at no further round trip. OFFSET 0 keeps each lookup a lookup: nothing else is pulled into its plan.
 */
import { hash } from 'node:crypto';
import { getStoredText } from '../access/disclosure.ts';
import { formatEntries, formatPatients } from '../audit/audit-row.ts';
import type { KeyUse } from '../audit/dimensions.ts';
import { encodeNewKeys, encodeRows, type ProvenRow, proveRow } from '../audit/ledger-statements.ts';
import type { ProvenColumns, Prover } from '../audit/proof.ts';
import { type Sql, sql } from '../database/sql.ts';
import { getTypeNumber } from '../search/numbers.ts';
import { isWithinBytes, pageBytesMax } from '../search/sql/page-bytes.ts';
import { toServiceTime } from '../tenancy/firm-time.ts';
import type { TenantScope } from '../tenancy/scope.ts';
import { encodeContentArray, encodeIntegerArray, encodeTextArray, indexArrays } from './index-arrays.ts';
import type { HistoryPeriod, HistoryWalk, ResourceKey, ResourceWrite } from './resources.ts';

/** Largest version id that the column can hold. */
export const versionIdMax = 2 ** 31 - 1;

/** Of a deletion it is null, which a sum leaves out. */
const contentBytes = sql`octet_length(content)`;

/** Beyond every moment of a version, in milliseconds. */
const endOfTimeMs = 2 ** 53 - 1;

export interface HistoryPage extends HistoryPeriod {
  /** Versions at most. */
  readonly limit: number;
  /** Only versions below this one. */
  readonly beforeVersion?: number;
}

/** The catalogue: by name, a maker of the statement. Columns are read by rows.ts. */
export const statements = {
  read({ firm, application }: TenantScope, type: string, id: string): Sql {
    return sql`
      SELECT e.epoch, r.vid, r.lu, r.content
      FROM access_epoch e LEFT JOIN LATERAL (
        SELECT vid, lu, content FROM resource WHERE firm = ${firm} AND rtype = ${getTypeNumber(type)} AND id = ${id} OFFSET 0) r ON true
      WHERE e.firm = ${firm} AND e.application = ${application}`;
  },

  exists({ firm, application }: TenantScope, type: string, id: string): Sql {
    return sql`
      SELECT e.epoch, r.vid
      FROM access_epoch e LEFT JOIN LATERAL (
        SELECT vid FROM resource WHERE firm = ${firm} AND rtype = ${getTypeNumber(type)} AND id = ${id} AND content IS NOT NULL OFFSET 0) r ON true
      WHERE e.firm = ${firm} AND e.application = ${application}`;
  },

  readVersion({ firm, application }: TenantScope, type: string, id: string, versionId: number): Sql {
    return sql`
      SELECT e.epoch, r.vid, r.lu, r.content, r.method
      FROM access_epoch e LEFT JOIN LATERAL (
        SELECT vid, lu, content, method FROM resource_version
        WHERE firm = ${firm} AND rtype = ${getTypeNumber(type)} AND id = ${id} AND vid = ${versionId} OFFSET 0) r ON true
      WHERE e.firm = ${firm} AND e.application = ${application}`;
  },

  history({ firm, application }: TenantScope, type: string, id: string, page: HistoryPage): Sql {
    return sql`
      SELECT e.epoch, r.vid, r.lu, CASE WHEN r.within THEN r.content END AS content, r.method, r.within
      FROM access_epoch e LEFT JOIN LATERAL (
        SELECT vid, lu, content, method, ${isWithinBytes(contentBytes, sql`ORDER BY vid DESC`, pageBytesMax)} AS within FROM (
        SELECT vid, lu, content, method FROM resource_version v
        WHERE firm = ${firm} AND rtype = ${getTypeNumber(type)} AND id = ${id} AND vid <= ${(page.beforeVersion ?? versionIdMax + 1) - 1}
          AND lu >= ${page.sinceMs ?? 0} AND lu < ${page.beforeMs ?? endOfTimeMs} AND ${currentAfter(firm, page.currentAfterMs)}
        ORDER BY vid DESC LIMIT ${page.limit}) page) r ON true
      WHERE e.firm = ${firm} AND e.application = ${application}
      ORDER BY r.vid DESC`;
  },

  typeHistory(scope: TenantScope, type: string, walk: HistoryWalk): Sql {
    return walkStatement(scope, walk, sql`rtype = ${getTypeNumber(type)} AND `);
  },

  systemHistory(scope: TenantScope, walk: HistoryWalk): Sql {
    return walkStatement(scope, walk, sql.empty);
  },

  currentVersions({ firm, application }: TenantScope, keys: readonly ResourceKey[]): Sql {
    return sql`
      SELECT e.epoch, r.rtype, r.id, r.vid, r.deleted
      FROM access_epoch e LEFT JOIN LATERAL (
        SELECT k.rtype, k.id, c.vid, c.content IS NULL AS deleted
        FROM unnest(${encodeIntegerArray(keys.map(({ type }) => getTypeNumber(type)))}::smallint[], ${encodeTextArray(keys.map(({ id }) => id))}::text[]) AS k(rtype, id)
        CROSS JOIN LATERAL (SELECT vid, content FROM resource WHERE firm = ${firm} AND rtype = k.rtype AND id = k.id OFFSET 0) c
        OFFSET 0) r ON true
      WHERE e.firm = ${firm} AND e.application = ${application}`;
  },

  /** Resources with a rid above `afterRid`. @param types whose content is wanted; undefined: all */
  stream(
    { firm, application }: TenantScope,
    { afterRid, limit, types }: { afterRid: number; limit: number; types: readonly string[] | undefined },
  ): Sql {
    const wanted = types === undefined ? null : encodeIntegerArray(types.map(getTypeNumber));
    return sql`
      SELECT e.epoch, r.rid, r.rtype, r.id, r.vid, r.lu, CASE WHEN r.within THEN r.content END AS content, r.within
      FROM access_epoch e LEFT JOIN LATERAL (
        SELECT rid, rtype, id, vid, lu, content, ${isWithinBytes(contentBytes, sql`ORDER BY rid`, pageBytesMax)} AS within FROM (
        SELECT rid, rtype, id, vid, lu, CASE WHEN ${wanted}::smallint[] IS NULL OR rtype = ANY (${wanted}::smallint[]) THEN content END AS content
        FROM resource WHERE firm = ${firm} AND rid > ${afterRid} ORDER BY rid LIMIT ${limit}) page) r ON true
      WHERE e.firm = ${firm} AND e.application = ${application}
      ORDER BY r.rid`;
  },

  /** That of the rights as they are now; no row: there are none. */
  epoch({ firm, application }: TenantScope): Sql {
    return sql`SELECT e.epoch FROM access_epoch e WHERE e.firm = ${firm} AND e.application = ${application}`;
  },

  /** Waits for other transactions that hold the lock; the row goes with the transaction that made it. */
  lock({ firm }: TenantScope, name: string): Sql {
    return sql`
      INSERT INTO write_lock (firm, key) VALUES (${firm}, ${hash('sha256', name, 'buffer')})
      ON CONFLICT (firm, key) DO UPDATE SET key = EXCLUDED.key`;
  },

  unlock({ firm }: TenantScope, name: string): Sql {
    return sql`DELETE FROM write_lock WHERE firm = ${firm} AND key = ${hash('sha256', name, 'buffer')}`;
  },

  /**
   * The transaction has its id before the function looks at the epoch: whoever raised it and sees no older transaction
   * running knows that all that read it before have ended (indexing/barrier.ts). So it is with the floor of times
   * (storage/completeness.ts). Writes that bring the index rows of the version before occur once each.
   */
  write(scope: TenantScope, writes: readonly ResourceWrite[], { prove, keys, lockWaitMs }: WriteOptions): Sql {
    const { firm, application } = scope;
    return sql`
      SELECT outcome, vid FROM praxis_write_resources(
        in_firm => ${firm}, in_application => ${application}, in_access_epoch => ${epochInTime(scope, writes, lockWaitMs)},
        ${contentArguments(writes)},
        in_expected => ${encodeIntegerArray(writes.map(({ expectedVersion }) => expectedVersion))},
        audit_interaction => ${encodeTextArray(writes.map(({ audit }) => audit.interaction))},
        ${auditArguments(scope, writes, { prove, keys })},
        ${indexArguments(writes)},
        in_partial => ${encodeIntegerArray(writes.map(({ indexBefore }) => String(indexBefore !== undefined)))})`;
  },

  /**
   * Of resources that are not there, not even deleted; the transaction has its id first, as for `write`. `told` is the value of
   * `also`, an expression that is evaluated behind the writes, and NULL where nothing is written.
   */
  create(
    scope: TenantScope,
    writes: readonly ResourceWrite[],
    also: Sql,
    { prove, keys, lockWaitMs }: WriteOptions,
  ): Sql {
    const { firm, application } = scope;
    return sql`
      SELECT CASE WHEN praxis_create_resources(
        in_firm => ${firm}, in_application => ${application}, in_access_epoch => ${epochInTime(scope, writes, lockWaitMs)},
        ${contentArguments(writes)},
        ${auditArguments(scope, writes, { prove, keys })},
        ${indexArguments(writes)}) THEN ${also} END AS told`;
  },
} as const;

export interface WriteOptions {
  /** The keys of the transaction. */
  readonly keys: KeyUse;
  /** Makes the proofs of audit rows. */
  readonly prove?: Prover | undefined;
  /** How long the statement, which is a transaction of its own, waits for the locks of others, in ms; absent: as others do. */
  readonly lockWaitMs?: number | undefined;
}

/** The epoch of the caller, unless a version would come too late: asked when the transaction has its id. */
function epochInTime(scope: TenantScope, writes: readonly ResourceWrite[], lockWaitMs: number | undefined): Sql {
  const earliest = writes.reduce((least, { lastUpdatedMs }) => Math.min(least, lastUpdatedMs), endOfTimeMs);
  return sql`CASE WHEN pg_current_xact_id() IS NOT NULL THEN praxis_in_time(${toServiceTime(scope, earliest)}::bigint, ${scope.epoch}::bigint)${lockWait(lockWaitMs)} END`;
}

function contentArguments(writes: readonly ResourceWrite[]): Sql {
  return sql`
        in_rtype => ${encodeIntegerArray(writes.map(({ type }) => getTypeNumber(type)))},
        in_id => ${encodeTextArray(writes.map(({ id }) => id))},
        in_lu => ${encodeIntegerArray(writes.map(({ lastUpdatedMs }) => lastUpdatedMs))},
        in_content => ${encodeContentArray(writes.map(({ content }) => (content === null ? null : getStoredText(content))))},
        in_rules => ${encodeIntegerArray(writes.map(({ indexRules }) => indexRules ?? 'NULL'))}`;
}

function auditArguments(scope: TenantScope, writes: readonly ResourceWrite[], { prove, keys }: WriteOptions): Sql {
  const rows = writes.map((write) => noteWrite(scope, write, prove));
  return sql`audit_rows => ${encodeRows(rows, keys)}::audit_row[], audit_new => ${encodeNewKeys(keys)}::json`;
}

function indexArguments(writes: readonly ResourceWrite[]): Sql {
  const { token, reference, date, string, number } = indexArrays(writes);
  return sql`
        token_row => ${token[0]}, token_param => ${token[1]}, token_system => ${token[2]}, token_code => ${token[3]},
        reference_row => ${reference[0]}, reference_param => ${reference[1]}, reference_target_rtype => ${reference[2]}, reference_target_id => ${reference[3]},
        date_row => ${date[0]}, date_param => ${date[1]}, date_lo => ${date[2]}, date_hi => ${date[3]},
        string_row => ${string[0]}, string_param => ${string[1]}, string_value => ${string[2]}, string_original => ${string[3]},
        number_row => ${number[0]}, number_param => ${number[1]}, number_lo => ${number[2]}, number_hi => ${number[3]},
        number_system => ${number[4]}, number_code => ${number[5]}`;
}

/** Added to a number, it changes nothing of it; evaluated before anything is locked. */
function lockWait(ms: number | undefined): Sql {
  return ms === undefined ? sql.empty : sql` + length(set_config('lock_timeout', ${String(ms)}, true)) * 0`;
}

/**
 * A page of versions by time, newest first. Row comparison and period are conditions of the index; the first page says of
 * which moment it is, and the later ones show what was visible then: nothing is lost or repeated, whatever commits between
 * them. Versions of an epoch before the walk's are older than any snapshot of it.
 */
function walkStatement({ firm, application }: TenantScope, walk: HistoryWalk, ofType: Sql): Sql {
  const { after, limit } = walk;
  const { moment } = after ?? {};
  const last = after ?? { lastUpdatedMs: walk.beforeMs ?? endOfTimeMs, seq: 0 };
  return sql`
    SELECT e.epoch, r.rtype, r.id, r.vid, r.lu, CASE WHEN r.within THEN r.content END AS content, r.method, r.seq, r.within,
      r.order_epoch, r.snapshot, r.own
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT *, ${isWithinBytes(contentBytes, sql`ORDER BY lu DESC, seq DESC`, pageBytesMax)} AS within FROM (
      SELECT rtype, id, vid, lu, content, method, seq, (SELECT o.epoch FROM order_epoch o) AS order_epoch,
        pg_current_snapshot()::text AS snapshot, pg_current_xact_id_if_assigned()::text AS own
      FROM resource_version v
      WHERE firm = ${firm} AND ${ofType}lu >= ${walk.sinceMs ?? 0} AND (lu, seq) < (${last.lastUpdatedMs}::bigint, ${last.seq}::bigint)
        AND CASE WHEN ${moment?.snapshot ?? null}::pg_snapshot IS NULL THEN true ELSE epoch < ${moment?.epoch ?? null}::int
          OR (epoch = ${moment?.epoch ?? null}::int
            AND (pg_visible_in_snapshot(COALESCE(written_by, xid), ${moment?.snapshot ?? null}::pg_snapshot) OR COALESCE(written_by, xid) = ${moment?.own ?? null}::xid8)) END
        AND ${currentAfter(firm, walk.currentAfterMs)}
      ORDER BY lu DESC, seq DESC LIMIT ${limit}) page) r ON true
    WHERE e.firm = ${firm} AND e.application = ${application}
    ORDER BY r.lu DESC, r.seq DESC`;
}

/**
 * Of the version `v`: whether it was current later than the moment; a deletion is an event, and never current. By OFFSET 0 the
 * next version is looked up: else all versions of the firm may be read to hash them.
 */
function currentAfter(firm: number, moment: number | undefined): Sql {
  return sql`CASE WHEN ${moment ?? null}::bigint IS NULL THEN true WHEN content IS NULL THEN lu >= ${moment ?? null}::bigint
    ELSE NOT EXISTS (SELECT FROM resource_version WHERE firm = ${firm} AND rtype = v.rtype AND id = v.id AND vid = v.vid + 1
      AND lu <= ${moment ?? null}::bigint OFFSET 0) END`;
}

/** The audit row of a write; without a proof where the store was opened without a key. */
function noteWrite({ firm, application }: TenantScope, write: ResourceWrite, prove: Prover | undefined): ProvenRow {
  const columns = auditColumns(application, write);
  return proveRow(columns, write.audit.patients, prove?.(firm, columns));
}

/** The audit row as the write function makes it. */
function auditColumns(application: number, { type, id, expectedVersion, audit }: ResourceWrite): ProvenColumns {
  return {
    at: audit.atMs,
    application,
    vid: expectedVersion + 1,
    shown: null,
    times: null,
    rtype: getTypeNumber(type),
    outcome: 0,
    interaction: audit.interaction,
    id,
    subject: audit.subject,
    token_id: audit.tokenId,
    request_id: audit.requestId,
    flow: audit.flow ?? null,
    elements: 'all',
    entries: formatEntries(audit.entries),
    reason: null,
    patients: formatPatients(audit.patients),
  };
}
