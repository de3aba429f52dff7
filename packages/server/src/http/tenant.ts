/**
 * Whether a path's environment and product exist and may be reached at this host. The same for every well-formed firm:
 * which firms exist is told to nobody.
 */
import type { FastifyRequest } from 'fastify';
import type { Environment } from '../tenancy/environments.ts';
import { refuseUnknownPath, type TenantPath } from './request/paths.ts';
import { suggestPath } from './request/suggest-path.ts';
import type { ServerServices } from './services.ts';

/** The environment of the path. @throws PraxisError `path-unknown` */
export async function requireTenantPath(
  parts: Pick<ServerServices, 'environments' | 'origins'>,
  path: TenantPath,
  request: FastifyRequest,
): Promise<Environment> {
  const environment = await parts.environments.find(path.environment, path.product);
  const isHere = environment !== undefined && parts.origins.environmentAnswersOn(environment.name, request.host);
  if (!isHere) return refuseUnknownPath(suggestPath(request.parsed.path));
  request.parsed.environment = environment.name;
  return environment;
}
