/**
 * The proof that a row of the ledger was written by the server: an HMAC (after https://www.rfc-editor.org/rfc/rfc2104) over
 * its contents and a random number, by a key that is not in the database. Whoever can write the database but has no key cannot
 * make a row, nor change one; a copy of a row is found by its random number (verify.ts).
 */
import { hash, randomFillSync, timingSafeEqual } from 'node:crypto';
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

/** Makes proofs of rows of a firm's ledger. */
export type Prover = (firm: number, row: ProvenColumns) => Buffer;

export const nonceBytes = 8;
const macBytes = 16;

/** Random numbers that are made together. */
const noncesAtOnce = 512;

export function openProver(secrets: Secrets): Prover {
  const pads = padsOf(secrets);
  const nonces = Buffer.alloc(noncesAtOnce * nonceBytes);
  let at = nonces.length;
  return (firm, row) => {
    if (at === nonces.length) {
      randomFillSync(nonces);
      at = 0;
    }
    const nonce = nonces.subarray(at, at + nonceBytes);
    at += nonceBytes;
    return Buffer.concat([nonce, macOf(pads, firm, row, nonce)]);
  };
}

/** Whether `proof` is one of this row. */
export function isProven(secrets: Secrets, firm: number, row: ProvenColumns, proof: Uint8Array): boolean {
  if (proof.length !== nonceBytes + macBytes) return false;
  const made = macOf(padsOf(secrets), firm, row, proof.subarray(0, nonceBytes));
  return timingSafeEqual(made, proof.subarray(nonceBytes));
}

/** Two texts of one block of SHA-256 each, made of the purpose's key. */
interface Pads {
  readonly inner: string;
  readonly outer: string;
}

function padsOf(secrets: Secrets): Pads {
  const key = secrets.key('audit-row').toString('hex');
  return { inner: hash('sha256', `inner ${key}`, 'hex'), outer: hash('sha256', `outer ${key}`, 'hex') };
}

/**
 * The nested form of an HMAC, H(k2 ‖ H(k1 ‖ text)), with two keys of one block. On texts all along: createHmac takes ten
 * times as long for a row, and each is paid by every read.
 */
function macOf({ inner, outer }: Pads, firm: number, row: ProvenColumns, nonce: Uint8Array): Buffer {
  const text = JSON.stringify([Buffer.from(nonce).toString('hex'), firm, ...columnsOf(row)]);
  const mac = hash('sha256', outer + hash('sha256', inner + text, 'hex'), 'hex');
  return Buffer.from(mac.slice(0, 2 * macBytes), 'hex');
}

/** In an order that never changes. */
function columnsOf(row: ProvenColumns): readonly (string | number | null)[] {
  const { at, application, vid, shown, times, rtype, outcome, interaction, id } = row;
  const { subject, token_id, request_id, flow, elements, entries, reason, patients } = row;
  return [
    ...[at, application, vid, shown, times, rtype, outcome, interaction, id],
    ...[subject, token_id, request_id, flow, elements, entries, reason, patients],
  ];
}
