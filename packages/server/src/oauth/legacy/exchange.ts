/**
 * What a request to the legacy token endpoint has shown about its caller, and the headers that its answer gets for it. A
 * firm's own terms are told only to who may act there: they would tell that the firm exists.
 */
import { sql } from '../../database/sql.ts';
import type { Environment } from '../../tenancy/environments.ts';
import type { ApiKeyHeader } from '../client-auth/api-key-header.ts';
import type { RateExchange } from '../counted-request.ts';
import { buildRealmPath } from '../signing/client-tokens.ts';
import type { TokenService } from '../token-service.ts';
import { decideLegacy, type LegacyTerms, noTerms } from './sunset.ts';
import { findLegacyTerms } from './sunset-schedule.ts';

/** Filled in while the request is answered. */
export interface LegacyExchange extends RateExchange {
  /** The terms that the caller may know; absent until its facts have been read. */
  terms?: LegacyTerms;
  /** Whose account it is, and of which firm; absent until the caller has proved it. It may be refused for other reasons. */
  account?: { readonly firm: number; readonly application: number; readonly subject: string };
  /** Who uses the flow; absent until the caller has proved that it may act at the firm. */
  user?: { readonly firm: number; readonly application: number };
}

/**
 * Deprecation, Sunset and Link of the answer, Link with the token endpoint that succeeds this one
 * (https://www.rfc-editor.org/rfc/rfc5829#section-3.3). Where the request was refused before its facts were read, one
 * statement finds the terms of the environment and of the API key's application.
 */
export async function exchangeHeaders(
  service: TokenService,
  environment: Environment,
  apiKey: ApiKeyHeader,
  exchange: LegacyExchange,
): Promise<Readonly<Record<string, string>>> {
  const terms = exchange.terms ?? (await termsOfKey(service, environment, apiKey));
  const { headers } = decideLegacy(terms, service.clock.now());
  if (headers['link'] === undefined) return headers;
  const successor = `${service.originOfRealm(environment.realm)}${buildRealmPath(environment.realm)}/protocol/openid-connect/token`;
  return { ...headers, link: `${headers['link']}, <${successor}>; rel="successor-version"` };
}

async function termsOfKey(service: TokenService, environment: Environment, apiKey: ApiKeyHeader): Promise<LegacyTerms> {
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
