/** Events of the audit ledger, read like the resources that they are told as (https://hl7.org/fhir/R4/auditevent.html). */
import type { LedgerPlace } from '../audit/audit-event.ts';
import { pointRead } from '../database/database.ts';
import type { TenantScope } from '../tenancy/scope.ts';
import { toEventVersion, toLedgerResource } from './ledger-rows.ts';
import { selectLedgerRow } from './ledger-search.ts';
import { requireType, type StoredResource } from './resources.ts';
import { isFound, type ResourceRow, requireFresh, toPageRow } from './rows.ts';
import type { HistoryPage } from './statements.ts';
import type { Send } from './walks.ts';

/** The event of the ledger at a place, if there is one. @param type that was asked for, AuditEvent */
export async function findLedgerEvents<T extends string>(
  send: Send,
  scope: TenantScope,
  place: LedgerPlace,
  type: T,
): Promise<StoredResource<T>[]> {
  const rows = await send<ResourceRow>(scope, selectLedgerRow(scope, place), pointRead);
  const events = requireFresh(rows, scope).filter(isFound).map(toPageRow).map(toLedgerResource).map(toEventVersion);
  return events.map((event) => requireType(event, type));
}

/** Whether the one version of an event belongs to a page of its history. */
export function isIn(
  { beforeVersion, sinceMs, beforeMs, currentAfterMs: _always }: HistoryPage,
  event: StoredResource,
): boolean {
  if (beforeVersion !== undefined && event.versionId >= beforeVersion) return false;
  return event.lastUpdatedMs >= (sinceMs ?? 0) && event.lastUpdatedMs < (beforeMs ?? Number.POSITIVE_INFINITY);
}
