/** The connections that the settings name, for both roles. */
import path from 'node:path';
import type { Config } from '../base/config.ts';
import type { Log } from '../base/log.ts';
import type { DatabaseConnection } from './connection-settings.ts';

/** Both roles of a database; `stop` ends what was started for them. */
export interface Connections {
  readonly owner: DatabaseConnection;
  readonly runtime: DatabaseConnection;
  stop(): Promise<void>;
}

/** Those of the settings; where no DATABASE_URL is set the embedded database is started for them. */
export async function openConnections(config: Config, log: Log): Promise<Connections> {
  if (config.databaseUrl === '') {
    // Workers are told where it is, and start none.
    const { startEmbeddedDatabase } = await import('./embedded-postgres.ts');
    return await startEmbeddedDatabase({ dataDir: path.resolve(config.dataDir), log });
  }
  return { ...describeGivenDatabase(config), stop: async () => undefined };
}

/** Both roles of the database that DATABASE_URL names. */
export function describeGivenDatabase(
  config: Pick<Config, 'databaseUrl' | 'runtimeDatabaseUrl'>,
): Pick<Connections, 'owner' | 'runtime'> {
  const owner = { url: config.databaseUrl };
  const runtime = config.runtimeDatabaseUrl
    ? { url: config.runtimeDatabaseUrl }
    : { ...owner, role: 'praxis_runtime' as const };
  return { owner, runtime };
}
