/**
 * Files of a bulk export: whole, compressed where the caller takes that, or a range of the bytes without compression. Ranges of
 * compressed bytes are not served: they are made anew for each request (docs/decisions/0314).
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { ByteRange } from '../../content/content-store.ts';
import type { Compressor } from './compression.ts';
import { encodeLines } from './encode.ts';
import { findRange, hasKnownTag } from './ranges.ts';

/** Whatever the caller takes: there is no other form of the files. */
const contentType = 'application/fhir+ndjson; charset=utf-8';

/**
 * 200, 206 or 304. The entity tag is a hash of the bytes without compression; it is weak where they are compressed.
 * @param nextSlice resolves when the next slice of the event loop may begin
 * @throws PraxisError `range-invalid`
 */
export async function sendFile(
  compressor: Compressor,
  reply: FastifyReply,
  lines: readonly string[],
  nextSlice: () => Promise<void>,
): Promise<FastifyReply> {
  const { headers, method } = reply.request;
  const hash = createHash('sha256');
  const pieces = await encodeLines(lines, nextSlice, (piece) => hash.update(piece));
  const etag = `"${hash.digest('base64url')}"`;
  reply.header('accept-ranges', 'bytes').header('etag', etag);
  if (hasKnownTag(headers, etag)) return reply.code(304).send();
  reply.header('content-type', contentType);
  const isPart = method === 'GET' && headers.range !== undefined;
  const compressed = isPart
    ? undefined
    : await compressor.compress(Buffer.concat(pieces), headers['accept-encoding']?.toString());
  if (compressed !== undefined)
    return reply.header('etag', `W/${etag}`).header('content-encoding', compressed.coding).send(compressed.bytes);
  const size = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const range = isPart ? findRange(headers, etag, size) : undefined;
  if (range !== undefined) reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${size}`);
  const sent = range === undefined ? pieces : cut(pieces, range);
  reply.header('content-length', range === undefined ? size : range.end - range.start + 1);
  return method === 'HEAD' ? reply.send('') : reply.send(Readable.from(sent));
}

/** The pieces of the bytes of a range. */
function cut(pieces: readonly Buffer[], { start, end }: ByteRange): readonly Buffer[] {
  const within: Buffer[] = [];
  let at = 0;
  for (const piece of pieces) {
    const part = piece.subarray(Math.max(0, start - at), Math.max(0, end + 1 - at));
    if (part.length > 0) within.push(part);
    at += piece.length;
  }
  return within;
}
