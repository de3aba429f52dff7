/**
 * Adding rows to a ledger. One statement takes all rows of a batch of one firm (migration 0009, praxis_audit).
 */
import { hash } from 'node:crypto';
import { sql } from '../database/sql.ts';
import { type AccessRow, formatEntries, formatPatients } from './audit-row.ts';
import type { ProvenColumns, Prover } from './proof.ts';

/** A list of elements and the name it goes by in rows. */
export interface ElementList {
  readonly fingerprint: string;
  readonly elements: string;
}

/** A row as it is kept until it is written. */
export interface PendingRow {
  readonly row: AccessRow;
  /** Equal rows that it stands for. */
  times: number;
  /** `all`, a fingerprint, or null. */
  readonly elements: string | null;
}

/** Characters of a fingerprint: 128 bits in base64url. */
const fingerprintLength = 22;

/** The list of element names, in their order, once each. */
export function buildElementList(names: readonly string[]): ElementList {
  const elements = [...new Set(names)].toSorted().join(' ');
  return { elements, fingerprint: computeElementsFingerprint(elements) };
}

export function computeElementsFingerprint(elements: string): string {
  return hash('sha256', elements, 'base64url').slice(0, fingerprintLength);
}

/** Adds the rows, in order, and the lists that are not there yet. Run again it adds nothing. */
export function addRows(firm: number, pending: readonly PendingRow[], lists: readonly ElementList[], prove: Prover) {
  const rows = pending.map(columnsOf);
  const patients = pending.flatMap(({ row }, at) => (row.patients?.ids ?? []).map((id) => ({ id, row: at + 1 })));
  return sql`
    SELECT praxis_audit(
      in_firm => ${firm}, in_at => ${literalOf(rows, ({ at }) => at)}::bigint[],
      in_application => ${literalOf(rows, ({ application }) => application)}::int[],
      in_vid => ${literalOf(rows, ({ vid }) => vid)}::int[], in_shown => ${literalOf(rows, ({ shown }) => shown)}::int[],
      in_times => ${literalOf(rows, ({ times }) => times)}::int[], in_rtype => ${literalOf(rows, ({ rtype }) => rtype)}::smallint[],
      in_outcome => ${literalOf(rows, ({ outcome }) => outcome)}::smallint[],
      in_interaction => ${literalOf(rows, ({ interaction }) => interaction)}::text[],
      in_id => ${literalOf(rows, ({ id }) => id)}::text[], in_subject => ${literalOf(rows, ({ subject }) => subject)}::text[],
      in_token_id => ${literalOf(rows, ({ token_id }) => token_id)}::text[],
      in_request_id => ${literalOf(rows, ({ request_id }) => request_id)}::text[],
      in_flow => ${literalOf(rows, ({ flow }) => flow)}::text[],
      in_elements => ${literalOf(rows, ({ elements }) => elements)}::text[],
      in_entries => ${literalOf(rows, ({ entries }) => entries)}::text[],
      in_reason => ${literalOf(rows, ({ reason }) => reason)}::text[],
      in_patients => ${literalOf(rows, (row) => row.patients)}::text[],
      in_proof => ${`{${rows.map((row) => `"\\\\x${prove(firm, row)}"`).join(',')}}`}::bytea[],
      in_patient => ${literalOf(patients, ({ id }) => id)}::text[],
      in_patient_row => ${literalOf(patients, ({ row }) => row)}::int[],
      in_fingerprint => ${lists.map(({ fingerprint }) => fingerprint)}::text[],
      in_list => ${lists.map(({ elements }) => elements)}::text[])`;
}

/**
 * An array literal (https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO), in a fraction of the driver's time; the
 * empty one when all are null, which the database has nothing to read of. Most columns repeat what the row before has.
 */
function literalOf<Row>(rows: readonly Row[], itemOf: (row: Row) => string | number | null): string {
  let text = '';
  let last: string | number | null = null;
  let written: string | number = 'NULL';
  let isEmpty = true;
  for (const row of rows) {
    const item = itemOf(row);
    if (item !== last) {
      last = item;
      written = writtenItem(item);
      isEmpty = false;
    }
    text += text === '' ? written : `,${written}`;
  }
  return isEmpty ? '{}' : `{${text}}`;
}

const plainText = /^[A-Za-z0-9_.*-]+$/;

function writtenItem(item: string | number | null): string | number {
  if (item === null) return 'NULL';
  if (typeof item === 'number' || (plainText.test(item) && item.length !== 4)) return item; // NULL has four letters
  return `"${item.toWellFormed().replace(/["\\]/g, '\\$&')}"`;
}

function columnsOf({ row, times, elements }: PendingRow): ProvenColumns {
  return {
    at: row.atMs,
    application: row.application,
    vid: row.versionId ?? null,
    shown: row.shown ?? 0,
    times: times === 1 ? null : times,
    rtype: row.typeNumber ?? null,
    outcome: row.outcome,
    interaction: row.interaction,
    id: row.id ?? null,
    subject: row.subject ?? null,
    token_id: row.tokenId ?? null,
    request_id: row.requestId ?? null,
    flow: row.flow ?? null,
    elements,
    entries: formatEntries(row.entries),
    reason: row.reason ?? null,
    patients: formatPatients(row.patients),
  };
}
