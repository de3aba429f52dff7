/**
 * Legacy refresh: new access tokens for a refresh token that stays the same (contract 4.2, 5.4;
 * https://www.rfc-editor.org/rfc/rfc6749#section-6).
 */
import { sql } from '../../database/sql.ts';
import { refuse } from '../errors.ts';
import { requireParameter } from '../form.ts';
import { buildLegacyAnswer } from '../legacy/answer.ts';
import { findLegacyCaller, requireLegacyKey, requireLiveHolder } from '../legacy/caller.ts';
import { computeCredential, type LegacyToken, readLegacyToken } from '../legacy/tokens.ts';
import { decodeJwt } from '../signing/jwt.ts';
import { isProblem, type TokenProblem } from '../signing/token-problem.ts';
import type { TokenService } from '../token-service.ts';
import type { LegacyRequest, TokenGrant } from './grant.ts';

export const refreshTokenGrant: TokenGrant<LegacyRequest> = {
  grantType: 'refresh_token',

  async issue(service, request, form) {
    const refreshToken = requireParameter(form, 'refresh_token');
    const token = readRefreshToken(service, refreshToken);
    // The database is asked also about a bad token, so that a wrong API key is told first, as for every other request.
    const caller = await findLegacyCaller(
      service,
      request,
      sql`subject = ${isProblem(token) ? '' : token.subject}`,
      isProblem(token) ? undefined : token.tokenId,
    );
    const application = requireLegacyKey(service, request, caller);
    if (isProblem(token)) refuse('invalid_grant', `refresh_token ${token.problem}`);
    if (token.environment !== request.environment.name || token.firmPrefix !== request.firmPrefix) {
      refuse('invalid_grant', 'refresh_token was issued for another firm or environment');
    }
    if (caller.tokenRevoked) refuse('invalid_grant', 'refresh_token has been revoked: log in again');
    if (caller.passwordHash === null || computeCredential(caller.passwordHash) !== token.credential) {
      refuse('invalid_grant', 'refresh_token ended with the password it was got with: log in again');
    }
    const holder = requireLiveHolder(request, caller, application);
    return buildLegacyAnswer(service, request, application, holder, { token: refreshToken, tokenId: token.tokenId });
  },
};

function readRefreshToken(service: TokenService, refreshToken: string): LegacyToken | TokenProblem {
  const jwt = decodeJwt(refreshToken);
  if (!jwt) return { problem: 'is not a token of this service' };
  const token = readLegacyToken(service.secrets, jwt, service.clock.now());
  if (isProblem(token) || token.tokenType === 'refresh') return token;
  return { problem: 'is an access token: send the refresh_token of the same answer' };
}
