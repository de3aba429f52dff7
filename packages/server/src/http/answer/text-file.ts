/**
 * Texts that are the same for every caller and as long as the process lives: made and compressed once, with an ETag
 * (RFC 9110 §8.8.3, §13.1.2).
 */
import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { type Compressor, type ContentCoding, chooseContentCoding } from './compression.ts';
import { addVary } from './fhir-answer.ts';

export interface TextFile {
  readonly contentType: string;
  /** UTF-8: what is kept takes its bytes, and is not encoded for each answer. */
  readonly text: Buffer;
  readonly etag: string;
  /** Compressed texts by coding, as far as they were asked for. */
  readonly compressed: Map<ContentCoding, Buffer>;
}

/** Seconds that caches may keep the texts before they ask again. */
const freshSeconds = 300;

export function makeTextFile(contentType: string, text: string): TextFile {
  return { contentType, text: Buffer.from(text), etag: computeEntityTag(text), compressed: new Map() };
}

/** Bytes that it takes, with what it was compressed to. */
export function countKeptBytes({ text, compressed }: TextFile): number {
  return [...compressed.values()].reduce((sum, { byteLength }) => sum + byteLength, text.byteLength);
}

/** An ETag that changes with the text; weak, since formats and codings share it. */
export function computeEntityTag(text: string): string {
  return `W/"${hash('sha256', text, 'base64url').slice(0, 22)}"`;
}

/** 200 with the text, or 304 where the caller has it. To HEAD, Node sends the length of the text and not the text. */
export async function sendTextFile(compressor: Compressor, file: TextFile, reply: FastifyReply): Promise<FastifyReply> {
  const { headers } = reply.request;
  reply
    .header('cache-control', `public, max-age=${freshSeconds}`)
    .header('etag', file.etag)
    .header('x-content-type-options', 'nosniff');
  if (compressor.applies(file.text)) addVary(reply, 'Accept-Encoding');
  if (isKnown(headers['if-none-match'], file.etag)) return reply.code(304).send();
  reply.header('content-type', file.contentType);
  const coding = chooseContentCoding(headers['accept-encoding']?.toString() ?? '');
  const bytes = coding && (await compressedText(compressor, file, coding));
  if (coding === undefined || bytes === undefined) return reply.send(file.text);
  return reply.header('content-encoding', coding).send(bytes);
}

/** Whether If-None-Match lists the tag, by weak comparison. */
function isKnown(header: string | undefined, etag: string): boolean {
  const tags = header?.split(',').map((tag) => tag.trim()) ?? [];
  return tags.some((tag) => tag === '*' || `W/${tag.replace(/^W\//, '')}` === etag);
}

async function compressedText(
  compressor: Compressor,
  file: TextFile,
  coding: ContentCoding,
): Promise<Buffer | undefined> {
  const known = file.compressed.get(coding);
  if (known !== undefined) return known;
  const made = await compressor.compress(file.text, coding);
  if (made !== undefined) file.compressed.set(made.coding, made.bytes);
  return made?.bytes;
}
