/**
 * The directory of an export of everything: it is there as a whole, or not at all. It is called `.partial` beside its place until
 * all files are on the disk. What a killed run has left there is replaced by the next one.
 */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PassThrough, Transform, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { UsageError } from '../../command.ts';
import { chunkWriter } from '../export-files.ts';
import { isLiving, readThisProcess } from './process-mark.ts';

/** A file as the manifest tells of it. */
export interface WrittenFile {
  /** Below the directory, with `/`. */
  readonly path: string;
  readonly bytes: number;
  /** In hexadecimal, as `sha256sum` prints it. */
  readonly sha256: string;
}

export interface WrittenLines extends WrittenFile {
  readonly lines: number;
}

/** A file of lines that is being written. */
export interface LineFile {
  /** Resolves when it can take the next. */
  write(line: string): Promise<void>;
  /** The file is on the disk. */
  finish(): Promise<WrittenLines>;
}

export interface ExportDirectory {
  /** Begins a file of lines, compressed where its name ends so. It replaces one that was begun under the name. */
  begin(file: string): Promise<LineFile>;
  /** Where another function writes a file. */
  place(file: string): Promise<string>;
  /** Puts all of it in its place. */
  finish(): Promise<void>;
  /** Leaves nothing behind. */
  abandon(): Promise<void>;
}

/** Tells a directory of ours that was left from one of somebody else. */
const markName = '.praxis-export';
const directoryMode = 0o700;
const fileMode = 0o600;
/** Of zlib: three times as fast as the default, for a tenth more bytes. */
const compressionLevel = 3;

/**
 * @throws UsageError where the directory holds anything, or could not be replaced by the whole export, or its `.partial` is not one of
 *   an export, or of one that is running
 */
export async function openExportDirectory(target: string): Promise<ExportDirectory> {
  const whole = path.resolve(target);
  const partial = `${whole}.partial`;
  await requireReplaceable(whole, target);
  await requireEmpty(whole, target);
  await removeLeft(partial);
  await mkdir(path.dirname(partial), { recursive: true, mode: directoryMode });
  // Of two that begin at once, one makes it.
  try {
    await mkdir(partial, { mode: directoryMode });
    await writeFile(path.join(partial, markName), await readThisProcess(), { mode: fileMode, flag: 'wx' });
  } catch (cause) {
    if (!isCode(cause, 'EEXIST', 'ENOENT')) throw cause;
    throw new UsageError(`another export writes to ${partial}`, { cause });
  }
  const place = async (file: string): Promise<string> => {
    const at = path.join(partial, file);
    await mkdir(path.dirname(at), { recursive: true, mode: directoryMode });
    return at;
  };
  return {
    place,
    begin: async (file) => openLineFile(await place(file), file),
    async finish() {
      await rm(path.join(partial, markName));
      await syncDirectories(partial);
      await rename(partial, whole);
      await syncDirectory(path.dirname(whole));
    },
    abandon: () => rm(partial, { recursive: true, force: true }),
  };
}

/** The facts of a file that is there. */
export async function readFileFacts(at: string, file: string): Promise<WrittenFile> {
  return await readFacts(await open(at, 'r'), file);
}

/** The facts of an open file, which is closed then. */
export async function readFacts(handle: FileHandle, file: string): Promise<WrittenFile> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of handle.createReadStream()) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { path: file, bytes, sha256: hash.digest('hex') };
}

function openLineFile(at: string, file: string): LineFile {
  const hash = createHash('sha256');
  let bytes = 0;
  let lines = 0;
  const measured = new Transform({
    transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback) {
      hash.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  const source = new PassThrough();
  const target = createWriteStream(at, { flags: 'w', mode: fileMode, flush: true });
  const written = file.endsWith('.gz')
    ? pipeline(source, createGzip({ level: compressionLevel }), measured, target)
    : pipeline(source, measured, target);
  written.catch(() => undefined); // told by finish, and to who writes
  const writer = chunkWriter(source);
  return {
    async write(line) {
      lines += 1;
      await writer.write(`${line}\n`);
    },
    async finish() {
      await writer.flush();
      source.end();
      await written;
      return { path: file, lines, bytes, sha256: hash.digest('hex') };
    },
  };
}

/** So that it does not turn out after all the work. */
async function requireReplaceable(whole: string, named: string): Promise<void> {
  const facts = await lstat(whole).catch((error: unknown) => {
    if (isCode(error, 'ENOENT')) return undefined;
    throw new UsageError(`${whole} cannot be read`, { cause: error });
  });
  if (facts === undefined) return;
  if (!facts.isDirectory()) throw new UsageError(`${named} must be new or an empty directory, and no link to one`);
  if ((await lstat(path.dirname(whole))).dev !== facts.dev)
    throw new UsageError(`${named} is the root of a file system, which cannot be replaced: name a directory below it`);
}

function isCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

async function requireEmpty(whole: string, named: string): Promise<void> {
  const [entry] = await listEntries(whole);
  if (entry !== undefined)
    throw new UsageError(`${named} must be empty: it holds ${entry}, which would mix with the export`);
}

async function removeLeft(partial: string): Promise<void> {
  const entries = await listEntries(partial);
  if (entries.length > 0 && !entries.includes(markName))
    throw new UsageError(`${partial} is in the way, and no export has made it: move it elsewhere`);
  if (entries.length > 0 && (await isLiving(await readFile(path.join(partial, markName), 'utf8'))))
    throw new UsageError(`another export writes to ${partial}`);
  await rm(partial, { recursive: true, force: true });
}

/** None where there is no directory. */
async function listEntries(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (cause) {
    if (isCode(cause, 'ENOENT')) return [];
    throw new UsageError(`${directory} cannot be read`, { cause });
  }
}

async function syncDirectories(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true }))
    if (entry.isDirectory()) await syncDirectories(path.join(directory, entry.name));
  await syncDirectory(directory);
}

async function syncDirectory(directory: string): Promise<void> {
  await using handle = await open(directory, 'r');
  await handle.sync();
}
