/** Checks an archive by itself: its seals, the proofs of its rows, its lists of elements, and what it follows. */
import { computeElementsFingerprint } from '../../audit/ledger-statements.ts';
import { openProofCheck, type ProofCheck } from '../../audit/proof.ts';
import {
  beginning,
  type LedgerRow,
  openSealingKey,
  type Seal,
  type SealEnd,
  type VerifyingKey,
} from '../../audit/seal.ts';
import {
  beginSealCheck,
  listedMax,
  nameRow,
  type SealContext,
  type SealRows,
  toPrintable,
} from '../../audit/seal-check.ts';
import type { Secrets } from '../../base/secrets.ts';
import type { ArchiveCounts, ArchiveHeader, ArchiveLine } from './archive-format.ts';
import { computeFileDigest, DamagedArchive, openArchive } from './read-archive.ts';

/** A seal of an archive with what is known of its rows. */
export interface ArchivedSeal extends SealEnd {
  readonly rows: number;
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface ArchiveCheck {
  /** Undefined: the file is no archive, which a finding says. */
  readonly header: ArchiveHeader | undefined;
  readonly digest: Buffer;
  readonly seals: readonly ArchivedSeal[];
  readonly rows: number;
  /** What is wrong, one line each. */
  readonly findings: readonly string[];
}

/** What an archive is checked by. */
export interface ArchiveTrust {
  /** Of the installation that signed the seals. */
  readonly key: VerifyingKey;
  readonly isProven: ProofCheck;
}

/** That of this installation, whose secrets prove each row as well. */
export function openArchiveTrust(secrets: Secrets): ArchiveTrust {
  return { key: openSealingKey(secrets), isProven: openProofCheck(secrets) };
}

export interface ArchiveQuestion {
  readonly file: string;
  readonly trust: ArchiveTrust;
  /** What the first seal follows; undefined: it is not known. */
  readonly findBefore: (header: ArchiveHeader, digest: Buffer) => Promise<SealEnd | undefined>;
  readonly onRow?: (row: LedgerRow, findings: string[]) => void;
}

/** Reads the whole file. @throws ConfigError when there is no such file */
export async function checkArchive({ file, trust, findBefore, onRow }: ArchiveQuestion): Promise<ArchiveCheck> {
  const digest = await computeFileDigest(file);
  const findings: string[] = [];
  let header: ArchiveHeader | undefined;
  let run: Run | undefined;
  try {
    const reader = await openArchive(file);
    header = reader.header;
    const context = { firm: header.ledger, ...trust, findings };
    if (header.publicKey !== context.key.publicKey) findings.push('the file was made by another installation');
    run = beginRun(context, header, await findBefore(header, digest), onRow);
    try {
      for await (const line of reader.lines) takeLine(run, line);
    } finally {
      await reader.close();
    }
    finish(run, header);
  } catch (error) {
    if (!(error instanceof DamagedArchive)) throw error;
    findings.push(error.message);
  }
  const { seals = [], rows = 0 } = run ?? {};
  return { header, digest, seals, rows, findings: findings.slice(0, findingsMax).map(toPrintable) };
}

/** Lines that are listed at most, of all kinds. */
const findingsMax = 1_000;

interface Run extends SealContext {
  readonly seals: ArchivedSeal[];
  rows: number;
  last: SealEnd;
  /** The seal whose rows are read. */
  open: { readonly seal: Seal; readonly check: SealRows; rows: number; fromMs: number; untilMs: number } | undefined;
  /** Fingerprints of lists that rows name. */
  readonly named: Set<string>;
  readonly lists: Set<string>;
  counts: ArchiveCounts | undefined;
  readonly onRow: ((row: LedgerRow, findings: string[]) => void) | undefined;
}

function beginRun(context: SealContext, header: ArchiveHeader, before: SealEnd | undefined, onRow: Run['onRow']): Run {
  const { firstSeal, follows } = header;
  const run = {
    seals: [],
    rows: 0,
    open: undefined,
    named: new Set<string>(),
    lists: new Set<string>(),
    counts: undefined,
  };
  if (before === undefined || before.number !== firstSeal - 1 || before.head.toString('hex') !== follows)
    context.findings.push(`the file does not follow what the ledger has before seal ${firstSeal}`);
  const last = { number: firstSeal - 1, head: Buffer.from(follows, 'hex'), place: beginning };
  return { ...context, ...run, onRow, last };
}

function takeLine(run: Run, line: ArchiveLine): void {
  if (run.counts !== undefined) throw new DamagedArchive('the file goes on behind its end');
  if (line.kind === 'seal') beginSeal(run, line.seal);
  else if (line.kind === 'row') takeRow(run, line.row);
  else {
    closeSeal(run);
    if (line.kind === 'end') run.counts = line.counts;
    else takeList(run, line.list);
  }
}

function beginSeal(run: Run, seal: Seal): void {
  closeSeal(run);
  const check = beginSealCheck(run, run.last, seal);
  run.open = { seal, check, rows: 0, fromMs: Number.MAX_SAFE_INTEGER, untilMs: 0 };
}

function takeRow(run: Run, row: LedgerRow): void {
  const { open } = run;
  if (open === undefined) throw new DamagedArchive(`${nameRow(row)} stands behind no seal`);
  open.check.checkRow(row);
  open.rows += 1;
  open.fromMs = Math.min(open.fromMs, row.at);
  open.untilMs = Math.max(open.untilMs, row.at);
  run.rows += 1;
  if (row.elements !== null && row.elements !== 'all') run.named.add(row.elements);
  run.onRow?.(row, run.findings);
}

function closeSeal(run: Run): void {
  if (run.open === undefined) return;
  const { seal, check, rows, fromMs, untilMs } = run.open;
  check.finish();
  run.seals.push({ number: seal.number, head: seal.head, place: seal.place, rows, fromMs, untilMs });
  run.last = seal;
  run.open = undefined;
}

function takeList(
  run: Run,
  { fingerprint, elements }: { readonly fingerprint: string; readonly elements: string },
): void {
  if (computeElementsFingerprint(elements) !== fingerprint)
    run.findings.push(`the list of elements ${fingerprint} was changed`);
  run.lists.add(fingerprint);
}

function finish(run: Run, { firstSeal, lastSeal }: ArchiveHeader): void {
  const { findings, seals, rows, lists, named, counts } = run;
  if (counts === undefined) {
    findings.push('the file is cut off');
    return;
  }
  const isCounted = counts.seals === seals.length && counts.rows === rows && counts.lists === lists.size;
  if (!isCounted || seals.length !== lastSeal - firstSeal + 1 || seals.at(-1)?.number !== lastSeal)
    findings.push('the file does not hold as many seals, rows and lists as it says');
  for (const fingerprint of [...named].filter((each) => !lists.has(each)).slice(0, listedMax))
    findings.push(`the list of elements ${fingerprint} was removed`);
}
