/**
 * What the data keys of an installation are used for: keyed hashes of high-entropy secrets (API keys, client secrets, legacy
 * passwords), sealing of private keys at rest and of page links. Every purpose has a key of its own, so that a value sealed
 * for one purpose opens for no other. The secret key, which wraps them, is in `secret-key.ts`.
 */
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { computeHmac } from './hmac.ts';
import { drawRandomBytes } from './ids.ts';

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/** What keys are for. A purpose that is added gets its key at the next start. */
export const purposes = [
  'api-key',
  'client-secret',
  'legacy-password',
  'signing-key',
  'page-link',
  'legacy-token',
  'unknown-credential',
  'address',
  'admin-session',
  'admin-password',
  'idempotency-key',
  'kept-answer',
  'audit-row',
  'audit-seal',
  'backup',
  'content-link',
  'content-place',
  'webhook-secret',
  'webhook-header',
  'websocket-token',
] as const;

export type Purpose = (typeof purposes)[number];

/** A key of 32 bytes for each purpose. */
export type DataKeys = Readonly<Record<Purpose, Buffer>>;

export interface Secrets {
  /** HMAC-SHA-256 of `value` under the purpose's key, 32 bytes; for lookups and constant-time comparison. */
  hash(purpose: Purpose, value: string): Buffer;
  /** Whether `value` hashes to `expected`, compared in constant time. */
  matches(purpose: Purpose, value: string, expected: Uint8Array): boolean;
  /** AES-256-GCM of `plain`, bound to `context` (additional data): nonce, ciphertext, tag. */
  seal(purpose: Purpose, plain: Uint8Array, context: string): Buffer;
  /** The sealed bytes, or undefined when they were altered or sealed for another purpose, context or key. */
  open(purpose: Purpose, sealed: Uint8Array, context: string): Buffer | undefined;
  /** What `seal` returns as base64url, for the URL of a link. */
  sealText(purpose: Purpose, plain: Uint8Array, context: string): string;
  /** As `open`. Text that is not just what `sealText` returned is altered, also where it holds the same bytes (RFC 4648 §3.5). */
  openText(purpose: Purpose, text: string, context: string): Buffer | undefined;
  /** The purpose's raw 32-byte key, for algorithms that take one (HS256). */
  key(purpose: Purpose): Buffer;
}

/** The secrets that `keys` make. */
export function openSecrets(keys: DataKeys): Secrets {
  const key = (purpose: Purpose): Buffer => keys[purpose];
  const hash = (purpose: Purpose, value: string): Buffer => computeHmac(key(purpose), value);
  return {
    key,
    hash,
    matches: (purpose, value, expected) =>
      expected.length === keyBytes && timingSafeEqual(hash(purpose, value), expected),
    seal: (purpose, plain, context) => seal(key(purpose), plain, context),
    open: (purpose, sealed, context) => unseal(key(purpose), sealed, context),
    sealText: (purpose, plain, context) => seal(key(purpose), plain, context).toString('base64url'),
    openText(purpose, text, context) {
      const sealed = Buffer.from(text, 'base64url');
      return sealed.toString('base64url') === text ? unseal(key(purpose), sealed, context) : undefined;
    },
  };
}

/** Random keys for all purposes. */
export function makeDataKeys(): DataKeys {
  return assembleDataKeys(() => randomBytes(keyBytes));
}

/** The keys that `keyOf` gives. */
export function assembleDataKeys(keyOf: (purpose: Purpose) => Buffer): DataKeys {
  // Every purpose gets an entry, which Object.fromEntries cannot say.
  return Object.fromEntries(purposes.map((purpose) => [purpose, keyOf(purpose)])) as unknown as DataKeys;
}

const keyObjects = new WeakMap<Buffer, KeyObject>();

/** The key as node:crypto takes it in a third of the time. */
function toKeyObject(key: Buffer): KeyObject {
  const known = keyObjects.get(key);
  if (known !== undefined) return known;
  const made = createSecretKey(key);
  keyObjects.set(key, made);
  return made;
}

/** AES-256-GCM of `plain` under `key`, bound to `context`: nonce, ciphertext, tag. The key must not change. */
export function seal(key: Buffer, plain: Uint8Array, context: string): Buffer {
  const nonce = drawRandomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', toKeyObject(key), nonce).setAAD(Buffer.from(context));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** What `seal` has sealed, or undefined when it was altered or sealed under another key or context. */
export function unseal(key: Buffer, sealed: Uint8Array, context: string): Buffer | undefined {
  if (sealed.length < nonceBytes + tagBytes) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', toKeyObject(key), sealed.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(sealed.length - tagBytes));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(nonceBytes, sealed.length - tagBytes)), decipher.final()]);
  } catch {
    return undefined; // authentication failed: nothing more may be learned about why
  }
}
