/**
 * The keys that sign client-credentials tokens: RSA of 2048 bits for RS256 (contract 5.9), one active key per realm, in the
 * database, so that every process signs with the same key and verifies what another has signed. The private half is sealed
 * with the installation's secret key. A key's id is its thumbprint (https://www.rfc-editor.org/rfc/rfc7638). How a key is
 * changed for the next is in `signing-key-rotation.ts`.
 */
import { createPrivateKey, createPublicKey, generateKeyPair, type JsonWebKey, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { type Clock, systemClock } from '../../base/clock.ts';
import { fail } from '../../base/errors.ts';
import type { Secrets } from '../../base/secrets.ts';
import { type Database, pointRead } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import { computeJwkThumbprint } from './jwk-thumbprint.ts';

const modulusBits = 2048;
const algorithm = 'RS256';
/** Length of a SHA-256 thumbprint in base64url. */
const kidPattern = /^[A-Za-z0-9_-]{43}$/;

export interface SigningKey {
  readonly kid: string;
  readonly realm: string;
  readonly privateKey: KeyObject;
}

export interface VerificationKey {
  readonly realm: string;
  readonly publicKey: KeyObject;
}

/** A public key as a JWK Set shows it (https://www.rfc-editor.org/rfc/rfc7517). */
export interface PublicJwk {
  readonly kid: string;
  readonly kty: 'RSA';
  readonly alg: 'RS256';
  readonly use: 'sig';
  readonly n: string;
  readonly e: string;
}

export interface SigningKeys {
  /**
   * The realm's active key; the first caller of an installation makes it. Remembered for `signerRememberedMs`, so a process
   * may sign with the one before for so long after a change.
   */
  signer(realm: string): Promise<SigningKey>;
  /**
   * The key that signed a token with this `kid`, also one that another process has just made; undefined when unknown. Who
   * verifies asks the database besides whether it was retired meanwhile.
   */
  verifier(kid: string): Promise<VerificationKey | undefined>;
  /** The realm's public keys, newest first, read at every call; at least one. */
  published(realm: string): Promise<PublicJwk[]>;
}

const makeKeyPair = promisify(generateKeyPair);

/** How long a process signs with a key without asking whether it is still the active one. */
export const signerRememberedMs = 10_000;

/** The signing keys of an installation. Reads nothing until it is asked. */
export function openSigningKeys(database: Database, secrets: Secrets, clock: Clock = systemClock): SigningKeys {
  const signers = new Map<string, { readonly key: Promise<SigningKey>; readonly readAtMs: number }>();
  const verifiers = new Map<string, VerificationKey>();

  const signer = (realm: string): Promise<SigningKey> => {
    const known = signers.get(realm);
    const nowMs = clock.now();
    if (known !== undefined && nowMs - known.readAtMs < signerRememberedMs) return known.key;
    const key = openSigner(database, secrets, realm);
    const opened = { key, readAtMs: nowMs };
    signers.set(realm, opened);
    // A failure is the caller's to report; the next caller tries again.
    key.catch(() => {
      if (signers.get(realm) === opened) signers.delete(realm);
    });
    return key;
  };

  return {
    signer,
    async verifier(kid) {
      const known = verifiers.get(kid);
      if (known || !kidPattern.test(kid)) return known;
      const found = await readVerifier(database, kid);
      if (found) verifiers.set(kid, found);
      return found;
    },
    async published(realm) {
      await signer(realm);
      const rows = await database.query<{ jwk: PublicJwk }>(
        sql`
        SELECT public_jwk AS jwk FROM signing_key WHERE realm = ${realm} AND state <> 'retired' ORDER BY created_at DESC, kid`,
        { idempotent: true },
      );
      return rows.map(({ jwk }) => jwk);
    },
  };
}

async function openSigner(database: Database, secrets: Secrets, realm: string): Promise<SigningKey> {
  const found = await readSigner(database, secrets, realm);
  if (found) return found;
  const { jwk, sealed } = await makeSealedKey(secrets, realm);
  // Where another process was first, its key is the realm's.
  await database.query(sql`
    INSERT INTO signing_key (kid, realm, algorithm, public_jwk, private_sealed, state)
    VALUES (${jwk.kid}, ${realm}, ${algorithm}, ${sql.json(jwk)}, ${sealed}, 'active')
    ON CONFLICT (realm) WHERE state = 'active' DO NOTHING`);
  const made = await readSigner(database, secrets, realm);
  return made ?? fail('internal', { diagnostics: 'No signing key could be stored', log: { realm } });
}

async function readSigner(database: Database, secrets: Secrets, realm: string): Promise<SigningKey | undefined> {
  const [row] = await database.query<{ kid: string; sealed: Buffer }>(
    sql`
    SELECT kid, private_sealed AS sealed FROM signing_key WHERE realm = ${realm} AND state = 'active'`,
    { idempotent: true },
  );
  if (!row) return undefined;
  const der = secrets.open('signing-key', row.sealed, sealContext(realm, row.kid));
  // Signing with a new key instead would hide that the installation runs with another secret key.
  if (!der)
    fail('internal', {
      diagnostics: 'The signing key cannot be opened with PRAXIS_SECRET_KEY',
      log: { realm, kid: row.kid },
    });
  return { kid: row.kid, realm, privateKey: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }) };
}

/** Whether the private half of a stored key opens with these secrets. */
export function opensSigningKey(
  secrets: Secrets,
  { realm, kid, sealed }: { readonly realm: string; readonly kid: string; readonly sealed: Buffer },
): boolean {
  return secrets.open('signing-key', sealed, sealContext(realm, kid)) !== undefined;
}

/** A new key of the realm as it is stored. */
export async function makeSealedKey(
  secrets: Secrets,
  realm: string,
): Promise<{ readonly jwk: PublicJwk; readonly sealed: Buffer }> {
  const { privateKey, publicKey } = await makeKeyPair('rsa', { modulusLength: modulusBits });
  const jwk = publicJwk(publicKey);
  // On a command line it would be an option.
  if (jwk.kid.startsWith('-')) return await makeSealedKey(secrets, realm);
  const der = privateKey.export({ format: 'der', type: 'pkcs8' });
  return { jwk, sealed: secrets.seal('signing-key', der, sealContext(realm, jwk.kid)) };
}

async function readVerifier(database: Database, kid: string): Promise<VerificationKey | undefined> {
  const [row] = await database.query<{ realm: string; jwk: JsonWebKey }>(
    sql`
    SELECT realm, public_jwk AS jwk FROM signing_key WHERE kid = ${kid} AND algorithm = ${algorithm} AND state <> 'retired'`,
    pointRead,
  );
  return row && { realm: row.realm, publicKey: createPublicKey({ key: row.jwk, format: 'jwk' }) };
}

function publicJwk(publicKey: KeyObject): PublicJwk {
  const { n = '', e = '' } = publicKey.export({ format: 'jwk' });
  return { kid: computeJwkThumbprint({ kty: 'RSA', n, e }), kty: 'RSA', alg: algorithm, use: 'sig', n, e };
}

/** A sealed key opens only as the key it was stored as. */
function sealContext(realm: string, kid: string): string {
  return `${realm}/${kid}`;
}
