/** Reading an archive of the audit ledger line by line. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ConfigError } from '../../base/config.ts';
import { readLines } from '../lines.ts';
import { type ArchiveHeader, type ArchiveLine, parseArchiveHeader, parseArchiveLine } from './archive-format.ts';

/** Longest line, in bytes: a seal, or a row of a thousand patients. */
const archiveLineBytesMax = 4 * 1024 * 1024;

/** The file cannot be read to its end: it was cut off, damaged or is of another form. The message says so. */
export class DamagedArchive extends Error {}

export interface ArchiveReader {
  readonly header: ArchiveHeader;
  /** The lines behind the header. @throws DamagedArchive */
  readonly lines: AsyncGenerator<ArchiveLine>;
  close(): Promise<void>;
}

/** Opens an archive. @throws ConfigError when there is no such file; DamagedArchive when it is no archive */
export async function openArchive(file: string): Promise<ArchiveReader> {
  const lines = readBytes(file);
  const first = await lines.next();
  const header = first.done === true ? undefined : parseArchiveHeader(parseJsonLine(first.value));
  if (header === undefined) {
    await lines.return(undefined);
    throw new DamagedArchive('the file is not an archive of the audit ledger, or of a later version of praxis');
  }
  return { header, lines: readArchiveLines(lines), close: async () => void (await lines.return(undefined)) };
}

/** SHA-256 of the file, as `sha256sum` prints it. @throws ConfigError when there is no such file */
export async function computeFileDigest(file: string): Promise<Buffer> {
  const digest = createHash('sha256');
  try {
    for await (const chunk of createReadStream(file)) digest.update(chunk);
  } catch (error) {
    throw faultOfFile(file, error);
  }
  return digest.digest();
}

async function* readArchiveLines(lines: AsyncIterable<Buffer>): AsyncGenerator<ArchiveLine> {
  let number = 1;
  for await (const bytes of lines) {
    number += 1;
    const line = parseArchiveLine(parseJsonLine(bytes));
    if (line === undefined) throw new DamagedArchive(`line ${number} of the file is not one of an archive`);
    yield line;
  }
}

/** Undefined: it is no JSON. */
function parseJsonLine(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

async function* readBytes(file: string): AsyncGenerator<Buffer> {
  try {
    // Errors of the file reach whoever reads the unzipped stream.
    const unzipped = pipeline(createReadStream(file), createGunzip(), () => undefined);
    for await (const { number, bytes } of readLines(unzipped, archiveLineBytesMax)) {
      if (bytes === undefined) throw new DamagedArchive(`line ${number} of the file is longer than any of an archive`);
      yield bytes;
    }
  } catch (error) {
    throw faultOfFile(file, error);
  }
}

function faultOfFile(file: string, cause: unknown): unknown {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'Z_BUF_ERROR') return new DamagedArchive('the file is cut off', { cause });
  if (code.startsWith('Z_')) return new DamagedArchive('the file is damaged', { cause });
  if (code === 'ENOENT') return new ConfigError(`${file} cannot be read: there is no such file`, { cause });
  if (!code.startsWith('E') || code.startsWith('ERR_')) return cause;
  return new ConfigError(`${file} cannot be read: ${code}`, { cause });
}
