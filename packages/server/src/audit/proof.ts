/**
 * The proof that a row of the ledger was written by the server: an HMAC (after https://www.rfc-editor.org/rfc/rfc2104) over
 * its contents and a random number, by a key that is not in the database. Whoever can write the database but has no key cannot
 * make a row, nor change one; a copy of a row is found by its random number (verify.ts).
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

export const nonceBytes = 8;
const macBytes = 16;

/** Random numbers that are made together. */
const noncesAtOnce = 512;

export function openProver(secrets: Secrets): Prover {
  const key = keyOf(secrets);
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
    return nonce + macOf(key, firm, row, nonce);
  };
}

/** Whether `proof` is one of this row, made now or as it was before migration 0016. */
export function isProven(secrets: Secrets, firm: number, row: ProvenColumns, proof: Uint8Array): boolean {
  if (proof.length !== nonceBytes + macBytes) return false;
  const nonce = Buffer.from(proof.subarray(0, nonceBytes)).toString('hex');
  const mac = proof.subarray(nonceBytes);
  return [macOf(keyOf(secrets), firm, row, nonce), nestedMacOf(secrets, firm, row, nonce)].some((made) =>
    timingSafeEqual(Buffer.from(made, 'hex'), mac),
  );
}

/** A text of one block of SHA-256. */
function keyOf(secrets: Secrets): string {
  return hash('sha256', `row ${secrets.key('audit-row').toString('hex')}`, 'hex');
}

/**
 * The first half of H(k ‖ text). Without the other half nobody can go on from its end to a longer text, which is what the
 * second hash of an HMAC is for; and no text can be taken for another: columns end with a character that the database does
 * not store, and what is NULL differs from what is empty. One hash, because every read pays for it.
 */
function macOf(key: string, firm: number, row: ProvenColumns, nonce: string): string {
  const { at, application, vid, shown, times, rtype, outcome } = row;
  const numbers = `${nonce}\0${firm}\0${at}\0${application}\0${vid}\0${shown}\0${times}\0${rtype}\0${outcome}`;
  return hash('sha256', `${key}${numbers}${textsOf(row)}`, 'hex').slice(0, 2 * macBytes);
}

function textsOf(row: ProvenColumns): string {
  const { interaction, id, subject, token_id, request_id, flow, elements, entries, reason, patients } = row;
  return (
    ended(interaction) +
    ended(id) +
    ended(subject) +
    ended(token_id) +
    ended(request_id) +
    ended(flow) +
    ended(elements) +
    ended(entries) +
    ended(reason) +
    ended(patients)
  );
}

function ended(text: string | null): string {
  return text === null ? '\0' : `\0=${text}`;
}

/** As proofs were made before: H(k2 ‖ H(k1 ‖ JSON)). */
function nestedMacOf(secrets: Secrets, firm: number, row: ProvenColumns, nonce: string): string {
  const key = secrets.key('audit-row').toString('hex');
  const inner = hash('sha256', `inner ${key}`, 'hex');
  const outer = hash('sha256', `outer ${key}`, 'hex');
  const text = JSON.stringify([nonce, firm, ...columnsOf(row)]);
  return hash('sha256', outer + hash('sha256', inner + text, 'hex'), 'hex').slice(0, 2 * macBytes);
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
