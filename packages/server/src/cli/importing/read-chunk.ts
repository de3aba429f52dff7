/**
 * From the bytes of a chunk to resources: lines and documents are parsed losslessly, Bundles unpacked, ids made where there are none.
 * What cannot be read is told with its file and line, and stops nothing else.
 */
import { isJsonObject, JsonError, type JsonObject, parseJson } from '@praxis/fhir';
import { isUnpacked, readBundleContent } from './bundle-entries.ts';
import { type Chunk, jsonBytesMax, lineBytesMax } from './chunks.ts';
import type { ImportFile } from './files.ts';
import { comparePlaces, type FilePlace } from './places.ts';
import type { ImportItem } from './plan-batch.ts';
import { describeProblem, type ImportProblem } from './problem.ts';

/** What is at a place: a resource that is not validated yet, or problems of what is none. */
export interface ReadEntry {
  readonly place: FilePlace;
  readonly line: number;
  readonly item: ImportItem | undefined;
  readonly problems: readonly ImportProblem[];
}

/** Makes the id of the resource that has none, the n-th of the line that begins at a byte: the same each time. */
export type MakeId = (byte: number, n: number) => string;

type File = Pick<ImportFile, 'path' | 'form'>;

/** What the chunk holds, in order. */
export function* readChunk(chunk: Chunk, file: File, makeId: MakeId): Generator<ReadEntry> {
  const { bytes, starts, ends, from, to, fromLine } = chunk;
  for (const [index, byte] of starts.entries()) {
    const line = fromLine + index;
    const entries =
      bytes === undefined
        ? [refuseSize(file, { byte, line })]
        : readLine(bytes.subarray(index === 0 ? 0 : ends[index - 1], ends[index]), file, { byte, line }, makeId);
    for (const entry of entries)
      if (comparePlaces(entry.place, from) >= 0 && comparePlaces(entry.place, to) < 0) yield entry;
  }
}

interface LinePlace {
  readonly byte: number;
  readonly line: number;
}

function refuseSize({ path, form }: File, { byte, line }: LinePlace): ReadEntry {
  const problem =
    form === 'ndjson'
      ? describeProblem(`${path}:${line}`, 'body-too-large', `a line may have ${lineBytesMax} bytes at most`)
      : describeProblem(
          path,
          'body-too-large',
          `a JSON file may have ${jsonBytesMax} bytes at most: NDJSON (one resource a line) has no limit`,
        );
  return { place: { byte, entry: 0 }, line, item: undefined, problems: [problem] };
}

function* readLine(
  bytes: Uint8Array,
  { path, form }: File,
  { byte, line }: LinePlace,
  makeId: MakeId,
): Generator<ReadEntry> {
  if (form === 'ndjson' && isBlank(bytes)) return;
  const origin = form === 'ndjson' ? `${path}:${line}` : path;
  const inLine = (number: number): string => (form === 'ndjson' ? origin : `${path}:${number}`);
  const value = parse(bytes, origin, inLine);
  const at = (entry: number, item: ImportItem | undefined, problems: readonly ImportProblem[]): ReadEntry => ({
    place: { byte, entry },
    line,
    item,
    problems,
  });
  if ('problem' in value) return yield at(0, undefined, [value.problem]);
  const { resource } = value;
  if (!isUnpacked(resource)) {
    const newId = resource.id === undefined ? makeId(byte, 0) : undefined;
    return yield at(0, new LineItem(bytes, resource, newId, origin), []);
  }
  let made = 0;
  const { entries, problems } = readBundleContent(resource, () => makeId(byte, made++));
  const told = problems.map(({ diagnostics, more }) => ({
    ...describeProblem(origin, 'bundle-invalid', diagnostics),
    issues: [diagnostics, ...more].map((words) => ({ diagnostics: words, expression: [findElement(words)] })),
  }));
  if (entries.length === 0) return yield at(0, undefined, told);
  const size = Math.ceil(bytes.length / entries.length);
  for (const [index, entry] of entries.entries())
    yield at(index, { resource: entry.resource, origin: `${origin} ${entry.path}`, size }, index === 0 ? told : []);
}

/** The resource of a line. */
class LineItem implements ImportItem {
  readonly origin: string;
  readonly name: string;
  readonly #bytes: Uint8Array;
  readonly #newId: string | undefined;
  #resource: JsonObject | undefined;

  /** @param newId its id where it has none */
  constructor(bytes: Uint8Array, resource: JsonObject, newId: string | undefined, origin: string) {
    this.origin = origin;
    this.#bytes = bytes;
    this.#newId = newId;
    this.#resource = this.#identify(resource);
    this.name = `${String(resource.resourceType)}/${String(this.#resource.id)}`;
  }

  get size(): number {
    return this.#bytes.length;
  }

  get resource(): JsonObject {
    if (this.#resource === undefined) {
      const parsed = parse(this.#bytes, this.origin, () => this.origin);
      if ('problem' in parsed) throw new TypeError('a line is what it was');
      this.#resource = this.#identify(parsed.resource);
    }
    return this.#resource;
  }

  forget(): void {
    this.#resource = undefined;
  }

  #identify(resource: JsonObject): JsonObject {
    return this.#newId === undefined ? resource : { ...resource, id: this.#newId };
  }
}

/** The path that the words begin with. */
function findElement(words: string): string {
  return /^[\w.[\]]+/.exec(words)?.[0] ?? 'Bundle';
}

type Parsed = { readonly resource: JsonObject } | { readonly problem: ImportProblem };

/** The object that the text is. */
function parse(bytes: Uint8Array, origin: string, inLine: (line: number) => string): Parsed {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    // The only error that a fatal decoder throws.
    return { problem: describeProblem(origin, 'json-malformed', 'must be UTF-8: some of its bytes are not') };
  }
  try {
    const resource = parseJson(text);
    if (isJsonObject(resource) && typeof resource.resourceType === 'string') return { resource };
    return { problem: describeProblem(origin, 'json-malformed', 'must be a JSON object with a resourceType') };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    // The line is in the origin already.
    const diagnostics = error.message.replace(/\(line \d+, column (\d+)\)$/, '(column $1)');
    return { problem: describeProblem(inLine(error.line), 'json-malformed', diagnostics, error.path || undefined) };
  }
}

/** A byte order mark is passed over. */
const decoder = new TextDecoder('utf-8', { fatal: true });

/** A byte order mark may be all that a line has. */
function isBlank(bytes: Uint8Array): boolean {
  const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return (isMarked ? bytes.subarray(3) : bytes).every((byte) => byte === 0x20 || byte === 0x09);
}
