/**
 * Archives the beginning of an audit ledger (docs/decisions/0299): writes it to a file, reads the file back, and only then removes
 * the rows. After an interruption it goes on with the file that is there, or begins a new one where the database begins.
 */
import { existsSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Platform } from '../../app.ts';
import { type ArchiveRecord, findLedgerBeginning } from '../../audit/archive-record.ts';
import type { SealEnd } from '../../audit/seal.ts';
import { type LastSeal, selectLastSeal, selectLastSealBefore } from '../../audit/seal-statements.ts';
import { verifyBeginning } from '../../audit/verify.ts';
import { toInstant } from '../../base/clock.ts';
import { ConfigError } from '../../base/config.ts';
import { type ArchiveCheck, checkArchive, openArchiveTrust } from './check-archive.ts';
import { moveRows } from './move-rows.ts';
import { type ArchiveRange, type NamedLedger, writeArchive } from './write-archive.ts';

export interface ArchiveWish {
  readonly ledger: NamedLedger;
  /** Rows of this time and later stay. */
  readonly beforeMs: number;
  readonly directory: string;
  readonly onRows: (rows: number) => void;
}

/** What was wrong, by lines; nothing was changed. */
export class RefusedArchive extends ConfigError {
  readonly findings: readonly string[];

  constructor(message: string, findings: readonly string[]) {
    super(message);
    this.findings = findings;
  }
}

export interface FinishedArchive {
  readonly record: ArchiveRecord;
  readonly path: string;
  /** An interrupted run had written the file. */
  readonly wasThere: boolean;
}

/** @throws ConfigError when there is nothing to move, or the file cannot be written; RefusedArchive when something is wrong */
export async function archiveLedger(platform: Platform, wish: ArchiveWish): Promise<FinishedArchive> {
  const { ledger, directory, onRows } = wish;
  // As the owner: no statement timeout, since the whole ledger is looked at.
  const { findings, archives, end } = await platform.asOwner((owner) =>
    verifyBeginning({ ...platform, database: owner }, ledger.id),
  );
  if (findings.length > 0)
    throw new RefusedArchive('the ledger is not as it was written, so nothing was archived', findings);
  const begun = findInterrupted(directory, archives);
  const others = begun === undefined ? archives : archives.slice(0, -1);
  const before = findLedgerBeginning(others);
  const lastSeal = begun?.lastSeal ?? (await findLastSeal(platform, wish, end));
  const file = begun?.file ?? nameArchive(ledger, before.number + 1, lastSeal);
  const target = path.join(directory, file);
  const wasThere = existsSync(target);
  const range = { ledger, before, lastSeal };
  const check = wasThere
    ? await requireArchive(platform, target, range, begun)
    : await makeArchive(platform, target, range, onRows);
  const move = { firm: ledger.id, archives: others, begun, file, digest: check.digest, seals: check.seals };
  return { record: await moveRows(platform, move, onRows), path: target, wasThere };
}

/** The last archive, where rows of it are still in the database and its file is there. */
function findInterrupted(directory: string, archives: readonly ArchiveRecord[]): ArchiveRecord | undefined {
  const last = archives.at(-1);
  if (last === undefined || last.end.number === last.lastSeal) return undefined;
  return existsSync(path.join(directory, last.file)) ? last : undefined;
}

/** The last seal stays, so that sealing finds where to go on, in this release and in the one before. */
async function findLastSeal({ asOwner }: Platform, wish: ArchiveWish, end: SealEnd): Promise<number> {
  const { ledger, beforeMs } = wish;
  // As the owner: no statement timeout, since many later rows may be looked at.
  const [last, found] = await asOwner(async (owner) => [
    (await owner.query<LastSeal>(selectLastSeal(ledger.id)))[0],
    (await owner.query<{ number: number }>(selectLastSealBefore(ledger.id, end.number, beforeMs)))[0],
  ]);
  const number = Math.min(found?.number ?? 0, (last?.number ?? 0) - 1);
  if (number > end.number) return number;
  throw new ConfigError(
    `there is nothing to archive: no seal but the last one has only rows from before ${toInstant(beforeMs)}`,
  );
}

function nameArchive({ environment, firm }: NamedLedger, firstSeal: number, lastSeal: number): string {
  const ledger = environment === null ? 'service' : `${environment}-${firm}`;
  return `audit-${ledger}-${firstSeal}-${lastSeal}.ndjson.gz`;
}

/** Writes the file, and gives it its name once it is on the disk and was read back. */
async function makeArchive(
  platform: Platform,
  target: string,
  range: ArchiveRange,
  onRows: (rows: number) => void,
): Promise<ArchiveCheck> {
  const partial = `${target}.partial`;
  await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
  await rm(partial, { force: true });
  try {
    await writeArchive(platform, partial, range, onRows);
    const check = await checkRange(platform, partial, range);
    if (check.findings.length > 0)
      throw new RefusedArchive(
        'rows that were to be archived are not as they were written, so nothing was archived',
        check.findings,
      );
    await rename(partial, target);
    await syncDirectory(path.dirname(target));
    return check;
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** The file that an interrupted run has left. @throws RefusedArchive when it is another one */
async function requireArchive(
  platform: Platform,
  target: string,
  range: ArchiveRange,
  begun: ArchiveRecord | undefined,
): Promise<ArchiveCheck> {
  const check = await checkRange(platform, target, range);
  const { header, digest, findings } = check;
  const isRange = header?.ledger === range.ledger.id && header.lastSeal === range.lastSeal;
  const isBegun = begun === undefined || begun.digest.equals(digest);
  if (isRange && isBegun && findings.length === 0) return check;
  throw new RefusedArchive(
    `${target} exists and is not the archive of these seals, so nothing was archived: remove it, or name another directory`,
    findings,
  );
}

function checkRange({ secrets }: Platform, file: string, { before }: ArchiveRange): Promise<ArchiveCheck> {
  return checkArchive({ file, trust: openArchiveTrust(secrets), findBefore: async () => before });
}

/** The new name is on the disk as well. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
