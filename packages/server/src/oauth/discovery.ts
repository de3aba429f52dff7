/**
 * What a realm offers, for programs: OpenID Connect Discovery 1.0 §3 and RFC 8414 §2 share these fields
 * (https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderMetadata, https://www.rfc-editor.org/rfc/rfc8414).
 * It lists what exists and nothing else: there is no authorization endpoint, so `response_types_supported` is empty.
 */
import { knownEntries } from '../access/registry.ts';
import { clientAuthenticationMethods } from './client-authentication.ts';
import { realmPath } from './client-tokens.ts';
import { clientGrants } from './grants/list.ts';
import type { PublicJwk, SigningKeys } from './signing-keys.ts';

export interface RealmMetadata {
  readonly issuer: string;
  readonly token_endpoint: string;
  readonly jwks_uri: string;
  readonly grant_types_supported: readonly string[];
  readonly response_types_supported: readonly string[];
  readonly token_endpoint_auth_methods_supported: readonly string[];
  readonly scopes_supported: readonly string[];
}

export interface OpenIdConfiguration extends RealmMetadata {
  readonly subject_types_supported: readonly string[];
  readonly id_token_signing_alg_values_supported: readonly string[];
  readonly claims_supported: readonly string[];
}

/**
 * The document at `/.well-known/oauth-authorization-server/auth/realms/{realm}`.
 * @param origin public origin of the realm, without a trailing slash
 */
export function authorizationServerMetadata(origin: string, realm: string): RealmMetadata {
  const issuer = origin + realmPath(realm);
  return {
    issuer,
    token_endpoint: `${issuer}/protocol/openid-connect/token`,
    jwks_uri: `${issuer}/protocol/openid-connect/certs`,
    grant_types_supported: clientGrants.map((grant) => grant.grantType),
    response_types_supported: [],
    token_endpoint_auth_methods_supported: clientAuthenticationMethods,
    scopes_supported: knownEntries,
  };
}

/** The document at `/auth/realms/{realm}/.well-known/openid-configuration`. */
export function openIdConfiguration(origin: string, realm: string): OpenIdConfiguration {
  return {
    ...authorizationServerMetadata(origin, realm),
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    claims_supported: ['iss', 'sub', 'aud', 'azp', 'client_id', 'jti', 'iat', 'exp', 'scope'],
  };
}

/** The JWK Set at `…/protocol/openid-connect/certs` (https://www.rfc-editor.org/rfc/rfc7517#section-5), newest key first. */
export async function jwkSet(keys: SigningKeys, realm: string): Promise<{ readonly keys: readonly PublicJwk[] }> {
  return { keys: await keys.published(realm) };
}
