/**
 * HTTP around the token service: contract 4.1 to 4.3, JWK Sets and discovery documents. Errors here are RFC 6749 bodies.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { fail, PraxisError } from '../base/errors.ts';
import { buildAuthorizationServerMetadata, openIdConfiguration, readJwkSet } from '../oauth/discovery.ts';
import { jwkSetSecondsMax } from '../oauth/signing/signing-key-rotation.ts';
import { buildRefusalReply, type TokenReply, type TokenRequest } from '../oauth/token-endpoint.ts';
import { logFault, toPraxisError } from './answer/errors.ts';
import { keepTokenRow } from './audit-trail.ts';
import { readBytes } from './request/body.ts';
import { type RealmEndpoint, type Route, refuseUnknownPath } from './request/paths.ts';
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
  return answerToken(parts, request, reply, `${environment.name}/${route.firm}`, (received) =>
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
    return refuseUnknownPath();
  if (endpoint === 'token')
    return answerToken(parts, request, reply, realm, (received) => parts.tokens.client(realm, received));
  if (endpoint === 'introspect' || endpoint === 'revoke') {
    const ask = parts.tokens[endpoint];
    const settle = async (answer: TokenReply): Promise<void> => {
      await keepTokenRow(parts, request, endpoint, realm, answer);
      // Ending a token is a change: who is told of it can count on its row.
      if (endpoint === 'revoke' && answer.status === 200) await parts.ledger.flush();
    };
    return answerPost(parts, request, reply, (received) => ask(realm, received), settle);
  }
  if (request.method !== 'GET' && request.method !== 'HEAD')
    fail('method-not-allowed', { diagnostics: 'This path takes GET', headers: { allow: 'GET, HEAD' } });
  const document = await realmDocuments[endpoint](parts, realm);
  // Short, so that a new signing key is known before it signs.
  return reply
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', `public, max-age=${jwkSetSecondsMax}`)
    .send(JSON.stringify(document));
}

const realmDocuments: Readonly<
  Record<
    Exclude<RealmEndpoint, 'token' | 'introspect' | 'revoke'>,
    (parts: ServerServices, realm: string) => object | Promise<object>
  >
> = {
  certs: (parts, realm) => readJwkSet(parts.signingKeys, realm),
  'openid-configuration': (parts, realm) => openIdConfiguration(parts.origins.ofRealm(realm), realm),
  'oauth-authorization-server': (parts, realm) => buildAuthorizationServerMetadata(parts.origins.ofRealm(realm), realm),
};

async function answerToken(
  parts: ServerServices,
  request: FastifyRequest,
  reply: FastifyReply,
  place: string,
  issue: (received: TokenRequest) => Promise<TokenReply>,
): Promise<FastifyReply> {
  return await answerPost(parts, request, reply, issue, async (answer) => {
    parts.metrics.tokensIssued.inc({ flow: answer.record.grantType ?? 'unknown', outcome: answer.record.outcome });
    await keepTokenRow(parts, request, 'token', place, answer);
  });
}

async function answerPost(
  parts: ServerServices,
  request: FastifyRequest,
  reply: FastifyReply,
  handle: (received: TokenRequest) => Promise<TokenReply>,
  settle: (answer: TokenReply) => Promise<void>,
): Promise<FastifyReply> {
  if (request.method !== 'POST')
    fail('method-not-allowed', { diagnostics: 'A token endpoint takes POST', headers: { allow: 'POST' } });
  const answer = await issueFromBody(parts, request, handle);
  if (answer.fault !== undefined) logFault(toPraxisError(answer.fault), parts.log, String(request.id));
  await settle(answer);
  return reply.code(answer.status).headers(answer.headers).send(answer.body);
}

async function issueFromBody(
  parts: ServerServices,
  request: FastifyRequest,
  issue: (received: TokenRequest) => Promise<TokenReply>,
): Promise<TokenReply> {
  const { headersDistinct } = request.raw;
  try {
    const body = await readBytes(request.raw, parts.config.tokenBodyBytesMax);
    return await issue({
      contentType: headersDistinct['content-type'] ?? [],
      authorization: headersDistinct.authorization ?? [],
      apiKey: headersDistinct['x-api-key'] ?? [],
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
