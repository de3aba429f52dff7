/**
 * HTTP around the token service: contract 4.1 to 4.3, JWK Sets and discovery documents. Errors here are RFC 6749 bodies.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { fail, PraxisError } from '../base/errors.ts';
import { buildAuthorizationServerMetadata, openIdConfiguration, readJwkSet } from '../oauth/discovery.ts';
import { isOAuthErrorCode } from '../oauth/errors.ts';
import { jwkSetSecondsMax } from '../oauth/signing/signing-key-rotation.ts';
import { buildRefusalReply, type TokenReply, type TokenRequest } from '../oauth/token-endpoint.ts';
import { logFault, toPraxisError } from './answer/errors.ts';
import { keepTokenRow } from './audit-trail.ts';
import { readBytes } from './request/body.ts';
import { listHeaderValues } from './request/header-values.ts';
import { type Route, refuseUnknownPath, requireGet } from './request/paths.ts';
import { suggestPath } from './request/suggest-path.ts';
import type { ServerServices } from './services.ts';
import { requireTenantPath } from './tenant.ts';

/** POST {legacy_auth_url}. */
export async function answerLegacyToken(
  parts: ServerServices,
  route: Extract<Route, { kind: 'legacy-token' }>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const environment = await requireTenantPath(parts, route, request);
  return answerToken(parts, reply, `${environment.name}/${route.firm}`, (received) =>
    parts.tokens.legacy({ environment, firmPrefix: route.firm }, received),
  );
}

/** The endpoints of a realm. */
export async function answerRealm(
  parts: ServerServices,
  route: Extract<Route, { kind: 'realm' }>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { realm, endpoint } = route;
  if (!parts.origins.realmAnswersOn(realm, request.host) || !(await parts.environments.hasRealm(realm)))
    return refuseUnknownPath(suggestPath(request.parsed.path));
  if (endpoint === 'token') return answerToken(parts, reply, realm, (received) => parts.tokens.client(realm, received));
  if (endpoint === 'introspect' || endpoint === 'revoke') {
    const ask = parts.tokens[endpoint];
    const settle = async (answer: TokenReply): Promise<void> => {
      await keepTokenRow(parts, request, endpoint, realm, answer);
      // Ending a token is a change: who is told of it can count on its row.
      if (endpoint === 'revoke' && answer.status === 200) await parts.ledger.flush();
    };
    return answerPost(parts, reply, (received) => ask(realm, received), settle);
  }
  requireGet(request);
  const origin = parts.origins.ofRealm(realm);
  const documents = {
    certs: () => readJwkSet(parts.signingKeys, realm),
    'openid-configuration': () => openIdConfiguration(origin, realm),
    'oauth-authorization-server': () => buildAuthorizationServerMetadata(origin, realm),
  };
  const document = await documents[endpoint]();
  // Short, so that a new signing key is known before it signs.
  return reply
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', `public, max-age=${jwkSetSecondsMax}`)
    .send(JSON.stringify(document));
}

type Handle = (received: TokenRequest) => Promise<TokenReply>;

async function answerToken(parts: ServerServices, reply: FastifyReply, place: string, issue: Handle) {
  return await answerPost(parts, reply, issue, async (answer) => {
    parts.metrics.tokensIssued.inc({ flow: answer.record.grantType ?? 'unknown', outcome: answer.record.outcome });
    await keepTokenRow(parts, reply.request, 'token', place, answer);
  });
}

async function answerPost(
  parts: ServerServices,
  reply: FastifyReply,
  handle: Handle,
  settle: (answer: TokenReply) => Promise<void>,
): Promise<FastifyReply> {
  const { request } = reply;
  if (request.method !== 'POST')
    fail('method-not-allowed', { diagnostics: 'A token endpoint takes POST', headers: { allow: 'POST' } });
  const answer = await issueFromBody(parts, request, handle);
  if (answer.fault !== undefined) logFault(toPraxisError(answer.fault), parts.log, String(request.id));
  if (answer.limit !== undefined) parts.metrics.limitRefusals.inc({ limit: answer.limit });
  const { outcome } = answer.record;
  if (isOAuthErrorCode(outcome)) request.parsed.refusal = outcome;
  await settle(answer);
  return reply.code(answer.status).headers(answer.headers).send(answer.body);
}

async function issueFromBody(parts: ServerServices, request: FastifyRequest, issue: Handle): Promise<TokenReply> {
  try {
    const body = await readBytes(request.raw, parts.config.tokenBodyBytesMax);
    return await issue({
      contentType: listHeaderValues(request.raw, 'content-type'),
      authorization: listHeaderValues(request.raw, 'authorization'),
      apiKey: listHeaderValues(request.raw, 'x-api-key'),
      userAgent: request.headers['user-agent'],
      address: request.ip,
      body,
    });
  } catch (error) {
    if (!(error instanceof PraxisError) || error.status >= 500) throw error;
    const refused = buildRefusalReply('invalid_request', error.details.diagnostics);
    return { ...refused, status: error.status };
  }
}
