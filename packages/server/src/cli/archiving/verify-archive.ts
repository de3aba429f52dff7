/** Checks an archive against the record of it in the ledger, and the ledger for copies of its rows. */
import type { Platform } from '../../app.ts';
import {
  type ArchiveRecord,
  findLedgerBeginning,
  isSignedArchive,
  listArchives,
  selectRowsUntil,
} from '../../audit/archive-record.ts';
import { type LedgerRow, openSealingKey } from '../../audit/seal.ts';
import { nameRow } from '../../audit/seal-check.ts';
import { type ArchiveCheck, checkArchive, openArchiveTrust } from './check-archive.ts';

export interface VerifiedArchive extends ArchiveCheck {
  /** Undefined: the ledger has none of this file. */
  readonly record: ArchiveRecord | undefined;
}

type DatedRow = Pick<LedgerRow, 'seq' | 'at' | 'interaction' | 'proof'>;

/** Rows of the ledger that are compared with those of an archive, at most. */
const comparedMax = 100_000;

/** Reads the whole file. @throws ConfigError when there is no such file */
export async function verifyArchive({ database, secrets }: Platform, file: string): Promise<VerifiedArchive> {
  let record: ArchiveRecord | undefined;
  let isSigned = false;
  const inLedger = new Map<string, DatedRow>();
  const check = await checkArchive({
    file,
    trust: openArchiveTrust(secrets),
    async findBefore({ ledger, firstSeal }, digest) {
      const as = database.forFirm(ledger);
      const archives = await listArchives(as, ledger);
      record = archives.find((each) => each.digest.equals(digest));
      const others = archives.filter(({ number, lastSeal }) =>
        record === undefined ? lastSeal < firstSeal : number < record.number,
      );
      if (record !== undefined) {
        isSigned = isSignedArchive(openSealingKey(secrets), ledger, others.at(-1), record);
        const { place } = findLedgerBeginning(archives);
        const rows = await as.query<DatedRow>(selectRowsUntil(ledger, place, record.untilMs, comparedMax));
        for (const row of rows) if (row.proof !== null) inLedger.set(row.proof.toString('hex'), row);
      }
      return findLedgerBeginning(others);
    },
    onRow(row, findings) {
      const copy = row.proof === null ? undefined : inLedger.get(row.proof.toString('hex'));
      // The same number: a row that is not moved yet.
      if (copy !== undefined && copy.seq !== row.seq)
        findings.push(`${nameRow(copy)} of the ledger is a copy of ${nameRow(row)} of the archive`);
    },
  });
  return { ...check, record, findings: [...recordFindings(check, record, isSigned), ...check.findings] };
}

function recordFindings(
  { header, seals }: ArchiveCheck,
  record: ArchiveRecord | undefined,
  isSigned: boolean,
): string[] {
  if (header === undefined) return [];
  if (record === undefined) return ['the ledger has no record of this file: it was changed, or its record was removed'];
  if (!isSigned) return ['the record of this file was changed or put in by hand, or is of another installation'];
  const moved = seals.find(({ number }) => number === record.end.number);
  return moved?.head.equals(record.end.head) === true ? [] : ['the record of the file is of other seals'];
}
