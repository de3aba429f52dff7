/**
 * Secrets of clients. A client may have two live ones, so that it changes from the old to the new without a request that
 * fails: add, deploy, see that the old one is no longer used, retire.
 */
import { fail } from '../../base/errors.ts';
import { makeSecret } from '../../base/ids.ts';
import type { Secrets } from '../../base/secrets.ts';
import type { Database, Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { Application } from '../../tenancy/applications.ts';
import { changeRights } from '../../tenancy/epochs.ts';

/** Of one client, or API keys of one application and flow. */
export const liveCredentialsMax = 2;

export interface ClientSecret {
  readonly id: number;
  readonly state: 'active' | 'retired' | 'revoked';
  readonly createdAtMs: number;
  /** True to a minute; null: never. */
  readonly lastUsedAtMs: number | null;
}

export interface IssuedClientSecret {
  readonly id: number;
  /** The secret itself; it cannot be shown again. */
  readonly clientSecret: string;
}

/**
 * Adds a secret to a live client.
 * @throws PraxisError `resource-not-found` when the application has no live client of this id, `rule-broken` when the client
 *   has two live secrets
 */
export async function addClientSecret(
  database: Database,
  secrets: Secrets,
  application: Application,
  clientId: string,
): Promise<IssuedClientSecret> {
  return await database.transaction(undefined, async (tx) => {
    await lockClient(tx, application, clientId);
    const live = await tx.query(sql`SELECT id FROM client_secret WHERE client = ${clientId} AND state = 'active'`);
    if (live.length >= liveCredentialsMax) {
      fail('rule-broken', {
        diagnostics: `client ${clientId} has ${live.length} live secrets: retire one of them before another is added`,
      });
    }
    return await insertClientSecret(tx, secrets, clientId);
  });
}

/** Stores a new secret of a client that exists. */
export async function insertClientSecret(
  tx: Queryable,
  secrets: Secrets,
  clientId: string,
): Promise<IssuedClientSecret> {
  const clientSecret = makeSecret();
  const [row] = await tx.query<{ id: number }>(sql`
    INSERT INTO client_secret (client, hash) VALUES (${clientId}, ${secrets.hash('client-secret', clientSecret)}) RETURNING id`);
  return row ? { id: row.id, clientSecret } : fail('internal', { diagnostics: 'The client secret was not stored' });
}

/** `retired`: tokens that were got with the secret live on to their end. `revoked`: they end with the next statement. */
export type SecretEnd = 'retired' | 'revoked';

/**
 * Refuses the secret from the next token request on.
 * @throws PraxisError `resource-not-found` when the client of this application has no secret of this id that is live, or
 *   retired and to be revoked
 */
export async function endClientSecret(
  database: Database,
  application: Application,
  clientId: string,
  id: number,
  end: SecretEnd,
): Promise<void> {
  const endable = end === 'retired' ? ['active'] : ['active', 'retired'];
  await changeRights(database, { application: application.id }, async (tx) => {
    const ended = await tx.query(sql`
      UPDATE client_secret s SET state = ${end} FROM client c
      WHERE s.id = ${id} AND s.client = ${clientId} AND s.state = ANY (${endable}::text[])
        AND c.client_id = s.client AND c.application = ${application.id} RETURNING s.id`);
    if (ended.length === 0)
      fail('resource-not-found', { diagnostics: `client ${clientId} of ${application.name} has no live secret ${id}` });
  });
}

/**
 * The secrets of a client, newest first; never the secrets themselves.
 * @throws PraxisError `resource-not-found` when the application has no client of this id, live or revoked
 */
export async function listClientSecrets(
  database: Database,
  application: Application,
  clientId: string,
): Promise<ClientSecret[]> {
  const rows = await database.query<ClientSecret | { readonly id: null }>(sql`
    SELECT s.id, s.state, s.created_at AS "createdAtMs", s.last_used_at AS "lastUsedAtMs"
    FROM client c LEFT JOIN client_secret s ON s.client = c.client_id
    WHERE c.client_id = ${clientId} AND c.application = ${application.id} ORDER BY s.id DESC`);
  if (rows.length === 0)
    fail('resource-not-found', { diagnostics: `application ${application.name} has no client ${clientId}` });
  return rows.filter((row) => row.id !== null);
}

/** Holds the client's row to the end of the transaction, so that two who add a secret at once count each other's. */
async function lockClient(tx: Queryable, application: Application, clientId: string): Promise<void> {
  const [row] = await tx.query(sql`
    SELECT client_id FROM client
    WHERE client_id = ${clientId} AND application = ${application.id} AND state = 'active' FOR NO KEY UPDATE`);
  if (row === undefined)
    fail('resource-not-found', { diagnostics: `application ${application.name} has no live client ${clientId}` });
}
