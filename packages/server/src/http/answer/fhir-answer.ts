/**
 * Answers in the format that the caller wishes: JSON as it was disclosed, XML, lines of a list, or the content of a Binary;
 * compressed where that is worth it (https://hl7.org/fhir/R4/http.html#mime-type, #general).
 */
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { unwrapDisclosed } from '../../access/disclosure.ts';
import type { FhirResponse } from '../../engine/context.ts';
import { findNativeContent } from '../binary.ts';
import { type AnswerFormat, type FormatWishes, requireFormat, requireListFormat } from './answer-format.ts';
import type { Compressor } from './compression.ts';
import { encodeInSlices, slicedTextLength } from './encode.ts';
import { sendFile } from './file-answer.ts';
import { buildListHeaders, toNdjson } from './ndjson.ts';
import { type AnswerWriting, encodeRepresentation, type Represent, writingAtOnce } from './representation.ts';
import { buildResponseHeaders } from './response-headers.ts';

/**
 * Sends an answer of the data API.
 * @param writing writes the answer in its format
 * @param isBinaryRead whether the content of a Binary may be what is wanted
 * @throws PraxisError `not-acceptable` when a Binary's content is of no type that the caller takes, or the links of a list
 *   that is wished as lines are too long for a header, `range-invalid`
 */
export async function sendAnswer(
  compressor: Compressor,
  reply: FastifyReply,
  response: FhirResponse,
  writing: AnswerWriting,
  isBinaryRead: boolean,
): Promise<FastifyReply> {
  const wishes = reply.request.parsed.formats;
  const json = response.body === undefined ? undefined : unwrapDisclosed(response.body);
  const isFile = response.list?.isLinesOnly === true;
  const content = isBinaryRead && json !== undefined ? findNativeContent(json, wishes) : undefined;
  const answer =
    json === undefined || content !== undefined || isFile
      ? undefined
      : writtenAs(json, response, wishes, writing.represent);
  reply.code(response.status).headers(buildResponseHeaders(response));
  // Answers hold records of patients: no cache keeps them, that of the browser neither (server.ts). They depend on both
  // credentials; CORS has its own line of Vary.
  addVary(reply, 'Accept, Authorization, X-Api-Key');
  if (response.list !== undefined && isFile) {
    addVary(reply, 'Accept-Encoding');
    const lines = response.list.resources.map(unwrapDisclosed);
    return await sendFile(compressor, reply, lines, writing.nextSlice);
  }
  if (content !== undefined) return reply.headers(content.headers).send(content.bytes);
  if (answer === undefined) return reply.send();
  return await sendWritten(compressor, reply, answer instanceof Promise ? await answer : answer, writing.nextSlice);
}

/** A text to send, and the headers that say what it is. */
interface Written {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** At once, but for what `represent` takes its time for. @throws PraxisError `not-acceptable` */
function writtenAs(
  json: string,
  { list, isPlainJson }: Pick<FhirResponse, 'list' | 'isPlainJson'>,
  wishes: FormatWishes,
  represent: Represent,
): Written | Promise<Written> {
  if (isPlainJson === true) return { text: json, headers: { 'content-type': 'application/json; charset=utf-8' } };
  if (list === undefined) return writtenIn(requireFormat(wishes), json, represent);
  const format = requireListFormat(wishes);
  if (format.kind !== 'ndjson') return writtenIn(format, json, represent);
  return { text: toNdjson(list), headers: { 'content-type': format.contentType, ...buildListHeaders(list) } };
}

function writtenIn(format: AnswerFormat, json: string, represent: Represent): Written | Promise<Written> {
  const text = represent(json, format);
  return typeof text === 'string' ? written(text, format) : text.then((done) => written(done, format));
}

function written(text: string, { contentType }: AnswerFormat): Written {
  return { text, headers: { 'content-type': contentType } };
}

/** Sends a disclosed JSON text in a format. To HEAD, Node sends the length of the text and not the text (RFC 9110 §8.6). */
export async function sendText(
  compressor: Compressor,
  reply: FastifyReply,
  json: string,
  format: AnswerFormat,
): Promise<FastifyReply> {
  return sendWritten(compressor, reply, written(encodeRepresentation(json, format), format), writingAtOnce.nextSlice);
}

async function sendWritten(
  compressor: Compressor,
  reply: FastifyReply,
  { text, headers }: Written,
  nextSlice: AnswerWriting['nextSlice'],
): Promise<FastifyReply> {
  const { link, ...others } = headers;
  reply.headers(others);
  if (link !== undefined) reply.header('link', [link, reply.getHeader('link') ?? []].flat().join(', '));
  if (compressor.applies(text)) {
    addVary(reply, 'Accept-Encoding');
    const compressed = await compressor.compress(text, reply.request.headers['accept-encoding']?.toString());
    if (compressed) return reply.header('content-encoding', compressed.coding).send(compressed.bytes);
  }
  if (text.length < slicedTextLength) return reply.send(text);
  // A large text becomes bytes in slices of the event loop: Node would encode it twice, each time at once.
  const pieces = await encodeInSlices(text, nextSlice);
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  reply.header('content-length', length);
  return reply.request.method === 'HEAD' ? reply.send('') : reply.send(Readable.from(pieces));
}

/** Adds header names to Vary. */
export function addVary(reply: FastifyReply, names: string): void {
  reply.header('vary', [reply.getHeader('vary') ?? [], names].flat().join(', '));
}
