/**
 * Checks a ledger against its seals and proofs: which rows were changed, removed or put in by hand, whether a seal or the
 * end is missing. It begins where its archives end. Reads only; may run beside the service.
 */
import type { Clock } from '../base/clock.ts';
import type { Secrets } from '../base/secrets.ts';
import type { Database, Queryable } from '../database/database.ts';
import { checkBeginning, type LedgerBeginning } from './archive-check.ts';
import { type ArchiveRecord, listArchives } from './archive-record.ts';
import type { HeadFiles } from './head-files.ts';
import { computeElementsFingerprint } from './ledger-statements.ts';
import { openProofCheck } from './proof.ts';
import { type CommitPosition, type LedgerRow, openSealingKey, type Seal, type SealEnd, unsealedMaxMs } from './seal.ts';
import { beginSealCheck, listedMax, nameRow, type SealContext, toPrintable } from './seal-check.ts';
import {
  readSeal,
  type SealRow,
  selectDuplicateProofs,
  selectElementLists,
  selectInvalidRows,
  selectMismatchedRows,
  selectRowsBetween,
  selectSealsAfter,
  selectUnauditedVersions,
} from './seal-statements.ts';

export interface LedgerCheck {
  /** Those in the database, as are rows. */
  readonly seals: number;
  readonly sealedRows: number;
  /** Rows after the last seal. */
  readonly openRows: number;
  /** What was moved out of the database. */
  readonly archives: readonly ArchiveRecord[];
  /** What is wrong, one line each; empty: the ledger is as the server wrote it. */
  readonly findings: readonly string[];
  /** What could not be told. */
  readonly notes: readonly string[];
}

const sealsOfPage = 50;
const rowsOfPage = 5_000;

const notOurs = 'changed or put in by hand: the server has not written it so';

interface Run extends SealContext {
  readonly ledger: Queryable;
  readonly nowMs: number;
  seals: number;
  sealedRows: number;
  openRows: number;
}

export interface VerifyOptions {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly heads: HeadFiles;
}

/** The state of one ledger; `firm` may be `serviceLedger`. */
export async function verifyLedger(options: VerifyOptions, firm: number): Promise<LedgerCheck> {
  for (;;) {
    const check = await verifyOnce(options, firm);
    const now = await listArchives(options.database.forFirm(firm), firm);
    // Else rows were moved while it looked for them.
    if (now.at(-1)?.end.number === check.archives.at(-1)?.end.number) return check;
  }
}

/**
 * Checks what seals do not tell: the records of archives, and the tables that lean on the rows. Gives where the ledger begins and
 * what is wrong.
 */
export async function verifyBeginning(
  options: Pick<VerifyOptions, 'database' | 'secrets' | 'clock'>,
  firm: number,
): Promise<LedgerBeginning & { readonly findings: readonly string[] }> {
  const run = beginRun(options, firm);
  const found = await checkBeginning(run.ledger, run);
  await checkTables(run);
  return { ...found, findings: run.findings.map(toPrintable) };
}

function beginRun({ database, secrets, clock }: Omit<VerifyOptions, 'heads'>, firm: number): Run {
  return {
    ledger: database.forFirm(firm),
    firm,
    nowMs: clock.now(),
    isProven: openProofCheck(secrets),
    key: openSealingKey(secrets),
    findings: [],
    seals: 0,
    sealedRows: 0,
    openRows: 0,
  };
}

async function verifyOnce(options: VerifyOptions, firm: number): Promise<LedgerCheck> {
  const run = beginRun(options, firm);
  const known = options.heads.read(firm);
  const { archives, end } = await checkBeginning(run.ledger, run);
  let last = end;
  checkKnownSeal(run, last, known);
  for (;;) {
    const page = await run.ledger.query<SealRow>(selectSealsAfter(firm, last.number, sealsOfPage));
    for (const row of page) {
      const seal = readSeal(row);
      await checkSeal(run, last, seal);
      checkKnownSeal(run, seal, known);
      run.seals += 1;
      last = seal;
    }
    if (page.length < sealsOfPage) break;
  }
  await checkOpenRows(run, last.place);
  await checkTables(run);
  const notes = [...noteArchives(archives), ...checkKnownHead(run, last, known)];
  const { findings, seals, sealedRows, openRows } = run;
  return { seals, sealedRows, openRows, archives, findings: findings.map(toPrintable), notes };
}

async function checkSeal(run: Run, before: SealEnd, seal: Seal): Promise<void> {
  const check = beginSealCheck(run, before, seal);
  if (!check.isNext) return;
  for await (const row of rowsOf(run, before.place, seal.place)) {
    run.sealedRows += 1;
    check.checkRow(row);
  }
  check.finish();
}

function noteArchives(archives: readonly ArchiveRecord[]): string[] {
  const last = archives.at(-1);
  if (last === undefined || last.end.number === last.lastSeal) return [];
  return [`seals up to ${last.lastSeal} are being moved to ${last.file}: if no audit archive runs, run it again`];
}

/** What no seal covers yet has proofs, and is not old; each version that was written has its row. */
async function checkOpenRows(run: Run, from: CommitPosition): Promise<void> {
  let oldest: LedgerRow | undefined;
  for await (const row of rowsOf(run, from, undefined)) {
    run.openRows += 1;
    if (!run.isProven(run.firm, row, row.proof)) run.findings.push(`${nameRow(row)} was ${notOurs}`);
    else if (oldest === undefined || row.at < oldest.at) oldest = row;
  }
  if (oldest !== undefined && run.nowMs - oldest.at > unsealedMaxMs)
    run.findings.push(
      `${nameRow(oldest)} is not sealed yet, and could be removed unnoticed: no service seals, or a transaction does not end`,
    );
  const versions = await run.ledger.query<{ seq: string }>(selectUnauditedVersions(run.firm, from, listedMax));
  for (const { seq } of versions) run.findings.push(`row ${seq} was removed: a version of a resource has that number`);
}

/** Rows wherever they lie, and the tables that lean on them. */
async function checkTables(run: Run): Promise<void> {
  const wild = await run.ledger.query<{ seq: string; at: string }>(selectInvalidRows(run.firm, listedMax));
  for (const { seq, at } of wild) run.findings.push(`row ${seq} (at ${at}) was ${notOurs}`);
  const copies = await run.ledger.query<{ seqs: readonly string[] }>(selectDuplicateProofs(run.firm, listedMax));
  for (const { seqs } of copies) run.findings.push(`rows ${seqs.join(', ')} are copies of one row`);
  await checkLeaning(run);
}

async function* rowsOf(run: Run, from: CommitPosition, upTo: CommitPosition | undefined): AsyncGenerator<LedgerRow> {
  for (let after = from; ; ) {
    const page = await run.ledger.query<LedgerRow>(selectRowsBetween(run.firm, after, upTo, rowsOfPage));
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < rowsOfPage) return;
    after = last;
  }
}

async function checkLeaning({ ledger, firm, findings }: Run): Promise<void> {
  const leaning = await ledger.query<{ what: string; seq: string }>(selectMismatchedRows(firm, listedMax));
  for (const { what, seq } of leaning) findings.push(`${what} for row ${seq}`);
  const lists = await ledger.query<{ fingerprint: string; elements: string }>(selectElementLists(firm));
  for (const { fingerprint, elements } of lists)
    if (computeElementsFingerprint(elements) !== fingerprint)
      findings.push(`audit_elements ${fingerprint} was changed`);
}

type Known = ReturnType<HeadFiles['read']>;

function checkKnownSeal({ findings }: Run, { number, head }: SealEnd, known: Known): void {
  if (known?.number === number && known.head !== head.toString('hex'))
    findings.push(`seal ${number} is not the one that this machine has seen`);
}

function checkKnownHead(run: Run, last: SealEnd, known: Known): string[] {
  for (const { number } of known?.missing ?? [])
    run.findings.push(`the end of the ledger was removed: seal ${number} was there once`);
  if (known !== undefined && known.number > last.number)
    run.findings.push(`the end of the ledger was removed: this machine has seen seal ${known.number}`);
  if (known === undefined && last.number > 0)
    return ['this machine has seen no seal of the ledger: whether its end was removed is told where the service runs'];
  return [];
}
