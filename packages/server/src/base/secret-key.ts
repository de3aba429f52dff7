/**
 * The secret key of an installation: 32 random bytes that an operator keeps outside of the database. It wraps the data keys
 * (`secrets.ts`), which are in the database. Before there were data keys they were derived from it, by HKDF (RFC 5869).
 */
import { hkdfSync } from 'node:crypto';
import { assembleDataKeys, type DataKeys, openSecrets, type Purpose, seal, unseal } from './secrets.ts';

const secretKeyBytes = 32;

export interface SecretKey {
  /** The same for the same key, 32 hexadecimal digits; of no use for anything else. */
  readonly fingerprint: string;
  /** A data key under this key, 60 bytes. */
  wrap(purpose: Purpose, dataKey: Buffer): Buffer;
  /** The data key; undefined when it was wrapped by another key or for another purpose, or was changed. */
  unwrap(purpose: Purpose, wrapped: Uint8Array): Buffer | undefined;
  /** The data keys of databases from before there were any. */
  deriveDataKeys(): DataKeys;
}

/** @param text 32 bytes in base64url; undefined is returned for anything else */
export function openSecretKey(text: string): SecretKey | undefined {
  const master = Buffer.from(text, 'base64url');
  if (master.length !== secretKeyBytes || !/^[A-Za-z0-9_+/-]{43}=?$/.test(text)) return undefined;
  const derive = (purpose: string): Buffer =>
    Buffer.from(hkdfSync('sha256', master, Buffer.alloc(0), `praxis/${purpose}`, secretKeyBytes));
  const deriveDataKeys = (): DataKeys => assembleDataKeys(derive);
  const wrappingKey = derive('data-key');
  return {
    // As backups of any version name the key.
    fingerprint: openSecrets(deriveDataKeys()).hash('backup', 'fingerprint').toString('hex').slice(0, 32),
    wrap: (purpose, dataKey) => seal(wrappingKey, dataKey, purpose),
    unwrap: (purpose, wrapped) => unseal(wrappingKey, wrapped, purpose),
    deriveDataKeys,
  };
}
