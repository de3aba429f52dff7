/**
 * Administration in the audit ledger: a change is noted before it is made, in the service's ledger and in that of the firm
 * that it concerns; one that fails is noted again. Refusals are gathered, so that a flood of them costs little.
 */
import { type Administration, noteAdministration, noteAtFirms } from '../audit/administration.ts';
import { serviceLedger } from '../audit/audit-row.ts';
import type { Ledger } from '../audit/ledger.ts';
import type { Prover } from '../audit/proof.ts';
import type { Clock } from '../base/clock.ts';
import { type ErrorCode, errorTable } from '../base/errors.ts';
import type { Database } from '../database/database.ts';
import type { Segments } from './access.ts';
import type { Caller } from './sessions.ts';

export interface AuditSink {
  readonly database: Database;
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly prove: Prover;
}

/** Something that an administrator does or somebody tries to do. */
export interface AdminAct {
  /** `sign-in`, `authenticate`, or the name of an action. */
  readonly action: string;
  /** What the path names: firms, applications and the like. */
  readonly segments: Segments;
  readonly requestId: string;
  /** Undefined when nobody proved to be one. */
  readonly caller?: Pick<Caller, 'username' | 'kind'>;
}

/** Notes a change that is about to be made, or, with `reason`, that failed. @param firm number of the firm it concerns */
export async function noteChange(
  notebook: AuditSink,
  act: AdminAct & Required<Pick<AdminAct, 'caller'>>,
  firm: number | undefined,
  reason?: ErrorCode,
): Promise<void> {
  await noteAdministration(notebook, { ...doneBy(act), ...(reason === undefined ? {} : { reason }) }, firm);
}

/** Notes a change of an application that was made in the ledgers of the firms for which it counts. */
export async function noteChangeAtFirms(
  notebook: AuditSink,
  act: AdminAct & Required<Pick<AdminAct, 'caller'>>,
  firms: readonly number[],
): Promise<void> {
  await noteAtFirms(notebook, doneBy(act), firms);
}

function doneBy(act: AdminAct & Required<Pick<AdminAct, 'caller'>>): Administration {
  const { caller, requestId } = act;
  return { subject: caller.username, flow: caller.kind, requestId, action: textOf(act) };
}

/** Notes a refusal; waits for room in the ledger where there is none. */
export async function noteRefusal({ clock, ledger }: AuditSink, act: AdminAct, reason: ErrorCode): Promise<void> {
  const { caller, requestId } = act;
  const text = textOf(act);
  await ledger.keep(serviceLedger, [
    {
      atMs: clock.now(),
      application: 0,
      interaction: 'administer',
      id: text,
      requestId,
      ...(caller === undefined ? {} : { subject: caller.username, flow: caller.kind }),
      outcome: errorTable[reason].status >= 500 ? 8 : 4,
      reason,
      repeats: JSON.stringify(['administer', text, caller?.username ?? '', reason]),
    },
  ]);
}

/** Longest text of an act, in characters. */
const textLengthMax = 300;

/** `authorization revoke sandbox maple Scheduler` */
function textOf({ action, segments }: AdminAct): string {
  return [action, ...Object.values(segments)].join(' ').slice(0, textLengthMax);
}
