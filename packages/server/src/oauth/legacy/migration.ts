/**
 * The way from the legacy flow to client credentials. Both flows belong to the same application, and a call may do what
 * the application holds and the firm authorised, whichever token it brings; so the equivalent of a legacy login is a
 * client and an API key of the other flow, and no right has to be copied (docs/decisions/0152).
 */
import { fail } from '../../base/errors.ts';
import type { Secrets } from '../../base/secrets.ts';
import type { Database } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { Application } from '../../tenancy/applications.ts';
import { insertApiKey, listApiKeys, lockApplication } from '../client-auth/api-keys.ts';
import { insertClientWithSecret, listClients } from '../client-auth/clients.ts';

export interface LegacyMigration {
  /** What was made; absent where the application had it already. They cannot be shown again. */
  readonly apiKey?: string;
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** Firms where the application acts by the same authorisation as before, by prefix. */
  readonly firms: readonly string[];
}

/**
 * Makes what `application` lacks to use client credentials, all or nothing; legacy keys and accounts stay until they are revoked.
 * @throws PraxisError `duplicate` when it lacks nothing
 */
export async function migrateToClientCredentials(
  database: Database,
  secrets: Secrets,
  application: Application,
): Promise<LegacyMigration> {
  return await database.transaction(undefined, async (tx) => {
    await lockApplication(tx, application); // two at once: the second finds what the first made
    const keys = await listApiKeys(tx, application);
    const clients = await listClients(tx, application);
    const hasKey = keys.some((key) => key.flow === 'client' && key.state === 'active');
    // Without a secret and without keys it can prove itself by nothing.
    const hasClient = clients.some(
      (client) => client.state === 'active' && (client.secrets > 0 || client.keys !== null),
    );
    if (hasKey && hasClient) {
      fail('duplicate', {
        diagnostics: `application ${application.name} already has a client and an API key of the client flow. To create more, use client issue and key issue, as actions of the administration API or as commands`,
      });
    }
    const firms = await tx.query<{ prefix: string }>(sql`
      SELECT f.prefix FROM authorisation z JOIN firm f ON f.id = z.firm
      WHERE z.application = ${application.id} AND z.state = 'active' ORDER BY f.prefix`);
    const client = hasClient ? {} : await insertClientWithSecret(tx, secrets, application);
    const key = hasKey ? undefined : await insertApiKey(tx, secrets, application, 'client', 'migration');
    return { ...client, ...(key ? { apiKey: key.apiKey } : {}), firms: firms.map(({ prefix }) => prefix) };
  });
}
