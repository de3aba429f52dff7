/**
 * A token as its client may ask about it or end it (https://www.rfc-editor.org/rfc/rfc7662,
 * https://www.rfc-editor.org/rfc/rfc7009): what it says, whether it is the client's own, and whether it still opens
 * anything.
 */
import { compilePolicy } from '../access/policy.ts';
import { pointRead } from '../database/database.ts';
import { sql } from '../database/sql.ts';
import type { AuthenticatedClient } from './client-auth/authenticated-client.ts';
import type { ClientRequest } from './grants/grant.ts';
import { decideLegacy } from './legacy/sunset.ts';
import { type LegacyTermsRow, selectLegacyTermsColumns, toLegacyTerms } from './legacy/sunset-schedule.ts';
import { readLegacyToken } from './legacy/tokens.ts';
import type { AccessToken } from './session/access-token.ts';
import {
  findStatusProblem,
  findTokenEntries,
  selectHolder,
  selectStatusColumns,
  type TokenStatus,
} from './session/token-status.ts';
import { readClientToken } from './signing/client-tokens.ts';
import { type DecodedJwt, decodeJwt } from './signing/jwt.ts';
import { isProblem } from './signing/token-problem.ts';
import type { TokenService } from './token-service.ts';

export type TokenOwnership =
  /** No token of ours, or one that has expired: it opens nothing, whosesoever it was. */
  | { readonly kind: 'none' }
  /** A token that was issued to another client or application. */
  | { readonly kind: 'foreign' }
  | {
      readonly kind: 'own';
      readonly token: AccessToken;
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

/** What `text` is to `client`, which sent `request`; a token of its own is noted in the request's exchange. */
export async function lookUpToken(
  service: TokenService,
  client: AuthenticatedClient,
  { realm, exchange }: Pick<ClientRequest, 'realm' | 'exchange'>,
  text: string,
): Promise<TokenOwnership> {
  const jwt = decodeJwt(text);
  let owned = none;
  if (jwt?.header.alg === 'RS256') owned = await readClient(service, client, realm, jwt);
  if (jwt?.header.alg === 'HS256') owned = await readLegacy(service, client, jwt);
  if (owned.kind === 'own') exchange.token = { tokenId: owned.token.tokenId, flow: owned.token.flow };
  return owned;
}

async function readClient(
  service: TokenService,
  client: AuthenticatedClient,
  realm: string,
  jwt: DecodedJwt,
): Promise<TokenOwnership> {
  const read = await readClientToken(service.keys, jwt, service.clock.now());
  if (isProblem(read) || read.realm !== realm) return none;
  if (read.clientId !== client.clientId) return { kind: 'foreign' };
  const token = { flow: 'client', ...read } as const;
  const [row] = await service.database.query<TokenStatus>(
    sql`
    SELECT ${selectStatusColumns(token)}
    FROM (VALUES (1)) AS request(one) LEFT JOIN (${selectHolder(token)}) h ON true`,
    pointRead,
  );
  if (!row) throw new Error('a statement without conditions gave no row');
  const active = token.keyed && findStatusProblem(token, row) === undefined;
  // The application may hold less by now; its firms decide on each call, and a token names none of them.
  const scope = compilePolicy(findTokenEntries(token, row) ?? [], client.acl).entries.join(' ');
  return { kind: 'own', token, active, scope };
}

interface LegacyTokenRow extends LegacyTermsRow, TokenStatus {
  readonly application: number;
  readonly environment: number;
  readonly username: string;
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
  const read = readLegacyToken(service.secrets, jwt, nowMs);
  if (isProblem(read)) return none;
  const token = { flow: 'legacy', ...read } as const;
  const [row] = await service.database.query<LegacyTokenRow>(
    sql`
    SELECT ${selectStatusColumns(token)},
      h.application, f.environment, h.username, h.firm, f.prefix, f.state AS "firmState",
      z.state AS "authorisationState", z.expires_at AS "authorisationExpiresAt",
      ${selectLegacyTermsColumns({ environment: sql`f.environment`, firm: sql`h.firm`, application: sql`h.application` }, nowMs)}
    FROM (${selectHolder(token)}) h JOIN firm f ON f.id = h.firm
    LEFT JOIN authorisation z ON z.firm = h.firm AND z.application = h.application`,
    pointRead,
  );
  if (!row || row.application !== client.application || token.environment !== client.environment)
    return { kind: 'foreign' };
  return {
    kind: 'own',
    token,
    active: isLive(row, token, nowMs),
    scope: row.prefix,
    legacyUser: `${row.username}@${row.prefix}`,
    firm: row.firm,
  };
}

function isLive(row: LegacyTokenRow, token: Extract<AccessToken, { readonly flow: 'legacy' }>, nowMs: number): boolean {
  return (
    findStatusProblem(token, row) === undefined &&
    row.prefix === token.firmPrefix &&
    row.firmState === 'active' &&
    row.authorisationState === 'active' &&
    decideLegacy(toLegacyTerms(row), nowMs).kind === 'open' &&
    nowMs < (row.authorisationExpiresAt ?? Number.POSITIVE_INFINITY)
  );
}
