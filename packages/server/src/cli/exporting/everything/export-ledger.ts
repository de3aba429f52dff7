/** The audit ledger of a firm as a file: its seals with their rows, in the form of an archive (archiving/archive-format.ts). */
import { setTimeout as delay } from 'node:timers/promises';
import type { Platform } from '../../../app.ts';
import { type ArchiveRecord, findLedgerBeginning, listArchives } from '../../../audit/archive-record.ts';
import { openHeadFiles, resolveAuditHeadsDirectory } from '../../../audit/head-files.ts';
import { beginning, openSealingKey } from '../../../audit/seal.ts';
import { type LastSeal, selectLastSeal } from '../../../audit/seal-statements.ts';
import { sealNext } from '../../../audit/sealing.ts';
import { ConfigError } from '../../../base/config.ts';
import { sql } from '../../../database/sql.ts';
import type { VersionsMoment } from '../../../storage/versions-at.ts';
import type { Firm } from '../../../tenancy/firms.ts';
import { checkArchive, openArchiveTrust } from '../../archiving/check-archive.ts';
import { writeArchive } from '../../archiving/write-archive.ts';
import { type ExportDirectory, readFileFacts } from './export-directory.ts';
import type { ListedArchive, ListedFile, ListedLedger } from './manifest.ts';

export const ledgerName = 'audit/ledger.ndjson.gz';

/** How long rows of the moment wait for their seal: other transactions may come before them in the order of commits. */
const sealingMs = 60_000;
const sealingPauseMs = 50;

export interface ExportedLedger {
  /** Null: no row of the ledger is in the database. */
  readonly ledger: ListedLedger | null;
  readonly files: readonly ListedFile[];
  readonly archives: readonly ListedArchive[];
  /** What is wrong, one line each. */
  readonly findings: readonly string[];
}

/**
 * Writes the ledger up to a seal that covers all rows of the moment.
 * @throws ConfigError where a transaction that does not end keeps rows from being sealed
 */
export async function exportLedger(
  platform: Platform,
  directory: ExportDirectory,
  firm: Firm,
  moment: VersionsMoment,
  onRows: (rows: number) => void,
): Promise<ExportedLedger> {
  await sealMoment(platform, firm.id, moment);
  const as = platform.database.forFirm(firm.id);
  const records = await listArchives(as, firm.id);
  const archives = records.map(toListed);
  const before = findLedgerBeginning(records);
  const [last] = await as.query<LastSeal>(selectLastSeal(firm.id));
  if (last === undefined || last.number <= before.number) return { ledger: null, files: [], archives, findings: [] };
  const named = { id: firm.id, environment: firm.environment, firm: firm.prefix };
  const at = await directory.place(ledgerName);
  await writeArchive(platform, at, { ledger: named, before, lastSeal: last.number }, onRows);
  const trust = openArchiveTrust(platform.secrets);
  const { findings, rows } = await checkArchive({ file: at, trust, findBefore: async () => before });
  const ledger: ListedLedger = {
    path: ledgerName,
    firstSeal: before.number + 1,
    lastSeal: last.number,
    rows,
    follows: before.head.toString('hex'),
    head: last.head.toString('hex'),
    findings: findings.length,
  };
  return { ledger, files: [{ ...(await readFileFacts(at, ledgerName)), kind: 'audit' }], archives, findings };
}

function toListed({ file, digest, firstSeal, lastSeal }: ArchiveRecord): ListedArchive {
  return { file, sha256: digest.toString('hex'), firstSeal, lastSeal };
}

async function sealMoment(platform: Platform, firm: number, moment: VersionsMoment): Promise<void> {
  const { database, clock, log, secrets, config } = platform;
  const heads = openHeadFiles(resolveAuditHeadsDirectory(config));
  const options = { database, clock, log, key: openSealingKey(secrets), heads };
  const endMs = performance.now() + sealingMs;
  for (;;) {
    const state = await sealNext(options, firm);
    if (state === 'done' || (state === 'waiting' && !(await isOpen(platform, firm, moment)))) return;
    if (state === 'more') continue;
    if (performance.now() > endMs)
      throw new ConfigError(
        'the audit ledger cannot be sealed, since a transaction of the database does not end: end it, then export again',
      );
    await delay(sealingPauseMs);
  }
}

/** Whether the last seal leaves out a row of the moment. */
async function isOpen(
  { database }: Platform,
  firm: number,
  { orderEpoch, snapshot }: VersionsMoment,
): Promise<boolean> {
  const as = database.forFirm(firm);
  const [last] = await as.query<LastSeal>(selectLastSeal(firm));
  const { epoch, xid, seq } = last ?? beginning;
  const rows = await as.query(sql`
    SELECT 1 AS open FROM audit_event
    WHERE firm = ${firm} AND (epoch, xid, seq) > (${epoch}::int, ${xid}::xid8, ${seq}::bigint)
      AND (epoch < ${orderEpoch}::int OR (epoch = ${orderEpoch}::int AND pg_visible_in_snapshot(xid, ${snapshot}::pg_snapshot))) LIMIT 1`);
  return rows.length > 0;
}
