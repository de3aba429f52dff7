/**
 * Token introspection (https://www.rfc-editor.org/rfc/rfc7662): what a client may know about its own tokens. Any other token
 * is inactive to it, and so is one that was issued without an API key, since it opens nothing
 * (docs/integrate/contract.md#credentials).
 */
import { authenticateClient } from './client-auth/authenticated-client.ts';
import { type Form, requireParameter } from './form.ts';
import type { ClientRequest } from './grants/grant.ts';
import type { AccessToken } from './session/access-token.ts';
import { lookUpToken } from './token-lookup.ts';
import type { TokenService } from './token-service.ts';

/** The JSON object of the answer (RFC 7662 §2.2). */
export type Introspection = Readonly<Record<string, string | number | boolean>>;

/**
 * @returns `{active: false}` and nothing else for all that is not the client's own live token (RFC 7662 §2.2)
 * @throws OAuthError `invalid_client` when the client is not authenticated, `invalid_request` when `token` is missing
 */
export async function introspect(service: TokenService, request: ClientRequest, form: Form): Promise<Introspection> {
  const client = await authenticateClient(service, request, form);
  const owned = await lookUpToken(service, client, request, requireParameter(form, 'token'));
  request.exchange.active = owned.kind === 'own' && owned.active;
  if (owned.kind !== 'own' || !owned.active) return { active: false };
  const { token, scope, legacyUser } = owned;
  return {
    active: true,
    scope,
    ...flowFields(token),
    ...(legacyUser === undefined ? {} : { username: legacyUser }),
    sub: token.subject,
    aud: token.environment,
    jti: token.tokenId,
    iat: Math.floor(token.issuedAtMs / 1000),
    exp: Math.floor(token.expiresAtMs / 1000),
  };
}

/** A refresh token is no Bearer token, so it has no token_type. */
function flowFields(token: AccessToken): Introspection {
  if (token.flow === 'client') return { token_type: 'Bearer', client_id: token.clientId, iss: token.issuer };
  return token.tokenType === 'access' ? { token_type: 'Bearer' } : {};
}
