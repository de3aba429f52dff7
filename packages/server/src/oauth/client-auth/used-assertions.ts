/**
 * Assertions work once per client (https://www.rfc-editor.org/rfc/rfc7523#section-3 item 7): the `jti` is kept until the
 * assertion has expired, in the database, so that all nodes know it. Kept as a digest, since clients choose its length.
 */
import { hash } from 'node:crypto';
import type { Database } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import { deleteExpired } from '../expired-rows.ts';
import type { ClientAssertion } from './client-assertion.ts';

/** Whether this is the assertion's first use; of several at once, on any node, exactly one is. */
export async function isFirstUse(
  database: Database,
  { clientId, jti, expiresAtMs }: Pick<ClientAssertion, 'clientId' | 'jti' | 'expiresAtMs'>,
  nowMs: number,
): Promise<boolean> {
  const digest = hash('sha256', jti, 'buffer');
  const added = await database.query(
    sql`
    WITH expired AS (${deleteExpired('client_assertion', nowMs, sql`client = ${clientId} AND jti = ${digest}`)})
    INSERT INTO client_assertion (client, jti, expires_at) VALUES (${clientId}, ${digest}, ${sql.timestamp(expiresAtMs)})
    ON CONFLICT (client, jti) DO UPDATE SET expires_at = EXCLUDED.expires_at WHERE client_assertion.expires_at <= ${sql.timestamp(nowMs)}
    RETURNING client`,
    { short: true },
  );
  return added.length > 0;
}
