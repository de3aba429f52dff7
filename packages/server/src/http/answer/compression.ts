/**
 * Compression of answers (RFC 9110 §12.5.3), with node:zlib in its thread pool.
 *
 * Only answers of the data API and the documentation are compressed. Those of the token endpoints hold secrets and are not; neither is the raw
 * content of a Binary, which mostly is compressed already.
 */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

export type ContentCoding = 'br' | 'gzip';

const compressGzip = promisify(gzip);
const compressBrotli = promisify(brotliCompress);

/** Content coding → compression, at the level where more time buys little. */
const codings: Readonly<Record<ContentCoding, (text: string | Buffer) => Promise<Buffer>>> = {
  br: (text) => compressBrotli(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  gzip: (text) => compressGzip(text, { level: 4, chunkSize: chooseChunkSize(text.length) }),
};

/** Bytes that are compressed to between two turns of the event loop, by default and at most. */
const chunkBytes = { default: 16_384, max: 1_048_576 };

/** About what the text is compressed to: a large one would wait for the event loop once for each chunk. */
function chooseChunkSize(length: number): number {
  return Math.min(chunkBytes.max, Math.max(chunkBytes.default, length >> 3));
}

/** Answers compressed at the same time; further ones are sent as they are, so that a busy server does not fall behind. */
const compressionsMax = 8;

export interface Compressed {
  readonly coding: ContentCoding;
  readonly bytes: Buffer;
}

export interface Compressor {
  /** Whether an answer depends on Accept-Encoding. */
  applies(text: string | Buffer): boolean;
  /** The text in the coding that the caller prefers; undefined when it is to be sent as it is. */
  compress(text: string | Buffer, acceptEncoding: string | undefined): Promise<Compressed | undefined>;
}

/** Compresses texts of `bytesMin` characters or bytes and more; 0 = none. */
export function openCompressor(bytesMin: number): Compressor {
  let running = 0;
  const applies = (text: string | Buffer): boolean => bytesMin > 0 && text.length >= bytesMin;
  return {
    applies,
    async compress(text, acceptEncoding) {
      if (acceptEncoding === undefined || !applies(text) || running >= compressionsMax) return undefined;
      const coding = chooseContentCoding(acceptEncoding);
      if (coding === undefined) return undefined;
      running += 1;
      try {
        return { coding, bytes: await codings[coding](text) };
      } finally {
        running -= 1;
      }
    },
  };
}

/** The coding with the highest weight; brotli among equals. Undefined when the text is to be sent as it is. */
export function chooseContentCoding(acceptEncoding: string): ContentCoding | undefined {
  const weights = new Map<string, number>();
  for (const part of acceptEncoding.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    weights.set(name, quality === undefined ? 1 : Number(quality));
  }
  const weightOf = (coding: ContentCoding): number => weights.get(coding) ?? weights.get('*') ?? 0;
  const best = weightOf('gzip') > weightOf('br') ? 'gzip' : 'br';
  return weightOf(best) > 0 ? best : undefined;
}
