/**
 * Checks a ledger against its seals and proofs: which rows were changed, removed or put in by hand, whether a seal or the
 * end is missing. Reads only; may run beside the service.
 */
import { type Clock, toInstant } from '../base/clock.ts';
import type { Secrets } from '../base/secrets.ts';
import type { Database, Queryable } from '../database/database.ts';
import type { HeadFiles } from './head-files.ts';
import { computeElementsFingerprint } from './ledger-statements.ts';
import { openProofCheck, type ProofCheck } from './proof.ts';
import {
  beginning,
  buildMark,
  type CommitPosition,
  computeHead,
  type LedgerRow,
  markBytes,
  noHead,
  openSealingKey,
  readMarkSeq,
  type Seal,
  type SealingKey,
  unsealedMaxMs,
} from './seal.ts';
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
  readonly seals: number;
  readonly sealedRows: number;
  /** Rows after the last seal. */
  readonly openRows: number;
  /** What is wrong, one line each; empty: the ledger is as the server wrote it. */
  readonly findings: readonly string[];
  /** What could not be told. */
  readonly notes: readonly string[];
}

const findingLengthMax = 500;

/** Lines of one kind that are listed at most. */
const listedMax = 100;
const sealsOfPage = 50;
const rowsOfPage = 5_000;

const notOurs = 'changed or put in by hand: the server has not written it so';

interface Run {
  readonly ledger: Queryable;
  readonly firm: number;
  readonly nowMs: number;
  readonly isProven: ProofCheck;
  readonly key: SealingKey;
  readonly findings: string[];
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
  const { database, secrets, clock, heads } = options;
  const run: Run = {
    ledger: database.forFirm(firm),
    firm,
    nowMs: clock.now(),
    isProven: openProofCheck(secrets),
    key: openSealingKey(secrets),
    findings: [],
    sealedRows: 0,
    openRows: 0,
  };
  const known = heads.read(firm);
  let last: Seal | undefined;
  for (;;) {
    const page = await run.ledger.query<SealRow>(selectSealsAfter(firm, last?.number ?? 0, sealsOfPage));
    for (const row of page) {
      const seal = readSeal(row);
      await checkSeal(run, last, seal);
      if (known?.number === seal.number && known.head !== seal.head.toString('hex'))
        run.findings.push(`seal ${seal.number} is not the one that this machine has seen`);
      last = seal;
    }
    if (page.length < sealsOfPage) break;
  }
  await checkOpenRows(run, last?.place ?? beginning);
  await checkLeaning(run);
  const notes = checkKnownHead(run, last, known);
  const { findings, sealedRows, openRows } = run;
  return { seals: last?.number ?? 0, sealedRows, openRows, findings: findings.map(printable), notes };
}

async function checkSeal(run: Run, before: Seal | undefined, seal: Seal): Promise<void> {
  const { findings, firm, key } = run;
  const expected = (before?.number ?? 0) + 1;
  const { number, head, signature, marks } = seal;
  for (let missing = expected; missing < number && missing < expected + listedMax; missing++)
    findings.push(`seal ${missing} was removed`);
  if (!key.verifies(head, signature)) findings.push(`seal ${number} is not signed by this installation`);
  if (number === expected && !computeHead(firm, before?.head ?? noHead, seal).equals(head))
    findings.push(`seal ${number} was changed, or what it is chained to`);
  const sealed = new Map<number, Buffer>();
  for (let at = 0; at + markBytes <= marks.length; at += markBytes) {
    const mark = marks.subarray(at, at + markBytes);
    sealed.set(readMarkSeq(mark), mark);
  }
  // Rows of seals that are gone have no marks to be compared with.
  const from = number === expected ? (before?.place ?? beginning) : undefined;
  if (from !== undefined) await checkSealedRows(run, seal, from, sealed);
}

async function checkSealedRows(run: Run, seal: Seal, from: CommitPosition, sealed: Map<number, Buffer>): Promise<void> {
  for await (const row of rowsOf(run, from, seal.place)) {
    const mark = sealed.get(row.seq);
    sealed.delete(row.seq);
    run.sealedRows += 1;
    if (mark === undefined)
      run.findings.push(`${nameOf(row)} was put in by hand: seal ${seal.number} does not cover it`);
    else if (!mark.equals(buildMark(row))) run.findings.push(`${nameOf(row)} was changed after seal ${seal.number}`);
    else if (!run.isProven(run.firm, row, row.proof))
      run.findings.push(`${nameOf(row)} was changed after seal ${seal.number}, or put in by hand before it`);
  }
  for (const seq of [...sealed.keys()].slice(0, listedMax))
    run.findings.push(`row ${seq} was removed: seal ${seal.number} covers it`);
}

/** What no seal covers yet has proofs, and is not old; each version that was written has its row. */
async function checkOpenRows(run: Run, from: CommitPosition): Promise<void> {
  let oldest: LedgerRow | undefined;
  for await (const row of rowsOf(run, from, undefined)) {
    run.openRows += 1;
    if (!run.isProven(run.firm, row, row.proof)) run.findings.push(`${nameOf(row)} was ${notOurs}`);
    else if (oldest === undefined || row.at < oldest.at) oldest = row;
  }
  if (oldest !== undefined && run.nowMs - oldest.at > unsealedMaxMs)
    run.findings.push(
      `${nameOf(oldest)} is not sealed yet, and could be removed unnoticed: no service seals, or a transaction does not end`,
    );
  const wild = await run.ledger.query<{ seq: string; at: string }>(selectInvalidRows(run.firm, listedMax));
  for (const { seq, at } of wild) run.findings.push(`row ${seq} (at ${at}) was ${notOurs}`);
  const versions = await run.ledger.query<{ seq: string }>(selectUnauditedVersions(run.firm, from, listedMax));
  for (const { seq } of versions) run.findings.push(`row ${seq} was removed: a version of a resource has that number`);
  const copies = await run.ledger.query<{ seqs: readonly string[] }>(selectDuplicateProofs(run.firm, listedMax));
  for (const { seqs } of copies) run.findings.push(`rows ${seqs.join(', ')} are copies of one row`);
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

function checkKnownHead(run: Run, last: Seal | undefined, known: ReturnType<HeadFiles['read']>): string[] {
  for (const { number } of known?.missing ?? [])
    run.findings.push(`the end of the ledger was removed: seal ${number} was there once`);
  if (known !== undefined && known.number > (last?.number ?? 0))
    run.findings.push(`the end of the ledger was removed: this machine has seen seal ${known.number}`);
  if (known === undefined && last !== undefined)
    return ['this machine has seen no seal of the ledger: whether its end was removed is told where the service runs'];
  return [];
}

/** What a hand has put into a row must not look like a line of ours, nor speak to a terminal. */
function printable(line: string): string {
  return line.replace(/[^\x20-\x7e]/g, '?').slice(0, findingLengthMax);
}

function nameOf({ seq, at, interaction }: LedgerRow): string {
  return `row ${seq} (${toInstant(at)} ${interaction})`;
}
