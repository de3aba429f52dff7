/**
 * The file of a backup: gzip (https://www.rfc-editor.org/rfc/rfc1952) of lines of JSON, so that it can be read without this
 * program.
 *
 *     {"praxisBackup":1,"createdAt":…,"software":…,"schema":{…},"secretKey":…}
 *     {"table":"firm"}
 *     "(1,1,maple,…)"                        each row of the table, as PostgreSQL writes a composite value
 *     {"table":"resource"}
 *     …
 *     {"rows":{"firm":2,…},"sequences":{"firm_id_seq":2,…},"digest":…}
 *
 * The digest is an HMAC-SHA-256 of all lines before the last, under a key derived from the secret key of the installation:
 * a file that was cut, damaged or altered is noticed before anything is restored. The secret key itself is never in it.
 */
import { createHmac, type Hmac } from 'node:crypto';
import { ConfigError } from '../../base/config.ts';
import type { Secrets } from '../../base/secrets.ts';
import { type Migration, readMigrations, schemaChecksum } from '../../database/migrate.ts';

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
export async function currentSchema(): Promise<Schema> {
  const migrations: readonly Migration[] = await readMigrations();
  return { version: migrations.length, checksum: schemaChecksum(migrations) };
}

/** The same for the same secret key, and of no use for anything else. */
export function keyFingerprint(secrets: Secrets): string {
  return secrets.hash('backup', 'fingerprint').toString('hex').slice(0, 32);
}

/** What the lines of a backup are fed to. */
export function openDigest(secrets: Secrets): Hmac {
  return createHmac('sha256', secrets.key('backup'));
}

/** @throws ConfigError `file` is no backup, or a later program made it */
export function readHeader(file: string, line: unknown): BackupHeader {
  const version = isRecord(line) ? line['praxisBackup'] : undefined;
  if (typeof version !== 'number') throw new ConfigError(`${file} is not a backup of praxis`);
  if (version !== formatVersion)
    throw new ConfigError(`${file} has format ${version} of backups, this praxis reads ${formatVersion}`);
  return line as BackupHeader; // what follows is covered by the digest
}

/** @throws ConfigError saying what `file` was made for and what to do */
export function requireSameInstallation(
  file: string,
  header: BackupHeader,
  schema: Schema,
  secrets: Secrets,
  keyPlace: string,
): void {
  if (header.secretKey !== keyFingerprint(secrets)) {
    throw new ConfigError(
      `${file} was made under another secret key, without which its keys and credentials are worthless: put the key of that installation in ${keyPlace}, then restore`,
    );
  }
  if (header.schema.checksum !== schema.checksum) {
    const [theirs, ours] = [header.schema.version, schema.version];
    throw new ConfigError(
      `${file} holds schema ${theirs} of praxis ${header.software}, this praxis has schema ${ours}: restore it with that version of praxis, then start this one`,
    );
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
