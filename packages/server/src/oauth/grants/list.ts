/**
 * The grants that are offered, one line each. To end the password grant, delete its file and its line.
 */
import { clientCredentialsGrant } from './client-credentials.ts';
import type { ClientRequest, LegacyRequest, TokenGrant } from './grant.ts';
import { passwordGrant } from './password.ts';
import { refreshTokenGrant } from './refresh-token.ts';

/** Grants of `/{environment}/firm/{firm}/{product}/ws/oauth2/grant`. */
export const legacyGrants: readonly TokenGrant<LegacyRequest>[] = [passwordGrant, refreshTokenGrant];

/** Grants of `/auth/realms/{realm}/protocol/openid-connect/token`. */
export const clientGrants: readonly TokenGrant<ClientRequest>[] = [clientCredentialsGrant];
