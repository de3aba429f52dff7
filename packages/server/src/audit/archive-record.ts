/**
 * What the database keeps of an archive (migration 0038): which seals are no longer there, and in which file they are. Signed by the
 * key of the seals (seal.ts) and chained to the archive before, so that a hand can neither make, change nor remove one unnoticed.
 */
import { type Sql, sql } from '../database/sql.ts';
import { type CommitPosition, chainBeginning, type SealEnd, type SealingKey, type VerifyingKey } from './seal.ts';
import { readNumber } from './seal-statements.ts';

export interface ArchiveFacts {
  /** From 1, without gaps. */
  readonly number: number;
  readonly atMs: number;
  /** Name of the file, without its directory. */
  readonly file: string;
  /** SHA-256 of the file. */
  readonly digest: Buffer;
  readonly firstSeal: number;
  readonly lastSeal: number;
  /** Where the ledger begins now. Its seal is before `lastSeal` while rows are moved, or when that was interrupted. */
  readonly end: SealEnd;
  readonly rows: number;
  /** Times of the rows: the earliest that it moved, the latest that it or an archive before it moved. */
  readonly fromMs: number;
  readonly untilMs: number;
  /** Rows that were left though they are not later than `untilMs`; null: not all seals are moved yet. */
  readonly late: number | null;
}

export interface ArchiveRecord extends ArchiveFacts {
  readonly signature: Buffer;
}

/** Signs what is known of an archive. @param before the archive with the number before */
export function signArchive(
  key: SealingKey,
  firm: number,
  before: ArchiveRecord | undefined,
  facts: ArchiveFacts,
): ArchiveRecord {
  return { ...facts, signature: key.sign(buildSignedText(firm, before, facts)) };
}

export function isSignedArchive(
  key: VerifyingKey,
  firm: number,
  before: ArchiveRecord | undefined,
  record: ArchiveRecord,
): boolean {
  return key.verifies(buildSignedText(firm, before, record), record.signature);
}

/** Begins as no head of a seal does, which the key signs as well. */
function buildSignedText(firm: number, before: ArchiveRecord | undefined, facts: ArchiveFacts): Buffer {
  const { number, atMs, file, digest, firstSeal, lastSeal, end, rows, fromMs, untilMs, late } = facts;
  const { epoch, xid, seq } = end.place;
  return Buffer.from(
    `praxis audit archive\n${JSON.stringify([
      ...[firm, number, atMs, file, digest.toString('hex'), firstSeal, lastSeal],
      ...[end.number, end.head.toString('hex'), epoch, xid, seq, rows, fromMs, untilMs, late],
      before?.signature.toString('hex') ?? null,
    ])}`,
  );
}

/** Where the ledger begins after these archives, in their order. */
export function findLedgerBeginning(archives: readonly ArchiveRecord[]): SealEnd {
  return archives.at(-1)?.end ?? chainBeginning;
}

interface ArchiveColumns extends Omit<ArchiveFacts, 'end' | 'late'>, CommitPosition {
  readonly movedSeal: number;
  readonly head: Buffer;
  readonly late: number | null;
  readonly signature: Buffer;
}

/** Finds rows for `readArchive`, in the order of their numbers. */
export function selectArchives(firm: number): Sql {
  return sql`
    SELECT number, ${readNumber('at')} AS "atMs", file, digest, first_seal AS "firstSeal", last_seal AS "lastSeal",
      moved_seal AS "movedSeal", head, row_epoch AS epoch, row_xid::text AS xid, ${readNumber('row_seq')} AS seq,
      ${readNumber('rows')} AS rows, ${readNumber('from_at')} AS "fromMs", ${readNumber('until_at')} AS "untilMs", late, signature
    FROM audit_archive WHERE firm = ${firm} ORDER BY number`;
}

/** The archives of a ledger, in their order. @param ledger sees the firm's rows */
export async function listArchives(
  ledger: { query<R>(statement: Sql): Promise<R[]> },
  firm: number,
): Promise<readonly ArchiveRecord[]> {
  const rows = await ledger.query<ArchiveColumns>(selectArchives(firm));
  return rows.map(({ movedSeal, head, epoch, xid, seq, ...facts }) => ({
    ...facts,
    end: { number: movedSeal, head, place: { epoch, xid, seq } },
  }));
}

/** Adds the record, or puts it in place of that of its number. For the owner role alone. */
export function storeArchive(firm: number, record: ArchiveRecord): Sql {
  const { number, atMs, file, digest, firstSeal, lastSeal, end, rows, fromMs, untilMs, late, signature } = record;
  return sql`
    INSERT INTO audit_archive (at, from_at, until_at, rows, row_xid, row_seq, firm, number, row_epoch, first_seal, last_seal,
      moved_seal, late, file, digest, head, signature)
    VALUES (${atMs}, ${fromMs}, ${untilMs}, ${rows}, ${end.place.xid}::xid8, ${end.place.seq}, ${firm}, ${number},
      ${end.place.epoch}, ${firstSeal}, ${lastSeal}, ${end.number}, ${late}, ${file}, ${digest}, ${end.head}, ${signature})
    ON CONFLICT (firm, number) DO UPDATE SET at = EXCLUDED.at, from_at = EXCLUDED.from_at, until_at = EXCLUDED.until_at,
      rows = EXCLUDED.rows, row_xid = EXCLUDED.row_xid, row_seq = EXCLUDED.row_seq, row_epoch = EXCLUDED.row_epoch,
      moved_seal = EXCLUDED.moved_seal, late = EXCLUDED.late, head = EXCLUDED.head, signature = EXCLUDED.signature`;
}

/** The number of rows after a place that are not later than a time: those that an archive left, and copies of what it moved. */
export function countRowsUntil(firm: number, after: CommitPosition, untilMs: number): Sql {
  return sql`
    SELECT count(*)::int AS rows FROM audit_event
    WHERE firm = ${firm} AND at <= ${untilMs} AND (epoch, xid, seq) > (${after.epoch}::int, ${after.xid}::xid8, ${after.seq}::bigint)`;
}

/** Those rows themselves. */
export function selectRowsUntil(firm: number, after: CommitPosition, untilMs: number, limit: number): Sql {
  return sql`
    SELECT seq, at, interaction, proof FROM audit_ledger
    WHERE firm = ${firm} AND at BETWEEN 0 AND ${untilMs} AND seq BETWEEN 1 AND ${Number.MAX_SAFE_INTEGER}
      AND (epoch, xid, seq) > (${after.epoch}::int, ${after.xid}::xid8, ${after.seq}::bigint)
    ORDER BY at, seq LIMIT ${limit}`;
}
