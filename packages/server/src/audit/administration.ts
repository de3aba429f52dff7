/**
 * Rows of administration: who asked to change what of the installation. They are written before the change is made, so
 * that none is made without a row; one that failed has a second row, which says so.
 */
import type { Clock } from '../base/clock.ts';
import type { Database } from '../database/database.ts';
import { type AuditOutcome, type Patients, serviceLedger } from './audit-row.ts';
import { addRows } from './ledger-statements.ts';
import type { Prover } from './proof.ts';

export interface Administration {
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

/** Adds the row to the service's ledger and, where a firm is concerned, to the firm's; durable when it resolves. */
export async function noteAdministration(
  { database, clock, prove }: { readonly database: Database; readonly clock: Clock; readonly prove: Prover },
  { action, reason, ...who }: Administration,
  firm?: number,
): Promise<void> {
  const outcome: AuditOutcome = reason === undefined ? 0 : 4;
  const row = {
    ...who,
    atMs: clock.now(),
    application: 0,
    interaction: 'administer',
    id: action.slice(0, actionLengthMax),
    outcome,
    ...(reason === undefined ? {} : { reason }),
  };
  for (const ledger of firm === undefined ? [serviceLedger] : [serviceLedger, firm])
    await database.forFirm(ledger).query(addRows(ledger, [{ row, times: 1, elements: null }], [], prove));
}
