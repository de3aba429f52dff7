/**
 * What a path that does not exist was meant to be. It depends on the path and on published names alone, the environments, realms and
 * products of every installation: firms and what operators have added are never suggested (docs/decisions/0330).
 */
import { suggestNearestPath } from '../../base/nearest-path.ts';
import { publishedEnvironments, publishedProducts, publishedRealms } from '../../tenancy/environments.ts';

const published: Readonly<Record<string, readonly string[]>> = {
  '{environment}': publishedEnvironments,
  '{realm}': publishedRealms,
  '{product}': publishedProducts,
};

const base = '{environment}/firm/{firm}/{product}';
const realm = 'auth/realms/{realm}';

/** The paths of the grammar (paths.ts) and the open pages. */
const templates: readonly (readonly string[])[] = [
  `${base}/fhir/v2`,
  `${base}/fhir/v2/.well-known/smart-configuration`,
  `${base}/fhir/v2/…`,
  `${base}/ws/oauth2/grant`,
  `${base}/ws/subscriptions`,
  `${realm}/protocol/openid-connect/token`,
  `${realm}/protocol/openid-connect/token/introspect`,
  `${realm}/protocol/openid-connect/revoke`,
  `${realm}/protocol/openid-connect/certs`,
  `${realm}/.well-known/openid-configuration`,
  `.well-known/oauth-authorization-server/${realm}`,
  `.well-known/oauth-protected-resource/${base}/fhir/v2`,
  'admin/openapi.json',
  'docs',
  'openapi.json',
  'health/live',
  'health/ready',
].map((template) => template.split('/'));

/** `: did you mean /sandbox/firm/{firm}/pm/fhir/v2?`, to follow what says that the path is unknown; empty when none is near. */
export function suggestPath(path: string): string {
  return suggestNearestPath(path, templates, published);
}
