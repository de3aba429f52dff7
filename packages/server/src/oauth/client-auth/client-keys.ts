/**
 * JWK Sets of clients (https://www.rfc-editor.org/rfc/rfc7517#section-5): which of their keys may verify assertions, and
 * how a client gets them registered, as a set (`jwks`) or as the place where it publishes one (`jwks_uri`; both of
 * https://www.rfc-editor.org/rfc/rfc7591#section-2).
 */
import { hash } from 'node:crypto';
import { fail } from '../../base/errors.ts';
import type { Database } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { Application } from '../../tenancy/applications.ts';
import { changeRights } from '../../tenancy/epochs.ts';
import { computeJwkThumbprint } from '../signing/jwk-thumbprint.ts';
import { isObject } from '../signing/jwt.ts';
import { findAlgorithm, fitsAlgorithm, parsePublicKey } from './assertion-algorithms.ts';

/** A public key that may verify assertions of its client. */
export interface ClientKey {
  readonly kid: string;
  readonly kty: 'RSA' | 'EC';
  readonly crv?: string;
  readonly alg?: string;
  readonly [member: string]: unknown;
}

export interface ClientKeySet {
  readonly keys: readonly ClientKey[];
}

/** Keys of one set, those that verify nothing counted too. */
export const clientKeysMax = 20;
const kidCharactersMax = 255;
const modulusBitsMin = 2048;
const modulusBitsMax = 8192;
/** Smaller exponents make a sloppy signature easy to forge (NIST SP 800-56B, section 6.2). */
const publicExponentMin = 65_537n;

const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'] as const;

/**
 * The keys of a JWK Set that may verify assertions: RSA of 2,048 to 8,192 bits, EC on P-256 and P-384, each with a `kid`.
 * Keys of other kinds and uses are passed over (RFC 7517 §5).
 * @param value JSON of anybody
 * @param kids whether a kid may come twice: only in sets that were stored when it was taken
 * @returns the set, public members only, or what is wrong with it, useful words first
 */
export function readKeySet(
  value: unknown,
  kids: 'unique' | 'as stored' = 'unique',
): ClientKeySet | { readonly problem: string } {
  if (!isObject(value) || !Array.isArray(value['keys'])) return { problem: 'JWK Set must be an object with keys' };
  const given: readonly unknown[] = value['keys'];
  if (given.length > clientKeysMax) return { problem: `JWK Set has more than ${clientKeysMax} keys` };
  const keys: ClientKey[] = [];
  for (const [index, jwk] of given.entries()) {
    const read = readKey(jwk);
    if (typeof read === 'string') return { problem: `JWK Set keys[${index}] ${read}` };
    if (read !== undefined) keys.push(read);
  }
  const again = keys.find(({ kid }, index) => keys.findIndex((key) => key.kid === kid) < index);
  if (again !== undefined && kids === 'unique')
    return { problem: 'JWK Set has two keys of one kid: an assertion would not say which has signed it' };
  if (keys.length === 0)
    return { problem: 'JWK Set has no key that verifies: RSA (RS*, PS*) or EC on P-256 or P-384 (ES*), use sig' };
  return { keys };
}

/** The key with this id that verifies `alg`, of several the first; without an id the only key that there is. */
export function findKey({ keys }: ClientKeySet, kid: string | undefined, alg: string): ClientKey | undefined {
  if (kid === undefined && keys.length !== 1) return undefined;
  return keys.find((key) => (kid === undefined || key.kid === kid) && fitsAlgorithm(key, alg));
}

/**
 * What of a client's registration vouches for whoever proved to hold one of its keys: the thumbprint of a stored key, or a
 * digest of the address that publishes it. Tokens carry it, and end when it is registered no longer.
 */
export function digestRegistration(key: ClientKey, jwksUri: string | null): string {
  return jwksUri === null ? computeJwkThumbprint(key) : addressDigest(jwksUri);
}

/** Whether `registration` is (still) one of the client's, whose columns are given. */
export function isRegistered(
  registration: string,
  { jwks, jwksUri }: { readonly jwks: unknown; readonly jwksUri: string | null },
): boolean {
  if (jwksUri !== null) return addressDigest(jwksUri) === registration;
  const stored = readKeySet(jwks, 'as stored');
  return 'keys' in stored && stored.keys.some((key) => computeJwkThumbprint(key) === registration);
}

/**
 * Registers the public keys of a client in place of those it had; `undefined` takes them away. Tokens that were got with a
 * key or an address that is registered no longer end with the next statement.
 * @throws PraxisError `resource-not-found` when the application has no live client of this id
 */
export async function setClientKeys(
  database: Database,
  application: Application,
  clientId: string,
  keys: { readonly jwks: ClientKeySet } | { readonly jwksUri: string } | undefined,
): Promise<void> {
  const jwks = keys !== undefined && 'jwks' in keys ? sql.json(keys.jwks) : null;
  const jwksUri = keys !== undefined && 'jwksUri' in keys ? keys.jwksUri : null;
  await changeRights(database, { application: application.id }, async (tx) => {
    const changed = await tx.query(sql`
      UPDATE client SET jwks = ${jwks}::jsonb, jwks_uri = ${jwksUri}
      WHERE client_id = ${clientId} AND application = ${application.id} AND state = 'active' RETURNING client_id`);
    if (changed.length === 0)
      fail('resource-not-found', { diagnostics: `application ${application.name} has no live client ${clientId}` });
  });
}

function addressDigest(jwksUri: string): string {
  return hash('sha256', jwksUri, 'base64url');
}

/** The key, undefined for one that is not for verifying, or what is wrong with it. */
function readKey(jwk: unknown): ClientKey | string | undefined {
  if (!isObject(jwk)) return 'is not an object';
  const secret = privateMembers.find((member) => member in jwk);
  if (secret !== undefined)
    return `holds the private member ${secret}: register public keys only, and replace this one`;
  const { kid, kty, crv, alg, use, key_ops: operations } = jwk;
  if (use !== undefined && use !== 'sig') return undefined;
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) return undefined;
  if (kty !== 'RSA' && kty !== 'EC') return undefined;
  if (alg !== undefined && (typeof alg !== 'string' || findAlgorithm(alg) === undefined)) return undefined;
  const curve = kty === 'EC' ? curveOf(crv) : {};
  if (curve === undefined) return undefined;
  if (typeof kid !== 'string' || kid === '' || kid.length > kidCharactersMax)
    return `needs a kid of 1 to ${kidCharactersMax} characters`;
  const numbers = kty === 'RSA' ? { n: jwk['n'], e: jwk['e'] } : { x: jwk['x'], y: jwk['y'] };
  const problem = numbersProblem({ kty, ...curve, ...numbers });
  if (problem !== undefined) return problem;
  return { kid, kty, ...curve, ...numbers, ...(typeof alg === 'string' ? { alg } : {}) };
}

function curveOf(crv: unknown): { readonly crv: string } | undefined {
  return crv === 'P-256' || crv === 'P-384' ? { crv } : undefined;
}

function numbersProblem(jwk: Readonly<Record<string, unknown>>): string | undefined {
  const details = parsePublicKey(jwk)?.asymmetricKeyDetails;
  if (details === undefined) return 'is no public key: its numbers are missing or wrong';
  const { modulusLength = modulusBitsMin, publicExponent = publicExponentMin } = details;
  if (modulusLength < modulusBitsMin || modulusLength > modulusBitsMax)
    return `has an RSA modulus of ${modulusLength} bits: ${modulusBitsMin} to ${modulusBitsMax} are taken`;
  return publicExponent < publicExponentMin ? `has a public exponent below ${publicExponentMin}` : undefined;
}
