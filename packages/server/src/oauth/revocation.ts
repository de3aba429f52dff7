/**
 * Token revocation (https://www.rfc-editor.org/rfc/rfc7009): a client ends a token of its own. The token's id is stored and
 * the access epoch raised in one transaction, so that the next data statement of every node sees it (tenancy/epochs.ts).
 */
import type { Database } from '../database/database.ts';
import { sql } from '../database/sql.ts';
import { type Affected, changeRights } from '../tenancy/epochs.ts';
import { authenticateClient } from './client-auth/authenticated-client.ts';
import { refuse } from './errors.ts';
import { deleteExpired } from './expired-rows.ts';
import { type Form, requireParameter } from './form.ts';
import type { ClientRequest } from './grants/grant.ts';
import { lookUpToken } from './token-lookup.ts';
import type { TokenService } from './token-service.ts';

/**
 * Ends the token; a refresh token ends the access tokens that were got with it, too. What is no live token of ours needs no
 * ending and is answered alike (RFC 7009 §2.2). `token_type_hint` is not needed: a token tells its kind.
 * @throws OAuthError `invalid_client` when the client is not authenticated, `invalid_request` when `token` is missing,
 *   `unauthorized_client` for a token that was issued to another client (RFC 7009 §2.1)
 */
export async function revoke(service: TokenService, request: ClientRequest, form: Form): Promise<void> {
  const client = await authenticateClient(service, request, form);
  const owned = await lookUpToken(service, client, request, requireParameter(form, 'token'));
  if (owned.kind === 'foreign')
    refuse('unauthorized_client', 'token was issued to another client: only that one ends it');
  if (owned.kind === 'none') return;
  const { tokenId, expiresAtMs } = owned.token;
  const { application } = client;
  const ended = { tokenId, application, expiresAtMs, ...(owned.firm === undefined ? {} : { firm: owned.firm }) };
  await recordRevocation(service.database, ended, service.clock.now());
}

export interface EndedToken {
  /** Its `jti`. */
  readonly tokenId: string;
  readonly application: number;
  /** The only firm that it opens, where there is one. */
  readonly firm?: number;
  readonly expiresAtMs: number;
}

/** Refuses the token from the next statement on, for as long as it would be valid. */
export async function recordRevocation(
  database: Database,
  { tokenId, application, firm, expiresAtMs }: EndedToken,
  nowMs: number,
): Promise<void> {
  const affected: Affected = firm === undefined ? { application } : { pair: { firm, application } };
  await changeRights(database, affected, async (tx) => {
    await tx.query(sql`
      WITH expired AS (${deleteExpired('revoked_token', nowMs, sql`token_id = ${tokenId}`)})
      INSERT INTO revoked_token (token_id, application, expires_at) VALUES (${tokenId}, ${application}, ${sql.timestamp(expiresAtMs)})
      ON CONFLICT (token_id) DO NOTHING`);
  });
}
