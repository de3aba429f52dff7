/**
 * Administration in the audit ledger: a change is noted before it is made, in the service's ledger and in that of the firm
 * that it concerns; one that fails is noted again. Refusals are gathered, so that a flood of them costs little.
 */

import type { Actor } from '../actions/action.ts';
import {
  type AdministrativeAct,
  listApplicationFirms,
  noteAdministration,
  noteAtFirms,
} from '../audit/administration.ts';
import { serviceLedger } from '../audit/audit-row.ts';
import type { Ledger } from '../audit/ledger.ts';
import type { Prover } from '../audit/proof.ts';
import type { Clock } from '../base/clock.ts';
import { type ErrorCode, errorTable, PraxisError } from '../base/errors.ts';
import type { Database } from '../database/database.ts';
import { sql } from '../database/sql.ts';
import { isKept } from '../tenancy/firms.ts';
import type { Segments } from './access.ts';

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
  /** Absent on the command line. */
  readonly requestId?: string;
  /** Undefined when nobody proved to be one. */
  readonly caller?: Pick<Actor, 'username' | 'kind'>;
}

/** What a change is about. */
export interface Concerned {
  readonly environment?: string | undefined;
  /** By prefix. */
  readonly firms: readonly string[];
  /** The application that is changed as a whole; nothing where one firm alone is concerned. */
  readonly application?: string | undefined;
}

/** A change that stands in the ledger before it is made. */
export interface NotedChange {
  /** Notes that it failed. */
  fail(error: unknown): Promise<void>;
  /** Notes a change of an application in the ledgers of the firms for which it counts; written when it resolves. */
  done(): Promise<void>;
}

/** Notes a change that is about to be made, in the ledger of the service and in that of the firm that it concerns. */
export async function noteChange(
  sink: AuditSink,
  act: AdminAct & Required<Pick<AdminAct, 'caller'>>,
  concerned: Concerned,
): Promise<NotedChange> {
  const { database } = sink;
  const { environment, firms: prefixes, application } = concerned;
  const own = environment === undefined ? [] : await firmNumbers(database, environment, prefixes);
  const isWhole = environment !== undefined && application !== undefined && prefixes.length === 0;
  const others = isWhole ? await listApplicationFirms(sink, { environment, application }) : [];
  const { caller, requestId } = act;
  const change: AdministrativeAct = {
    subject: caller.username,
    flow: caller.kind,
    ...(requestId === undefined ? {} : { requestId }),
    action: textOf(act),
  };
  await noteAdministration(sink, change, own);
  return {
    fail: (error) => noteAdministration(sink, { ...change, reason: toErrorCode(error) }, own),
    done: () => noteAtFirms(sink, change, others),
  };
}

/** The code of what is thrown. */
export function toErrorCode(error: unknown): ErrorCode {
  return error instanceof PraxisError ? error.code : 'internal';
}

/** Of those that there are. */
async function firmNumbers(
  database: Database,
  environment: string,
  prefixes: readonly string[],
): Promise<readonly number[]> {
  if (prefixes.length === 0) return [];
  const rows = await database.query<{ id: number }>(sql`
    SELECT f.id FROM firm f JOIN environment e ON e.id = f.environment
    WHERE e.name = ${environment} AND f.prefix = ANY(${prefixes}::text[]) AND ${isKept} ORDER BY f.id`);
  return rows.map(({ id }) => id);
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
      ...(requestId === undefined ? {} : { requestId }),
      ...(caller === undefined ? {} : { subject: caller.username, flow: caller.kind }),
      outcome: errorTable[reason].status >= 500 ? 8 : 4,
      reason,
      repeats: JSON.stringify(['administer', text, caller?.username ?? '', reason]),
    },
  ]);
}

const textLengthMax = 300;

/** `authorization revoke sandbox maple Scheduler` */
function textOf({ action, segments }: AdminAct): string {
  return [action, ...Object.values(segments)].join(' ').slice(0, textLengthMax);
}
