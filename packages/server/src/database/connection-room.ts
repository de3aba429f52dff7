/** Whether the server has room for the connections that a node may open. */
import { ConfigError } from '../base/config.ts';
import { sql } from './sql.ts';
import type { Queryable } from './transaction.ts';

interface Limits {
  readonly most: number;
  /** Kept for superusers and for roles with rights to them (https://www.postgresql.org/docs/current/runtime-config-connection.html). */
  readonly kept: number;
  /** Of the role and of the database; -1 = no limit. */
  readonly ofRole: number;
  readonly ofDatabase: number;
}

/**
 * @param needed connections that this node may have open at once, as parts of PRAXIS_DATABASE_POOL and beside it
 * @throws ConfigError naming the limit that is lower
 */
export async function requireConnections(database: Pick<Queryable, 'query'>, needed: number): Promise<void> {
  const [limits] = await database.query<Limits>(sql`
    SELECT current_setting('max_connections')::int AS most,
      current_setting('superuser_reserved_connections')::int
        + coalesce(current_setting('reserved_connections', true)::int, 0) AS kept,
      (SELECT rolconnlimit FROM pg_roles WHERE rolname = session_user) AS "ofRole",
      (SELECT datconnlimit FROM pg_database WHERE datname = current_database()) AS "ofDatabase"`);
  if (limits === undefined) return;
  const { most, kept, ofRole, ofDatabase } = limits;
  const bounds = [
    { name: `max_connections=${most} of the server, of which ${kept} are reserved`, room: most - kept },
    { name: `the connection limit ${ofRole} of the role`, room: ofRole < 0 ? needed : ofRole },
    { name: `the connection limit ${ofDatabase} of the database`, room: ofDatabase < 0 ? needed : ofDatabase },
  ];
  const low = bounds.find(({ room }) => room < needed);
  if (low === undefined) return;
  throw new ConfigError(
    `This node may open ${needed} database connections, with those of a worker that is being replaced, but there is ${low.name}: lower PRAXIS_DATABASE_POOL or PRAXIS_WORKERS, or raise that limit`,
  );
}
