/**
 * From database rows to what storage returns. Every row carries the access epoch that the statement read; rows of other
 * rights than the caller's are never looked at.
 */
import { resourceTypes } from '@praxis/fhir';
import { boxStored } from '../access/disclosure.ts';
import type { WriteInteraction } from '../audit/audit-row.ts';
import { fail } from '../base/errors.ts';
import type { TenantScope } from '../tenancy/scope.ts';
import type { HistoryPosition, PageRow, StoredResource, WriteOutcome } from './resources.ts';

export interface EpochRow {
  readonly epoch: number;
}

/** A version of a known resource; null columns: there is none. */
export interface VersionRow extends EpochRow {
  readonly vid: number | null;
  readonly lu: number;
  readonly content: string | null;
  readonly method?: string;
  /** Of a page: false where it came without its content, since the rows before it reach the limit of bytes. */
  readonly within?: boolean;
}

/** A resource of whatever type; null columns: none matched. */
export interface ResourceRow extends EpochRow {
  readonly rid: number | null;
  readonly rtype: number;
  readonly id: string;
  readonly vid: number;
  readonly lu: number;
  readonly content: string | null;
  /** As of `VersionRow`. */
  readonly within?: boolean;
  /** k0, k1, …: sort keys of a search page. */
  readonly [key: `k${number}`]: string | null;
}

/** A version in the history of many resources; null columns: there is none. */
export interface HistoryRow extends VersionRow {
  readonly rtype: number;
  readonly id: string;
  readonly seq: number;
  readonly order_epoch: number;
  readonly snapshot: string;
  readonly own: string | null;
}

/** What the write function returns (migration 0035). */
export interface OutcomeRow {
  readonly outcome: 'written' | 'conflict' | 'unindexed' | 'stale';
  readonly vid: number | null;
}

const methods: Readonly<Record<string, WriteInteraction>> = { c: 'create', u: 'update', p: 'patch', d: 'delete' };

/**
 * The rows, after the check that access has not changed since `scope` was read.
 * @throws PraxisError `stale-access`, also when the firm and application have no epoch at all
 */
export function requireFresh<R extends EpochRow>(rows: readonly R[], scope: TenantScope): readonly R[] {
  if (rows[0]?.epoch !== scope.epoch) refuseStale();
  return rows;
}

/** @throws PraxisError `stale-access` when the caller's access has ended by time, which no epoch tells */
export function requireUnended({ endsAtMs }: TenantScope, nowMs: number): void {
  if (endsAtMs !== undefined && nowMs >= endsAtMs) refuseStale();
}

/** @throws PraxisError `stale-access` */
export function refuseStale(): never {
  return fail('stale-access', { diagnostics: 'Access of the application at the firm has changed: authenticate again' });
}

/** The rows before the first without its content: those that the page holds. */
export function takeWithin<R extends { readonly within?: boolean }>(rows: readonly R[]): readonly R[] {
  const end = rows.findIndex(({ within }) => within === false);
  return end < 0 ? rows : rows.slice(0, end);
}

/** The version that the row holds, undefined when it holds none. */
export function toStoredVersion<T extends string>(
  type: T,
  id: string,
  row: VersionRow | undefined,
): StoredResource<T> | undefined {
  if (row === undefined || row.vid === null) return undefined;
  const method = row.method === undefined ? undefined : methods[row.method];
  return {
    type,
    id,
    versionId: row.vid,
    lastUpdatedMs: row.lu,
    deleted: row.content === null,
    content: boxStored(row.content ?? ''),
    ...(method === undefined ? {} : { method }),
  };
}

/** The place of a version in a history; the moment of the history is that of its first page. */
export function toHistoryPosition(row: HistoryRow, first: HistoryPosition | undefined): HistoryPosition {
  const moment = first?.moment ?? { epoch: row.order_epoch, snapshot: row.snapshot, own: row.own };
  return { lastUpdatedMs: row.lu, seq: row.seq, moment };
}

/** Whether the row holds a resource; the one row of an empty result does not. */
export function isFound<R extends ResourceRow>(row: R): row is R & { readonly rid: number } {
  return row.rid !== null;
}

/** A row of a search page with its sort keys. */
export function toPageRow(row: ResourceRow & { readonly rid: number }): PageRow {
  const keys: (string | null)[] = [];
  for (let key = row.k0; key !== undefined; key = row[`k${keys.length}`]) keys.push(key);
  const { type, id, versionId, lastUpdatedMs, deleted, content } = toStoredResource(row);
  return { type, id, versionId, lastUpdatedMs, deleted, content, rid: row.rid, keys };
}

export function toStoredResource(row: ResourceRow): StoredResource {
  return {
    type: getTypeName(row.rtype),
    id: row.id,
    versionId: row.vid,
    lastUpdatedMs: row.lu,
    deleted: row.content === null,
    content: boxStored(row.content ?? ''),
  };
}

/** The type of a number made by `getTypeNumber` (search/numbers.ts). */
export function getTypeName(rtype: number): string {
  const name = resourceTypes[rtype - 1];
  if (name === undefined) throw new TypeError(`${rtype} is not the number of a resource type`);
  return name;
}

/**
 * What became of a write; undefined: nothing, since the index rows of the version before were made by other rules.
 * @throws PraxisError `stale-access` when the write function found other rights than the caller's
 */
export function readOutcome(row: OutcomeRow | undefined): WriteOutcome | undefined {
  if (row?.outcome === 'unindexed') return undefined;
  if (row?.outcome === 'written' && row.vid !== null) return { outcome: 'written', versionId: row.vid };
  if (row?.outcome === 'conflict') return { outcome: 'conflict', currentVersion: row.vid ?? undefined };
  return refuseStale();
}
