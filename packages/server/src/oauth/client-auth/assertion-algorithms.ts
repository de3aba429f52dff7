/**
 * The algorithms of client assertions (https://www.rfc-editor.org/rfc/rfc7518#section-3): asymmetric ones only, so that
 * none of our secrets and no public key can be taken for the key of an HMAC (RFC 8725 §3.1). SMART Backend Services asks
 * for RS384 and ES384 (https://hl7.org/fhir/smart-app-launch/client-confidential-asymmetric.html).
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { JOSEError } from 'jose/errors';
import { compactVerify } from 'jose/jws/compact/verify';

interface AlgorithmRow {
  readonly kty: 'RSA' | 'EC';
  /** Of an EC key. */
  readonly crv?: 'P-256' | 'P-384';
}

/** `alg` → what its keys are. */
export const assertionAlgorithms: Readonly<Record<string, AlgorithmRow>> = {
  RS256: { kty: 'RSA' },
  RS384: { kty: 'RSA' },
  RS512: { kty: 'RSA' },
  PS256: { kty: 'RSA' },
  PS384: { kty: 'RSA' },
  PS512: { kty: 'RSA' },
  ES256: { kty: 'EC', crv: 'P-256' },
  ES384: { kty: 'EC', crv: 'P-384' },
};

export const assertionAlgorithmNames: readonly string[] = Object.keys(assertionAlgorithms);

/** The row of an algorithm that is offered; undefined for others, `none` and HMAC among them. */
export function findAlgorithm(alg: string): AlgorithmRow | undefined {
  return Object.hasOwn(assertionAlgorithms, alg) ? assertionAlgorithms[alg] : undefined;
}

/** What of a JWK decides which algorithms it verifies. */
export interface KeyKind {
  readonly kty: string;
  readonly crv?: string;
  /** The only algorithm that the key is for, where it says so. */
  readonly alg?: string;
}

/** Whether a key of this kind verifies signatures of `alg`. */
export function fitsAlgorithm({ kty, crv, alg: only }: KeyKind, alg: string): boolean {
  const row = findAlgorithm(alg);
  return row !== undefined && row.kty === kty && row.crv === crv && (only === undefined || only === alg);
}

/** Whether the key has signed the assertion, with the algorithm that its header names. The key must fit that algorithm. */
export async function verifyAssertion(assertion: string, alg: string, key: KeyObject): Promise<boolean> {
  if (findAlgorithm(alg) === undefined) return false;
  try {
    await compactVerify(assertion, key, { algorithms: [alg] });
    return true;
  } catch (error) {
    if (error instanceof JOSEError) return false;
    throw error;
  }
}

/** The public key of a JWK, or undefined when it is none (https://www.rfc-editor.org/rfc/rfc7518#section-6). */
export function parsePublicKey(jwk: Readonly<Record<string, unknown>>): KeyObject | undefined {
  try {
    return createPublicKey({ key: { ...jwk }, format: 'jwk' });
  } catch {
    return undefined; // numbers that are no key: the caller says which key it was
  }
}
