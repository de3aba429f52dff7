/**
 * What a FHIR request asks for: parameters, preconditions, body, and the format of the answer.
 */

import type { JsonValue } from '@praxis/fhir';
import type { FastifyRequest } from 'fastify';
import { fail } from '../../base/errors.ts';
import type { FhirCall, FhirRequest } from '../../engine/context.ts';
import { type FhirTarget, requireIds, type TargetName } from '../../engine/fhir-target.ts';
import { parseCriteria } from '../../engine/write/criteria.ts';
import { answersList, answersPlainly } from '../../operations/answer-operation.ts';
import { parseParameters, requireFewParts } from '../../search/query/query-string.ts';
import { type FormatKind, type FormatWishes, requireFormat, requireListFormat } from '../answer/answer-format.ts';
import { mayWantContent, readBinaryBody, wantsContentOnly } from '../binary.ts';
import type { ServerServices } from '../services.ts';
import { decodeUtf8, readBytes } from './body.ts';
import type { BodyRoom } from './body-admission.ts';
import { parseContentFlags } from './content-flag.ts';
import { readIdempotencyKey } from './idempotency-key.ts';
import { requireFormBody, requirePatchFormat, requireResourceFormat } from './negotiation.ts';
import { addForm, type ParsedFhirRequest } from './parsed-request.ts';
import { parsePrefer } from './prefer.ts';
import { parseBodyInSlices } from './resource-body.ts';

/** The body of a request, as it comes in. */
export interface IncomingBody {
  readonly room: BodyRoom;
  /** Read at the first question. @throws PraxisError `body-too-large`, `request-malformed` */
  readonly bytes: () => Promise<Buffer>;
}

/** @param whileWaiting runs what waits for the bytes: their sender may be slow */
export function openIncomingBody(
  { config }: ServerServices,
  { raw }: FastifyRequest,
  room: BodyRoom,
  whileWaiting: (reading: () => Promise<Buffer>) => Promise<Buffer>,
): IncomingBody {
  return { room, bytes: memoised(() => whileWaiting(() => readBytes(raw, config.bodyBytesMax, room))) };
}

/**
 * What the request asks for, to be opened once access is settled: 406, then 413, 415, 400
 * (docs/integrate/contract.md#order-of-checks).
 * @param baseUrl the FHIR base of the firm
 */
export function buildFhirCall(
  parts: ServerServices,
  asked: ParsedFhirRequest,
  request: FastifyRequest,
  baseUrl: string,
  { room, bytes }: IncomingBody,
): Omit<FhirCall, 'interaction'> {
  const { headers } = request;
  const { target } = asked;
  const { type, id, versionId, compartment } = target;
  const admitted = async (): Promise<Buffer> => {
    const read = await bytes();
    await room.turn();
    return read;
  };
  const paused = async <T>(read: T): Promise<T> => {
    await room.pause();
    return read;
  };
  const parse = (read: Buffer, format: FormatKind): Promise<JsonValue> =>
    parseBodyInSlices(decodeUtf8(read), format, parts.jsonLimits, () => room.pause());
  return {
    type,
    id,
    versionId,
    compartment,
    async open(): Promise<FhirRequest> {
      requireAnswerable(asked, request.parsed.formats);
      requireIds(target);
      const idempotency = readIdempotencyKey(request, bytes);
      const form = formShapes.has(target.shape) ? await searchForm(request, bytes) : '';
      return {
        type,
        id,
        versionId,
        compartment,
        parameters: parametersOf(asked, form, request.parsed.formats),
        async body() {
          const read = await admitted();
          // An operation without parameters needs no body (https://hl7.org/fhir/R4/operations.html#request).
          if (target.shape === 'operation' && read.length === 0) return await paused({ resourceType: 'Parameters' });
          const isBinary = type === 'Binary' && target.shape !== 'operation';
          if (isBinary) return await paused(readBinaryBody(read, headers, id, parts.jsonLimits));
          return await paused(await parse(read, requireResourceFormat(headers['content-type'])));
        },
        isBodyEmpty: async () => (await bytes()).length === 0,
        async patch() {
          const read = await admitted();
          const { kind, format } = requirePatchFormat(headers['content-type']);
          return await paused({ kind, document: await parse(read, format) });
        },
        ifMatch: headers['if-match'],
        ifNoneMatch: headers['if-none-match'],
        ifModifiedSince: headers['if-modified-since'],
        ifNoneExist: asked.interaction === 'create' ? ifNoneExistOf(headers, type, baseUrl) : undefined,
        prefer: parsePrefer(single(headers.prefer)),
        ...(idempotency === undefined ? {} : { idempotency }),
        contentFlags: parseContentFlags(single(headers['content-flag'])),
      };
    },
  };
}

/** Searches whose parameters may come as a form. */
const formShapes: ReadonlySet<FhirTarget['shape']> = new Set([
  'search',
  'system-search',
  'compartment-search',
  'compartment-types-search',
]);

/** What is answered with a list of resources. */
const lists: ReadonlySet<TargetName | undefined> = new Set([
  'search-type',
  'search-system',
  'history-instance',
  'history-type',
  'history-system',
]);

/** @throws PraxisError `not-acceptable`; for a Binary the media type of its content decides, which is not known yet */
function requireAnswerable({ target, interaction, isBinaryRead }: ParsedFhirRequest, wishes: FormatWishes): void {
  if (target.shape === 'operation' && answersPlainly(target.operation)) return;
  const isList = lists.has(interaction) || answersList(target.operation);
  if (isList) requireListFormat(wishes);
  else if (!(isBinaryRead && mayWantContent(wishes))) requireFormat(wishes);
}

/** The form of a POST _search; its parameters follow those of the query, and its `_format` counts. */
async function searchForm(request: FastifyRequest, body: () => Promise<Buffer>): Promise<string> {
  const bytes = await body();
  if (bytes.length > 0) requireFormBody(request.headers['content-type']);
  const form = decodeUtf8(bytes).trim();
  requireFewParts(form);
  if (form !== '') {
    addForm(request.parsed, form);
    requireListFormat(request.parsed.formats);
  }
  return form;
}

function parametersOf({ query, isBinaryRead }: ParsedFhirRequest, form: string, wishes: FormatWishes) {
  const parameters = [...parseParameters(query), ...parseParameters(form)];
  const isContent = isBinaryRead && wantsContentOnly(wishes);
  return isContent ? parameters.filter(([name]) => name !== '_summary') : parameters;
}

/** @throws PraxisError `header-invalid` */
function ifNoneExistOf(headers: FastifyRequest['headers'], type: string, baseUrl: string): string | undefined {
  const sent = single(headers['if-none-exist']);
  return sent === undefined
    ? undefined
    : (parseCriteria(sent, type, baseUrl) ??
        fail('header-invalid', {
          diagnostics: `If-None-Exist must be criteria of ${type}, the type that is created, at this base`,
          expression: ['If-None-Exist'],
        }));
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(', ') : header;
}

function memoised<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
