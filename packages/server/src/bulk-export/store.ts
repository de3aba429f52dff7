/** Bulk exports as they are stored: what was asked for, of which moment, and the versions of their files. */
import { type Sql, sql } from '../database/sql.ts';
import { getTypeNumber } from '../search/numbers.ts';
import { encodeIntegerArray, encodeTextArray } from '../storage/index-arrays.ts';
import { getTypeName } from '../storage/rows.ts';
import { buildInserts, type StatementOptions, type StatementRunner } from '../storage/statement-runner.ts';
import type { ResourceStore } from '../storage/store.ts';
import type { VersionKey, VersionPlace, VersionsMoment } from '../storage/versions-at.ts';
import type { TenantScope } from '../tenancy/scope.ts';
import {
  type AskedExport,
  type BulkExport,
  type ExportFile,
  exportKeptMs,
  findFirstPlace,
  type ListedFile,
  type Planned,
} from './bulk-export.ts';

/** Exports that an application has at a firm at once. */
const exportsMax = 10;

/** Writes of resources change nothing of it. */
const reading: StatementOptions = { standsApart: true, idempotent: true };

/** The moment that it is. */
export async function readMoment(store: StatementRunner, scope: TenantScope): Promise<VersionsMoment> {
  const { firm, application } = scope;
  const statement = sql`
    SELECT e.epoch, o.epoch AS "orderEpoch", pg_current_snapshot()::text AS snapshot
    FROM access_epoch e CROSS JOIN order_epoch o WHERE e.firm = ${firm} AND e.application = ${application}`;
  const [row] = await store.run<VersionsMoment>(scope, statement, { idempotent: true });
  if (row === undefined) throw new TypeError('there is no order epoch');
  return { orderEpoch: row.orderEpoch, snapshot: row.snapshot };
}

type NewExport = Pick<BulkExport, 'id' | 'createdMs' | 'transactionTimeMs' | 'policy' | 'asked' | 'moment'>;

/**
 * Begins an export. Those of the firm whose time is over are removed, and the oldest of the application where it
 * would have too many: one whose URL was lost stands in nobody's way.
 */
export async function beginExport(store: StatementRunner, scope: TenantScope, begun: NewExport): Promise<void> {
  const { firm, application } = scope;
  const { id, createdMs, transactionTimeMs, policy, asked, moment } = begun;
  const first = findFirstPlace(asked);
  await store.change(scope, [
    sql`DELETE FROM bulk_export WHERE firm = ${firm} AND created <= ${createdMs - exportKeptMs}`,
    sql`
      DELETE FROM bulk_export WHERE firm = ${firm} AND application = ${application} AND id = ANY (ARRAY(
        SELECT id FROM bulk_export WHERE firm = ${firm} AND application = ${application}
        ORDER BY created DESC, id DESC OFFSET ${exportsMax - 1}))`,
    sql`
      INSERT INTO bulk_export (firm, id, application, created, transaction_time, order_epoch, snapshot, policy, asked, place_lu, place_seq)
      VALUES (${firm}, ${id}, ${application}, ${createdMs}, ${transactionTimeMs}, ${moment.orderEpoch},
        ${moment.snapshot}::pg_snapshot, ${policy}, ${sql.json(asked)}, ${first.lastUpdatedMs}, ${first.seq})`,
  ]);
}

interface ExportRow {
  readonly created: number | null;
  readonly transaction_time: number;
  readonly policy: string;
  readonly asked: AskedExport;
  readonly order_epoch: number;
  readonly snapshot: string;
  readonly files: number;
  readonly place_type: number;
  readonly place_lu: number;
  readonly place_seq: number;
  /** JSON, as the other lists: the driver takes many times as long for an array. */
  readonly open_ids: string;
  readonly open_vids: string;
  readonly open_bytes: number;
  readonly gone_ids: string;
}

/** The export of this application; undefined: there is none, or its time is over. */
export async function findExport(
  store: StatementRunner,
  scope: TenantScope,
  id: string,
  nowMs: number,
): Promise<BulkExport | undefined> {
  const { firm, application } = scope;
  const statement = sql`
    SELECT e.epoch, b.created, b.transaction_time, b.policy, b.asked, b.order_epoch, b.snapshot::text AS snapshot,
      b.files, b.place_type, b.place_lu, b.place_seq, array_to_json(b.open_ids)::text AS open_ids,
      array_to_json(b.open_vids)::text AS open_vids, b.open_bytes, array_to_json(b.gone_ids)::text AS gone_ids
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT * FROM bulk_export
      WHERE firm = ${firm} AND id = ${id} AND application = ${application} AND created > ${nowMs - exportKeptMs} OFFSET 0) b ON true
    WHERE e.firm = ${firm} AND e.application = ${application}`;
  const [row] = await store.run<ExportRow>(scope, statement, reading);
  if (row === undefined || row.created === null) return undefined;
  return {
    id,
    createdMs: row.created,
    transactionTimeMs: row.transaction_time,
    policy: row.policy,
    asked: row.asked,
    moment: { orderEpoch: row.order_epoch, snapshot: row.snapshot },
    planned: {
      files: row.files,
      typeIndex: row.place_type,
      after: { lastUpdatedMs: row.place_lu, seq: row.place_seq },
      open: { keys: toKeys(JSON.parse(row.open_ids), JSON.parse(row.open_vids)), bytes: row.open_bytes },
      gone: JSON.parse(row.gone_ids),
    },
  };
}

/**
 * Keeps what was planned from `before` on, all or nothing. False: somebody else has planned from there meanwhile, or the export
 * was removed, and nothing is kept.
 */
export async function keepPlanned(
  store: Pick<ResourceStore, 'transaction'>,
  scope: TenantScope,
  { id, planned: before }: BulkExport,
  files: readonly ExportFile[],
  planned: Planned,
): Promise<boolean> {
  const { firm } = scope;
  const { after, open, gone } = planned;
  const moved = sql`
    UPDATE bulk_export SET files = ${planned.files}, place_type = ${planned.typeIndex}, place_lu = ${after.lastUpdatedMs}, place_seq = ${after.seq},
      open_ids = ${idsOf(open.keys)}::text[], open_vids = ${vidsOf(open.keys)}::int[], open_bytes = ${open.bytes}, gone_ids = ${encodeTextArray(gone)}::text[]
    WHERE firm = ${firm} AND id = ${id} AND files = ${before.files} AND ${isAt(before.typeIndex, before.after)}
    RETURNING 1 AS moved`;
  const rows = files.map(({ number, type, asDocuments, content }) => {
    const [ids, vids] =
      'keys' in content ? [idsOf(content.keys), vidsOf(content.keys)] : [encodeTextArray(content.gone), null];
    return sql`(${firm}, ${id}, ${number}, ${getTypeNumber(type)}, ${ids}::text[], ${vids}::int[], ${asDocuments}::boolean)`;
  });
  return await store.transaction(scope, async (inside) => {
    if ((await inside.change(scope, [moved])).length === 0) return false;
    const into = sql`bulk_export_file (firm, export, number, rtype, ids, vids, as_documents)`;
    if (rows.length > 0) await inside.change(scope, buildInserts(into, rows));
    return true;
  });
}

function isAt(typeIndex: number, { lastUpdatedMs, seq }: VersionPlace): Sql {
  return sql`place_type = ${typeIndex} AND place_lu = ${lastUpdatedMs} AND place_seq = ${seq}`;
}

function idsOf(keys: readonly VersionKey[]): string {
  return encodeTextArray(keys.map(({ id }) => id));
}

function vidsOf(keys: readonly VersionKey[]): string {
  return encodeIntegerArray(keys.map(({ versionId }) => versionId));
}

function toKeys(ids: readonly string[], vids: readonly number[]): readonly VersionKey[] {
  return ids.map((id, at) => ({ id, versionId: vids[at] ?? 0 }));
}

interface FileRow {
  readonly number: number | null;
  readonly rtype: number;
  readonly as_documents: boolean;
}

/** The files that are complete, in order. */
export async function listFiles(
  store: StatementRunner,
  scope: TenantScope,
  id: string,
): Promise<readonly ListedFile[]> {
  const statement = selectFiles(
    scope,
    id,
    sql`f.gone, f.resources`,
    sql`vids IS NULL AS gone, cardinality(ids) AS resources`,
  );
  const rows = await store.run<FileRow & { gone: boolean; resources: number }>(scope, statement, reading);
  return rows.flatMap(({ number, rtype, as_documents: asDocuments, gone: isOfGone, resources }) =>
    number === null ? [] : [{ number, type: getTypeName(rtype), asDocuments, isOfGone, resources }],
  );
}

/** The file of this number; undefined: there is none. */
export async function findFile(
  store: StatementRunner,
  scope: TenantScope,
  id: string,
  number: number,
): Promise<ExportFile | undefined> {
  const columns = sql`array_to_json(ids)::text AS ids, array_to_json(vids)::text AS vids`;
  const statement = selectFiles(scope, id, sql`f.ids, f.vids`, columns, sql`AND number = ${number}`);
  const [row] = await store.run<FileRow & { ids: string; vids: string | null }>(scope, statement, reading);
  if (row === undefined || row.number === null) return undefined;
  const ids: readonly string[] = JSON.parse(row.ids);
  const content = row.vids === null ? { gone: ids } : { keys: toKeys(ids, JSON.parse(row.vids)) };
  return { number, type: getTypeName(row.rtype), asDocuments: row.as_documents, content };
}

function selectFiles(
  { firm, application }: TenantScope,
  id: string,
  shown: Sql,
  columns: Sql,
  condition: Sql = sql.empty,
): Sql {
  return sql`
    SELECT e.epoch, f.number, f.rtype, f.as_documents, ${shown}
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT number, rtype, as_documents, ${columns} FROM bulk_export_file WHERE firm = ${firm} AND export = ${id} ${condition} OFFSET 0) f ON true
    WHERE e.firm = ${firm} AND e.application = ${application}
    ORDER BY f.number`;
}

/** Removes the export of this application. False: there is none. */
export async function removeExport(store: StatementRunner, scope: TenantScope, id: string): Promise<boolean> {
  const { firm, application } = scope;
  const removed = await store.change(scope, [
    sql`DELETE FROM bulk_export WHERE firm = ${firm} AND id = ${id} AND application = ${application} RETURNING 1 AS removed`,
  ]);
  return removed.length > 0;
}
