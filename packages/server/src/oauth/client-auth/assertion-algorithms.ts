/**
 * The algorithms of client assertions (https://www.rfc-editor.org/rfc/rfc7518#section-3): asymmetric ones only, so that
 * none of our secrets and no public key can be taken for the key of an HMAC (RFC 8725 §3.1). SMART Backend Services asks
 * for RS384 and ES384 (https://hl7.org/fhir/smart-app-launch/client-confidential-asymmetric.html).
 */
import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { DecodedJwt } from '../signing/jwt.ts';

interface AlgorithmRow {
  readonly kty: 'RSA' | 'EC';
  /** Of an EC key. */
  readonly crv?: 'P-256' | 'P-384';
  readonly digest: 'sha256' | 'sha384' | 'sha512';
  readonly padding?: 'pss';
}

/** `alg` → what its keys and signatures are. */
export const assertionAlgorithms: Readonly<Record<string, AlgorithmRow>> = {
  RS256: { kty: 'RSA', digest: 'sha256' },
  RS384: { kty: 'RSA', digest: 'sha384' },
  RS512: { kty: 'RSA', digest: 'sha512' },
  PS256: { kty: 'RSA', digest: 'sha256', padding: 'pss' },
  PS384: { kty: 'RSA', digest: 'sha384', padding: 'pss' },
  PS512: { kty: 'RSA', digest: 'sha512', padding: 'pss' },
  ES256: { kty: 'EC', crv: 'P-256', digest: 'sha256' },
  ES384: { kty: 'EC', crv: 'P-384', digest: 'sha384' },
};

export const assertionAlgorithmNames: readonly string[] = Object.keys(assertionAlgorithms);

/** The row of an algorithm that is offered; undefined for others, `none` and HMAC among them. */
export function algorithmOf(alg: string): AlgorithmRow | undefined {
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
export function fits({ kty, crv, alg: only }: KeyKind, alg: string): boolean {
  const row = algorithmOf(alg);
  return row !== undefined && row.kty === kty && row.crv === crv && (only === undefined || only === alg);
}

/** Whether `jwt` is signed by the key. The key must fit the algorithm of the header. */
export function verifyAssertion(jwt: DecodedJwt, key: KeyObject): boolean {
  const row = algorithmOf(jwt.header.alg);
  if (row === undefined) return false;
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  const options = row.kty === 'EC' ? { dsaEncoding: 'ieee-p1363' as const } : row.padding === 'pss' ? pss : {};
  return verify(row.digest, Buffer.from(jwt.signingInput, 'latin1'), { key, ...options }, jwt.signature);
}

/** The public key of a JWK, or undefined when it is none (https://www.rfc-editor.org/rfc/rfc7518#section-6). */
export function publicKeyOf(jwk: Readonly<Record<string, unknown>>): KeyObject | undefined {
  try {
    return createPublicKey({ key: { ...jwk }, format: 'jwk' });
  } catch {
    return undefined; // numbers that are no key: the caller says which key it was
  }
}
