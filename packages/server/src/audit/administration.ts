/**
 * Rows of administration: who asked to change what of the installation. They are written before the change is made, so
 * that none is made without a row; one that failed has a second row, which says so. Firms whose application was changed as a
 * whole learn of it afterwards: such a change, a suspension for instance, does not wait for thousands of ledgers.
 */
import type { Clock } from '../base/clock.ts';
import type { Database } from '../database/database.ts';
import { sql } from '../database/sql.ts';
import { type AccessRow, type Patients, serviceLedger } from './audit-row.ts';
import { openDimensions } from './dimensions.ts';
import type { Ledger } from './ledger.ts';
import { addRows, proveRows } from './ledger-statements.ts';
import type { Prover } from './proof.ts';

export interface AdministrativeAct {
  /** Whose name it is done in. */
  readonly subject: string;
  /** How they came in: `command`, `session`, `token`. */
  readonly flow: string;
  /** What is done, and to what: the name of an action, then names and numbers. No secrets. */
  readonly action: string;
  readonly requestId?: string;
  readonly patients?: Patients;
  /** Error code of what failed. */
  readonly reason?: string;
}

/** Longest text of an action. */
const actionLengthMax = 300;

/** Adds the row to the service's ledger and to those of the firms that are concerned; durable when it resolves. */
export async function noteAdministration(
  { database, clock, prove }: { readonly database: Database; readonly clock: Clock; readonly prove: Prover },
  administration: AdministrativeAct,
  firms: readonly number[],
): Promise<void> {
  const row = rowOf(administration, clock.now());
  for (const ledger of [serviceLedger, ...firms]) {
    const rows = proveRows(ledger, [{ row, times: 1, elements: null }], prove);
    await database.forFirm(ledger).query(addRows(ledger, rows, [], openDimensions().begin(ledger)));
  }
}

/** The firms to which a change of an application is of concern: those that authorise it now, or have only paused that. */
export async function listApplicationFirms(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  { environment, application }: { readonly environment: string; readonly application: string },
): Promise<readonly number[]> {
  const rows = await database.query<{ firm: number }>(sql`
    SELECT z.firm FROM environment e JOIN application a ON a.environment = e.id JOIN authorisation z ON z.application = a.id
    WHERE e.name = ${environment} AND a.name = ${application} AND z.state <> 'revoked'
      AND (z.expires_at IS NULL OR z.expires_at > ${sql.timestamp(clock.now())}) ORDER BY z.firm`);
  return rows.map(({ firm }) => firm);
}

/** Adds a row of a change that was made to the ledgers of these firms; written when it resolves. */
export async function noteAtFirms(
  { ledger, clock }: { readonly ledger: Ledger; readonly clock: Clock },
  administration: AdministrativeAct,
  firms: readonly number[],
): Promise<void> {
  if (firms.length === 0) return;
  const row = rowOf(administration, clock.now());
  for (const firm of firms) await ledger.keep(firm, [row]);
  await ledger.flush();
}

function rowOf({ action, reason, ...who }: AdministrativeAct, atMs: number): AccessRow {
  return {
    ...who,
    atMs,
    application: 0,
    interaction: 'administer',
    id: action.slice(0, actionLengthMax),
    outcome: reason === undefined ? 0 : 4,
    ...(reason === undefined ? {} : { reason }),
  };
}
