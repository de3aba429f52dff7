/**
 * Client credentials (contract 4.3, 5.6 to 5.10; https://www.rfc-editor.org/rfc/rfc6749#section-4.4).
 *
 * A request without `x-api-key` gets a token that looks valid and opens nothing (contract 7.1).
 */
import { authenticateClient } from '../client-auth/authenticated-client.ts';
import { buildRealmPath, makeClientToken } from '../signing/client-tokens.ts';
import type { ClientRequest, TokenGrant } from './grant.ts';
import { computeGrantedEntries } from './granted-entries.ts';

export const clientCredentialsGrant: TokenGrant<ClientRequest> = {
  grantType: 'client_credentials',

  async issue(service, request, form) {
    const client = await authenticateClient(service, request, form);
    const entries = computeGrantedEntries(client.acl, form.get('scope'));
    const { subject, application, keyed } = client;
    const seconds = service.settings.clientTokenSeconds;
    const holder = { ...client, scope: await service.scopes.carry(entries, seconds) };
    const issuer = service.originOfRealm(request.realm) + buildRealmPath(request.realm);
    const key = await service.keys.signer(request.realm);
    const { token, tokenId } = await makeClientToken(key, issuer, holder, service.clock.now(), seconds);
    return {
      response: {
        access_token: token,
        expires_in: seconds,
        refresh_expires_in: 0,
        token_type: 'Bearer',
        'not-before-policy': 0,
        scope: entries.join(' '),
      },
      subject,
      application,
      tokenId,
      keyed,
    };
  },
};
