/**
 * Which files an import reads: those that are named, and those below the directories that are named.
 */
import type { Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { UsageError } from '../command.ts';

/** `ndjson`: one resource a line; `json`: one resource, which may be a Bundle. */
type ImportForm = 'ndjson' | 'json';

export interface ImportFile {
  /** As it was named, so that it can be found again from a message. */
  readonly path: string;
  readonly form: ImportForm;
  readonly bytes: number;
}

const formOfExtension: Readonly<Record<string, ImportForm>> = {
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.json': 'json',
};

/**
 * The files in the order of `paths`, those of a directory and its subdirectories sorted by path. In directories, files that
 * are hidden or have another extension are passed over, and links to directories are not followed.
 * @throws UsageError for a path that cannot be read, a named file of another extension, or when there is no file at all
 */
export async function importFiles(paths: readonly string[]): Promise<ImportFile[]> {
  const files: ImportFile[] = [];
  for (const each of paths) {
    const facts = await factsOf(each);
    const form = formOf(each);
    if (facts.isDirectory()) files.push(...(await filesBelow(each)));
    else if (!facts.isFile())
      throw new UsageError(`${each} is no file: an import reads files, which it can begin anew`);
    else if (form !== undefined) files.push({ path: each, form, bytes: facts.size });
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
      if (facts.isFile()) files.push({ path: below, form, bytes: facts.size });
    }
  }
  return files;
}

function formOf(file: string): ImportForm | undefined {
  return formOfExtension[path.extname(file).toLowerCase()];
}

async function factsOf(file: string): Promise<Stats> {
  return await stat(file).catch((cause: unknown) => refuseUnreadable(file, cause));
}

/** @throws UsageError always */
export function refuseUnreadable(file: string, cause: unknown): never {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  const reason = code === 'ENOENT' ? 'there is no such file or directory' : code;
  throw new UsageError(`${file} cannot be read: ${reason}`, { cause });
}
