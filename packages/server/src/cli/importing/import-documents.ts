/**
 * Content of documents from an export of everything: under the ids that the resources name it by, so that they can be imported
 * afterwards. Each is stored whole or not at all; what is there already is passed over, so that the same call continues.
 */
import { createReadStream, existsSync } from 'node:fs';
import path from 'node:path';
import { makeContentName } from '../../content/names.ts';
import { receive } from '../../content/receive.ts';
import { adoptContent, announceObject, findUploaded } from '../../practice/documents/store.ts';
import { UsageError } from '../command.ts';
import { documentsName, type ListedDocument, readListedDocuments } from '../exporting/everything/export-documents.ts';
import { isPlainPath, manifestName } from '../exporting/everything/manifest.ts';
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
    for (const each of page.filter(({ id }) => !there.has(id))) {
      const problem = await importDocument(loader, directory, each);
      if (problem === undefined) counts.stored += 1;
      else problems.push(`document ${each.id} ${problem}`);
      onCount(counts.stored);
    }
  };
  try {
    for await (const page of readListedDocuments(path.join(directory, documentsName))) await store(page);
  } catch (error) {
    if (!isWithoutDocuments(directory, error)) throw error;
  }
  return { ...counts, problems };
}

/** Whether it is an export that has no list. @throws UsageError for a list that cannot be read */
function isWithoutDocuments(directory: string, error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ENOENT' && existsSync(path.join(directory, manifestName))) return true;
  if (code !== 'ENOENT' && !code.startsWith('Z_') && !(error instanceof SyntaxError)) return false;
  const list = path.join(directory, documentsName);
  throw new UsageError(`${list} cannot be read as the list of an export`, { cause: error });
}

/** What is wrong; undefined: it is stored. */
async function importDocument(
  loader: Loader,
  directory: string,
  { id, path: file, bytes, sha256, mediaType }: ListedDocument,
): Promise<string | undefined> {
  const { clock, content, secrets, store } = loader.platform;
  if (!isPlainPath(file)) return 'has a path that leaves the directory';
  let received: Awaited<ReturnType<typeof receive>>;
  try {
    received = await receive(createReadStream(path.join(directory, file)), content.incoming, Math.max(bytes, 1));
  } catch (error) {
    if (error instanceof RangeError) return 'is not as it was exported';
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 'is missing';
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
