/**
 * What is gathered for the audit ledger while a request is answered (audit-recorder.ts makes rows of it).
 */
import type { Grant } from '../access/grants.ts';
import type { ElementFilter } from '../access/mask.ts';
import type { AccessRow } from '../audit/audit-row.ts';
import type { PatientSet } from '../audit/patients.ts';

/** The rows of one attempt to answer a request. */
export type AuditRows = AccessRow[];

/** What an interaction has shown so far. */
export interface AuditRecord {
  /** Resources shown. */
  shown: number;
  /** Whether something was written, which the ledger knows already. */
  wrote: boolean;
  readonly patients: PatientSet;
  /** The grants that opened what was shown, each with the type and what the caller asked to leave out. */
  readonly grants: Map<Grant, { readonly type: string; readonly filter: ElementFilter }>;
}
