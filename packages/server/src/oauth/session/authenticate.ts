/**
 * Authenticating an API call: Bearer token and API key, then realm and environment (401), then the firm (403), in the order
 * of docs/integrate/contract.md#order-of-checks. A refusal says which of token and key failed and how; about a firm it says
 * nothing more than that this application may not act there, whether the firm exists or not.
 */
import { limitToOwnRows } from '../../access/own-rows.ts';
import { type ErrorCode, fail } from '../../base/errors.ts';
import { readSettings } from '../../tenancy/application-settings.ts';
import { openScope } from '../../tenancy/scope.ts';
import { readSearchParameters } from '../../tenancy/search-parameters.ts';
import { findHeaderProblem, findKeyProblem, readApiKeyHeader } from '../client-auth/api-key-header.ts';
import type { Flow } from '../client-auth/api-keys.ts';
import { type LegacyCallContext, type LegacySessionPart, openLegacyCall, withLegacyHeaders } from '../legacy/calls.ts';
import { filterTermsWithoutFirm, type LegacyTerms } from '../legacy/sunset.ts';
import type { SigningKeys } from '../signing/signing-keys.ts';
import { type AccessToken, type ReadToken, readAccessToken } from './access-token.ts';
import { buildBearerChallenge, readBearer } from './bearer.ts';
import { type CallerFacts, findCaller } from './caller.ts';
import type { Policies } from './policies.ts';
import type { ApiCredentials, Principal, Session } from './session.ts';
import { findStatusProblem, findTokenEntries } from './token-status.ts';

export interface AuthenticationContext extends LegacyCallContext {
  readonly keys: SigningKeys;
  readonly policies: Policies;
}

/** What has become known of a legacy token's caller, for the headers of a refusal. */
interface Learned {
  terms?: LegacyTerms;
}

/**
 * The session of a call, read in one statement.
 * @throws PraxisError `credentials-missing`, `credentials-invalid`, `credentials-expired`, `firm-forbidden`, and for legacy
 *   tokens `legacy-paused`, `legacy-ended`
 */
export async function authenticate(context: AuthenticationContext, credentials: ApiCredentials): Promise<Session> {
  const learned: Learned = {};
  try {
    return await authenticateCall(context, credentials, learned);
  } catch (error) {
    throw await withLegacyHeaders(context, credentials, learned.terms, error);
  }
}

async function authenticateCall(
  context: AuthenticationContext,
  credentials: ApiCredentials,
  learned: Learned,
): Promise<Session> {
  const nowMs = context.clock.now();
  const token = await requireToken(context, credentials, nowMs);
  const apiKey = readApiKeyHeader(credentials.apiKey);
  if (apiKey.kind !== 'sent') {
    return refuse(credentials, apiKey.kind === 'absent' ? 'credentials-missing' : 'credentials-invalid', [
      findHeaderProblem(apiKey, token.flow) ?? '',
    ]);
  }
  const facts = await findCaller(context.database, {
    token,
    keyHash: context.secrets.hash('api-key', apiKey.apiKey),
    environment: credentials.environment.id,
    firmPrefix: credentials.firmPrefix,
    nowMs,
  });
  learned.terms = filterTermsWithoutFirm(facts.legacyTerms, facts.application);
  const problems = [holderProblem(token, facts), apiKeyProblem(token.flow, facts, credentials)];
  const named = problems.filter((problem) => problem !== undefined);
  if (named.length > 0) refuse(credentials, 'credentials-invalid', named);
  return openSession(context, credentials, token, facts, nowMs);
}

/** The token, signed by us, unexpired and of this realm and environment; its holder is not yet looked up. */
async function requireToken(
  context: AuthenticationContext,
  credentials: ApiCredentials,
  nowMs: number,
): Promise<AccessToken> {
  const bearer = readBearer(credentials.authorization, credentials.tokenElsewhere);
  const keyHeaderProblem = findHeaderProblem(readApiKeyHeader(credentials.apiKey));
  if (bearer.kind !== 'sent') {
    const code = bearer.kind === 'absent' ? 'credentials-missing' : 'credentials-invalid';
    return refuse(credentials, code, [bearer.diagnostics, keyHeaderProblem], bearer.kind === 'absent');
  }
  const token: ReadToken = await readAccessToken(context, bearer.token, credentials.environment, nowMs);
  if (!('problem' in token)) return token;
  return refuse(credentials, token.expired ? 'credentials-expired' : 'credentials-invalid', [
    `Bearer token ${token.problem}`,
    keyHeaderProblem,
  ]);
}

/** What stands against the token and its holder, as they are in the database now. */
function holderProblem(token: AccessToken, facts: CallerFacts): string | undefined {
  const problem = findStatusProblem(token, facts);
  if (problem !== undefined) return `Bearer token ${problem}`;
  return facts.applicationState === 'active' ? undefined : 'Bearer token belongs to a suspended application';
}

/** The key's environment and application are compared; so the application's environment is, too. */
function apiKeyProblem(flow: Flow, facts: CallerFacts, { environment }: ApiCredentials): string | undefined {
  const problem = findKeyProblem(facts, flow, environment.id);
  if (problem !== undefined) return problem;
  return facts.keyApplication === facts.application
    ? undefined
    : 'x-api-key belongs to another application than the Bearer token';
}

function openSession(
  context: AuthenticationContext,
  credentials: ApiCredentials,
  token: AccessToken,
  facts: CallerFacts,
  nowMs: number,
): Session {
  const { environment, product, firmPrefix } = credentials;
  const { application, applicationName, keyId, firm, timeZone, authorisedAcl, epoch } = facts;
  const authorisedUntilMs = facts.authorisationExpiresAt ?? Number.POSITIVE_INFINITY;
  const live = facts.firmState === 'active' && facts.authorisationState === 'active' && nowMs < authorisedUntilMs;
  const elsewhere = token.flow === 'legacy' && facts.accountFirm !== firm;
  if (!live || elsewhere || firm === null || timeZone === null || authorisedAcl === null || epoch === null)
    fail('firm-forbidden', { diagnostics: 'Firm is not open to this application: no such firm has authorised it' });
  if (application === null || applicationName === null || keyId === null)
    fail('internal', { diagnostics: 'Caller without application' });
  const legacy: LegacySessionPart =
    token.flow === 'legacy'
      ? openLegacyCall(context, credentials, { firm, application }, facts.legacyTerms, nowMs)
      : { changesAtMs: Number.POSITIVE_INFINITY };
  const rightsEndAtMs = Math.min(authorisedUntilMs, legacy.changesAtMs);
  const expiresAtMs = Math.min(token.expiresAtMs, rightsEndAtMs);
  const principal: Principal = {
    application,
    applicationName,
    environment: environment.name,
    flow: token.flow,
    tokenId: token.tokenId,
    subject: token.subject,
    apiKeyId: keyId,
    ...(token.flow === 'client' ? { clientId: token.clientId } : { legacyUser: `${facts.username}@${firmPrefix}` }),
  };
  return {
    principal,
    scope: openScope({
      firm,
      application,
      epoch,
      environment: environment.name,
      firmPrefix,
      product,
      timeZone,
      requiresReferences: facts.requiresReferences === true,
      searchParameters: readSearchParameters(facts.searchParameters),
      endsAtMs: expiresAtMs,
      rightsEndAtMs,
    }),
    policy: limitToOwnRows(
      context.policies.effective(
        token.flow === 'client' ? findTokenEntries(token, facts) : undefined,
        facts.acl ?? [],
        authorisedAcl,
        facts.operatorRows,
      ),
      application,
    ),
    settings: readSettings(facts.settings ?? {}),
    expiresAtMs,
    ...(legacy.legacyHeaders ? { legacyHeaders: legacy.legacyHeaders } : {}),
  };
}

/**
 * Refuses with 401: one issue per problem, and a challenge that names the first (RFC 6750 §3).
 * @param noToken the request has no token at all, so the challenge names no error
 */
function refuse(
  credentials: ApiCredentials,
  code: ErrorCode,
  problems: readonly (string | undefined)[],
  noToken = false,
): never {
  const [first = '', ...more] = problems.filter((problem) => problem !== undefined);
  return fail(code, {
    diagnostics: first,
    more: more.map((diagnostics) => ({ diagnostics })),
    headers: {
      'www-authenticate': buildBearerChallenge(
        credentials.environment.realm,
        noToken ? undefined : first,
        credentials.resourceMetadataUrl,
      ),
    },
  });
}
