/** The rows of an audit ledger, for tests. */
import type { Database } from '../../src/database/database.ts';
import { sql } from '../../src/database/sql.ts';
import { getTypeName } from '../../src/storage/rows.ts';
import type { TestService } from '../support/service.ts';

export interface LedgerRow {
  readonly interaction: string;
  readonly what: string;
  readonly outcome: number;
  readonly shown: number | null;
  readonly elements: string | null;
  readonly entries: string | null;
  readonly reason: string | null;
  readonly patients: string | null;
}

/** The rows of a request in the order of the ledger, element lists written out. @param owner sees every firm */
export async function rowsOfRequest(service: TestService, requestId: string): Promise<LedgerRow[]> {
  await service.service.parts.ledger.flush();
  return await rowsWhere(service.database.owner, requestId);
}

async function rowsWhere(owner: Database, requestId: string): Promise<LedgerRow[]> {
  const rows = await owner.query<LedgerRow & { rtype: number | null; id: string | null; vid: number | null }>(sql`
    SELECT a.interaction, a.rtype, a.id, a.vid, a.outcome, a.shown, COALESCE(l.elements, a.elements) AS elements,
      a.entries, a.reason, a.patients
    FROM audit_ledger a LEFT JOIN audit_elements l ON l.firm = a.firm AND l.fingerprint = a.elements
    WHERE a.request_id = ${requestId} ORDER BY a.epoch, a.xid, a.seq`);
  return rows.map(({ rtype, id, vid, ...row }) => ({
    ...row,
    what: [rtype === null ? '' : getTypeName(rtype), id ?? '', vid ?? ''].join('/'),
  }));
}
