/**
 * HTTP around the administration API. Errors are problem details (https://www.rfc-editor.org/rfc/rfc9457): callers here are
 * no FHIR clients. Answers are never stored by caches, since some hold what cannot be shown again.
 */
import { STATUS_CODES } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AdminReply } from '../admin/administration.ts';
import { bodyBytesMax } from '../admin/input.ts';
import type { PraxisError } from '../base/errors.ts';
import { buildAdministrationDocument } from '../openapi/administration.ts';
import { version } from '../version.ts';
import { buildErrorHeaders, countRefusal, logFault, toPraxisError } from './answer/errors.ts';
import { makeTextFile, sendTextFile, type TextFile } from './answer/text-file.ts';
import { decodeUtf8, readBytes } from './request/body.ts';
import { listHeaderValues } from './request/header-values.ts';
import { type Route, requireGet } from './request/paths.ts';
import type { ServerServices } from './services.ts';

const documentPath = '/openapi.json';

let document: TextFile | undefined;

/** Answers below /admin. */
export async function answerAdministration(
  parts: ServerServices,
  route: Extract<Route, { kind: 'administration' }>,
  query: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  try {
    if (route.path === documentPath) return await answerDocument(parts, request, reply);
    return send(reply, await ask(parts, belowApi(route.path), query, request));
  } catch (thrown) {
    const error = toPraxisError(thrown);
    countRefusal(parts.metrics, error);
    request.parsed.refusal = error.code;
    logFault(error, parts.log, String(request.id));
    return sendProblem(reply, error);
  }
}

/** Beside the document there is nothing else below /admin: what is not there is said in the shape of this API. */
function belowApi(path: string): string {
  return /^\/api(\/.*)$/.exec(path)?.[1] ?? '';
}

function ask(parts: ServerServices, path: string, query: string, request: FastifyRequest): Promise<AdminReply> {
  return parts.administration.answer({
    method: request.method === 'HEAD' ? 'GET' : request.method,
    path,
    query,
    authorization: listHeaderValues(request.raw, 'authorization'),
    contentType: listHeaderValues(request.raw, 'content-type'),
    address: request.ip,
    id: String(request.id),
    noteTemplate(template) {
      request.parsed.page = `/admin/api${template}`;
    },
    readBody: async () => decodeUtf8(await readBytes(request.raw, bodyBytesMax)),
  });
}

async function answerDocument(
  parts: ServerServices,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  request.parsed.page = `/admin${documentPath}`;
  requireGet(request);
  document ??= makeTextFile('application/json; charset=utf-8', JSON.stringify(buildAdministrationDocument(version)));
  return await sendTextFile(parts.compressor, document, reply);
}

function send(reply: FastifyReply, { status, body }: AdminReply): FastifyReply {
  reply.code(status);
  if (body === undefined) return reply.send();
  return reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(body));
}

function sendProblem(reply: FastifyReply, error: PraxisError): FastifyReply {
  reply.headers(buildErrorHeaders(error));
  const problem = {
    type: 'about:blank',
    title: STATUS_CODES[error.status] ?? 'Error',
    status: error.status,
    detail: error.details.diagnostics,
    code: error.code,
    errors: error.issues.flatMap(({ diagnostics, expression = [] }) =>
      expression.map((field) => ({ field, detail: diagnostics })),
    ),
  };
  return reply.code(error.status).header('content-type', 'application/problem+json').send(JSON.stringify(problem));
}
