/**
 * The answer of both legacy grants: four fields, `scope` naming the firm (contract 2).
 */
import { makeUuid } from '../../base/ids.ts';
import type { Issued, LegacyRequest } from '../grants/grant.ts';
import type { TokenService } from '../token-service.ts';
import type { LegacyApplication } from './caller.ts';
import { type LegacyHolder, makeLegacyToken } from './tokens.ts';

/** @param refresh returned as it is; made when absent */
export function buildLegacyAnswer(
  service: TokenService,
  request: LegacyRequest,
  application: LegacyApplication,
  holder: LegacyHolder,
  refresh?: { readonly token: string; readonly tokenId: string },
): Issued {
  const { secrets, settings } = service;
  const nowMs = service.clock.now();
  const grantId = refresh?.tokenId ?? makeUuid();
  const tokenId = makeUuid();
  return {
    response: {
      scope: request.firmPrefix,
      token_type: 'Bearer',
      access_token: makeLegacyToken(
        secrets,
        holder,
        'access',
        { tokenId, grantId },
        nowMs,
        settings.legacyTokenSeconds,
      ),
      refresh_token:
        refresh?.token ??
        makeLegacyToken(
          secrets,
          holder,
          'refresh',
          { tokenId: grantId, grantId },
          nowMs,
          settings.legacyRefreshSeconds,
        ),
    },
    subject: holder.subject,
    application: application.id,
    tokenId,
    keyed: true,
  };
}
