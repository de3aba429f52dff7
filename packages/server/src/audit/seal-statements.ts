/**
 * Reading a ledger in the order of commits, (epoch, xid, seq), never past the oldest transaction under way (decision 0023),
 * and its seals. All run as the firm.
 */
import { type Sql, sql } from '../database/sql.ts';
import { nonceBytes, proofBytes } from './proof.ts';
import { type CommitPosition, noDigest, type Seal } from './seal.ts';

/** A row of audit_seal. */
export interface SealRow extends Omit<Seal, 'atMs' | 'place'>, CommitPosition {
  readonly at: number;
}

export function readSeal({ number, at, epoch, xid, seq, rows, marks, head, signature }: SealRow): Seal {
  return { number, atMs: at, place: { epoch, xid, seq }, rows, marks, head, signature };
}

/** A number as far as one can be read; where that differs from what a hand has written, the seal's head does not fit. */
export const readNumber = (column: string): Sql =>
  sql`LEAST(GREATEST(${sql.identifier(column)}, 0), ${Number.MAX_SAFE_INTEGER}::bigint)`;

const sealColumns = sql`number, ${readNumber('at')} AS at, row_epoch AS epoch, row_xid::text AS xid, ${readNumber('row_seq')} AS seq, rows, marks, head, signature`;

/** What the next seal needs of the last one: all but its marks and signature. */
export interface LastSeal extends CommitPosition {
  readonly number: number;
  readonly head: Buffer;
}

/** Finds a `LastSeal`. */
export function selectLastSeal(firm: number): Sql {
  return sql`
    SELECT number, row_epoch AS epoch, row_xid::text AS xid, ${readNumber('row_seq')} AS seq, head FROM audit_seal
    WHERE firm = ${firm} ORDER BY number DESC LIMIT 1`;
}

export function selectSealsAfter(firm: number, number: number, limit: number): Sql {
  return sql`SELECT ${sealColumns} FROM audit_seal WHERE firm = ${firm} AND number > ${number} ORDER BY number LIMIT ${limit}`;
}

/** The numbers of seals up to one. */
export function selectSealNumbers(firm: number, upTo: number, limit: number): Sql {
  return sql`SELECT number FROM audit_seal WHERE firm = ${firm} AND number <= ${upTo} ORDER BY number LIMIT ${limit}`;
}

/** The last seal after a number all of whose rows, and all rows before them, are earlier than a time; no row: there is none. */
export function selectLastSealBefore(firm: number, after: number, beforeMs: number): Sql {
  return sql`
    WITH later AS (
    SELECT epoch, xid, seq FROM audit_event WHERE firm = ${firm} AND at >= ${beforeMs} ORDER BY epoch, xid, seq LIMIT 1)
    SELECT s.number FROM audit_seal s
    WHERE s.firm = ${firm} AND s.number > ${after} AND NOT EXISTS (
      SELECT FROM later l WHERE (l.epoch, l.xid, l.seq) <= (s.row_epoch, s.row_xid, s.row_seq))
    ORDER BY s.number DESC LIMIT 1`;
}

/** Of audit_ledger. */
const rowColumns = sql`a.epoch, a.xid::text AS "xid", a.seq, a.proof, a.at, a.application, a.vid, a.shown, a.times, a.rtype, a.outcome,
  a.interaction, a.id, a.subject, a.token_id, a.request_id, a.flow, a.elements, a.entries, a.reason, a.patients`;

/** Latest moment of a Date (https://tc39.es/ecma262/#sec-time-values-and-time-range). */
const lastMs = 8_640_000_000_000_000;

/** Whether a row has a time and a number that a server can have given it. Others cannot even be read: see `selectInvalidRows`. */
const isReadable = sql`(a.at BETWEEN 0 AND ${lastMs} AND a.seq BETWEEN 1 AND ${Number.MAX_SAFE_INTEGER})`;

/** Rows with a time or a number that no server gives. */
export function selectInvalidRows(firm: number, limit: number): Sql {
  return sql`
    SELECT a.seq::text, a.at::text FROM audit_event a WHERE firm = ${firm} AND NOT ${isReadable} ORDER BY a.at, a.seq LIMIT ${limit}`;
}

/** Rows with one proof. */
export function selectDuplicateProofs(firm: number, limit: number): Sql {
  return sql`
    SELECT array_agg(seq::text ORDER BY seq) AS seqs FROM audit_event
    WHERE firm = ${firm} AND proof IS NOT NULL GROUP BY proof HAVING count(*) > 1 LIMIT ${limit}`;
}

/** The rows after a place and before another, in order: by the function, whose plan can only walk the index of that order. */
const rowsOf = (firm: number, after: CommitPosition, before: Sql, limit: number): Sql =>
  sql`praxis_ledger_rows(${between(firm, after, before, limit)})`;

const between = (firm: number, after: CommitPosition, before: Sql, limit: number): Sql => sql`
      in_firm => ${firm}, after_epoch => ${after.epoch}, after_xid => ${after.xid}::xid8, after_seq => ${after.seq},
      ${before}, in_limit => ${limit}`;

/** No transaction can add rows before this place any more. */
const settled = sql`before_epoch => (SELECT o.epoch FROM order_epoch o), before_xid => pg_snapshot_xmin(pg_current_snapshot()),
      before_seq => 0`;

/** Beyond every place of a row that can be read. */
const end: CommitPosition = { epoch: 2 ** 31 - 1, xid: String(2n ** 64n - 1n), seq: 2 ** 53 };

const beforePlace = ({ epoch, xid, seq }: CommitPosition): Sql =>
  sql`before_epoch => ${epoch}, before_xid => ${xid}::xid8, before_seq => ${seq}`;

/** Rows without a proof that are named at most. */
const unprovenMax = 100;

/** Whether a row has something of the length of a proof; whether it is one of the row, the database cannot tell. */
const isFormed = sql`COALESCE(length(a.proof) = ${proofBytes}, false)`;

/** What `selectRowsToSeal` finds; no marks: nothing. */
export interface ToSeal extends CommitPosition {
  readonly rows: number;
  /** Rows among them, 100 at most, that have nothing of the form of a proof: no server has written them. */
  readonly unproven: readonly number[];
  readonly marks: Buffer | null;
}

/** The marks (seal.ts, markOf) of the next rows after a place that can be sealed, and the place of the last of them. */
export function selectRowsToSeal(firm: number, after: CommitPosition, limit: number): Sql {
  return sql`
    WITH next AS (
    SELECT epoch, a.xid, seq, ${isFormed} AS formed,
      int8send(seq) || CASE WHEN ${isFormed} THEN substring(proof FROM ${nonceBytes + 1}) ELSE ${noDigest}::bytea END AS mark
    FROM ${rowsOf(firm, after, settled, limit)} a)
    SELECT l.epoch, l.xid::text AS "xid", l.seq, c.rows, c.marks,
      ARRAY(SELECT n.seq FROM next n WHERE NOT n.formed ORDER BY n.seq LIMIT ${unprovenMax}) AS unproven
    FROM (SELECT count(*)::int AS rows, string_agg(mark, ''::bytea ORDER BY n.epoch, n.xid, n.seq) AS marks FROM next n) c
    CROSS JOIN LATERAL (SELECT epoch, n.xid, seq FROM next n ORDER BY n.epoch DESC, n.xid DESC, n.seq DESC LIMIT 1) l`;
}

/** The rows after one place, up to and including another; absent: to the end. */
export function selectRowsBetween(
  firm: number,
  after: CommitPosition,
  upTo: CommitPosition | undefined,
  limit: number,
): Sql {
  const before = upTo === undefined ? end : { ...upTo, seq: upTo.seq + 1 };
  return sql`
    SELECT ${rowColumns} FROM praxis_ledger_events(${between(firm, after, beforePlace(before), limit)}) a
    ORDER BY a.epoch, a.xid, a.seq`;
}

/** The first row after a place, and when it was made; no row: there is none. */
export function selectFirstRowAfter(firm: number, after: CommitPosition): Sql {
  return sql`SELECT at FROM ${rowsOf(firm, after, beforePlace(end), 1)} a`;
}

/** Adds a seal; no row where another process has added one of that number. */
export function addSeal(firm: number, { number, atMs, place, rows, marks, head, signature }: Seal): Sql {
  return sql`
    INSERT INTO audit_seal (firm, at, row_xid, row_seq, number, row_epoch, rows, marks, head, signature)
    VALUES (${firm}, ${atMs}, ${place.xid}::xid8, ${place.seq}, ${number}, ${place.epoch}, ${rows}, ${marks}, ${head}, ${signature})
    ON CONFLICT (firm, number) DO NOTHING RETURNING number`;
}

/** What a hand on the tables that lean on audit_event would leave: rows by patient without their event or the other way, lists that are not what they are called. */
export function selectMismatchedRows(firm: number, limit: number): Sql {
  return sql`
    SELECT 'audit_patient lacks ' || p.patient AS what, a.seq::text FROM audit_event a
      CROSS JOIN LATERAL unnest(string_to_array(a.patients, ' ')) AS p(patient)
      WHERE a.firm = ${firm} AND a.caller IS NULL AND a.patients IS NOT NULL AND p.patient <> '+' AND NOT EXISTS (
        SELECT FROM audit_patient t WHERE t.firm = ${firm} AND t.patient = p.patient AND t.at = a.at AND t.seq = a.seq)
    UNION ALL
    SELECT 'audit_patient adds ' || t.patient, t.seq::text FROM audit_patient t
      WHERE t.firm = ${firm} AND NOT EXISTS (
        SELECT FROM audit_ledger a WHERE a.firm = ${firm} AND a.at = t.at AND a.seq = t.seq
          AND t.patient = ANY (string_to_array(a.patients, ' ')))
    UNION ALL
    SELECT 'audit_event is not found by ' || a.patients, a.seq::text FROM audit_ledger a
      WHERE a.firm = ${firm} AND a.patient_key IS NOT NULL AND a.patient_key IS DISTINCT FROM hashtext(a.patients)
    UNION ALL
    SELECT 'audit_patient_key lacks ' || p.patient, a.seq::text FROM audit_event e
      JOIN audit_ledger a ON a.firm = ${firm} AND a.at = e.at AND a.seq = e.seq
      CROSS JOIN LATERAL unnest(string_to_array(a.patients, ' ')) AS p(patient)
      WHERE e.firm = ${firm} AND e.caller IS NOT NULL AND e.patient_key IS NULL AND p.patient <> '+' AND NOT EXISTS (
        SELECT FROM audit_patient_key t
        WHERE t.firm = ${firm} AND t.patient_key = hashtext(p.patient) AND t.at = a.at AND t.seq = a.seq)
    UNION ALL
    SELECT 'audit_patient_key adds ' || t.patient_key, t.seq::text FROM audit_patient_key t
      WHERE t.firm = ${firm} AND NOT EXISTS (
        SELECT FROM audit_ledger a CROSS JOIN LATERAL unnest(string_to_array(a.patients, ' ')) AS p(patient)
        WHERE a.firm = ${firm} AND a.at = t.at AND a.seq = t.seq AND hashtext(p.patient) = t.patient_key)
    UNION ALL
    SELECT 'audit_elements lacks ' || a.elements, a.seq::text FROM audit_ledger a
      WHERE a.firm = ${firm} AND a.elements <> 'all' AND NOT EXISTS (
        SELECT FROM audit_elements l WHERE l.firm = ${firm} AND l.fingerprint = a.elements)
    LIMIT ${limit}`;
}

export function selectElementLists(firm: number): Sql {
  return sql`SELECT fingerprint, elements FROM audit_elements WHERE firm = ${firm}`;
}

export function selectNamedLists(firm: number, fingerprints: readonly string[]): Sql {
  return sql`
    SELECT fingerprint, elements FROM audit_elements WHERE firm = ${firm} AND fingerprint = ANY (${fingerprints}::text[])`;
}

/** Versions after a place that have no row in the ledger: each write leaves both with one number. */
export function selectUnauditedVersions(firm: number, after: CommitPosition, limit: number): Sql {
  return sql`
    SELECT v.seq::text FROM resource_version v
    WHERE v.firm = ${firm} AND (v.epoch, v.xid, v.seq) > (${after.epoch}::int, ${after.xid}::xid8, ${after.seq}::bigint)
      AND NOT EXISTS (SELECT FROM audit_event a WHERE a.firm = ${firm} AND a.epoch = v.epoch AND a.xid = COALESCE(v.written_by, v.xid) AND a.seq = v.seq)
    ORDER BY v.epoch, v.xid, v.seq LIMIT ${limit}`;
}
