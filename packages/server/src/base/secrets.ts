/**
 * What is derived from the one secret key of an installation: keyed hashes of high-entropy secrets (API keys, client
 * secrets, legacy passwords), sealing of private keys at rest and of page links.
 * HKDF (RFC 5869) gives every purpose a key of its own, so that a value sealed for one purpose opens for no other.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { ConfigError } from './config.ts';

export const secretKeyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

type Purpose =
  | 'api-key'
  | 'client-secret'
  | 'legacy-password'
  | 'signing-key'
  | 'page-link'
  | 'legacy-token'
  | 'unknown-credential'
  | 'address'
  | 'admin-session'
  | 'admin-password'
  | 'idempotency-key'
  | 'kept-answer'
  | 'audit-row'
  | 'audit-seal'
  | 'backup'
  | 'content-link'
  | 'content-place';

export interface Secrets {
  /** HMAC-SHA-256 of `value` under the purpose's key, 32 bytes; for lookups and constant-time comparison. */
  hash(purpose: Purpose, value: string): Buffer;
  /** Whether `value` hashes to `expected`, compared in constant time. */
  matches(purpose: Purpose, value: string, expected: Uint8Array): boolean;
  /** AES-256-GCM of `plain`, bound to `context` (additional data): nonce, ciphertext, tag. */
  seal(purpose: Purpose, plain: Uint8Array, context: string): Buffer;
  /** The sealed bytes, or undefined when they were altered or sealed for another purpose, context or key. */
  open(purpose: Purpose, sealed: Uint8Array, context: string): Buffer | undefined;
  /** The purpose's raw 32-byte key, for algorithms that take one (HS256). */
  key(purpose: Purpose): Buffer;
}

/**
 * Secrets of an installation.
 * @param secretKey 32 bytes in base64url
 * @throws ConfigError when it is not
 */
export function openSecrets(secretKey: string): Secrets {
  const master = Buffer.from(secretKey, 'base64url');
  if (master.length !== secretKeyBytes)
    throw new ConfigError(`PRAXIS_SECRET_KEY must be ${secretKeyBytes} bytes in base64url`);
  const keys = new Map<Purpose, Buffer>();
  const key = (purpose: Purpose): Buffer => {
    const known = keys.get(purpose);
    if (known) return known;
    const made = Buffer.from(hkdfSync('sha256', master, Buffer.alloc(0), `praxis/${purpose}`, secretKeyBytes));
    keys.set(purpose, made);
    return made;
  };
  const hash = (purpose: Purpose, value: string): Buffer => createHmac('sha256', key(purpose)).update(value).digest();
  return {
    key,
    hash,
    matches: (purpose, value, expected) =>
      expected.length === secretKeyBytes && timingSafeEqual(hash(purpose, value), expected),
    seal: (purpose, plain, context) => seal(key(purpose), plain, context),
    open: (purpose, sealed, context) => unseal(key(purpose), sealed, context),
  };
}

function seal(key: Buffer, plain: Uint8Array, context: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function unseal(key: Buffer, sealed: Uint8Array, context: string): Buffer | undefined {
  if (sealed.length < nonceBytes + tagBytes) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(sealed.length - tagBytes));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(nonceBytes, sealed.length - tagBytes)), decipher.final()]);
  } catch {
    return undefined; // authentication failed: nothing more may be learned about why
  }
}
