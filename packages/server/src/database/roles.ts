/**
 * The two database roles. The owner migrates and owns all tables, so row-level security does not bind it
 * (https://www.postgresql.org/docs/current/ddl-rowsecurity.html). The server runs as `praxis_runtime`, which must be bound.
 */
import { ConfigError } from '../base/config.ts';
import { sql } from './sql.ts';
import type { Queryable } from './transaction.ts';

export const runtimeRole = 'praxis_runtime';

interface Role {
  readonly name: string;
  readonly superuser: boolean;
  readonly bypasses: boolean;
  readonly owned: string | null;
}

/**
 * Checks that the connected role is bound by row-level security: no superuser, no BYPASSRLS, owner of no table itself or
 * through a role whose rights it has.
 * @throws ConfigError naming the role and what it can do
 */
export async function requireRowSecurity(connection: Queryable): Promise<void> {
  const [role] = await connection.query<Role>(sql`
    SELECT rolname::text AS name, rolsuper AS superuser, rolbypassrls AS bypasses,
      (SELECT min(c.relname::text) FROM pg_class c
       WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace
         AND pg_has_role(current_user, c.relowner, 'USAGE')) AS owned
    FROM pg_roles WHERE rolname = current_user`);
  const fault = role === undefined ? 'is unknown' : faultOf(role);
  if (fault !== undefined) {
    throw new ConfigError(
      `Database role ${role?.name ?? ''} ${fault}, so row-level security would not separate the firms; use ${runtimeRole} or a member of it`,
    );
  }
}

function faultOf({ superuser, bypasses, owned }: Role): string | undefined {
  if (superuser) return 'is a superuser';
  if (bypasses) return 'has BYPASSRLS';
  return owned === null ? undefined : `owns the table ${owned}`;
}
