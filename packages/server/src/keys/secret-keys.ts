/**
 * The secret keys that an operator gives: by PRAXIS_SECRET_KEY, or, for the embedded database, in the file `secret.key` of
 * the data directory, which is made together with the database.
 */
import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Config, ConfigError } from '../base/config.ts';
import { makeDataDirectory } from '../base/data-directory.ts';
import { makeSecret } from '../base/ids.ts';
import { openSecretKey, type SecretKey } from '../base/secret-key.ts';
import { StartError } from '../base/start-error.ts';

type KeyConfig = Pick<Config, 'secretKey' | 'secretKeyPrevious' | 'databaseUrl' | 'dataDir'>;

export interface GivenKeys {
  /** What data keys are wrapped by from now on. */
  readonly current: SecretKey;
  /** Keys that the database may belong to besides, while the key is being changed. */
  readonly others: readonly SecretKey[];
  /** Where the current key is kept, for messages. */
  readonly place: string;
  /** A key that waits in a file to become the current one. */
  readonly next: SecretKey | undefined;
  /** The file that the current key was read from; undefined: it was given by the environment. */
  readonly file: string | undefined;
}

/**
 * The keys that the settings give. For an embedded database that does not exist yet the file is made, readable by its owner
 * alone; so call it before that database is started. Of several processes at once one makes it and the others read it.
 * @throws ConfigError when a setting is malformed or missing
 * @throws StartError when the file is broken, cannot be read, or is missing beside a database
 */
export function readSecretKeys(config: KeyConfig): GivenKeys {
  return readKeys(config, makeKeyFile);
}

/** @param prepare called with the file where there is no database yet */
function readKeys(config: KeyConfig, prepare: (file: string) => void): GivenKeys {
  const previous =
    config.secretKeyPrevious === '' ? [] : [keyOfSetting('PRAXIS_SECRET_KEY_PREVIOUS', config.secretKeyPrevious)];
  if (config.secretKey !== '') {
    const current = keyOfSetting('PRAXIS_SECRET_KEY', config.secretKey);
    return { current, others: previous, next: undefined, place: 'PRAXIS_SECRET_KEY', file: undefined };
  }
  if (config.databaseUrl !== '') {
    throw new ConfigError(
      'PRAXIS_SECRET_KEY must be set with DATABASE_URL: 32 random bytes in base64url, the same on every node',
    );
  }
  const file = path.join(path.resolve(config.dataDir), 'secret.key');
  const current = openKeyFile(file, path.join(path.dirname(file), 'postgres'), prepare);
  const next = existsSync(buildNextPath(file)) ? openSecretKey(readKeyFile(buildNextPath(file))) : undefined;
  return { current, others: next === undefined ? previous : [next, ...previous], next, place: file, file };
}

/**
 * The same for who only looks: no file is made. Undefined: there is no key yet, and no database that needs one.
 * @throws ConfigError, StartError as `readSecretKeys`
 */
export function lookAtSecretKeys(config: KeyConfig): GivenKeys | undefined {
  const directory = path.resolve(config.dataDir);
  const isMade = ['postgres', 'secret.key'].some((name) => existsSync(path.join(directory, name)));
  return config.secretKey === '' && config.databaseUrl === '' && !isMade
    ? undefined
    : readKeys(config, () => undefined);
}

/** Where a new key waits until the database belongs to it. */
export function buildNextPath(file: string): string {
  return `${file}.next`;
}

/** Puts the key that waits in place of `file`, whose key is kept in `secret.key.previous`: both are whole at any moment. */
export function takeNextKey(file: string): void {
  const previous = `${file}.previous`;
  rmSync(previous, { force: true });
  linkSync(file, previous);
  renameSync(buildNextPath(file), file);
}

/** Writes `text` to `file` and the disk, readable by its owner alone. */
export function writeKeyFile(file: string, text: string): void {
  rmSync(file, { force: true });
  writeFileSync(file, `${text}\n`, { flag: 'wx', mode: 0o600, flush: true });
}

function keyOfSetting(name: string, text: string): SecretKey {
  const key = openSecretKey(text.trim());
  if (key === undefined) throw new ConfigError(`${name} must be 32 bytes in base64url`);
  return key;
}

/** @param cluster the embedded database, which may not exist */
function openKeyFile(file: string, cluster: string, prepare: (file: string) => void): SecretKey {
  // In this order: who makes a database has made its key before.
  const isOfDatabase = existsSync(cluster);
  if (!isOfDatabase) prepare(file);
  else if (!existsSync(file))
    throw new StartError(
      `${file} is missing, and the database in ${cluster} cannot be used without it: put it back from where it was copied to, or set PRAXIS_SECRET_KEY to what was in it; to begin anew, move ${cluster} away`,
    );
  const key = openSecretKey(readKeyFile(file));
  if (key !== undefined) return key;
  const mend = isOfDatabase
    ? 'put it back from where it was copied to'
    : 'remove it, and the next start makes another, since there is no database yet';
  throw new StartError(
    `${file} is broken: it must hold the secret key, 32 bytes in base64url (43 characters), and is empty, cut or changed: ${mend}`,
  );
}

function readKeyFile(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
    throw new StartError(
      `${file} cannot be read (${code}): run praxis as the user who owns the file, or give that user the right to read it`,
      { cause },
    );
  }
}

/** Makes the file as a whole, unless it exists. */
function makeKeyFile(file: string): void {
  makeDataDirectory(path.dirname(file));
  if (existsSync(file)) return;
  const draft = `${file}.${process.pid}`;
  try {
    writeKeyFile(draft, makeSecret());
    linkSync(draft, file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
