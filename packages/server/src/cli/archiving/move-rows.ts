/**
 * Removes from the database what an archive holds. Each portion is a short transaction that also moves the record of the archive on,
 * so the ledger is whole whenever it is looked at, and wherever this ends. Short: seals and $changes wait for the oldest transaction.
 */
import type { Platform } from '../../app.ts';
import {
  type ArchiveFacts,
  type ArchiveRecord,
  countRowsUntil,
  listArchives,
  signArchive,
  storeArchive,
} from '../../audit/archive-record.ts';
import { openSealingKey, type SealEnd } from '../../audit/seal.ts';
import { ConfigError } from '../../base/config.ts';
import type { Database, Queryable } from '../../database/database.ts';
import { type Sql, sql } from '../../database/sql.ts';
import type { ArchivedSeal } from './check-archive.ts';

/** Rows of one portion, but for a seal that has more. */
const portionRowsMax = 20_000;

export interface Move {
  readonly firm: number;
  /** The archives before this one. */
  readonly archives: readonly ArchiveRecord[];
  /** The record of this archive, where some of its rows are moved already. */
  readonly begun: ArchiveRecord | undefined;
  readonly file: string;
  readonly digest: Buffer;
  /** All seals in the file. */
  readonly seals: readonly ArchivedSeal[];
}

/**
 * Moves on to the last seal of the file. Gives the record.
 * @throws ConfigError when the ledger is not as the file has it: nothing more is removed then
 */
export async function moveRows(platform: Platform, move: Move, onRows: (rows: number) => void): Promise<ArchiveRecord> {
  return await platform.asOwner(async (owner) => {
    let record = move.begun;
    for (let left = sealsAfter(move, record); left.length > 0; left = sealsAfter(move, record)) {
      const portion = takePortion(left);
      record = await movePortion(platform, owner, {
        move,
        before: record,
        portion,
        isLast: portion.length === left.length,
      });
      onRows(record.rows);
    }
    if (record === undefined) throw new ConfigError('the archive holds no seal');
    return record;
  });
}

function sealsAfter({ seals }: Move, record: ArchiveRecord | undefined): readonly ArchivedSeal[] {
  return record === undefined ? seals : seals.filter(({ number }) => number > record.end.number);
}

function takePortion(seals: readonly ArchivedSeal[]): readonly ArchivedSeal[] {
  let rows = 0;
  const over = seals.findIndex((seal, at) => {
    rows += seal.rows;
    return at > 0 && rows > portionRowsMax;
  });
  return over < 0 ? seals : seals.slice(0, over);
}

interface Portion {
  readonly move: Move;
  /** The record as the portion before has left it. */
  readonly before: ArchiveRecord | undefined;
  readonly portion: readonly ArchivedSeal[];
  readonly isLast: boolean;
}

function movePortion(platform: Platform, owner: Database, portion: Portion): Promise<ArchiveRecord> {
  const { firm } = portion.move;
  return owner.transaction(undefined, async (tx) => {
    await tx.query(lockArchives(firm));
    await requireUnmoved(tx, portion);
    await removeRows(tx, portion);
    const late = portion.isLast ? await countLate(tx, portion) : null;
    const before = portion.move.archives.at(-1);
    const record = signArchive(
      openSealingKey(platform.secrets),
      firm,
      before,
      factsOf(portion, late, platform.clock.now()),
    );
    await tx.query(storeArchive(firm, record));
    return record;
  });
}

/** The ASCII bytes of "arch", and the firm. */
const lockArchives = (firm: number): Sql => sql`SELECT pg_advisory_xact_lock(1634886504, ${firm}::int)`;

const changedMeanwhile =
  'the ledger was changed while it was archived: what was moved before is in the archive, nothing more was removed; praxis audit verify tells more';

async function requireUnmoved(tx: Queryable, { move, before }: Portion): Promise<void> {
  const last = (await listArchives(tx, move.firm)).at(-1);
  const expected = before ?? move.archives.at(-1);
  if (last?.number !== expected?.number || last?.end.number !== expected?.end.number)
    throw new ConfigError(changedMeanwhile);
}

async function removeRows(tx: Queryable, { move, before, portion }: Portion): Promise<void> {
  const { firm, archives } = move;
  const from = (before ?? archives.at(-1))?.end;
  const last = portion.at(-1);
  if (last === undefined) return;
  const expected = portion.reduce((sum, { rows }) => sum + rows, 0);
  // Rows are found by whole keys of indexes, whatever the planner believes about sizes.
  await tx.query(sql`
    SELECT set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), set_config('enable_seqscan', 'off', true)`);
  await tx.query(deletePatients(firm, from, last, expected));
  await tx.query(deletePatientKeys(firm, from, last, expected));
  const [events] = await tx.query<{ rows: number }>(deleteEvents(firm, from, last));
  const seals = await tx.query<{ number: number; head: Buffer }>(deleteSeals(firm, from, last));
  const heads = new Map(seals.map(({ number, head }) => [number, head.toString('hex')]));
  const areSame = portion.every(({ number, head }) => heads.get(number) === head.toString('hex'));
  if (events?.rows !== expected || seals.length !== portion.length || !areSame) throw new ConfigError(changedMeanwhile);
}

const after = (from: SealEnd | undefined): Sql =>
  sql`(${from?.place.epoch ?? 0}::int, ${from?.place.xid ?? '0'}::xid8, ${from?.place.seq ?? 0}::bigint)`;

const upTo = ({ place: { epoch, xid, seq } }: SealEnd): Sql => sql`(${epoch}::int, ${xid}::xid8, ${seq}::bigint)`;

/** The patients of the rows. */
function patientsOf(firm: number, from: SealEnd | undefined, to: SealEnd, rows: number): Sql {
  const { epoch, xid, seq } = to.place;
  return sql`
    SELECT a.at, a.seq, p.patient FROM praxis_ledger_events(in_firm => ${firm}, after_epoch => ${from?.place.epoch ?? 0},
      after_xid => ${from?.place.xid ?? '0'}::xid8, after_seq => ${from?.place.seq ?? 0}, before_epoch => ${epoch},
      before_xid => ${xid}::xid8, before_seq => ${seq + 1}, in_limit => ${rows + 1}) a
    CROSS JOIN LATERAL unnest(string_to_array(a.patients, ' ')) AS p(patient)
    WHERE a.patient_key IS NULL AND p.patient <> '+'`;
}

function deletePatients(firm: number, from: SealEnd | undefined, to: SealEnd, rows: number): Sql {
  return sql`
    DELETE FROM audit_patient t USING (${patientsOf(firm, from, to, rows)}) n
    WHERE t.firm = ${firm} AND t.patient = n.patient AND t.at = n.at AND t.seq = n.seq`;
}

function deletePatientKeys(firm: number, from: SealEnd | undefined, to: SealEnd, rows: number): Sql {
  return sql`
    DELETE FROM audit_patient_key t USING (${patientsOf(firm, from, to, rows)}) n
    WHERE t.firm = ${firm} AND t.patient_key = hashtext(n.patient) AND t.at = n.at AND t.seq = n.seq`;
}

function deleteEvents(firm: number, from: SealEnd | undefined, to: SealEnd): Sql {
  return sql`
    WITH gone AS (
      DELETE FROM audit_event
      WHERE firm = ${firm} AND (epoch, xid, seq) > ${after(from)} AND (epoch, xid, seq) <= ${upTo(to)}
      RETURNING 1)
    SELECT count(*)::int AS rows FROM gone`;
}

function deleteSeals(firm: number, from: SealEnd | undefined, to: SealEnd): Sql {
  return sql`
    DELETE FROM audit_seal WHERE firm = ${firm} AND number > ${from?.number ?? 0} AND number <= ${to.number}
    RETURNING number, head`;
}

async function countLate(tx: Queryable, { move, before, portion }: Portion): Promise<number> {
  const last = portion.at(-1);
  if (last === undefined) return 0;
  const [found] = await tx.query<{ rows: number }>(
    countRowsUntil(move.firm, last.place, latestOf(move, before, portion)),
  );
  return found?.rows ?? 0;
}

function latestOf({ archives }: Move, before: ArchiveRecord | undefined, portion: readonly ArchivedSeal[]): number {
  const known = before ?? archives.at(-1);
  return Math.max(known?.untilMs ?? 0, ...portion.map(({ untilMs }) => untilMs));
}

function factsOf({ move, before, portion }: Portion, late: number | null, atMs: number): ArchiveFacts {
  const { archives, file, digest, seals } = move;
  const [first] = seals;
  const [last, end] = [seals.at(-1), portion.at(-1)];
  if (first === undefined || last === undefined || end === undefined)
    throw new ConfigError('the archive holds no seal');
  return {
    number: before?.number ?? (archives.at(-1)?.number ?? 0) + 1,
    atMs,
    file,
    digest,
    firstSeal: first.number,
    lastSeal: last.number,
    end: { number: end.number, head: end.head, place: end.place },
    rows: (before?.rows ?? 0) + portion.reduce((sum, { rows }) => sum + rows, 0),
    fromMs: Math.min(before?.fromMs ?? Number.MAX_SAFE_INTEGER, ...portion.map(({ fromMs }) => fromMs)),
    untilMs: latestOf(move, before, portion),
    late,
  };
}
