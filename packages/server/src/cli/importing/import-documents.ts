/**
 * Content of documents from an export of everything: under the ids that the resources name it by, so that they can be imported
 * afterwards. Each is stored whole or not at all; what is there already is passed over, so that the same call continues.
 */
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { makeContentName } from '../../content/names.ts';
import { receive } from '../../content/receive.ts';
import { adoptContent, announceObject, findUploaded } from '../../practice/documents/store.ts';
import { UsageError } from '../command.ts';
import { documentsName, type ListedDocument, readDocumentLines } from '../exporting/everything/export-documents.ts';
import { manifestName } from '../exporting/everything/manifest.ts';
import { type FileFault, openPlainFile } from '../exporting/everything/plain-file.ts';
import { type Loader, withRights } from './loader.ts';

export interface ImportedDocuments {
  readonly stored: number;
  /** Those that were there. */
  readonly skipped: number;
  /** What was not stored, one line each. */
  readonly problems: readonly string[];
}

/** @throws UsageError where the directory is no export; one without documents has no list of them */
export async function importDocuments(
  loader: Loader,
  directory: string,
  onCount: (count: number) => void,
): Promise<ImportedDocuments> {
  const counts = { stored: 0, skipped: 0 };
  const problems: string[] = [];
  const store = async (page: readonly ListedDocument[]): Promise<void> => {
    const ids = page.map(({ id }) => id);
    const there = await withRights(loader, ({ scope }) => findUploaded(loader.platform.store, scope, ids));
    counts.skipped += there.size;
    const seen = new Set<string>();
    for (const each of page.filter(({ id }) => !there.has(id))) {
      const problem = seen.has(each.id) ? 'is listed twice' : await importDocument(loader, directory, each);
      seen.add(each.id);
      if (problem === undefined) counts.stored += 1;
      else problems.push(`document ${each.id} ${problem}`);
      onCount(counts.stored);
    }
  };
  const list = await openList(directory);
  if (list === undefined) return { ...counts, problems };
  await using handle = list;
  try {
    for await (const page of readDocumentLines(handle.createReadStream({ autoClose: false }))) {
      const documents: ListedDocument[] = [];
      for (const { number, document } of page)
        if (typeof document === 'string') problems.push(`line ${number} of ${documentsName}: ${document}`);
        else documents.push(document);
      await store(documents);
    }
  } catch (error) {
    // Of zlib: it is not compressed, or is cut off.
    if (!(error instanceof Error && 'code' in error && String(error.code).startsWith('Z_'))) throw error;
    throw makeListError(directory, error);
  }
  return { ...counts, problems };
}

/** Undefined: it is an export that has no list. @throws UsageError where it is no export */
async function openList(directory: string): Promise<FileHandle | undefined> {
  const list = await openFile(directory, documentsName);
  if (typeof list !== 'string') return list;
  const manifest = list === 'is missing' ? await openFile(directory, manifestName) : list;
  if (typeof manifest === 'string') throw makeListError(directory, list);
  await manifest.close();
  return undefined;
}

async function openFile(directory: string, name: string): Promise<FileHandle | FileFault> {
  return await openPlainFile(directory, name).catch((error: unknown) => {
    throw makeListError(directory, error);
  });
}

function makeListError(directory: string, cause: unknown): UsageError {
  return new UsageError(`${path.join(directory, documentsName)} cannot be read as the list of an export`, { cause });
}

/** What is wrong; undefined: it is stored. */
async function importDocument(
  loader: Loader,
  directory: string,
  { id, path: file, bytes, sha256, mediaType }: ListedDocument,
): Promise<string | undefined> {
  const { clock, content, secrets, store } = loader.platform;
  const handle = await openPlainFile(directory, file);
  if (typeof handle === 'string') return handle;
  await using opened = handle;
  let received: Awaited<ReturnType<typeof receive>>;
  try {
    received = await receive(opened.createReadStream({ autoClose: false }), content.incoming, Math.max(bytes, 1));
  } catch (error) {
    if (error instanceof RangeError) return 'is not as it was exported';
    throw error;
  }
  // What came in and is refused goes with the files that never came in whole (practice/documents/upkeep.ts).
  if (received.size !== bytes || received.sha256.toString('hex') !== sha256) return 'is not as it was exported';
  const name = makeContentName(secrets, loader.firm.id);
  await withRights(loader, ({ scope }) => announceObject(store, scope, name, clock.now()));
  await content.store.put(name, received);
  const { size, sha1 } = received;
  const uploaded = { name, size, mediaType, sha256: received.sha256, sha1 };
  await withRights(loader, ({ scope }) => adoptContent(store, scope, id, uploaded, clock.now()));
  return undefined;
}
