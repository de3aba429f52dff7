/**
 * Files cut into chunks of lines, each about a transaction. Nothing is parsed here: a chunk goes to whoever does. At most one chunk
 * and one line are in memory.
 */
import { readLines } from '../lines.ts';
import { type ImportFile, openUnchanged, readRange, refuseChanged, requireUnchanged } from './files.ts';
import type { FilePlace, Gap } from './places.ts';

/** Longest line of an NDJSON file, in bytes. */
export const lineBytesMax = 64 * 1024 * 1024;
/** Largest JSON file, in bytes: it is in memory as a whole. */
export const jsonBytesMax = 256 * 1024 * 1024;
/** Bytes of the lines of a chunk, about; a line larger than this is a chunk of its own. */
const chunkBytesMax = 1024 * 1024;

/** Consecutive lines of a file, or a file that is one document. */
export interface Chunk {
  /** Number of the file, from 0. */
  readonly file: number;
  /** What of the lines is wanted: those at both ends may be so in part. */
  readonly from: FilePlace;
  readonly to: FilePlace;
  readonly fromLine: number;
  /** Number of the line at `to`. */
  readonly toLine: number;
  /** The lines, one after another without their ends; absent: it is one line, which is too large. */
  readonly bytes: Uint8Array<ArrayBuffer> | undefined;
  /** Of each line: where it begins in the file, and where it ends in `bytes`. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

/** How many lines a chunk has, at most: asked for each, since it follows how long a transaction takes. */
export type LinesMax = () => number;

/** The chunks of a gap of a file, in order. @throws UsageError when the file cannot be read */
export function cutGap(file: ImportFile, number: number, gap: Gap, linesMax: LinesMax): AsyncGenerator<Chunk> {
  return file.form === 'ndjson' ? cutLines(file, number, gap, linesMax) : readDocument(file, number, gap);
}

async function* cutLines(file: ImportFile, number: number, gap: Gap, linesMax: LinesMax): AsyncGenerator<Chunk> {
  if (gap.from.byte >= file.bytes) return;
  const handle = await openUnchanged(file, gap.fromLine);
  const cut = new Cut(number, gap);
  const take = async (): Promise<Chunk> => {
    await requireUnchanged(file, handle, cut.fromLine);
    return cut.take();
  };
  try {
    const read = readRange(file, handle, gap.from.byte, file.bytes);
    for await (const { bytes, from, next } of readLines(read, lineBytesMax)) {
      const start = gap.from.byte + from;
      if (start > gap.to.byte || (start === gap.to.byte && gap.to.entry === 0)) break;
      if (cut.isFull(linesMax(), bytes?.length ?? lineBytesMax)) yield await take();
      cut.add(start, gap.from.byte + next, bytes);
    }
    // The last line may be a part of one: nothing of such a file is taken.
    if (!cut.hasReached(gap.to)) refuseChanged(file, cut.fromLine);
    if (!cut.isEmpty) yield await take();
  } finally {
    await handle.close();
  }
}

/** The chunk that is being filled. */
class Cut {
  readonly #file: number;
  readonly #gap: Gap;
  #from: FilePlace;
  #fromLine: number;
  #next = 0;
  #length = 0;
  #hasLarge = false;
  #parts: Buffer[] = [];
  #starts: number[] = [];
  #ends: number[] = [];

  constructor(file: number, gap: Gap) {
    this.#file = file;
    this.#gap = gap;
    this.#from = gap.from;
    this.#fromLine = gap.fromLine;
  }

  /** Number of the first line that is not taken. */
  get fromLine(): number {
    return this.#fromLine;
  }

  /** Whether the lines before a place were added, and that at the place where something of it is wanted. */
  hasReached({ byte, entry }: FilePlace): boolean {
    return entry > 0 ? this.#next > byte : this.#next >= byte;
  }

  get isEmpty(): boolean {
    return this.#starts.length === 0;
  }

  isFull(linesMax: number, more: number): boolean {
    if (this.isEmpty) return false;
    return this.#hasLarge || this.#starts.length >= linesMax || this.#length + more > chunkBytesMax;
  }

  add(start: number, next: number, bytes: Buffer | undefined): void {
    this.#starts.push(start);
    this.#next = next;
    if (bytes === undefined) this.#hasLarge = true;
    else this.#parts.push(bytes);
    this.#length += bytes?.length ?? 0;
    this.#ends.push(this.#length);
  }

  take(): Chunk {
    const { to } = this.#gap;
    const isLast = this.#next >= to.byte;
    const end: FilePlace = isLast && (to.entry > 0 || this.#next === to.byte) ? to : { byte: this.#next, entry: 0 };
    const lines = this.#starts.length;
    const chunk: Chunk = {
      file: this.#file,
      from: this.#from,
      to: end,
      fromLine: this.#fromLine,
      // The line at the end is the last one where it is wanted in part.
      toLine: this.#fromLine + lines - Number(end.entry > 0),
      bytes: this.#hasLarge ? undefined : joinParts(this.#parts, this.#length),
      starts: this.#starts,
      ends: this.#ends,
    };
    this.#from = end;
    this.#fromLine += lines;
    this.#length = 0;
    this.#hasLarge = false;
    this.#parts = [];
    this.#starts = [];
    this.#ends = [];
    return chunk;
  }
}

/** In memory of its own, which can be handed to another thread. */
function joinParts(parts: readonly Buffer[], length: number): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(new ArrayBuffer(length));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

async function* readDocument(document: ImportFile, file: number, gap: Gap): AsyncGenerator<Chunk> {
  const place = { file, from: gap.from, to: gap.to, fromLine: 1, toLine: 1, starts: [0] };
  if (document.bytes > jsonBytesMax) {
    yield { ...place, bytes: undefined, ends: [0] };
    return;
  }
  const handle = await openUnchanged(document, 1);
  try {
    const bytes = await handle.readFile();
    await requireUnchanged(document, handle, 1);
    yield { ...place, bytes: joinParts([bytes], bytes.length), ends: [bytes.length] };
  } finally {
    await handle.close();
  }
}
