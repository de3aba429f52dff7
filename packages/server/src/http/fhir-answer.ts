/**
 * Answers in the format that the caller wishes: JSON as it was disclosed, XML, or the content of a Binary; compressed where
 * that is worth it (https://hl7.org/fhir/R4/http.html#mime-type, #general).
 */
import type { FastifyReply } from 'fastify';
import { textOf } from '../access/disclosure.ts';
import type { FhirResponse } from '../interactions/context.ts';
import { type AnswerFormat, formatWishes, requireFormat } from './answer-format.ts';
import { nativeContent } from './binary.ts';
import type { Compressor } from './compression.ts';
import { responseHeaders } from './outgoing.ts';
import { representationOf } from './representation.ts';

/**
 * Sends an answer of the data API.
 * @param isBinaryRead whether the content of a Binary may be what is wanted
 * @throws PraxisError `not-acceptable` when a Binary's content is of no type that the caller takes
 */
export async function sendAnswer(
  compressor: Compressor,
  reply: FastifyReply,
  response: FhirResponse,
  isBinaryRead: boolean,
): Promise<FastifyReply> {
  const wishes = formatWishes(reply.request);
  const json = response.body === undefined ? undefined : textOf(response.body);
  const content = isBinaryRead && json !== undefined ? nativeContent(json, wishes) : undefined;
  const format = json === undefined || content !== undefined ? undefined : requireFormat(wishes);
  reply.code(response.status).headers(responseHeaders(response));
  // Answers depend on both credentials and must not rest in shared caches; CORS has its own line of Vary.
  reply.header('cache-control', 'private, no-cache');
  varyBy(reply, 'Accept, Authorization, X-Api-Key');
  if (content !== undefined) return reply.headers(content.headers).send(content.bytes);
  if (json === undefined || format === undefined) return reply.send();
  return sendText(compressor, reply, json, format);
}

/** Sends a disclosed JSON text in a format. To HEAD, Node sends the length of the text and not the text (RFC 9110 §8.6). */
export async function sendText(
  compressor: Compressor,
  reply: FastifyReply,
  json: string,
  format: AnswerFormat,
): Promise<FastifyReply> {
  const text = representationOf(json, format);
  reply.header('content-type', format.contentType);
  if (!compressor.applies(text)) return reply.send(text);
  varyBy(reply, 'Accept-Encoding');
  const compressed = await compressor.compress(text, reply.request.headers['accept-encoding']?.toString());
  if (compressed === undefined) return reply.send(text);
  return reply.header('content-encoding', compressed.coding).send(compressed.bytes);
}

/** Adds header names to Vary. */
export function varyBy(reply: FastifyReply, names: string): void {
  reply.header('vary', [reply.getHeader('vary') ?? [], names].flat().join(', '));
}
