/** What tells afterwards that a firm was erased: facts in JSON, signed by the key of the audit ledger's seals. */
import type { SealingKey, VerifyingKey } from '../audit/seal.ts';
import { toInstant } from '../base/clock.ts';
import type { Erasure } from './erasures.ts';

/** The last seal of the firm's ledger before any row was removed. */
export interface LastSealed {
  /** 0: there was none. */
  readonly seal: number;
  /** In hexadecimal. */
  readonly head: string;
  readonly rows: number;
  /** Files that hold older rows, which lie elsewhere and are not erased by this. */
  readonly archives: readonly { readonly file: string; readonly sha256: string }[];
}

export interface ProvenFacts {
  readonly ledger: LastSealed;
  /** Resources and versions removed, by type. */
  readonly types: Readonly<Record<string, { readonly resources: number; readonly versions: number }>>;
  /** Objects removed from the content store. */
  readonly contents: number;
  readonly finishedAtMs: number;
}

/** The text that is signed. */
export function buildProof(erasure: Erasure, { ledger, types, contents, finishedAtMs }: ProvenFacts): string {
  const { id, environment, firm, firmNumber, name, reason, requestedBy, requestedAtMs, confirmedBy, confirmedAtMs } =
    erasure;
  return JSON.stringify({
    praxisErasure: 1,
    id,
    firm: { environment, prefix: firm, number: firmNumber, name },
    reason,
    requestedBy,
    requestedAt: toInstant(requestedAtMs),
    confirmedBy,
    confirmedAt: toInstant(confirmedAtMs ?? 0),
    finishedAt: toInstant(finishedAtMs),
    ledger,
    types,
    contents,
    tables: Object.fromEntries(Object.entries(erasure.erased).toSorted(([left], [right]) => (left < right ? -1 : 1))),
  });
}

/** Begins as nothing else does that the key signs. */
function buildSignedText(proof: string): Buffer {
  return Buffer.from(`praxis firm erasure\n${proof}`);
}

export function signProof(key: SealingKey, proof: string): Buffer {
  return key.sign(buildSignedText(proof));
}

export function isSignedProof(key: VerifyingKey, proof: string, signature: Uint8Array): boolean {
  return key.verifies(buildSignedText(proof), signature);
}
