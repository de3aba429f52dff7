/**
 * A token as its client may ask about it or end it (https://www.rfc-editor.org/rfc/rfc7662,
 * https://www.rfc-editor.org/rfc/rfc7009): what it says, whether it is the client's own, and whether it still opens anything.
 */
import { compilePolicy } from '../access/policy.ts';
import { sql } from '../database/sql.ts';
import type { AuthenticatedClient } from './authenticated-client.ts';
import { type ClientToken, readClientToken } from './client-tokens.ts';
import type { ClientRequest } from './grants/grant.ts';
import { type DecodedJwt, decodeJwt } from './jwt.ts';
import { decideLegacy } from './legacy-sunset.ts';
import { type LegacyTermsRow, legacyTermsColumns, toLegacyTerms } from './legacy-terms.ts';
import { credentialOf, type LegacyToken, readLegacyToken } from './legacy-tokens.ts';
import { isProblem } from './token-problem.ts';
import type { TokenService } from './token-service.ts';

export type OwnToken = ({ readonly flow: 'client' } & ClientToken) | ({ readonly flow: 'legacy' } & LegacyToken);

export type TokenOwnership =
  /** No token of ours, or one that has expired: it opens nothing, whosesoever it was. */
  | { readonly kind: 'none' }
  /** A token that was issued to another client or application. */
  | { readonly kind: 'foreign' }
  | {
      readonly kind: 'own';
      readonly token: OwnToken;
      /** Whether it opens something now. */
      readonly active: boolean;
      /** What it says as `scope`: entries of a client-credentials token, the firm of a legacy token. */
      readonly scope: string;
      /** `user@firm` of a legacy token. */
      readonly legacyUser?: string;
      /** The firm of a legacy token. */
      readonly firm?: number;
    };

const none: TokenOwnership = { kind: 'none' };
const pointRead = { short: true, idempotent: true } as const;

/** What `text` is to `client`, which sent `request`; a token of its own is noted in the request's exchange. */
export async function readOwnToken(
  service: TokenService,
  client: AuthenticatedClient,
  { realm, exchange }: Pick<ClientRequest, 'realm' | 'exchange'>,
  text: string,
): Promise<TokenOwnership> {
  const owned = await readToken(service, client, realm, text);
  if (owned.kind === 'own') exchange.token = { tokenId: owned.token.tokenId, flow: owned.token.flow };
  return owned;
}

async function readToken(
  service: TokenService,
  client: AuthenticatedClient,
  realm: string,
  text: string,
): Promise<TokenOwnership> {
  const jwt = decodeJwt(text);
  if (jwt?.header.alg === 'RS256') return await readClient(service, client, realm, jwt);
  if (jwt?.header.alg === 'HS256') return await readLegacy(service, client, jwt);
  return none;
}

interface ClientTokenRow {
  readonly revoked: boolean;
  readonly signingKeyState: string | null;
  readonly secretState: string | null;
  readonly entries: readonly string[] | null;
}

async function readClient(
  service: TokenService,
  client: AuthenticatedClient,
  realm: string,
  jwt: DecodedJwt,
): Promise<TokenOwnership> {
  const token = await readClientToken(service.keys, jwt, service.clock.now());
  if (isProblem(token) || token.realm !== realm) return none;
  if (token.clientId !== client.clientId) return { kind: 'foreign' };
  const reference = 'reference' in token.scope ? token.scope.reference : null;
  const [row] = await service.database.query<ClientTokenRow>(
    sql`
    SELECT EXISTS (SELECT FROM revoked_token WHERE token_id = ${token.tokenId}) AS revoked,
      (SELECT state FROM signing_key WHERE kid = ${token.kid}) AS "signingKeyState",
      (SELECT state FROM client_secret WHERE id = ${token.secretId ?? null}) AS "secretState",
      (SELECT entries FROM token_scope WHERE reference = ${reference}) AS entries`,
    pointRead,
  );
  if (!row) throw new Error('a statement without conditions gave no row');
  const entries = 'entries' in token.scope ? token.scope.entries : row.entries;
  const ended = row.revoked || (row.signingKeyState ?? 'retired') === 'retired' || row.secretState === 'revoked';
  const active = token.keyed && !ended && entries !== null;
  // The application may hold less by now; its firms decide on each call, and a token names none of them.
  const scope = compilePolicy(entries ?? [], client.acl).entries.join(' ');
  return { kind: 'own', token: { flow: 'client', ...token }, active, scope };
}

interface LegacyTokenRow extends LegacyTermsRow {
  readonly revoked: boolean;
  readonly application: number;
  readonly environment: number;
  readonly username: string;
  readonly state: string;
  readonly passwordHash: Buffer;
  readonly firm: number;
  readonly prefix: string;
  readonly firmState: string;
  readonly authorisationState: string | null;
  readonly authorisationExpiresAt: number | null;
}

/** Accounts have no client of their own: any client of their application, which knows their password, may ask. */
async function readLegacy(
  service: TokenService,
  client: AuthenticatedClient,
  jwt: DecodedJwt,
): Promise<TokenOwnership> {
  const nowMs = service.clock.now();
  const token = readLegacyToken(service.secrets, jwt, nowMs);
  if (isProblem(token)) return none;
  const [row] = await service.database.query<LegacyTokenRow>(
    sql`
    SELECT EXISTS (SELECT FROM revoked_token WHERE token_id = ANY (${[token.tokenId, token.grantId]}::text[])) AS revoked,
      l.application, f.environment, l.username, l.state, l.password_hash AS "passwordHash", l.firm, f.prefix, f.state AS "firmState",
      z.state AS "authorisationState", z.expires_at AS "authorisationExpiresAt",
      ${legacyTermsColumns({ environment: sql`f.environment`, firm: sql`l.firm`, application: sql`l.application` }, nowMs)}
    FROM legacy_account l JOIN firm f ON f.id = l.firm
    LEFT JOIN authorisation z ON z.firm = l.firm AND z.application = l.application
    WHERE l.subject = ${token.subject}`,
    pointRead,
  );
  if (!row || row.application !== client.application || token.environment !== client.environment)
    return { kind: 'foreign' };
  return {
    kind: 'own',
    token: { flow: 'legacy', ...token },
    active: isLive(row, token, nowMs),
    scope: row.prefix,
    legacyUser: `${row.username}@${row.prefix}`,
    firm: row.firm,
  };
}

function isLive(row: LegacyTokenRow, token: LegacyToken, nowMs: number): boolean {
  return (
    !row.revoked &&
    row.state === 'active' &&
    credentialOf(row.passwordHash) === token.credential &&
    row.prefix === token.firmPrefix &&
    row.firmState === 'active' &&
    row.authorisationState === 'active' &&
    decideLegacy(toLegacyTerms(row), nowMs).kind === 'open' &&
    nowMs < (row.authorisationExpiresAt ?? Number.POSITIVE_INFINITY)
  );
}
