/**
 * The file of a backup: gzip (https://www.rfc-editor.org/rfc/rfc1952) of lines of JSON, so that it can be read without this
 * program.
 *
 *     {"praxisBackup":1,"createdAt":…,"software":…,"schema":{…},"secretKey":…,"installation":…,"dataKeys":{…}}
 *     {"table":"firm"}
 *     "(1,1,maple,…)"                        each row of the table, as PostgreSQL writes a composite value
 *     {"table":"resource"}
 *     …
 *     {"rows":{"firm":2,…},"sequences":{"firm_id_seq":2,…},"digest":…}
 *
 * The data keys are wrapped by the secret key that the database belonged to, which itself is never in the file. The digest is
 * an HMAC-SHA-256 of all lines before the last, under one of them: a file that was cut, damaged or altered is noticed before
 * anything is restored.
 */
import { createHmac, type Hmac } from 'node:crypto';
import { ConfigError } from '../../base/config.ts';
import { assembleDataKeys, type DataKeys, openSecrets, purposes } from '../../base/secrets.ts';
import { computeSchemaChecksum, readMigrations } from '../../database/migrate.ts';
import type { Keys } from '../../keys/data-keys.ts';

export const formatVersion = 1;

export interface Schema {
  /** Number of the last migration. */
  readonly version: number;
  /** Of all migrations. */
  readonly checksum: string;
}

export interface BackupHeader {
  readonly praxisBackup: typeof formatVersion;
  /** An instant. */
  readonly createdAt: string;
  /** Version of the program that made it. */
  readonly software: string;
  readonly schema: Schema;
  /** Fingerprint of the secret key, which does not tell the key. */
  readonly secretKey: string;
  /** The same for the same data keys. */
  readonly installation: string;
  /** By purpose, in base64url. */
  readonly dataKeys: Readonly<Record<string, string>>;
}

export interface BackupTrailer {
  /** By table. */
  readonly rows: Readonly<Record<string, number>>;
  /** Last values; null for a sequence that was never used. */
  readonly sequences: Readonly<Record<string, number | null>>;
  /** Hexadecimal. */
  readonly digest: string;
}

/** The schema that the migrations of this program make. */
export async function readCurrentSchema(): Promise<Schema> {
  const migrations = await readMigrations();
  return { version: migrations.at(-1)?.version ?? 0, checksum: computeSchemaChecksum(migrations) };
}

/** What the header of a backup says of the keys. */
export function buildKeysHeader({ owning, dataKeys }: Keys) {
  return {
    secretKey: owning.fingerprint,
    installation: installationOf(dataKeys),
    dataKeys: Object.fromEntries(
      purposes.map((purpose) => [purpose, owning.wrap(purpose, dataKeys[purpose]).toString('base64url')]),
    ),
  };
}

function installationOf(dataKeys: DataKeys): string {
  return openSecrets(dataKeys).hash('backup', 'installation').toString('hex').slice(0, 32);
}

/** What the lines of a backup are fed to. */
export function openDigest(dataKeys: DataKeys): Hmac {
  return createHmac('sha256', openSecrets(dataKeys).key('backup'));
}

/** @throws ConfigError `file` is no backup, or a later program made it */
export function readHeader(file: string, line: unknown): BackupHeader {
  const version = isRecord(line) ? line['praxisBackup'] : undefined;
  if (typeof version !== 'number') throw new ConfigError(`${file} is not a backup of praxis`);
  if (version !== formatVersion)
    throw new ConfigError(`${file} has format ${version} of backups, this praxis reads ${formatVersion}`);
  return line as BackupHeader; // what follows is covered by the digest
}

/**
 * The data keys that the backup was made with: those of this database, where it was made here, whatever secret key it
 * belonged to; else those of the header.
 * @throws ConfigError saying what `file` was made for and what to do
 */
export function resolveBackupKeys(file: string, header: BackupHeader, schema: Schema, keys: Keys): DataKeys {
  if (header.schema.checksum !== schema.checksum) {
    throw new ConfigError(
      `${file} holds schema ${header.schema.version} of praxis ${header.software}, this praxis has schema ${schema.version}: restore it with that version of praxis, then start this one`,
    );
  }
  if (header.installation === installationOf(keys.dataKeys)) return keys.dataKeys;
  const key = [keys.given.current, ...keys.given.others].find(({ fingerprint }) => fingerprint === header.secretKey);
  if (key === undefined)
    throw new ConfigError(
      `${file} was made under another secret key (${header.secretKey}), without which its keys and credentials are worthless: set PRAXIS_SECRET_KEY_PREVIOUS to that key, then restore`,
    );
  return assembleDataKeys((purpose) => {
    const dataKey = key.unwrap(purpose, Buffer.from(header.dataKeys[purpose] ?? '', 'base64url'));
    if (dataKey === undefined) throw new ConfigError(`${file} was altered since it was made, so nothing was restored`);
    return dataKey;
  });
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
