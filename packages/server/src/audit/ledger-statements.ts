/**
 * Adding rows to a ledger. One statement takes all rows of a batch of one firm (migration 0037, praxis_audit_rows).
 */
import { hash } from 'node:crypto';
import { type Sql, sql } from '../database/sql.ts';
import { type AccessRow, formatEntries, formatPatients, type Patients } from './audit-row.ts';
import type { KeyUse, NewKeys } from './dimensions.ts';
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
  const columns = rows.map(({ columns: of }) => of);
  return sql`
    SELECT praxis_audit_rows(
      in_firm => ${firm}, in_vid => ${literalOf(columns, ({ vid }) => vid)}::int[],
      in_shown => ${literalOf(columns, ({ shown }) => shown)}::int[], in_times => ${literalOf(columns, ({ times }) => times)}::int[],
      in_id => ${literalOf(rows, ({ narrow }) => narrow.id)}::text[],
      in_fingerprint => ${lists.map(({ fingerprint }) => fingerprint)}::text[],
      in_list => ${lists.map(({ elements }) => elements)}::text[], ${buildAuditArguments(rows, keys)})`;
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

/** The arguments that praxis_audit_rows and praxis_write_resources share. */
export function buildAuditArguments(rows: readonly ProvenRow[], keys: KeyUse): Sql {
  const literal = (itemOf: (row: ProvenRow) => string | number | null): string => literalOf(rows, itemOf);
  const callers = literal(({ columns }) => keys.callerKey(columns));
  const actions = literal(({ columns }) => keys.actionKey(columns));
  const listed = rows.flatMap(({ narrow }, at) => narrow.listed.map((patient) => ({ patient, row: at + 1 })));
  return sql`
      audit_at => ${literal(({ columns }) => columns.at)}::bigint[],
      audit_caller => ${callers}::bigint[], audit_action => ${actions}::bigint[],
      audit_uuid => ${literal(({ narrow }) => narrow.uuid)}::uuid[],
      audit_request_uuid => ${literal(({ narrow }) => narrow.requestUuid)}::uuid[],
      audit_request_id => ${literal(({ narrow }) => narrow.requestId)}::text[],
      audit_patient => ${literal(({ narrow }) => narrow.patient)}::text[],
      audit_patient_uuid => ${literal(({ narrow }) => narrow.patientUuid)}::uuid[],
      audit_patient_uuids => ${literal(({ narrow }) => narrow.patientUuids)}::text[],
      audit_patients => ${literal(({ narrow }) => narrow.patients)}::text[],
      audit_proof => ${proofsOf(rows)}::bytea[],
      key_patient => ${literalOf(listed, ({ patient }) => patient)}::text[],
      key_row => ${literalOf(listed, ({ row }) => row)}::int[], ${buildNewKeys(keys.takeNew())}`;
}

function proofsOf(rows: readonly ProvenRow[]): string {
  return `{${rows.map(({ proof }) => (proof === undefined ? 'NULL' : `"\\\\x${proof}"`)).join(',')}}`;
}

const noKeys = sql`
      caller_key => '{}', caller_application => '{}', caller_subject => '{}', caller_token_id => '{}', caller_flow => '{}',
      action_key => '{}', action_rtype => '{}', action_outcome => '{}', action_interaction => '{}', action_elements => '{}',
      action_entries => '{}', action_reason => '{}'`;

function buildNewKeys({ callers, actions }: NewKeys): Sql {
  if (callers.length === 0 && actions.length === 0) return noKeys;
  return sql`
      caller_key => ${literalOf(callers, ({ key }) => key)}::bigint[],
      caller_application => ${literalOf(callers, ({ application }) => application)}::int[],
      caller_subject => ${literalOf(callers, ({ subject }) => subject)}::text[],
      caller_token_id => ${literalOf(callers, ({ token_id }) => token_id)}::text[],
      caller_flow => ${literalOf(callers, ({ flow }) => flow)}::text[],
      action_key => ${literalOf(actions, ({ key }) => key)}::bigint[],
      action_rtype => ${literalOf(actions, ({ rtype }) => rtype)}::smallint[],
      action_outcome => ${literalOf(actions, ({ outcome }) => outcome)}::smallint[],
      action_interaction => ${literalOf(actions, ({ interaction }) => interaction)}::text[],
      action_elements => ${literalOf(actions, ({ elements }) => elements)}::text[],
      action_entries => ${literalOf(actions, ({ entries }) => entries)}::text[],
      action_reason => ${literalOf(actions, ({ reason }) => reason)}::text[]`;
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
