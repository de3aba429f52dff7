/**
 * Checks a ledger against its seals and proofs: which rows were changed, removed or put in by hand, whether a seal or the
 * end is missing. Reads only; may run beside the service.
 */
import type { Secrets } from '../base/secrets.ts';
import type { Database, Queryable } from '../database/database.ts';
import { type Sql, sql } from '../database/sql.ts';
import type { HeadFiles } from './head-files.ts';
import { fingerprintOf } from './ledger-statements.ts';
import { isProven } from './proof.ts';
import {
  beginning,
  headOf,
  type LedgerRow,
  markBytes,
  markOf,
  noHead,
  openSealingKey,
  type Place,
  type Seal,
  type SealingKey,
  seqOf,
} from './seal.ts';
import {
  elementLists,
  leaningRows,
  rowsBetween,
  type SealRow,
  sealOf,
  sealsAfter,
  unwitnessedVersions,
} from './seal-statements.ts';

export interface LedgerCheck {
  readonly seals: number;
  readonly sealedRows: number;
  /** Rows after the last seal. */
  readonly openRows: number;
  /** Rows of before there were proofs, at the beginning of the ledger. */
  readonly unprovenRows: number;
  /** What is wrong, one line each; empty: the ledger is as the server wrote it. */
  readonly findings: readonly string[];
  /** What could not be told. */
  readonly notes: readonly string[];
}

/** Lines of one kind that are listed at most. */
const listedMax = 100;
const sealsOfPage = 50;
const rowsOfPage = 5_000;

interface Run {
  readonly ledger: Queryable;
  readonly firm: number;
  readonly secrets: Secrets;
  readonly key: SealingKey;
  readonly findings: string[];
  sealedRows: number;
  openRows: number;
  unprovenRows: number;
  /** A row with a proof was seen: from there on all have one. */
  proven: boolean;
}

/** The state of one ledger; `firm` may be `serviceLedger`. */
export async function verifyLedger(
  { database, secrets, heads }: { readonly database: Database; readonly secrets: Secrets; readonly heads: HeadFiles },
  firm: number,
): Promise<LedgerCheck> {
  const run: Run = {
    ledger: database.forFirm(firm),
    firm,
    secrets,
    key: openSealingKey(secrets),
    findings: [],
    sealedRows: 0,
    openRows: 0,
    unprovenRows: 0,
    proven: false,
  };
  const known = heads.read(firm);
  let last: Seal | undefined;
  for (;;) {
    const page = await run.ledger.query<SealRow>(sealsAfter(firm, last?.number ?? 0, sealsOfPage));
    for (const row of page) {
      const seal = sealOf(row);
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
  const { findings, sealedRows, openRows, unprovenRows } = run;
  return { seals: last?.number ?? 0, sealedRows, openRows, unprovenRows, findings, notes };
}

async function checkSeal(run: Run, before: Seal | undefined, seal: Seal): Promise<void> {
  const { findings, firm, key } = run;
  const expected = (before?.number ?? 0) + 1;
  const { number, head, signature, marks } = seal;
  for (let missing = expected; missing < number && missing < expected + listedMax; missing++)
    findings.push(`seal ${missing} was removed`);
  if (!key.verifies(head, signature)) findings.push(`seal ${number} is not signed by this installation`);
  if (number === expected && !headOf(firm, before?.head ?? noHead, seal).equals(head))
    findings.push(`seal ${number} was changed, or what it is chained to`);
  const sealed = new Map<number, Buffer>();
  for (let at = 0; at + markBytes <= marks.length; at += markBytes) {
    const mark = marks.subarray(at, at + markBytes);
    sealed.set(seqOf(mark), mark);
  }
  // Rows of seals that are gone have no marks to be compared with.
  const from = number === expected ? (before?.place ?? beginning) : undefined;
  if (from !== undefined) await checkSealedRows(run, seal, from, sealed);
}

async function checkSealedRows(run: Run, seal: Seal, from: Place, sealed: Map<number, Buffer>): Promise<void> {
  for await (const row of rowsOf(run, from, seal.place)) {
    const mark = sealed.get(row.seq);
    sealed.delete(row.seq);
    run.sealedRows += 1;
    if (mark === undefined)
      run.findings.push(`${nameOf(row)} was put in by hand: seal ${seal.number} does not cover it`);
    else if (!mark.equals(markOf(row)) || !hasProof(run, row))
      run.findings.push(`${nameOf(row)} was changed after seal ${seal.number}`);
  }
  for (const seq of [...sealed.keys()].slice(0, listedMax))
    run.findings.push(`row ${seq} was removed: seal ${seal.number} covers it`);
}

/** What no seal covers yet has proofs, and each version that was written has its row. */
async function checkOpenRows(run: Run, from: Place): Promise<void> {
  for await (const row of rowsOf(run, from, undefined)) {
    run.openRows += 1;
    checkProof(run, row);
  }
  const versions = await run.ledger.query<{ seq: number }>(unwitnessedVersions(run.firm, from, listedMax));
  for (const { seq } of versions) run.findings.push(`row ${seq} was removed: a version of a resource has that number`);
  const copies = await run.ledger.query<{ seqs: readonly number[] }>(copiedRows(run.firm, listedMax));
  for (const { seqs } of copies) run.findings.push(`rows ${seqs.join(', ')} are copies of one row`);
}

/** Rows with one proof. */
function copiedRows(firm: number, limit: number): Sql {
  return sql`
    SELECT array_agg(seq ORDER BY seq) AS seqs FROM audit_event
    WHERE firm = ${firm} AND proof IS NOT NULL GROUP BY proof HAVING count(*) > 1 LIMIT ${limit}`;
}

function checkProof(run: Run, row: LedgerRow): void {
  if (hasProof(run, row)) return;
  run.findings.push(`${nameOf(row)} was changed or put in by hand: the server has not written it so`);
}

/** Whether the server wrote the row as it is. Those of before there were proofs come first, and are taken as they are. */
function hasProof(run: Run, row: LedgerRow): boolean {
  if (row.proof === null && !run.proven) {
    run.unprovenRows += 1;
    return true;
  }
  run.proven = true;
  return row.proof !== null && isProven(run.secrets, run.firm, row, row.proof);
}

async function* rowsOf(run: Run, from: Place, upTo: Place | undefined): AsyncGenerator<LedgerRow> {
  for (let after = from; ; ) {
    const page = await run.ledger.query<LedgerRow>(rowsBetween(run.firm, after, upTo, rowsOfPage));
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < rowsOfPage) return;
    after = last;
  }
}

async function checkLeaning({ ledger, firm, findings }: Run): Promise<void> {
  const leaning = await ledger.query<{ what: string; seq: number }>(leaningRows(firm, listedMax));
  for (const { what, seq } of leaning) findings.push(`${what} for row ${seq}`);
  const lists = await ledger.query<{ fingerprint: string; elements: string }>(elementLists(firm));
  for (const { fingerprint, elements } of lists)
    if (fingerprintOf(elements) !== fingerprint) findings.push(`audit_elements ${fingerprint} was changed`);
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

function nameOf({ seq, at, interaction }: LedgerRow): string {
  return `row ${seq} (${new Date(at).toISOString()} ${interaction})`;
}
