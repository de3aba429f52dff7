/**
 * A FHIR request from raw HTTP to its answer. The order of checks is the contract's (settled.md "Order of checks").
 */
import { JsonError, type JsonLimits, type JsonValue, parseJson } from '@praxis/fhir';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { textOf } from '../access/disclosure.ts';
import { fail, PraxisError } from '../base/errors.ts';
import type { FhirCall, FhirRequest, FhirResponse, InteractionContext } from '../interactions/context.ts';
import { dispatch } from '../interactions/dispatch.ts';
import type { ApiCredentials, Session } from '../oauth/session.ts';
import { parseParameters } from '../search/query-string.ts';
import { decodeUtf8, readBytes } from './body.ts';
import { type FhirTarget, fhirTarget, interactionOf } from './fhir-target.ts';
import { fhirJson, requireFormBody, requireJsonAcceptable, requireJsonBody, requirePatchBody } from './negotiation.ts';
import { baseUrlOf } from './origins.ts';
import { responseHeaders } from './outgoing.ts';
import type { ServerParts } from './parts.ts';
import { type Route, unknownPath } from './paths.ts';
import { parsePrefer } from './prefer.ts';
import { requireTenantPath } from './tenant.ts';

type FhirRoute = Extract<Route, { kind: 'fhir' }>;

/** Answers a request below `/fhir/v2`. */
export async function answerFhir(
  parts: ServerParts,
  route: FhirRoute,
  query: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const environment = await requireTenantPath(parts, route, request);
  const target = fhirTarget(route.segments);
  if (target === undefined) return unknownPath();
  if (target.shape === 'metadata') return parts.openPages.metadata(environment, route, request, reply);
  const credentials: ApiCredentials = {
    environment,
    product: route.product,
    firmPrefix: route.firm,
    authorization: request.raw.headersDistinct.authorization ?? [],
    apiKey: request.raw.headersDistinct['x-api-key'] ?? [],
    ...(tokenInQuery.test(query) ? { tokenElsewhere: 'query' } : {}),
  };
  const call = fhirCall(parts, target, query, request);
  const attempt = async (session: Session): Promise<FhirResponse> => {
    parts.rateLimit.count(session.principal.apiKeyId);
    const interaction = interactionOf(target, request.method);
    return dispatch(interactionContext(parts, route, session, request), { ...call, interaction });
  };
  return send(reply, await withCurrentRights(parts, credentials, attempt));
}

/** RFC 6750 §2.3: a token in the query would rest in logs and histories, so it is refused. */
const tokenInQuery = /(?:^|&)access_token=/;

/**
 * Runs `attempt` with the caller's rights. When the data statement finds that the rights changed meanwhile, or a refusal
 * rests on remembered rights that are no longer true, they are read again and the attempt is repeated, once.
 */
async function withCurrentRights<T>(
  parts: ServerParts,
  credentials: ApiCredentials,
  attempt: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await parts.sessions.authenticate(credentials);
  try {
    return await attempt(session);
  } catch (error) {
    if (!(await restsOnOldRights(parts, session, error))) throw error;
    return attempt(await parts.sessions.recheck(credentials));
  }
}

async function restsOnOldRights(parts: ServerParts, session: Session, error: unknown): Promise<boolean> {
  if (!(error instanceof PraxisError)) return false;
  if (error.code === 'stale-access') return true;
  // Refusals come before the data statement, which would have noticed; counting a request is the one that must stay cheap.
  if (error.status >= 500 || error.code === 'rate-exceeded') return false;
  return !(await parts.sessions.current(session));
}

function memoised<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** What the request asks for, to be opened once access is settled: 406, then 413, 415, 400 (settled.md "Order of checks"). */
function fhirCall(
  parts: ServerParts,
  target: FhirTarget,
  query: string,
  request: FastifyRequest,
): Omit<FhirCall, 'interaction'> {
  const { headers, raw, method } = request;
  const { type, id, versionId } = target;
  const body = memoised(() => readBytes(raw, parts.config.bodyBytesMax));
  return {
    type,
    id,
    versionId,
    async open(): Promise<FhirRequest> {
      requireJsonAcceptable(headers.accept, query);
      const form = target.shape === 'search' ? await searchForm(request, body) : '';
      if (form !== '') requireJsonAcceptable(headers.accept, `${query}&${form}`);
      return {
        interaction: interactionOf(target, method),
        type,
        id,
        versionId,
        parameters: [...parseParameters(query), ...parseParameters(form)],
        async body() {
          const bytes = await body();
          requireJsonBody(headers['content-type']);
          return parseBody(decodeUtf8(bytes), parts.jsonLimits);
        },
        async patch() {
          const bytes = await body();
          const kind = requirePatchBody(headers['content-type']);
          return { kind, document: parseBody(decodeUtf8(bytes), parts.jsonLimits) };
        },
        ifMatch: headers['if-match'],
        ifNoneMatch: headers['if-none-match'],
        ifModifiedSince: headers['if-modified-since'],
        ifNoneExist: single(headers['if-none-exist']),
        prefer: parsePrefer(single(headers.prefer)),
      };
    },
  };
}

/** The form of a POST _search; its parameters follow those of the query. */
async function searchForm(request: FastifyRequest, body: () => Promise<Buffer>): Promise<string> {
  const bytes = await body();
  if (bytes.length > 0) requireFormBody(request.headers['content-type']);
  return decodeUtf8(bytes).trim();
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(', ') : header;
}

function parseBody(text: string, limits: JsonLimits): JsonValue {
  try {
    return parseJson(text, limits);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return fail('json-malformed', {
      diagnostics: error.message,
      ...(error.path === '' ? {} : { expression: [error.path] }),
      cause: error,
    });
  }
}

function interactionContext(
  parts: ServerParts,
  route: FhirRoute,
  session: Session,
  request: FastifyRequest,
): InteractionContext {
  const { principal, scope, policy, settings } = session;
  return {
    scope,
    policy,
    settings,
    caller: {
      flow: principal.flow,
      tokenId: principal.tokenId,
      subject: principal.subject,
      requestId: String(request.id),
    },
    store: parts.store,
    clock: parts.clock,
    secrets: parts.secrets,
    limits: parts.config,
    baseUrl: baseUrlOf(parts.origins, route),
  };
}

function send(reply: FastifyReply, response: FhirResponse): FastifyReply {
  reply.code(response.status).headers(responseHeaders(response));
  // Answers depend on both credentials and must not rest in shared caches; CORS has its own line of Vary.
  const vary = [reply.getHeader('vary') ?? [], 'Accept, Authorization, X-Api-Key'].flat().join(', ');
  reply.header('cache-control', 'private, no-cache').header('vary', vary);
  if (response.body === undefined) return reply.send();
  // To HEAD, Node sends the length of the text and not the text (RFC 9110 §8.6).
  return reply.header('content-type', fhirJson).send(textOf(response.body));
}
