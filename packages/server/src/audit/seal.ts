/**
 * A seal over rows of one firm's ledger: their marks, chained to the seal before by SHA-256, signed with Ed25519
 * (https://www.rfc-editor.org/rfc/rfc8032) by a key that is made from the secret key of the installation and is in no
 * database. Whoever has the public key alone can check a chain.
 */
import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import type { Secrets } from '../base/secrets.ts';
import { nonceBytes, type ProvenColumns, proofBytes } from './proof.ts';

/** A place in the order of commits: after all rows up to this one. */
export interface CommitPosition {
  readonly epoch: number;
  /** Decimal text: it may be beyond 2^53. */
  readonly xid: string;
  readonly seq: number;
}

/** A row in full. */
export interface LedgerRow extends CommitPosition, ProvenColumns {
  /** Stands for all of its contents in a seal. Null, or of another length than a proof: a hand has left it so. */
  readonly proof: Buffer | null;
}

export interface Seal {
  /** From 1, without gaps. */
  readonly number: number;
  readonly atMs: number;
  /** Of the last row that it covers. */
  readonly place: CommitPosition;
  readonly rows: number;
  readonly marks: Buffer;
  readonly head: Buffer;
  readonly signature: Buffer;
}

export const beginning: CommitPosition = { epoch: 0, xid: '0', seq: 0 };

/** Where a chain of seals has come to: what the next seal follows. */
export interface SealEnd {
  readonly number: number;
  readonly head: Buffer;
  readonly place: CommitPosition;
}

/** How old a row may become before it is sealed; one that is older says that sealing is held up. */
export const unsealedMaxMs = 600_000;

/** The head before the first seal. */
export const noHead = Buffer.alloc(32);

/** What the first seal of a ledger follows. */
export const chainBeginning: SealEnd = { number: 0, head: noHead, place: beginning };

const seqBytes = 8;
const digestBytes = 16;
export const markBytes = seqBytes + digestBytes;

/** In the mark of a row that has nothing of the form of a proof. */
export const noDigest = Buffer.alloc(digestBytes);

/**
 * What a seal remembers of a row: its number, and its proof without the random number. It says that the row was there, not
 * that the server has written it: that is what the proof is checked for.
 */
export function buildMark({ seq, proof }: Pick<LedgerRow, 'seq' | 'proof'>): Buffer {
  const mark = Buffer.alloc(markBytes);
  mark.writeBigInt64BE(BigInt(seq));
  const digest = proof?.length === proofBytes ? proof.subarray(nonceBytes) : noDigest;
  digest.copy(mark, seqBytes);
  return mark;
}

/** The number of the row that a mark is of. */
export function readMarkSeq(mark: Buffer): number {
  return Number(mark.readBigInt64BE());
}

/** The head over the head before, the facts of the seal and its marks. */
export function computeHead(firm: number, before: Buffer, seal: Omit<Seal, 'head' | 'signature'>): Buffer {
  const { number, atMs, place, rows, marks } = seal;
  return createHash('sha256')
    .update(before)
    .update(JSON.stringify([firm, number, atMs, rows, place.epoch, place.xid, place.seq]))
    .update(marks)
    .digest();
}

export interface SealingKey {
  sign(head: Buffer): Buffer;
  verifies(head: Buffer, signature: Uint8Array): boolean;
  /** PEM, for whoever checks chains elsewhere. */
  readonly publicKey: string;
}

/** What can check signatures, and make none. */
export type VerifyingKey = Pick<SealingKey, 'verifies' | 'publicKey'>;

/** The key of a PEM; undefined: it is no public key of Ed25519. */
export function openVerifyingKey(pem: string): VerifyingKey | undefined {
  try {
    const key = createPublicKey({ key: pem, format: 'pem' });
    if (key.asymmetricKeyType !== 'ed25519') return undefined;
    return {
      verifies: (head, signature) => verify(null, head, key, signature),
      publicKey: key.export({ format: 'pem', type: 'spki' }).toString(),
    };
  } catch {
    return undefined;
  }
}

/** What people compare keys by: SHA-256 of the key in DER, in hexadecimal. */
export function computeKeyFingerprint({ publicKey }: Pick<VerifyingKey, 'publicKey'>): string {
  return createHash('sha256')
    .update(createPublicKey(publicKey).export({ format: 'der', type: 'spki' }))
    .digest('hex');
}

/** DER of a PKCS #8 Ed25519 key up to its 32 bytes (https://www.rfc-editor.org/rfc/rfc8410#section-7). */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

export function openSealingKey(secrets: Secrets): SealingKey {
  const der = Buffer.concat([pkcs8Prefix, secrets.key('audit-seal')]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(key);
  return {
    sign: (head) => sign(null, head, key),
    verifies: (head, signature) => verify(null, head, publicKey, signature),
    publicKey: publicKey.export({ format: 'pem', type: 'spki' }).toString(),
  };
}
