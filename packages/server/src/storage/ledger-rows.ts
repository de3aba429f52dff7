/**
 * Events of the audit ledger as stored resources: AuditEvents that are made when they are read, of one version each
 * (https://hl7.org/fhir/R4/auditevent.html).
 */
import { boxStored, getStoredText } from '../access/disclosure.ts';
import { buildAuditEvent, type LedgerEvent, type LedgerPlace, placeOfId } from '../audit/audit-event.ts';
import { pointRead } from '../database/database.ts';
import type { TenantScope } from '../tenancy/scope.ts';
import { selectLedgerRow } from './ledger-search.ts';
import { requireType, type StoredResource } from './resources.ts';
import { getTypeName, isFound, type ResourceRow, toStoredResource } from './rows.ts';
import type { Ask } from './statement-runner.ts';
import type { HistoryPage } from './statements.ts';

/** The event of the ledger with the id, if there is one; undefined for all other ids, of imported AuditEvents, too. */
export function findLedgerEvents<T extends string>(
  ask: Ask,
  scope: TenantScope,
  type: T,
  id: string,
): Promise<StoredResource<T>[]> | undefined {
  const place = type === 'AuditEvent' ? placeOfId(id) : undefined;
  return place && readLedgerEvents(ask, scope, type, place);
}

async function readLedgerEvents<T extends string>(ask: Ask, scope: TenantScope, type: T, place: LedgerPlace) {
  const rows = await ask<ResourceRow>(scope, selectLedgerRow(scope, place), pointRead);
  const events = rows.filter(isFound).map(toStoredResource).map(toLedgerResource);
  return events.map((event) => requireType({ ...event, method: 'create' }, type));
}

/** Whether the one version of an event belongs to a page of its history. */
export function isIn({ beforeVersion, sinceMs, beforeMs }: HistoryPage, event: StoredResource): boolean {
  if (beforeVersion !== undefined && event.versionId >= beforeVersion) return false;
  return event.lastUpdatedMs >= (sinceMs ?? 0) && event.lastUpdatedMs < (beforeMs ?? Number.POSITIVE_INFINITY);
}

/** A row of `selectLedgerPage` as a resource. */
export function toLedgerResource<Row extends StoredResource>(row: Row): Row {
  const { rtype, ...columns }: Omit<LedgerEvent, 'type'> & { readonly rtype: number | null } = JSON.parse(
    getStoredText(row.content),
  );
  const event = { ...columns, type: rtype === null ? undefined : getTypeName(rtype) };
  return { ...row, content: boxStored(JSON.stringify(buildAuditEvent(event))) };
}
