/**
 * From where administrators have signed in of late. It opens nothing: it tells an owner from those who guess at the owner's
 * password elsewhere (docs/decisions/0209).
 */
import type { Secrets } from '../base/secrets.ts';
import { pointRead } from '../database/database.ts';
import { type Sql, sql } from '../database/sql.ts';
import { toNetwork } from '../limits/network.ts';
import type { SessionStore } from './sessions.ts';

/** An address is forgotten when nobody has signed in from it for this long. */
export const addressMs = 90 * 24 * 3_600_000;
/** Addresses that are remembered of an administrator; a further one takes the place of the oldest. */
export const addressesMax = 20;

/** Notes that the administrator has signed in from the address now. */
export async function rememberAddress(
  { database, secrets, clock }: SessionStore,
  administrator: number,
  username: string,
  address: string,
): Promise<void> {
  const nowMs = clock.now();
  await database.query(sql`
    INSERT INTO admin_address (administrator, address, signed_in_at)
    VALUES (${administrator}, ${hashOf(secrets, username, address)}, ${sql.timestamp(nowMs)})
    ON CONFLICT (administrator, address) DO UPDATE SET signed_in_at = EXCLUDED.signed_in_at`);
  await database.query(sql`
    DELETE FROM admin_address WHERE administrator = ${administrator} AND (NOT ${isRemembered(nowMs)} OR address IN (
      SELECT address FROM admin_address WHERE administrator = ${administrator}
      ORDER BY signed_in_at DESC, address OFFSET ${addressesMax}))`);
}

/** Whether the administrator of this name has signed in from the address of late; for names that are none, for the same work. */
export async function isKnownAddress(
  { database, secrets, clock }: SessionStore,
  username: string,
  address: string,
): Promise<boolean> {
  const rows = await database.query(
    sql`
    SELECT 1 AS known FROM admin_address JOIN administrator a ON a.id = administrator
    WHERE a.username = ${username} AND address = ${hashOf(secrets, username, address)} AND ${isRemembered(clock.now())}`,
    pointRead,
  );
  return rows.length > 0;
}

function isRemembered(nowMs: number): Sql {
  return sql`signed_in_at > ${sql.timestamp(nowMs - addressMs)}`;
}

/** With the name in it, so that the rows do not tell who works where others work. */
function hashOf(secrets: Secrets, username: string, address: string): Buffer {
  return secrets.hash('address', JSON.stringify([username, toNetwork(address)]));
}
