/**
 * The lines of a stream of bytes, one at a time, whatever the length of the stream (https://github.com/ndjson/ndjson-spec).
 */

export interface Line {
  /** From 1; empty lines count. */
  readonly number: number;
  /** Without the line's end; undefined when there are more than `bytesMax`. */
  readonly bytes: Buffer | undefined;
  /** Where it begins in the stream, in bytes. */
  readonly from: number;
  /** Where the next one begins. */
  readonly next: number;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/**
 * All lines of `chunks`, empty ones too, ended by LF or CRLF; the last one needs no end. No more than one line and one chunk
 * are kept in memory: of a line that is longer than `bytesMax` nothing is kept.
 */
export async function* readLines(chunks: AsyncIterable<Buffer>, bytesMax: number): AsyncGenerator<Line> {
  let number = 1;
  let parts: Buffer[] = [];
  let length = 0;
  let start = 0;
  const keep = (part: Buffer): void => {
    length += part.length;
    if (length > bytesMax) parts = [];
    else if (part.length > 0) parts.push(part);
  };
  const finish = (endBytes: number): Line => {
    const next = start + length + endBytes;
    const line = { number, bytes: length > bytesMax ? undefined : withoutReturn(joined(parts)), from: start, next };
    start = next;
    number += 1;
    parts = [];
    length = 0;
    return line;
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, from)) {
      keep(chunk.subarray(from, end));
      yield finish(1);
      from = end + 1;
    }
    keep(chunk.subarray(from));
  }
  if (length > 0) yield finish(0);
}

function joined(parts: readonly Buffer[]): Buffer {
  const [first] = parts;
  return first !== undefined && parts.length === 1 ? first : Buffer.concat(parts);
}

function withoutReturn(line: Buffer): Buffer {
  return line.at(-1) === carriageReturn ? line.subarray(0, -1) : line;
}
