/**
 * The proof that a row of the ledger was written by the server: a random number, and an HMAC-SHA-256
 * (https://www.rfc-editor.org/rfc/rfc2104) over it, the firm and the contents of the row, cut to 16 bytes, by a key that is not
 * in the database. Whoever can write the database but has no key cannot make a row, nor change one; a copy of a row is found
 * by its random number (verify.ts).
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Secrets } from '../base/secrets.ts';

/** The columns of a row that whoever writes it knows, as the database holds them. */
export interface ProvenColumns {
  readonly at: number;
  readonly application: number;
  readonly vid: number | null;
  readonly shown: number | null;
  readonly times: number | null;
  readonly rtype: number | null;
  readonly outcome: number;
  readonly interaction: string;
  readonly id: string | null;
  readonly subject: string | null;
  readonly token_id: string | null;
  readonly request_id: string | null;
  readonly flow: string | null;
  readonly elements: string | null;
  readonly entries: string | null;
  readonly reason: string | null;
  readonly patients: string | null;
}

/** Makes proofs of rows of a firm's ledger, in hexadecimal. */
export type Prover = (firm: number, row: ProvenColumns) => string;

/** Whether `proof` is one of this row of the firm's ledger; null, which a hand may have left, never is. */
export type ProofCheck = (firm: number, row: ProvenColumns, proof: Uint8Array | null) => boolean;

export const nonceBytes = 8;
const macBytes = 16;
export const proofBytes = nonceBytes + macBytes;

/** Random numbers that are made together. */
const noncesAtOnce = 512;

export function openProver(secrets: Secrets): Prover {
  const mac = openMac(secrets);
  const nonceLength = 2 * nonceBytes;
  let nonces = '';
  let at = 0;
  return (firm, row) => {
    if (at === nonces.length) {
      nonces = randomBytes(noncesAtOnce * nonceBytes).toString('hex');
      at = 0;
    }
    const nonce = nonces.slice(at, at + nonceLength);
    at += nonceLength;
    return nonce + mac(textOf(nonce, firm, row)).slice(0, 2 * macBytes);
  };
}

export function openProofCheck(secrets: Secrets): ProofCheck {
  const mac = openMac(secrets);
  return (firm, row, proof) => {
    if (proof === null || proof.length !== proofBytes) return false;
    const nonce = Buffer.from(proof.subarray(0, nonceBytes)).toString('hex');
    const made = Buffer.from(mac(textOf(nonce, firm, row)), 'hex');
    return timingSafeEqual(made.subarray(0, macBytes), proof.subarray(nonceBytes));
  };
}

const blockBytes = 64;
const [innerPad, outerPad] = [0x36, 0x5c];

/**
 * HMAC-SHA-256 of a text, in hexadecimal: H(K ⊕ opad ‖ H(K ⊕ ipad ‖ text)), by two one-shot hashes, since every read pays for
 * it and `createHmac` takes fourteen times as long. K is such that the inner block is a text, 64 characters of hexadecimal.
 */
function openMac(secrets: Secrets): (text: string) => string {
  const inner = hash('sha256', `row ${secrets.key('audit-row').toString('hex')}`, 'hex');
  const outer = Buffer.alloc(blockBytes + 32);
  Buffer.from(inner).forEach((byte, at) => {
    outer[at] = byte ^ innerPad ^ outerPad;
  });
  return (text) => {
    outer.write(hash('sha256', inner + text, 'hex'), blockBytes, 'hex');
    return hash('sha256', outer, 'hex');
  };
}

/**
 * What the proof is over. No row's text can be taken for another's: columns end with a character that the database does not
 * store, and what is NULL differs from what is empty.
 */
function textOf(nonce: string, firm: number, row: ProvenColumns): string {
  const { at, application, vid, shown, times, rtype, outcome } = row;
  const numbers = `${nonce}\0${firm}\0${at}\0${application}\0${vid}\0${shown}\0${times}\0${rtype}\0${outcome}`;
  const { interaction, id, subject, token_id, request_id, flow, elements, entries, reason, patients } = row;
  let text = numbers;
  for (const column of [interaction, id, subject, token_id, request_id, flow, elements, entries, reason, patients])
    text += column === null ? '\0' : `\0=${column}`;
  return text;
}
