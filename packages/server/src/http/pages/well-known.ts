/**
 * What programs may learn of a firm's FHIR base without credentials. The same for every well-formed firm, existing or not
 * (docs/integrate/contract.md#order-of-checks).
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { buildProtectedResourceMetadata, buildSmartConfiguration } from '../../oauth/discovery.ts';
import { buildRealmPath } from '../../oauth/signing/client-tokens.ts';
import { buildBaseUrl } from '../origins.ts';
import { type Route, requireGet } from '../request/paths.ts';
import type { ServerServices } from '../services.ts';
import { requireTenantPath } from '../tenant.ts';

type WellKnownRoute = Extract<Route, { kind: 'smart-configuration' | 'protected-resource' }>;

/** Answers `/.well-known/smart-configuration` below the base, and the RFC 9728 metadata of the base. */
export async function answerWellKnown(
  parts: ServerServices,
  route: WellKnownRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { realm } = await requireTenantPath(parts, route, request);
  requireGet(request);
  const origin = parts.origins.ofRealm(realm);
  const document =
    route.kind === 'smart-configuration'
      ? buildSmartConfiguration(origin, realm)
      : buildProtectedResourceMetadata(buildBaseUrl(parts.origins, route), origin + buildRealmPath(realm));
  return reply
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'public, max-age=300')
    .send(JSON.stringify(document));
}
