/**
 * Who calls the legacy token endpoint: API key, firm, account and authorisation, read in one statement that does the same
 * work whatever of them exists.
 */
import { pointRead } from '../../database/database.ts';
import { type Sql, sql } from '../../database/sql.ts';
import type { SettingName } from '../../tenancy/application-settings.ts';
import { type ApiKeyFacts, findHeaderProblem, findKeyProblem } from '../client-auth/api-key-header.ts';
import { countRequest } from '../counted-request.ts';
import { refuse } from '../errors.ts';
import { refuseFormType } from '../form.ts';
import type { LegacyRequest } from '../grants/grant.ts';
import type { TokenService } from '../token-service.ts';
import { requireOpenGrant } from './refusal.ts';
import { decideLegacy, filterTermsWithoutFirm, type LegacyTerms } from './sunset.ts';
import { type LegacyTermsRow, selectLegacyTermsColumns, toLegacyTerms } from './sunset-schedule.ts';
import type { LegacyHolder } from './tokens.ts';

const anyFormType: SettingName = 'anyFormType';

interface CallerFacts extends ApiKeyFacts {
  readonly keyApplicationName: string | null;
  readonly keyApplicationState: string | null;
  /** Whether the application has the setting `anyFormType`. */
  readonly keyTakesAnyForm: boolean | null;
  readonly firm: number | null;
  readonly firmState: string | null;
  /** Of the firm for the key's application. */
  readonly authorisationState: string | null;
  readonly authorisationVersion: number | null;
  readonly authorisationExpiresAt: number | null;
  /** Whether the refresh token of the request was revoked. */
  readonly tokenRevoked: boolean;
  /** All that fit environment, firm and the key's application, whether or not the caller may know them. */
  readonly terms: LegacyTerms;
  readonly nowMs: number;
}

interface AccountFacts {
  readonly subject: string;
  readonly username: string;
  readonly accountApplication: number;
  readonly accountState: string;
  readonly passwordHash: Buffer;
}

type Account = AccountFacts | Readonly<Record<keyof AccountFacts, null>>;

export type LegacyCaller = CallerFacts & Account;

/** The key's application, once the key has been checked. */
export interface LegacyApplication {
  readonly id: number;
  readonly name: string;
}

/**
 * All facts of a request in one round trip; the exchange learns the terms that the caller may know.
 * @param which condition on `legacy_account` that finds the account among those of the firm
 * @param tokenId of the request's refresh token, if it has one
 */
export async function findLegacyCaller(
  service: TokenService,
  request: LegacyRequest,
  which: Sql,
  tokenId?: string,
): Promise<LegacyCaller> {
  const keyHash = request.apiKey.kind === 'sent' ? service.secrets.hash('api-key', request.apiKey.apiKey) : null;
  const nowMs = service.clock.now();
  const termsOf = { environment: sql`${request.environment.id}`, firm: sql`f.id`, application: sql`k.application` };
  const [row] = await service.database.query<Omit<CallerFacts, 'terms' | 'nowMs'> & LegacyTermsRow & Account>(
    sql`
    SELECT k.id AS "keyId", k.flow AS "keyFlow", k.state AS "keyState", k.application AS "keyApplication",
           a.environment AS "keyEnvironment", a.name AS "keyApplicationName", a.state AS "keyApplicationState",
           a.settings ->> ${anyFormType}::text = 'true' AS "keyTakesAnyForm",
           f.id AS firm, f.state AS "firmState", ${selectLegacyTermsColumns(termsOf, nowMs)},
           z.state AS "authorisationState", z.version AS "authorisationVersion", z.expires_at AS "authorisationExpiresAt",
           EXISTS (SELECT FROM revoked_token r WHERE r.token_id = ${tokenId ?? null}) AS "tokenRevoked",
           l.subject, l.username, l.application AS "accountApplication", l.state AS "accountState", l.password_hash AS "passwordHash"
    FROM (VALUES (1)) AS request(one)
    LEFT JOIN api_key k ON k.hash = ${keyHash}
    LEFT JOIN application a ON a.id = k.application
    LEFT JOIN firm f ON f.environment = ${request.environment.id} AND f.prefix = ${request.firmPrefix}
    LEFT JOIN (SELECT * FROM legacy_account WHERE ${which}) l ON l.firm = f.id
    LEFT JOIN authorisation z ON z.firm = f.id AND z.application = k.application`,
    pointRead,
  );
  if (!row) throw new Error('a statement without conditions gave no row');
  const caller = { ...row, terms: toLegacyTerms(row), nowMs };
  const keyIsRight = findKeyProblem(caller, 'legacy', request.environment.id) === undefined;
  request.exchange.terms = filterTermsWithoutFirm(caller.terms, keyIsRight ? caller.keyApplication : null);
  return caller;
}

/**
 * The application of the request's API key, which is counted as asking once more.
 * @throws OAuthError `invalid_client` saying what is wrong with the key, `invalid_request` for a Content-Type that the application may
 *   not send, `rate_exceeded` when it has asked for too much
 */
export function requireLegacyKey(
  { rateLimit }: TokenService,
  request: LegacyRequest,
  caller: LegacyCaller,
): LegacyApplication {
  const problem =
    findHeaderProblem(request.apiKey, 'legacy') ?? findKeyProblem(caller, 'legacy', request.environment.id);
  if (problem !== undefined) refuse('invalid_client', problem);
  const { keyApplication: id, keyApplicationName: name } = caller;
  if (id === null || name === null || caller.keyId === null)
    refuse('invalid_client', 'x-api-key is not a known API key');
  if (caller.keyApplicationState !== 'active') refuse('invalid_client', 'application is suspended');
  if (!request.hasFormType && caller.keyTakesAnyForm !== true) refuseFormType();
  countRequest(rateLimit, request.exchange, { apiKey: caller.keyId, address: request.address });
  return { id, name };
}

/**
 * The account as holder of tokens. Callers have proved that the account is theirs, so they may learn what stands against it.
 * @throws OAuthError `invalid_client` when the key is another application's, `invalid_grant` when account, firm or
 *   authorisation are not live, `temporarily_unavailable` and `unauthorized_client` when the legacy flow is paused or ended
 */
export function requireLiveHolder(
  { environment, firmPrefix, exchange }: LegacyRequest,
  caller: CallerFacts & AccountFacts,
  { id: application, name: applicationName }: LegacyApplication,
): LegacyHolder {
  if (caller.accountApplication !== application)
    refuse('invalid_client', 'x-api-key belongs to another application than the account');
  const { firm, subject, username, passwordHash, authorisationVersion, authorisationExpiresAt, terms, nowMs } = caller;
  if (firm !== null) exchange.account = { firm, application, subject };
  if (caller.accountState !== 'active') refuse('invalid_grant', 'account has been revoked');
  if (caller.firmState !== 'active') refuse('invalid_grant', 'firm is suspended');
  const expired = authorisationExpiresAt !== null && authorisationExpiresAt <= nowMs;
  if (caller.authorisationState !== 'active' || authorisationVersion === null || expired) {
    refuse('invalid_grant', 'firm does not authorise this application, or no longer');
  }
  if (firm !== null) exchange.user = { firm, application };
  exchange.terms = terms;
  requireOpenGrant(decideLegacy(terms, nowMs), nowMs);
  const account = { subject, username, passwordHash, authorisationVersion };
  return { environment: environment.name, firmPrefix, applicationName, ...account };
}
