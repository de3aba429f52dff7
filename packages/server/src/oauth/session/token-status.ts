/**
 * Whether an access token still counts, as the database says now: what it was got with and what signed it, its holder, and
 * whether it was revoked. API calls, introspection and revocation judge by the same columns and the same rules.
 */
import { type Sql, sql } from '../../database/sql.ts';
import { isRegistered } from '../client-auth/client-keys.ts';
import { computeCredential } from '../legacy/tokens.ts';
import type { ClientToken } from '../signing/client-tokens.ts';
import type { AccessToken } from './access-token.ts';

/** What `selectStatusColumns` reads. */
export interface TokenStatus {
  /** Of the client or the legacy account; null when there is none. */
  readonly holderState: string | null;
  /** Of a legacy account. */
  readonly passwordHash: Buffer | null;
  /** Whether the token, or the refresh token that it was got with, was revoked. */
  readonly tokenRevoked: boolean;
  /** Of the key that signed a client-credentials token. */
  readonly signingKeyState: string | null;
  /** Of the client's secret that the token was got with. */
  readonly secretState: string | null;
  /** The client's registered keys, of a token that was got with one of them. */
  readonly clientJwks: unknown;
  readonly clientJwksUri: string | null;
  /** Of a token that carries a reference instead. */
  readonly tokenEntries: readonly string[] | null;
}

/** A SELECT list of `TokenStatus` in a statement that joins `selectHolder(token)` as `h`. */
export function selectStatusColumns(token: AccessToken): Sql {
  const ids = token.flow === 'client' ? [token.tokenId] : [token.tokenId, token.grantId];
  const reference = token.flow === 'client' && 'reference' in token.scope ? token.scope.reference : null;
  return sql`
           h.state AS "holderState", h.password_hash AS "passwordHash", h.jwks AS "clientJwks", h.jwks_uri AS "clientJwksUri",
           EXISTS (SELECT FROM revoked_token r WHERE r.token_id = ANY (${ids}::text[])) AS "tokenRevoked",
           (SELECT g.state FROM signing_key g WHERE g.kid = ${token.flow === 'client' ? token.kid : null}) AS "signingKeyState",
           (SELECT s.state FROM client_secret s WHERE s.id = ${(token.flow === 'client' ? token.secretId : undefined) ?? null}) AS "secretState",
           (SELECT t.entries FROM token_scope t WHERE t.reference = ${reference}) AS "tokenEntries"`;
}

/** The account or client that the token names: a statement of one row or none. */
export function selectHolder(token: AccessToken): Sql {
  if (token.flow === 'legacy') {
    return sql`SELECT application, state, username, firm, password_hash, NULL::jsonb AS jwks, NULL::text AS jwks_uri
      FROM legacy_account WHERE subject = ${token.subject}`;
  }
  const keys =
    token.registeredKey === undefined ? sql`NULL::jsonb AS jwks, NULL::text AS jwks_uri` : sql`jwks, jwks_uri`;
  return sql`SELECT application, state, NULL::text AS username, NULL::int AS firm, NULL::bytea AS password_hash, ${keys}
      FROM client WHERE client_id = ${token.clientId}`;
}

/** The entries of a client-credentials token, its own or those that it refers to; undefined when these are not known. */
export function findTokenEntries({ scope }: ClientToken, { tokenEntries }: TokenStatus): readonly string[] | undefined {
  return 'entries' in scope ? scope.entries : (tokenEntries ?? undefined);
}

/** What stands against the token or its holder, as the predicate of a sentence about the token; undefined: it counts. */
export function findStatusProblem(token: AccessToken, standing: TokenStatus): string | undefined {
  if (standing.tokenRevoked) return 'has been revoked: request a new one';
  if (token.flow === 'client') {
    const problem = clientTokenProblem(token, standing);
    if (problem !== undefined) return problem;
  }
  const holder = token.flow === 'client' ? 'client' : 'account';
  if (standing.holderState === null) return `names an unknown ${holder}`;
  if (standing.holderState !== 'active') return `belongs to a revoked ${holder}`;
  const { passwordHash } = standing;
  if (token.flow === 'legacy' && (passwordHash === null || computeCredential(passwordHash) !== token.credential))
    return 'ended with the password it was got with: log in again';
  return undefined;
}

function clientTokenProblem(token: ClientToken, standing: TokenStatus): string | undefined {
  if ((standing.signingKeyState ?? 'retired') === 'retired') return 'is signed with a retired key: request a new one';
  if (standing.secretState === 'revoked') return 'was got with a revoked secret: request a new one';
  const { registeredKey } = token;
  const keys = { jwks: standing.clientJwks, jwksUri: standing.clientJwksUri };
  if (registeredKey !== undefined && standing.holderState !== null && !isRegistered(registeredKey, keys))
    return 'was got with a key that is no longer registered: request a new one';
  if (findTokenEntries(token, standing) === undefined) return 'refers to a scope that is not known: request a new one';
  return undefined;
}
