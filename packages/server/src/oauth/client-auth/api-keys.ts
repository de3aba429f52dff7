/**
 * API keys: the `x-api-key` of an application, one kind per flow (contract 4.1, 4.3, 5.8). A key belongs to one application
 * and so to one environment. Only its keyed hash is stored.
 */
import { fail } from '../../base/errors.ts';
import { makeSecret } from '../../base/ids.ts';
import type { Secrets } from '../../base/secrets.ts';
import type { Database, Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { Application } from '../../tenancy/applications.ts';
import { changeRights } from '../../tenancy/epochs.ts';
import { liveCredentialsMax } from './client-secrets.ts';

/** `legacy`: password grant and its tokens; `client`: client credentials and their tokens. */
export type Flow = 'legacy' | 'client';

export interface ApiKey {
  readonly id: number;
  readonly flow: Flow;
  readonly label: string;
  readonly state: 'active' | 'revoked';
  readonly createdAtMs: number;
  /** True to a minute; null: never. */
  readonly lastUsedAtMs: number | null;
}

export interface IssuedApiKey {
  readonly id: number;
  /** The key itself; it cannot be shown again. */
  readonly apiKey: string;
}

/**
 * Makes a key of `application` for `flow`. Two may be live, so that an application changes from the old to the new without a
 * request that fails.
 * @throws PraxisError `rule-broken` when two keys of the flow are live
 */
export async function issueApiKey(
  database: Database,
  secrets: Secrets,
  application: Application,
  flow: Flow,
  label: string,
): Promise<IssuedApiKey> {
  return await database.transaction(undefined, (tx) => insertApiKey(tx, secrets, application, flow, label));
}

/** The same in the transaction `tx`, which holds the application's row from then on. */
export async function insertApiKey(
  tx: Queryable,
  secrets: Secrets,
  application: Application,
  flow: Flow,
  label: string,
): Promise<IssuedApiKey> {
  const apiKey = makeSecret();
  await lockApplication(tx, application); // two at once count each other's
  const live = await tx.query(
    sql`SELECT id FROM api_key WHERE application = ${application.id} AND flow = ${flow} AND state = 'active'`,
  );
  if (live.length >= liveCredentialsMax) {
    fail('rule-broken', {
      diagnostics: `application ${application.name} has ${live.length} live ${flow} keys: revoke one of them before another is issued`,
    });
  }
  const [row] = await tx.query<{ id: number }>(sql`
    INSERT INTO api_key (hash, application, flow, state, label)
    VALUES (${secrets.hash('api-key', apiKey)}, ${application.id}, ${flow}, 'active', ${label}) RETURNING id`);
  return row ? { id: row.id, apiKey } : fail('internal', { diagnostics: 'The API key was not stored' });
}

/** Holds the application's row to the end of the transaction, so that those who add credentials at once count each other's. */
export async function lockApplication(tx: Queryable, application: Application): Promise<void> {
  await tx.query(sql`SELECT id FROM application WHERE id = ${application.id} FOR NO KEY UPDATE`);
}

/**
 * Refuses the key from the next statement on.
 * @throws PraxisError `resource-not-found` when the application has no live key of this id
 */
export async function revokeApiKey(database: Database, application: Application, id: number): Promise<void> {
  await changeRights(database, { application: application.id }, async (tx) => {
    const revoked = await tx.query(sql`
      UPDATE api_key SET state = 'revoked' WHERE id = ${id} AND application = ${application.id} AND state = 'active' RETURNING id`);
    if (revoked.length === 0)
      fail('resource-not-found', { diagnostics: `application ${application.name} has no live API key ${id}` });
  });
}

/** The keys of an application, newest first; never the keys themselves. */
export async function listApiKeys(database: Queryable, application: Application): Promise<ApiKey[]> {
  return await database.query<ApiKey>(sql`
    SELECT id, flow, label, state, created_at AS "createdAtMs", last_used_at AS "lastUsedAtMs"
    FROM api_key WHERE application = ${application.id} ORDER BY id DESC`);
}
