/**
 * Public origins of environments and realms. Links, Location headers and issuers are built from settings alone, never
 * from Host or X-Forwarded-* headers; Host only decides whether a request reached the right door.
 */
import type { Config } from '../base/config.ts';
import type { Firm } from '../tenancy/firms.ts';
import type { TenantPath } from './request/paths.ts';

export interface Origins {
  /** The origin of links of an environment, e.g. `https://sandbox.example.com`. */
  ofEnvironment(environment: string): string;
  ofRealm(realm: string): string;
  /** Whether a request with this Host may reach the environment; always, unless the environment has a host of its own. */
  environmentAnswersOn(environment: string, host: string | undefined): boolean;
  realmAnswersOn(realm: string, host: string | undefined): boolean;
}

/** Origins by the settings; `listening` is the origin when no public one is set. */
export function openOrigins(config: Config, listening: () => string): Origins {
  const base = (): string => config.baseUrl || listening();
  const answersOn = (own: string | undefined, host: string | undefined): boolean =>
    own === undefined || (host !== undefined && sameHost(new URL(own), host.toLowerCase()));
  return {
    ofEnvironment: (environment) => config.environmentOrigins.get(environment) ?? base(),
    ofRealm: (realm) => config.realmOrigins.get(realm) ?? base(),
    environmentAnswersOn: (environment, host) => answersOn(config.environmentOrigins.get(environment), host),
    realmAnswersOn: (realm, host) => answersOn(config.realmOrigins.get(realm), host),
  };
}

/** The FHIR base of a firm, from settings and the path alone. */
export function buildBaseUrl(origins: Origins, path: TenantPath): string {
  return `${origins.ofEnvironment(path.environment)}/${path.environment}/firm/${path.firm}/${path.product}/fhir/v2`;
}

/** The base of a firm under the product that every firm has, as imports and jobs write it. */
export function buildFirmBaseUrl(origins: Origins, firm: Pick<Firm, 'environment' | 'prefix'>): string {
  return buildBaseUrl(origins, { environment: firm.environment, firm: firm.prefix, product: 'pm' });
}

/** Where the metadata of a firm's FHIR base is (https://www.rfc-editor.org/rfc/rfc9728#section-3.1). */
export function buildResourceMetadataUrl(origins: Origins, path: TenantPath): string {
  const base = buildBaseUrl(origins, path);
  const origin = origins.ofEnvironment(path.environment);
  return `${origin}/.well-known/oauth-protected-resource${base.slice(origin.length)}`;
}

/** A Host header may name the default port, which a URL leaves out (RFC 9110 §4.2.3). */
function sameHost({ host, port, protocol }: URL, sent: string): boolean {
  return sent === host || (port === '' && sent === `${host}:${protocol === 'https:' ? 443 : 80}`);
}
