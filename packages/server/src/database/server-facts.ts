/** What an operator has to know of the database server, beyond what keeps the service from starting. */
import { sql } from './sql.ts';
import type { Queryable } from './transaction.ts';

export interface ServerFacts {
  readonly version: string;
  /** `150004` is 15.4. */
  readonly versionNumber: number;
  readonly encoding: string;
  /** It follows another server, and takes no writes. */
  readonly isStandby: boolean;
  /** Who asks may make the schema, and what it needs of roles. */
  readonly canCreate: boolean;
  readonly hasRuntimeRole: boolean;
  readonly canCreateRoles: boolean;
  /** Whether who asks owns the tables; null: there are none yet. */
  readonly ownsTables: boolean | null;
  /** The connection comes over the network, and is not encrypted. */
  readonly isOpenToListeners: boolean | null;
  /** Connections that others than this service hold. */
  readonly foreignConnections: number;
  readonly connectionsMax: number;
}

/** Read as the owner role. */
export async function readServerFacts(owner: Queryable): Promise<ServerFacts | undefined> {
  const [facts] = await owner.query<ServerFacts>(sql`
    SELECT current_setting('server_version') AS version,
      current_setting('server_version_num')::int AS "versionNumber",
      current_setting('server_encoding') AS encoding,
      pg_is_in_recovery() AS "isStandby",
      coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS "canCreate",
      EXISTS (SELECT FROM pg_roles WHERE rolname = 'praxis_runtime') AS "hasRuntimeRole",
      (SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user) AS "canCreateRoles",
      (SELECT pg_has_role(current_user, relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass('migration')) AS "ownsTables",
      (SELECT NOT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid())
        AND coalesce(NOT inet_server_addr() <<= '127.0.0.0/8'::inet AND inet_server_addr() <> '::1'::inet, false)
        AS "isOpenToListeners",
      (SELECT count(*)::int FROM pg_stat_activity
       WHERE usesysid IS NOT NULL AND application_name NOT LIKE 'praxis%') AS "foreignConnections",
      current_setting('max_connections')::int AS "connectionsMax"`);
  return facts;
}

/** A setting of the server that costs records, or time, with the value that does. */
export interface HarmfulSetting {
  readonly name: string;
  readonly value: string;
  /** Records may be lost or refused by it. */
  readonly isGrave: boolean;
  readonly consequence: string;
}

const harmful: readonly HarmfulSetting[] = [
  {
    name: 'fsync',
    value: 'off',
    isGrave: true,
    consequence: 'a failure of the machine may destroy the database',
  },
  {
    name: 'full_page_writes',
    value: 'off',
    isGrave: true,
    consequence: 'a failure of the machine may destroy the database',
  },
  {
    name: 'default_transaction_read_only',
    value: 'on',
    isGrave: true,
    consequence: 'writes are refused',
  },
  {
    name: 'synchronous_commit',
    value: 'off',
    isGrave: false,
    consequence: 'what was acknowledged is lost when the server fails',
  },
  {
    name: 'autovacuum',
    value: 'off',
    isGrave: false,
    consequence: 'statements are planned for sizes that tables had once, and tables grow',
  },
  {
    name: 'track_counts',
    value: 'off',
    isGrave: false,
    consequence: 'autovacuum does not know which tables have changed',
  },
];

/** Those that the server has, as sessions begin with them. */
export async function listHarmfulSettings(owner: Queryable): Promise<readonly HarmfulSetting[]> {
  const rows = await owner.query<{ name: string; value: string }>(sql`
    SELECT name, reset_val AS value FROM pg_settings WHERE name = ANY (${harmful.map(({ name }) => name)}::text[])`);
  const values = new Map(rows.map(({ name, value }) => [name, value]));
  return harmful.filter(({ name, value }) => values.get(name) === value);
}
