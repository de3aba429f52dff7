/**
 * The path grammar, in one place. It works on the raw request target: a path is matched as it was sent, so an encoded
 * slash, a dot segment or an upper-case letter never turns into another tenant's path; what does not match is 404.
 *
 *     /{environment}/firm/{firm}/{product}/fhir/v2[/…]                  contract 4.4
 *     /{environment}/firm/{firm}/{product}/ws/oauth2/grant              contract 4.1
 *     /{environment}/firm/{firm}/{product}/ws/subscriptions             websockets, docs/integrate/events.md
 *     /{environment}/firm/{firm}/{product}/content/{id}                 content by URL, docs/integrate/documents.md
 *     /{environment}/firm/{firm}/{product}/fhir/v2/.well-known/smart-configuration            SMART App Launch
 *     /.well-known/oauth-protected-resource/{environment}/firm/{firm}/{product}/fhir/v2      RFC 9728 §3.1
 *     /auth/realms/{realm}/protocol/openid-connect/{endpoint}           contract 4.3
 *     /auth/realms/{realm}/.well-known/openid-configuration             OIDC Discovery §4
 *     /.well-known/oauth-authorization-server/auth/realms/{realm}       RFC 8414 §3
 *     /admin, /admin/…                                                  administration
 */

import { fail } from '../../base/errors.ts';

/** A path segment naming a tenant part: lower-case letters, digits, hyphens; at most 63 characters. */
const name = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';

export interface TenantPath {
  readonly environment: string;
  readonly firm: string;
  readonly product: string;
}

export type Route =
  | ({
      readonly kind: 'fhir' /** Segments after `/fhir/v2`, undecoded. */;
      readonly segments: readonly string[];
    } & TenantPath)
  | ({ readonly kind: 'legacy-token' } & TenantPath)
  | ({ readonly kind: 'websocket' } & TenantPath)
  | ({ readonly kind: 'content'; readonly id: string } & TenantPath)
  | ({ readonly kind: 'smart-configuration' | 'protected-resource' } & TenantPath)
  | { readonly kind: 'realm'; readonly realm: string; readonly endpoint: RealmEndpoint }
  | { readonly kind: 'administration' /** After `/admin`, undecoded. */; readonly path: string };

export type RealmEndpoint =
  | 'token'
  | 'introspect'
  | 'revoke'
  | 'certs'
  | 'openid-configuration'
  | 'oauth-authorization-server';

const tenantPattern = new RegExp(
  `^/(${name})/firm/(${name})/(${name})/(?:fhir/v2((?:/[^]*)?)|ws/(oauth2/grant|subscriptions)|content/([A-Za-z0-9.-]{1,64}))$`,
);
const realmPattern = new RegExp(
  `^/auth/realms/(${name})/(protocol/openid-connect/(?:token|token/introspect|revoke|certs)|\\.well-known/openid-configuration)$`,
);
const serverMetadataPattern = new RegExp(`^/\\.well-known/oauth-authorization-server/auth/realms/(${name})$`);

const smartPattern = new RegExp(`^/(${name})/firm/(${name})/(${name})/fhir/v2/\\.well-known/smart-configuration$`);
const protectedResourcePattern = new RegExp(
  `^/\\.well-known/oauth-protected-resource/(${name})/firm/(${name})/(${name})/fhir/v2$`,
);

/** The route of a raw path (without query), or undefined when no rule of the grammar matches. */
export function matchPath(path: string): Route | undefined {
  return matchWellKnown(path) ?? matchTenant(path) ?? matchRealm(path) ?? matchAdministration(path);
}

function matchAdministration(path: string): Route | undefined {
  const [known, rest = ''] = /^\/admin(\/.*)?$/.exec(path) ?? [];
  return known === undefined ? undefined : { kind: 'administration', path: rest };
}

function matchTenant(path: string): Route | undefined {
  const match = tenantPattern.exec(path);
  if (!match) return undefined;
  const [, environment = '', firm = '', product = '', rest = '', ws, id] = match;
  const tenant = { environment, firm, product };
  if (ws === 'subscriptions') return { kind: 'websocket', ...tenant };
  if (ws !== undefined) return { kind: 'legacy-token', ...tenant };
  if (id !== undefined) return { kind: 'content', ...tenant, id };
  return { kind: 'fhir', ...tenant, segments: rest === '' || rest === '/' ? [] : rest.slice(1).split('/') };
}

function matchWellKnown(path: string): Route | undefined {
  if (!path.includes('/.well-known/')) return undefined;
  const smart = smartPattern.exec(path);
  const match = smart ?? protectedResourcePattern.exec(path);
  if (!match) return undefined;
  const [, environment = '', firm = '', product = ''] = match;
  return { kind: smart ? 'smart-configuration' : 'protected-resource', environment, firm, product };
}

function matchRealm(path: string): Route | undefined {
  const metadata = serverMetadataPattern.exec(path);
  if (metadata) return { kind: 'realm', realm: metadata[1] ?? '', endpoint: 'oauth-authorization-server' };
  const match = realmPattern.exec(path);
  if (!match) return undefined;
  const [, realm = '', rest = ''] = match;
  return { kind: 'realm', realm, endpoint: rest.slice(rest.lastIndexOf('/') + 1) as RealmEndpoint };
}

/** @throws PraxisError `method-not-allowed` */
export function requireGet({ method }: { readonly method: string }): void {
  if (method === 'GET' || method === 'HEAD') return;
  fail('method-not-allowed', { diagnostics: 'This path takes GET', headers: { allow: 'GET, HEAD' } });
}

/**
 * The answer of a path that the grammar does not know.
 * @param hint `: did you mean …?` of suggestPath or suggestTarget
 */
export function refuseUnknownPath(hint: string): never {
  return fail('path-unknown', {
    diagnostics: `No such path, environment, product or realm${hint || ':'} FHIR is served at /{environment}/firm/{firm}/{product}/fhir/v2/{Type}, tokens at /auth/realms/{realm}/protocol/openid-connect/token, administration at /admin/api; all in the letters and case shown at /docs`,
  });
}
