/** Changing the secret key: the data keys stay what they are and are wrapped anew (docs/decisions/0230). */
import { ConfigError } from '../base/config.ts';
import { fail } from '../base/errors.ts';
import { makeSecret } from '../base/ids.ts';
import { openSecretKey, type SecretKey } from '../base/secret-key.ts';
import type { Database, Queryable } from '../database/database.ts';
import { finishRotation, isWrappedBy, type Keys, lockKeys, replaceDataKeys } from './data-keys.ts';
import { buildNextPath, writeKeyFile } from './secret-keys.ts';

export interface Rotated {
  /** Of the key that the database belongs to now. */
  readonly fingerprint: string;
  /** False: it belonged to it before. */
  readonly isChanged: boolean;
  /** Where the key before is kept; undefined: with whoever set it. */
  readonly previousFile: string | undefined;
}

/**
 * Makes the database belong to PRAXIS_SECRET_KEY, where it belongs to PRAXIS_SECRET_KEY_PREVIOUS; or, where the key is in a
 * file, to a new key that takes that file's place. Processes that run go on. A process that is killed meanwhile leaves the
 * key before or the new one, and a file of it.
 * @throws ConfigError when there is no new key
 * @throws PraxisError `conflict` when another process changed the key meanwhile
 */
export async function rotateSecretKey(owner: Database, keys: Keys): Promise<Rotated> {
  const { given, owning } = keys;
  if (owning !== given.current) {
    await owner.transaction(undefined, async (tx) => await wrapAnew(tx, keys, given.current));
    return { fingerprint: given.current.fingerprint, isChanged: true, previousFile: undefined };
  }
  if (given.file !== undefined) return await rotateFile(owner, keys, given.file);
  if (given.others.length > 0) return { fingerprint: owning.fingerprint, isChanged: false, previousFile: undefined };
  throw new ConfigError(
    'there is no new key: on every node set PRAXIS_SECRET_KEY_PREVIOUS to the present key and PRAXIS_SECRET_KEY to the new one (32 random bytes in base64url), then run praxis secret rotate',
  );
}

async function rotateFile(owner: Database, keys: Keys, file: string): Promise<Rotated> {
  const text = makeSecret();
  const next = openSecretKey(text) ?? fail('internal', { diagnostics: 'No secret key could be made' });
  await owner.transaction(undefined, async (tx) => {
    // The file is on the disk before the database belongs to its key.
    await wrapAnew(tx, keys, next, () => writeKeyFile(buildNextPath(file), text));
  });
  await finishRotation(owner, { ...keys.given, next });
  return { fingerprint: next.fingerprint, isChanged: true, previousFile: `${file}.previous` };
}

async function wrapAnew(tx: Queryable, keys: Keys, key: SecretKey, before: () => void = () => undefined) {
  await lockKeys(tx);
  if (!(await isWrappedBy(tx, keys.owning)))
    fail('conflict', { diagnostics: 'Another process has changed the secret key meanwhile: try again' });
  before();
  await replaceDataKeys(tx, keys.dataKeys, key);
}
