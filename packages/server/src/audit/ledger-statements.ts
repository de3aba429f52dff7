/**
 * Adding rows to a ledger. One statement takes all rows of a batch of one firm (migration 0037, praxis_audit_rows).
 */
import { hash } from 'node:crypto';
import { type Sql, sql } from '../database/sql.ts';
import { type AccessRow, formatEntries, formatPatients, type Patients } from './audit-row.ts';
import type { KeyUse } from './dimensions.ts';
import { type NarrowRow, narrowRow } from './narrow-row.ts';
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

/** A row as it is sent. */
export interface ProvenRow {
  readonly columns: ProvenColumns;
  readonly narrow: NarrowRow;
  /** In hexadecimal; undefined: it has none. */
  readonly proof: string | undefined;
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

/** Adds the rows, in order, and the lists, callers and actions that are not there yet. Run again it adds nothing. */
export function addRows(firm: number, rows: readonly ProvenRow[], lists: readonly ElementList[], keys: KeyUse): Sql {
  return sql`
    SELECT praxis_audit_rows(in_firm => ${firm}, in_rows => ${encodeRows(rows, keys)}::audit_row[],
      in_fingerprint => ${lists.map(({ fingerprint }) => fingerprint)}::text[],
      in_list => ${lists.map(({ elements }) => elements)}::text[], in_new => ${encodeNewKeys(keys)}::json)
    WHERE NOT EXISTS (SELECT FROM firm WHERE id = ${firm} AND state IN ('erasing', 'erased'))`;
}

/** The rows with their proofs, which stay the same however often they are sent. */
export function proveRows(firm: number, pending: readonly PendingRow[], prove: Prover): readonly ProvenRow[] {
  return pending.map((each) => {
    const columns = columnsOf(each);
    return proveRow(columns, each.row.patients, prove(firm, columns));
  });
}

/** @param proof hexadecimal; undefined: it has none */
export function proveRow(columns: ProvenColumns, patients: Patients | undefined, proof: string | undefined): ProvenRow {
  return { columns, narrow: narrowRow({ id: columns.id, requestId: columns.request_id, patients }), proof };
}

/** The rows as the literal of an array of audit_row. The keys that they are given are those of the statement. */
export function encodeRows(rows: readonly ProvenRow[], keys: KeyUse): string {
  let text = '';
  for (const row of rows) text += `${text === '' ? '"(' : ',"('}${encodeRow(row, keys)})"`;
  return `{${text}}`;
}

/** The callers and actions that a statement adds, as the functions take them; null: none. To be asked after `encodeRows`. */
export function encodeNewKeys(keys: KeyUse): string | null {
  const added = keys.takeNew();
  return added.callers.length === 0 && added.actions.length === 0 ? null : JSON.stringify(added);
}

/** In the order of the columns of audit_row. What is NULL is empty (https://www.postgresql.org/docs/current/rowtypes.html#ROWTYPES-IO-SYNTAX). */
function encodeRow({ columns, narrow, proof }: ProvenRow, keys: KeyUse): string {
  const { at, vid, shown, times } = columns;
  const { uuid, id, requestUuid, requestId, patient, patientUuid, patientUuids, patients, listed } = narrow;
  return (
    `${at},${keys.callerKey(columns)},${keys.actionKey(columns)},${vid ?? ''},${shown ?? ''},${times ?? ''},${uuid ?? ''},` +
    `${encodeField(id)},${requestUuid ?? ''},${encodeField(requestId)},${encodeField(patient)},${patientUuid ?? ''},` +
    `${encodeField(patientUuids)},${encodeField(patients)},${encodeField(listed)},${proof === undefined ? '' : `\\\\\\\\x${proof}`}`
  );
}

const plainText = /^[A-Za-z0-9_.*-]+$/;

/** A field of a row, in a literal of which the row is an item: both take quotes and backslashes for their own. */
function encodeField(text: string | null): string {
  if (text === null || plainText.test(text)) return text ?? '';
  const field = text.toWellFormed().replace(/["\\]/g, '\\$&');
  return `"${field}"`.replace(/["\\]/g, '\\$&');
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
