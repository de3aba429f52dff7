/** Checks where a ledger begins: the records of its archives, and that nothing lies before their end. */
import type { Queryable } from '../database/database.ts';
import {
  type ArchiveRecord,
  countRowsUntil,
  findLedgerBeginning,
  isSignedArchive,
  listArchives,
} from './archive-record.ts';
import { beginning, type LedgerRow, type SealEnd } from './seal.ts';
import { listedMax, nameRow, type SealContext } from './seal-check.ts';
import { selectRowsBetween, selectSealNumbers } from './seal-statements.ts';

/** What the archives of a ledger say of it. */
export interface LedgerBeginning {
  readonly archives: readonly ArchiveRecord[];
  /** What the first seal in the database follows. */
  readonly end: SealEnd;
}

/** Reads the archives of a ledger and checks them. */
export async function checkBeginning(ledger: Queryable, context: SealContext): Promise<LedgerBeginning> {
  const { firm } = context;
  const archives = await listArchives(ledger, firm);
  checkRecords(context, archives);
  const end = findLedgerBeginning(archives);
  const last = archives.at(-1);
  if (last !== undefined) await checkMoved(ledger, context, last);
  return { archives, end };
}

function checkRecords({ findings, firm, key }: SealContext, archives: readonly ArchiveRecord[]): void {
  let before: ArchiveRecord | undefined;
  for (const record of archives) {
    const expected = (before?.number ?? 0) + 1;
    for (let missing = expected; missing < record.number && missing < expected + listedMax; missing++)
      findings.push(`the record of archive ${missing} was removed`);
    // Behind a gap the signature cannot be checked: it covers that of the archive before.
    if (record.number === expected && !isSignedArchive(key, firm, before, record))
      findings.push(
        `the record of archive ${record.number} was changed or put in by hand, or is of another installation`,
      );
    before = record;
  }
}

/** What was moved is no longer in the ledger, neither in its place nor in another one. */
async function checkMoved(ledger: Queryable, { findings, firm }: SealContext, last: ArchiveRecord): Promise<void> {
  const { number, end, untilMs, late } = last;
  const rows = await ledger.query<LedgerRow>(selectRowsBetween(firm, beginning, end.place, listedMax));
  for (const row of rows)
    findings.push(`${nameRow(row)} was put in by hand: it lies before the end of archive ${number}`);
  const seals = await ledger.query<{ number: number }>(selectSealNumbers(firm, end.number, listedMax));
  for (const seal of seals)
    findings.push(`seal ${seal.number} was put in by hand: archive ${number} or one before has it`);
  if (late === null) return;
  const [found] = await ledger.query<{ rows: number }>(countRowsUntil(firm, end.place, untilMs));
  const more = (found?.rows ?? 0) - late;
  if (more > 0)
    findings.push(
      `${more} rows more than archive ${number} left are not later than its end: copies of rows that it has, which audit verify --archive names, or rows written more than a day late`,
    );
}
