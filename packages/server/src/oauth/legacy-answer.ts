/**
 * The answer of both legacy grants: four fields, `scope` naming the firm (contract §2, "Token response fields").
 */
import type { Issued, LegacyRequest } from './grants/grant.ts';
import type { LegacyApplication } from './legacy-caller.ts';
import { type LegacyHolder, makeLegacyToken } from './legacy-tokens.ts';
import type { TokenService } from './token-service.ts';

/** @param refreshToken returned as it is; made when absent */
export function legacyAnswer(
  service: TokenService,
  request: LegacyRequest,
  application: LegacyApplication,
  holder: LegacyHolder,
  refreshToken?: string,
): Issued {
  const { secrets, settings } = service;
  const nowMs = service.clock.now();
  return {
    response: {
      scope: request.firmPrefix,
      token_type: 'Bearer',
      access_token: makeLegacyToken(secrets, holder, 'access', nowMs, settings.legacyTokenSeconds),
      refresh_token: refreshToken ?? makeLegacyToken(secrets, holder, 'refresh', nowMs, settings.legacyRefreshSeconds),
    },
    subject: holder.subject,
    application: application.id,
    keyed: true,
  };
}
