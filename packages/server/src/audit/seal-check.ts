/** Checks one seal and the rows that it covers, wherever they are: in the database or in an archive. */
import { toInstant } from '../base/clock.ts';
import type { ProofCheck } from './proof.ts';
import {
  buildMark,
  computeHead,
  type LedgerRow,
  markBytes,
  readMarkSeq,
  type Seal,
  type SealEnd,
  type VerifyingKey,
} from './seal.ts';

export interface SealContext {
  readonly firm: number;
  readonly isProven: ProofCheck;
  readonly key: VerifyingKey;
  /** What is wrong is added here, one line each. */
  readonly findings: string[];
}

/** The check of a seal whose rows are still to come. */
export interface SealRows {
  /** Whether it follows the seal before: rows of seals that are gone have no marks to be compared with. */
  readonly isNext: boolean;
  /** Checks a row that lies where the seal's rows do. */
  checkRow(row: LedgerRow): void;
  /** All rows were given: what is still missing was removed. */
  finish(): void;
}

/** Lines of one kind that are listed at most. */
export const listedMax = 100;

/** Checks the seal itself, against the one before it. */
export function beginSealCheck(context: SealContext, before: SealEnd, seal: Seal): SealRows {
  const { findings, firm, key, isProven } = context;
  const { number, head, signature } = seal;
  const expected = before.number + 1;
  for (let missing = expected; missing < number && missing < expected + listedMax; missing++)
    findings.push(`seal ${missing} was removed`);
  if (number < expected) findings.push(`seal ${number} stands where seal ${expected} belongs`);
  if (!key.verifies(head, signature)) findings.push(`seal ${number} is not signed by this installation`);
  if (number === expected && !computeHead(firm, before.head, seal).equals(head))
    findings.push(`seal ${number} was changed, or what it is chained to`);
  const sealed = readMarks(seal);
  return {
    isNext: number === expected,
    checkRow(row) {
      const mark = sealed.get(row.seq);
      sealed.delete(row.seq);
      if (mark === undefined) findings.push(`${nameRow(row)} was put in by hand: seal ${number} does not cover it`);
      else if (!mark.equals(buildMark(row))) findings.push(`${nameRow(row)} was changed after seal ${number}`);
      else if (!isProven(firm, row, row.proof))
        findings.push(`${nameRow(row)} was changed after seal ${number}, or put in by hand before it`);
    },
    finish() {
      for (const seq of [...sealed.keys()].slice(0, listedMax))
        findings.push(`row ${seq} was removed: seal ${number} covers it`);
    },
  };
}

function readMarks({ marks }: Seal): Map<number, Buffer> {
  const bySeq = new Map<number, Buffer>();
  for (let at = 0; at + markBytes <= marks.length; at += markBytes) {
    const mark = marks.subarray(at, at + markBytes);
    bySeq.set(readMarkSeq(mark), mark);
  }
  return bySeq;
}

/** What findings call a row. */
export function nameRow({ seq, at, interaction }: Pick<LedgerRow, 'seq' | 'at' | 'interaction'>): string {
  return `row ${seq} (${toInstant(at)} ${interaction})`;
}

const findingLengthMax = 500;

/** What a hand has put into a row must not look like a line of ours, nor speak to a terminal. */
export function toPrintable(line: string): string {
  return line.replace(/[^\x20-\x7e]/g, '?').slice(0, findingLengthMax);
}
