/**
 * From files to resources: lines and documents are parsed losslessly, Bundles unpacked, ids made where there are none. What
 * cannot be read is told with its file and line, and stops nothing else.
 */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { isJsonObject, JsonError, type JsonObject, parseJson } from '@praxis/fhir';
import { readLines } from '../lines.ts';
import type { LoadItem, LoadProblem } from '../loading.ts';
import { isUnpacked, readBundleContent } from './bundle-entries.ts';
import { type ImportFile, refuseUnreadable } from './files.ts';

/** Longest line of an NDJSON file, in bytes. */
export const lineBytesMax = 64 * 1024 * 1024;
/** Largest JSON file, in bytes: it is in memory as a whole. */
const jsonBytesMax = 256 * 1024 * 1024;
const chunkBytes = 256 * 1024;

export interface ReadOptions {
  /** Makes the id of a resource that has none. */
  readonly newId: () => string;
  /** Once per line, document or Bundle entry that is refused. */
  readonly onProblem: (problem: LoadProblem) => void;
  /** After each line or document: bytes read of all files. */
  readonly onRead?: (bytes: number) => void;
}

/** The resources of `files` in their order, not validated yet. At most one line or JSON file is in memory. */
export async function* readItems(files: readonly ImportFile[], options: ReadOptions): AsyncGenerator<LoadItem> {
  let before = 0;
  for (const file of files) {
    const onRead = (bytes: number): void => options.onRead?.(before + bytes);
    yield* file.form === 'ndjson' ? linesOf(file, options, onRead) : documentOf(file, options);
    before += file.bytes;
    onRead(0);
  }
}

async function* linesOf(
  file: ImportFile,
  options: ReadOptions,
  onRead: (bytes: number) => void,
): AsyncGenerator<LoadItem> {
  const stream = createReadStream(file.path, { highWaterMark: chunkBytes });
  stream.on('error', () => undefined); // the loop below gets it, too
  try {
    for await (const { number, bytes } of readLines(stream, lineBytesMax)) {
      const origin = `${file.path}:${number}`;
      if (bytes === undefined)
        options.onProblem({ origin, diagnostics: `a line may have ${lineBytesMax} bytes at most` });
      else if (!isBlank(bytes)) yield* itemsOf(bytes, { line: origin, inLine: () => origin }, options);
      onRead(stream.bytesRead);
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && 'syscall' in error) refuseUnreadable(file.path, error);
    throw error;
  }
}

async function* documentOf(file: ImportFile, options: ReadOptions): AsyncGenerator<LoadItem> {
  if (file.bytes > jsonBytesMax) {
    options.onProblem({
      origin: file.path,
      diagnostics: `a JSON file may have ${jsonBytesMax} bytes at most: NDJSON (one resource a line) has no limit`,
    });
    return;
  }
  const handle = await open(file.path).catch((cause: unknown) => refuseUnreadable(file.path, cause));
  try {
    const bytes = await handle.readFile();
    yield* itemsOf(bytes, { line: file.path, inLine: (line) => `${file.path}:${line}` }, options);
  } finally {
    await handle.close();
  }
}

/** Where a text came from: for what concerns all of it, and for a fault in one of its lines. */
interface Place {
  readonly line: string;
  readonly inLine: (line: number) => string;
}

function* itemsOf(bytes: Buffer, place: Place, options: ReadOptions): Generator<LoadItem> {
  const value = parsed(bytes, place, options);
  if (value === undefined) return;
  if (!isUnpacked(value)) {
    const resource = value.id === undefined ? { ...value, id: options.newId() } : value;
    yield { resource, origin: place.line, size: bytes.length };
    return;
  }
  const { entries, problems } = readBundleContent(value, options.newId);
  for (const { diagnostics, more } of problems) options.onProblem({ origin: place.line, diagnostics, more });
  for (const { path, resource } of entries)
    yield { resource, origin: `${place.line} ${path}`, size: Math.ceil(bytes.length / entries.length) };
}

/** The object that the text is; undefined, with a problem, when it is none. */
function parsed(bytes: Buffer, place: Place, options: ReadOptions): JsonObject | undefined {
  const text = decoded(bytes);
  if (text === undefined) {
    options.onProblem({ origin: place.line, diagnostics: 'must be UTF-8: some of its bytes are not' });
    return undefined;
  }
  try {
    const value = parseJson(text);
    if (isJsonObject(value) && typeof value.resourceType === 'string') return value;
    options.onProblem({ origin: place.line, diagnostics: 'must be a JSON object with a resourceType' });
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    // The line is in the origin already.
    const diagnostics = error.message.replace(/\(line \d+, column (\d+)\)$/, '(column $1)');
    options.onProblem({ origin: place.inLine(error.line), diagnostics });
  }
  return undefined;
}

/** A byte order mark is passed over. */
const decoder = new TextDecoder('utf-8', { fatal: true });

function decoded(bytes: Buffer): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined; // the only error that a fatal decoder throws
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09);
}
