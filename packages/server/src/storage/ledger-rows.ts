/**
 * Events of the audit ledger as stored resources: AuditEvents that are made when they are read, of one version each.
 */
import { boxStored, getStoredText } from '../access/disclosure.ts';
import { buildAuditEvent, type LedgerEvent, type LedgerPlace, placeOfId } from '../audit/audit-event.ts';
import type { PageRow, StoredResource } from './resources.ts';
import { getTypeName } from './rows.ts';

/** The place of an event of the ledger; undefined for everything else, AuditEvents that were imported included. */
export function findLedgerPlace(type: string, id: string): LedgerPlace | undefined {
  return type === 'AuditEvent' ? placeOfId(id) : undefined;
}

/** A row of `selectLedgerPage` as a resource. */
export function toLedgerResource(row: PageRow): PageRow {
  const { rtype, ...columns }: Omit<LedgerEvent, 'type'> & { readonly rtype: number | null } = JSON.parse(
    getStoredText(row.content),
  );
  const event = { ...columns, type: rtype === null ? undefined : getTypeName(rtype) };
  return { ...row, content: boxStored(JSON.stringify(buildAuditEvent(event))) };
}

/** The version of an event as its history tells it. */
export function toEventVersion(row: PageRow): StoredResource {
  const { type, id, versionId, lastUpdatedMs, deleted, content } = row;
  return { type, id, versionId, lastUpdatedMs, deleted, content, method: 'create' };
}
