/**
 * Whether a path's environment and product exist and may be reached at this host. The same for every well-formed firm:
 * which firms exist is told to nobody.
 */
import type { FastifyRequest } from 'fastify';
import type { Environment, EnvironmentDirectory } from '../tenancy/environments.ts';
import type { Origins } from './origins.ts';
import { refuseUnknownPath, type TenantPath } from './request/paths.ts';

/** What decides whether a path leads anywhere. */
export interface TenantDoors {
  readonly environments: EnvironmentDirectory;
  readonly origins: Origins;
}

/** The environment of the path. @throws PraxisError `path-unknown` */
export async function requireTenantPath(
  parts: TenantDoors,
  path: TenantPath,
  request: FastifyRequest,
): Promise<Environment> {
  const environment = await parts.environments.find(path.environment, path.product);
  if (environment === undefined) return refuseUnknownPath();
  return parts.origins.environmentAnswersOn(environment.name, request.host) ? environment : refuseUnknownPath();
}
