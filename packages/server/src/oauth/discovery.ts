/**
 * What a realm offers, for programs: OpenID Connect Discovery 1.0 §3 and RFC 8414 §2 share these fields
 * (https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderMetadata, https://www.rfc-editor.org/rfc/rfc8414).
 * SMART's document (https://hl7.org/fhir/smart-app-launch/conformance.html) and that of a protected resource
 * (https://www.rfc-editor.org/rfc/rfc9728) lead from a FHIR base to it. They list what exists and nothing else: there is no
 * authorization endpoint, so `response_types_supported` and `code_challenge_methods_supported` are empty.
 */
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import { knownEntries } from '../access/registry.ts';
import { everyType } from '../access/smart-scopes.ts';
import { ledgerTypes } from '../search/resource-types.ts';
import { assertionAlgorithmNames } from './client-auth/assertion-algorithms.ts';
import { clientAuthenticationMethods } from './client-auth/client-authentication.ts';
import { clientGrants } from './grants/list.ts';
import { buildEndpointPath, buildRealmPath } from './signing/client-tokens.ts';
import type { PublicJwk, SigningKeys } from './signing/signing-keys.ts';

/**
 * The published entries, and the widest SMART scope of each type and of all. Fewer letters and a query make narrower ones of
 * them, of which there is no end.
 */
const scopesSupported: readonly string[] = [
  ...knownEntries,
  ...[everyType, ...resourceTypesWithEndpoint].map((type) => `system/${type}.${ledgerTypes.has(type) ? 'rs' : 'crus'}`),
];

/** What clients need to get, ask about and end tokens. */
function describeEndpoints(issuer: string) {
  return {
    token_endpoint: issuer + buildEndpointPath('token'),
    jwks_uri: issuer + buildEndpointPath('certs'),
    introspection_endpoint: issuer + buildEndpointPath('token/introspect'),
    revocation_endpoint: issuer + buildEndpointPath('revoke'),
    grant_types_supported: clientGrants.map((grant) => grant.grantType),
    response_types_supported: [],
    token_endpoint_auth_methods_supported: clientAuthenticationMethods,
    token_endpoint_auth_signing_alg_values_supported: assertionAlgorithmNames,
  };
}

/**
 * The document at `/.well-known/oauth-authorization-server/auth/realms/{realm}`.
 * @param origin public origin of the realm, without a trailing slash
 */
export function buildAuthorizationServerMetadata(origin: string, realm: string) {
  const issuer = origin + buildRealmPath(realm);
  return {
    issuer,
    ...describeEndpoints(issuer),
    introspection_endpoint_auth_methods_supported: clientAuthenticationMethods,
    introspection_endpoint_auth_signing_alg_values_supported: assertionAlgorithmNames,
    revocation_endpoint_auth_methods_supported: clientAuthenticationMethods,
    revocation_endpoint_auth_signing_alg_values_supported: assertionAlgorithmNames,
    scopes_supported: scopesSupported,
  };
}

/** The document at `/auth/realms/{realm}/.well-known/openid-configuration`. */
export function openIdConfiguration(origin: string, realm: string) {
  return {
    ...buildAuthorizationServerMetadata(origin, realm),
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    claims_supported: ['iss', 'sub', 'aud', 'azp', 'client_id', 'jti', 'iat', 'exp', 'scope'],
  };
}

/**
 * The document at `{FHIR base}/.well-known/smart-configuration`, for Backend Services. It names no `issuer`, which SMART
 * reserves to servers that identify users.
 */
export function buildSmartConfiguration(origin: string, realm: string) {
  return {
    ...describeEndpoints(origin + buildRealmPath(realm)),
    scopes_supported: scopesSupported,
    code_challenge_methods_supported: [],
    capabilities: ['client-confidential-symmetric', 'client-confidential-asymmetric', 'permission-v2'],
  };
}

/**
 * The document at `/.well-known/oauth-protected-resource{path of the FHIR base}` (RFC 9728 §2).
 * @param resource the FHIR base, exactly as the document's own URL names it (RFC 9728 §3.3)
 */
export function buildProtectedResourceMetadata(resource: string, issuer: string) {
  return {
    resource,
    authorization_servers: [issuer],
    bearer_methods_supported: ['header'],
    scopes_supported: scopesSupported,
  };
}

/** The JWK Set at `…/protocol/openid-connect/certs` (https://www.rfc-editor.org/rfc/rfc7517#section-5), newest key first. */
export async function readJwkSet(keys: SigningKeys, realm: string): Promise<{ readonly keys: readonly PublicJwk[] }> {
  return { keys: await keys.published(realm) };
}
