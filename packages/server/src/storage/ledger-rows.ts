/**
 * Events of the audit ledger as stored resources: AuditEvents that are made when they are read, of one version each.
 */
import { contentOf, stored } from '../access/disclosure.ts';
import { auditEventOf, type LedgerEvent, type LedgerPlace, placeOfId } from '../audit/audit-event.ts';
import type { PageRow, StoredResource } from './resources.ts';
import { typeName } from './rows.ts';

/** The place of an event of the ledger; undefined for everything else, AuditEvents that were imported included. */
export function ledgerPlace(type: string, id: string): LedgerPlace | undefined {
  return type === 'AuditEvent' ? placeOfId(id) : undefined;
}

/** A row of `ledgerPage` as a resource. */
export function ledgerResource(row: PageRow): PageRow {
  const { rtype, ...columns }: Omit<LedgerEvent, 'type'> & { readonly rtype: number | null } = JSON.parse(
    contentOf(row.content),
  );
  const event = { ...columns, type: rtype === null ? undefined : typeName(rtype) };
  return { ...row, content: stored(JSON.stringify(auditEventOf(event))) };
}

/** The version of an event as its history tells it. */
export function asVersion(row: PageRow): StoredResource {
  const { type, id, versionId, lastUpdatedMs, deleted, content } = row;
  return { type, id, versionId, lastUpdatedMs, deleted, content, method: 'create' };
}
