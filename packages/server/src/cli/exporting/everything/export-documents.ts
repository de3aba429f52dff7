/** Content of documents: a list of what resources hold, of one moment, and the bytes of each as a file. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline as join, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { Platform } from '../../../app.ts';
import type { ContentStore } from '../../../content/content-store.ts';
import { isTaken } from '../../../content/media-types.ts';
import type { Queryable } from '../../../database/database.ts';
import { sql } from '../../../database/sql.ts';
import { readLines } from '../../lines.ts';
import type { ExportDirectory } from './export-directory.ts';
import { isPlainPath, type ListedFile } from './manifest.ts';

export const documentsName = 'documents.ndjson.gz';
const contentsOfPage = 500;

/** A line of the list. Resources name content as `urn:praxis:content:{id}`. */
export interface ListedDocument {
  readonly id: string;
  /** Where its bytes lie in the directory. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly mediaType: string;
  /** Milliseconds since 1970. */
  readonly uploaded: number;
  /** Number of the application that uploaded it. */
  readonly application: number;
  /** References of the resources that hold it, in whatever version. */
  readonly holders: readonly string[];
}

interface ContentRow {
  readonly id: string;
  readonly size: number;
  readonly sha256: Buffer;
  readonly media_type: string;
  readonly uploaded: number;
  readonly application: number;
  readonly holders: readonly string[];
}

/** Writes the list of what resources hold. Undefined: the firm has no documents. @param tx of the moment */
export async function exportDocumentList(
  tx: Queryable,
  directory: ExportDirectory,
  firm: number,
): Promise<ListedFile | undefined> {
  let file: Awaited<ReturnType<ExportDirectory['begin']>> | undefined;
  for (let after = ''; ; ) {
    const page = await tx.query<ContentRow>(sql`
      SELECT c.id, c.size, c.sha256, c.media_type, c.uploaded, c.application, ARRAY(
        SELECT h.holder FROM content_holder h WHERE h.firm = ${firm} AND h.content = c.id ORDER BY h.holder) AS holders
      FROM document_content c
      WHERE c.firm = ${firm} AND c.id > ${after} AND c.held AND c.object_key IS NOT NULL ORDER BY c.id LIMIT ${contentsOfPage}`);
    for (const row of page) {
      file ??= await directory.begin(documentsName);
      await file.write(JSON.stringify(toListed(row)));
    }
    const last = page.at(-1);
    if (last === undefined || page.length < contentsOfPage) break;
    after = last.id;
  }
  return file === undefined ? undefined : { ...(await file.finish()), kind: 'documents' };
}

/** Their ends spread files over directories. @throws TypeError for an id that is none of ours: it would be a path */
function toListed({ id, size, sha256, media_type: mediaType, ...row }: ContentRow): ListedDocument {
  const path = `documents/${id.slice(-2)}/${id}`;
  if (!idPattern.test(id) || !isPlainPath(path)) throw new TypeError('the id of a document is none of ours');
  return { id, path, bytes: size, sha256: sha256.toString('hex'), mediaType, ...row };
}

export interface ExportedContents {
  readonly counts: { readonly files: number; readonly bytes: number; readonly missing: number };
  /** What is missing or was altered, one line each; it hinders nothing. */
  readonly problems: readonly string[];
}

/** Writes the bytes of what is listed, which is never removed and never changes. @param hasList whether there is a list */
export async function exportContents(
  { database, content }: Platform,
  directory: ExportDirectory,
  firm: number,
  hasList: boolean,
  onCount: (count: number) => void,
): Promise<ExportedContents> {
  const problems: string[] = [];
  const counts = { files: 0, bytes: 0, missing: 0 };
  if (!hasList) return { counts, problems };
  for await (const page of readListedDocuments(await directory.place(documentsName))) {
    const ids = page.map(({ id }) => id);
    const rows = await database
      .forFirm(firm)
      .query<{ id: string; name: string }>(
        sql`SELECT id, object_key AS name FROM document_content WHERE firm = ${firm} AND id = ANY (${ids}::text[])`,
      );
    const names = new Map(rows.map(({ id, name }) => [id, name]));
    for (const each of page) {
      const name = names.get(each.id);
      const problem = name === undefined ? 'was removed' : await exportContent(directory, content.store, name, each);
      if (problem === undefined) counts.files += 1;
      else counts.missing += 1;
      if (problem === undefined) counts.bytes += each.bytes;
      else if (problems.length < problemsMax)
        problems.push(`document ${each.id} (${each.holders.join(', ')}) ${problem}`);
      onCount(counts.files);
    }
  }
  return { counts, problems };
}

/** Contents that are named as missing, at most; all are counted. */
const problemsMax = 1_000;

/** Longest line of the list, in bytes. */
const lineBytesMax = 4 * 1024 * 1024;

export interface DocumentLine {
  readonly number: number;
  /** The document, or what is wrong with the line. */
  readonly document: ListedDocument | string;
}

/** The lines of a list, some at a time, each checked. @param source its bytes, compressed */
export async function* readDocumentLines(source: Readable): AsyncGenerator<readonly DocumentLine[]> {
  // Errors of the file reach whoever reads the unzipped stream.
  const unzipped = join(source, createGunzip(), () => undefined);
  let page: DocumentLine[] = [];
  for await (const { number, bytes } of readLines(unzipped, lineBytesMax)) {
    page.push({ number, document: parseListed(bytes) });
    if (page.length < contentsOfPage) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

/** The documents of a list. @throws SyntaxError for a line that is none */
export async function* readListedDocuments(file: string): AsyncGenerator<readonly ListedDocument[]> {
  for await (const page of readDocumentLines(createReadStream(file)))
    yield page.map(({ number, document }) => {
      if (typeof document === 'string') throw new SyntaxError(`line ${number} ${document}`);
      return document;
    });
}

/** Ids of content are UUIDs: they become names of files, and keys of the database. */
const idPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** What each member of a line is. */
const members: Readonly<Record<keyof ListedDocument, readonly [is: (value: unknown) => boolean, rule: string]>> = {
  id: [(value) => typeof value === 'string' && idPattern.test(value), 'must be a UUID in lower case'],
  path: [isPlainPath, 'must be a path below the directory'],
  bytes: [isCount, 'must be a whole number of at least 0'],
  sha256: [
    (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value),
    'must be 64 hexadecimal digits in lower case',
  ],
  mediaType: [(value) => typeof value === 'string' && isTaken(value), 'must be a media type that documents may have'],
  uploaded: [isCount, 'must be a whole number of at least 0'],
  application: [isCount, 'must be a whole number of at least 0'],
  holders: [
    (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
    'must be a list of references',
  ],
};

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function parseListed(bytes: Buffer | undefined): ListedDocument | string {
  if (bytes === undefined) return `is longer than ${lineBytesMax} bytes`;
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    return 'is no JSON';
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'is no JSON object';
  const given = new Map(Object.entries(value));
  for (const [name, [is, rule]] of Object.entries(members)) if (!is(given.get(name))) return `${name} ${rule}`;
  return value as ListedDocument;
}

/** Writes the bytes to their file. Gives what is wrong with them: then there is no file. */
async function exportContent(
  directory: ExportDirectory,
  store: ContentStore,
  name: string,
  { path, bytes, sha256 }: ListedDocument,
): Promise<string | undefined> {
  const at = await directory.place(path);
  const hash = createHash('sha256');
  let found = 0;
  const measure = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      hash.update(chunk);
      found += chunk.length;
      yield chunk;
    }
  };
  const target = createWriteStream(at, { flags: 'w', mode: 0o600, flush: true });
  let fault: unknown;
  target.on('error', (error) => {
    fault ??= error;
  });
  try {
    await pipeline(await store.open(name), measure, target);
  } catch (error) {
    // A disk that is full, for instance, is no fault of the content.
    if (fault === error) throw error;
    target.destroy();
    await rm(at, { force: true });
    return `cannot be read: ${error instanceof Error ? error.message : 'unknown'}`;
  }
  if (found === bytes && hash.digest('hex') === sha256) return undefined;
  await rm(at, { force: true });
  return 'was altered';
}
