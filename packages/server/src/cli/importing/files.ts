/**
 * Which files an import reads: those that are named, and those below the directories that are named.
 */
import type { BigIntStats } from 'node:fs';
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { UsageError } from '../command.ts';

/** `ndjson`: one resource a line; `json`: one resource, which may be a Bundle. */
type ImportForm = 'ndjson' | 'json';

export interface ImportFile {
  /** As it was named, so that it can be found again from a message. */
  readonly path: string;
  readonly form: ImportForm;
  readonly bytes: number;
  /** When it was written last, in ns: by it and its size it is seen whether it is still the same. */
  readonly modifiedNs: bigint;
}

const formOfExtension: Readonly<Record<string, ImportForm>> = {
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.json': 'json',
};

/**
 * The files in the order of `paths`, those of a directory and its subdirectories sorted by path. In directories, files that
 * are hidden or have another extension are passed over, and links to directories are not followed.
 * @param leftOut a file that is passed over as well, where it is in a directory: what an import writes is not imported
 * @throws UsageError for a path that cannot be read, a named file of another extension, or when there is no file at all
 */
export async function importFiles(paths: readonly string[], leftOut?: string): Promise<ImportFile[]> {
  const files: ImportFile[] = [];
  const isImported = (file: ImportFile): boolean =>
    leftOut === undefined || path.resolve(file.path) !== path.resolve(leftOut);
  for (const each of paths) {
    const facts = await factsOf(each);
    const form = formOf(each);
    if (facts.isDirectory()) files.push(...(await filesBelow(each)).filter(isImported));
    else if (!facts.isFile())
      throw new UsageError(`${each} is no file: an import reads files, which it can begin anew`);
    else if (form !== undefined) files.push(describeFile(each, form, facts));
    else throw new UsageError(`${each} must be called .ndjson (one resource a line) or .json (a resource or a Bundle)`);
  }
  if (files.length === 0) throw new UsageError(`there is no .json or .ndjson file in ${paths.join(', ')}`);
  return files;
}

async function filesBelow(directory: string): Promise<ImportFile[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((cause: unknown) =>
    refuseUnreadable(directory, cause),
  );
  const visible = entries.filter(({ name }) => !name.startsWith('.'));
  const files: ImportFile[] = [];
  // By code units: the same order on every machine.
  for (const entry of visible.sort((left, right) => (left.name < right.name ? -1 : 1))) {
    const below = path.join(directory, entry.name);
    const form = formOf(entry.name);
    if (entry.isDirectory()) files.push(...(await filesBelow(below)));
    else if (form !== undefined) {
      const facts = await factsOf(below);
      if (facts.isFile()) files.push(describeFile(below, form, facts));
    }
  }
  return files;
}

function describeFile(file: string, form: ImportForm, { size, mtimeNs }: BigIntStats): ImportFile {
  return { path: file, form, bytes: Number(size), modifiedNs: mtimeNs };
}

function formOf(file: string): ImportForm | undefined {
  return formOfExtension[path.extname(file).toLowerCase()];
}

async function factsOf(file: string): Promise<BigIntStats> {
  return await stat(file, { bigint: true }).catch((cause: unknown) => refuseUnreadable(file, cause));
}

/** Opens a file that is as it was when it was listed. @param line where it is read from @throws UsageError when it is not */
export async function openUnchanged(file: ImportFile, line: number): Promise<FileHandle> {
  const handle = await open(file.path).catch((cause: unknown) => refuseUnreadable(file.path, cause));
  try {
    await requireUnchanged(file, handle, line);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * Passes while the open file is as it was when it was listed: then what was read of it is what is imported.
 * @param line the first one that is not taken yet
 * @throws UsageError when it was written since
 */
export async function requireUnchanged(file: ImportFile, handle: FileHandle, line: number): Promise<void> {
  const { size, mtimeNs } = await handle.stat({ bigint: true });
  if (size !== BigInt(file.bytes) || mtimeNs !== file.modifiedNs) refuseChanged(file, line);
}

/** Bytes that are read at once. */
const readBytesMax = 256 * 1024;

/** The bytes of a range, fewer where the file ends before. @throws UsageError when they cannot be read */
export async function* readRange(
  { path: name }: ImportFile,
  handle: FileHandle,
  from: number,
  to: number,
): AsyncGenerator<Buffer> {
  for (let at = from; at < to; ) {
    const buffer = Buffer.allocUnsafe(Math.min(readBytesMax, to - at));
    const read = handle.read(buffer, 0, buffer.length, at);
    const { bytesRead } = await read.catch((cause: unknown) => refuseUnreadable(name, cause));
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}

/** @throws UsageError always */
export function refuseChanged({ path: name, form }: ImportFile, line: number): never {
  const place = form === 'ndjson' ? `${name}:${line}` : name;
  throw new UsageError(
    `${place}: the file has changed since the import began, and is not read any further. Restore it to continue, or import it as it is now`,
  );
}

/** @throws UsageError always */
export function refuseUnreadable(file: string, cause: unknown): never {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  const reason = code === 'ENOENT' ? 'there is no such file or directory' : code;
  throw new UsageError(`${file} cannot be read: ${reason}`, { cause });
}
