/**
 * OAuth clients of the client-credentials grant (contract 4.3). A client belongs to one application; its secrets are in
 * `client-secrets.ts`, its public keys in `client-keys.ts`. Secrets are generated with 256 bits, so a keyed hash stores them
 * safely (docs/integrate/contract.md#credentials).
 */
import { fail } from '../../base/errors.ts';
import { makeUuid } from '../../base/ids.ts';
import type { Secrets } from '../../base/secrets.ts';
import type { Database, Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { Application } from '../../tenancy/applications.ts';
import { changeRights } from '../../tenancy/epochs.ts';
import { insertClientSecret } from './client-secrets.ts';

export interface Client {
  readonly clientId: string;
  /** UUID of the client's service account: the `sub` of its tokens. */
  readonly subject: string;
  readonly state: 'active' | 'revoked';
  /** Live ones. */
  readonly secrets: number;
  /** Where its public keys are; `jwks` = stored here. */
  readonly keys: string | null;
  readonly createdAtMs: number;
}

export interface IssuedClient {
  readonly clientId: string;
  /** The secret itself; it cannot be shown again. */
  readonly clientSecret: string;
}

/** Makes a client of `application` that has a secret. */
export async function issueClient(
  database: Database,
  secrets: Secrets,
  application: Application,
): Promise<IssuedClient> {
  return await database.transaction(undefined, (tx) => insertClientWithSecret(tx, secrets, application));
}

/** The same in the transaction `tx`. */
export async function insertClientWithSecret(
  tx: Queryable,
  secrets: Secrets,
  application: Application,
): Promise<IssuedClient> {
  const clientId = await issueKeyedClient(tx, application);
  const { clientSecret } = await insertClientSecret(tx, secrets, clientId);
  return { clientId, clientSecret };
}

/** Makes a client of `application` without a secret: it will authenticate with its own key (`client-keys.ts`). */
export async function issueKeyedClient(tx: Queryable, application: Application): Promise<string> {
  const clientId = makeUuid();
  await tx.query(
    sql`INSERT INTO client (client_id, application, state) VALUES (${clientId}, ${application.id}, 'active')`,
  );
  return clientId;
}

/**
 * Refuses the client's token requests and its tokens from the next statement on.
 * @throws PraxisError `resource-not-found` when the application has no live client of this id
 */
export async function revokeClient(database: Database, application: Application, clientId: string): Promise<void> {
  await changeRights(database, { application: application.id }, async (tx) => {
    const revoked = await tx.query(sql`
      UPDATE client SET state = 'revoked'
      WHERE client_id = ${clientId} AND application = ${application.id} AND state = 'active' RETURNING client_id`);
    if (revoked.length === 0)
      fail('resource-not-found', { diagnostics: `application ${application.name} has no live client ${clientId}` });
  });
}

/** The clients of an application, newest first; never their secrets. */
export async function listClients(database: Queryable, application: Application): Promise<Client[]> {
  return await database.query<Client>(sql`
    SELECT client_id AS "clientId", subject, state, created_at AS "createdAtMs",
      (SELECT count(*) FROM client_secret s WHERE s.client = client_id AND s.state = 'active') AS secrets,
      CASE WHEN jwks IS NOT NULL THEN 'jwks' ELSE jwks_uri END AS keys
    FROM client WHERE application = ${application.id} ORDER BY created_at DESC, client_id`);
}
