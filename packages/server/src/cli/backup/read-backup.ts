/**
 * Reading a backup from its beginning to its end, checking on the way that it is whole.
 */
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ConfigError } from '../../base/config.ts';
import type { DataKeys } from '../../base/secrets.ts';
import { readLines } from '../lines.ts';
import { type BackupHeader, type BackupTrailer, isRecord, openDigest, readHeader } from './format.ts';

/** Longest line, in bytes: one row. */
const lineBytesMax = 512 * 1024 * 1024 - 64;
const newLine = Buffer.from('\n');

export interface BackupReader {
  /** The first line, before which nothing else may be asked for. */
  readonly header: BackupHeader;
  /** The data keys that it was made with. */
  readonly dataKeys: DataKeys;
  /**
   * All rows in their order, as PostgreSQL writes composite values; then, if the file is whole, its trailer.
   * @throws ConfigError when the file was cut, damaged or altered: only at the end is it known that it was not
   */
  readonly rows: AsyncGenerator<{ readonly table: string; readonly text: string }, BackupTrailer>;
  close(): Promise<void>;
}

/**
 * Opens `file`.
 * @param keysOf the data keys that it was made with, by its header; throws for one that is not to be read
 * @throws ConfigError when it cannot be read or is no backup
 */
export async function openBackup(file: string, keysOf: (header: BackupHeader) => DataKeys): Promise<BackupReader> {
  const lines = linesOf(file);
  const first = await lines.next();
  if (first.done === true) throw new ConfigError(`${file} is not a backup of praxis`);
  const header = readHeader(file, jsonOf(file, first.value));
  const dataKeys = keysOf(header);
  const digest = openDigest(dataKeys).update(first.value).update(newLine);
  return { header, dataKeys, rows: rowsOf(), close: async () => void (await lines.return(undefined)) };

  async function* rowsOf(): BackupReader['rows'] {
    const counts: Record<string, number> = {};
    let table = '';
    for (let line = await lines.next(); line.done !== true; line = await lines.next()) {
      const value = jsonOf(file, line.value);
      if (isTrailer(value)) {
        const isCounted = JSON.stringify(counts) === JSON.stringify(value.rows);
        const isLast = (await lines.next()).done === true;
        if (isCounted && isLast && digest.digest('hex') === value.digest) return value;
        throw new ConfigError(`${file} was altered since it was made, so nothing was restored`);
      }
      digest.update(line.value).update(newLine);
      if (typeof value === 'string') {
        counts[table] = (counts[table] ?? 0) + 1;
        yield { table, text: value };
      } else {
        table = isRecord(value) && typeof value['table'] === 'string' ? value['table'] : '';
        counts[table] = 0;
      }
    }
    throw new ConfigError(`${file} is cut off: its last line is missing, so nothing was restored`);
  }
}

function isTrailer(value: unknown): value is BackupTrailer {
  return (
    isRecord(value) && typeof value['digest'] === 'string' && isRecord(value['rows']) && isRecord(value['sequences'])
  );
}

function jsonOf(file: string, line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'));
  } catch (cause) {
    throw new ConfigError(`${file} is not a backup of praxis`, { cause });
  }
}

async function* linesOf(file: string): AsyncGenerator<Buffer> {
  try {
    // Errors of the file reach whoever reads the unzipped stream.
    const unzipped = pipeline(createReadStream(file), createGunzip(), () => undefined);
    for await (const { number, bytes } of readLines(unzipped, lineBytesMax)) {
      if (bytes === undefined)
        throw new ConfigError(`${file} has a row of more than ${lineBytesMax} bytes (line ${number})`);
      yield bytes;
    }
  } catch (error) {
    throw faultOf(file, error);
  }
}

/** What an error of the file system or of zlib says about the file. */
function faultOf(file: string, cause: unknown): unknown {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'Z_BUF_ERROR') return new ConfigError(`${file} is cut off, so nothing was restored`, { cause });
  if (code === 'Z_DATA_ERROR')
    return new ConfigError(`${file} is not a backup of praxis, or is damaged; nothing was restored`, { cause });
  if (code === 'ENOENT') return new ConfigError(`${file} cannot be read: there is no such file`, { cause });
  if (!code.startsWith('E') || code.startsWith('ERR_')) return cause;
  return new ConfigError(`${file} cannot be read: ${code}`, { cause });
}
