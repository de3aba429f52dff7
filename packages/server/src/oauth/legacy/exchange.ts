/**
 * The headers that an answer of the legacy token endpoint gets for what the request has shown about its caller. A firm's own
 * terms are told only to who may act there: they would tell that the firm exists.
 */
import { sql } from '../../database/sql.ts';
import type { LegacyRequest } from '../grants/grant.ts';
import { buildEndpointPath, buildRealmPath } from '../signing/client-tokens.ts';
import type { TokenService } from '../token-service.ts';
import { decideLegacy, type LegacyTerms, noTerms } from './sunset.ts';
import { findLegacyTerms } from './sunset-schedule.ts';

/**
 * Deprecation, Sunset and Link of the answer, Link with the token endpoint that succeeds this one
 * (https://www.rfc-editor.org/rfc/rfc5829#section-3.3). Where the request was refused before its facts were read, one
 * statement finds the terms of the environment and of the API key's application.
 */
export async function exchangeHeaders(
  service: TokenService,
  request: LegacyRequest,
): Promise<Readonly<Record<string, string>>> {
  const { realm } = request.environment;
  const terms = request.exchange.terms ?? (await termsOfKey(service, request));
  const { headers } = decideLegacy(terms, service.clock.now());
  if (headers['link'] === undefined) return headers;
  const successor = `${service.originOfRealm(realm)}${buildRealmPath(realm)}${buildEndpointPath('token')}`;
  return { ...headers, link: `${headers['link']}, <${successor}>; rel="successor-version"` };
}

async function termsOfKey(service: TokenService, { environment, apiKey }: LegacyRequest): Promise<LegacyTerms> {
  const keyHash = apiKey.kind === 'sent' ? service.secrets.hash('api-key', apiKey.apiKey) : null;
  const application = sql`
    SELECT a.id FROM api_key k JOIN application a ON a.id = k.application
    WHERE k.hash = ${keyHash} AND k.flow = 'legacy' AND k.state = 'active' AND a.environment = ${environment.id}`;
  try {
    return await findLegacyTerms(service.database, environment.id, application, service.clock.now());
  } catch {
    return noTerms; // the request is refused anyway; an answer without these headers is better than none
  }
}
