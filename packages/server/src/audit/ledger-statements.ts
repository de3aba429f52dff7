/**
 * Adding rows to a ledger. One statement takes all rows of a batch of one firm (migration 0009, praxis_audit).
 */
import { createHash } from 'node:crypto';
import { type Sql, sql } from '../database/sql.ts';
import { type AccessRow, entriesText, patientsText } from './audit-row.ts';
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
export function elementList(names: readonly string[]): ElementList {
  const elements = [...new Set(names)].toSorted().join(' ');
  return { elements, fingerprint: fingerprintOf(elements) };
}

export function fingerprintOf(elements: string): string {
  return createHash('sha256').update(elements).digest('base64url').slice(0, fingerprintLength);
}

/** Adds the rows, in order, and the lists that are not there yet. */
export function addRows(
  firm: number,
  pending: readonly PendingRow[],
  lists: readonly ElementList[],
  prove: Prover,
): Sql {
  const rows = pending.map(columnsOf);
  const column = (name: keyof ProvenColumns): string => literalOf(rows.map((row) => row[name]));
  return sql`
    SELECT praxis_audit(
      in_firm => ${firm}, in_at => ${column('at')}::bigint[], in_application => ${column('application')}::int[],
      in_vid => ${column('vid')}::int[], in_shown => ${column('shown')}::int[], in_times => ${column('times')}::int[],
      in_rtype => ${column('rtype')}::smallint[], in_outcome => ${column('outcome')}::smallint[],
      in_interaction => ${column('interaction')}::text[], in_id => ${column('id')}::text[],
      in_subject => ${column('subject')}::text[], in_token_id => ${column('token_id')}::text[],
      in_request_id => ${column('request_id')}::text[], in_flow => ${column('flow')}::text[],
      in_elements => ${column('elements')}::text[], in_entries => ${column('entries')}::text[],
      in_reason => ${column('reason')}::text[], in_patients => ${column('patients')}::text[],
      in_proof => ${`{${rows.map((row) => `"\\\\x${prove(firm, row).toString('hex')}"`).join(',')}}`}::bytea[],
      in_fingerprint => ${lists.map(({ fingerprint }) => fingerprint)}::text[],
      in_list => ${lists.map(({ elements }) => elements)}::text[])`;
}

/** An array literal (https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO), in a third of the driver's time. */
function literalOf(items: readonly (string | number | null)[]): string {
  return `{${items.map(itemOf).join(',')}}`;
}

const plainText = /^[A-Za-z0-9_.*-]+$/;

function itemOf(item: string | number | null): string | number {
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
    entries: entriesText(row.entries),
    reason: row.reason ?? null,
    patients: patientsText(row.patients),
  };
}
