/**
 * A FHIR request from raw HTTP to its answer. The order of checks is the contract's (settled.md "Order of checks").
 */
import { JsonError, type JsonLimits, type JsonValue, parseJson } from '@praxis/fhir';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { textOf } from '../access/disclosure.ts';
import { fail, PraxisError } from '../base/errors.ts';
import type { FhirRequest, FhirResponse, InteractionContext, InteractionName } from '../interactions/context.ts';
import { dispatch } from '../interactions/dispatch.ts';
import type { ApiCredentials, Session } from '../oauth/session.ts';
import { readText } from './body.ts';
import { type FhirTarget, fhirTarget, interactionOf } from './fhir-target.ts';
import { fhirJson, formType, mediaType, requireJsonAcceptable, requireJsonBody } from './negotiation.ts';
import { baseUrlOf } from './origins.ts';
import { responseHeaders } from './outgoing.ts';
import { type Parameter, parseParameters } from './parameters.ts';
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
  const body = memoised(() => readText(request.raw, parts.config.bodyBytesMax));
  const attempt = async (session: Session): Promise<FhirResponse> => {
    parts.rateLimit.count(session.principal.apiKeyId);
    const interaction = interactionOf(target, request.method);
    const parameters = await requestParameters(target, query, request, body);
    const fhirRequest = toFhirRequest(parts, target, interaction, parameters, request, body);
    return dispatch(interactionContext(parts, route, session, request), fhirRequest);
  };
  return send(reply, request, await withCurrentRights(parts, credentials, attempt));
}

/** RFC 6750 §2.3: a token in the query would rest in logs and histories, so it is refused. */
const tokenInQuery = /(?:^|&)access_token=/;

/**
 * Runs `attempt` with the caller's rights. When the data statement finds that the rights changed meanwhile, or a refusal
 * rests on rights that were remembered, they are read again and the attempt is repeated, once.
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
  return error.code === 'access-denied' && !(await parts.sessions.current(session));
}

function memoised<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Query parameters, and for POST _search those of the form body after them. */
async function requestParameters(
  target: FhirTarget,
  query: string,
  request: FastifyRequest,
  body: () => Promise<string>,
): Promise<Parameter[]> {
  const fromQuery = parseParameters(query);
  if (target.shape !== 'search') return fromQuery;
  const type = mediaType(request.headers['content-type']);
  if (type !== formType && !(type === '' && Number(request.headers['content-length'] ?? 0) === 0)) {
    fail('media-type-unsupported', { diagnostics: `POST _search takes Content-Type ${formType}` });
  }
  return [...fromQuery, ...parseParameters((await body()).trim())];
}

function toFhirRequest(
  parts: ServerParts,
  target: FhirTarget,
  interaction: InteractionName,
  parameters: Parameter[],
  request: FastifyRequest,
  body: () => Promise<string>,
): FhirRequest {
  const { headers } = request;
  return {
    interaction,
    type: target.type,
    id: target.id,
    versionId: target.versionId,
    parameters,
    negotiate: () => requireJsonAcceptable(headers.accept, parameters),
    async body() {
      requireJsonBody(headers['content-type']);
      return parseBody(await body(), parts.jsonLimits);
    },
    ifMatch: headers['if-match'],
    ifNoneMatch: headers['if-none-match'],
    ifModifiedSince: headers['if-modified-since'],
    ifNoneExist: single(headers['if-none-exist']),
    prefer: parsePrefer(single(headers.prefer)),
  };
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
      diagnostics: `${error.message} (line ${error.line}, column ${error.column})`,
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

function send(reply: FastifyReply, request: FastifyRequest, response: FhirResponse): FastifyReply {
  reply.code(response.status).headers(responseHeaders(response));
  // Answers depend on both credentials and must not rest in shared caches.
  reply.header('cache-control', 'private, no-cache').header('vary', 'Accept, Authorization, X-Api-Key');
  if (response.body === undefined) return reply.send();
  return reply.header('content-type', fhirJson).send(request.method === 'HEAD' ? '' : textOf(response.body));
}
