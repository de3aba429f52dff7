/** The embedded database of the data directory: a PostgreSQL that all praxis processes of that directory share. */
import {
  type Application,
  type EmbeddedOptions,
  type EmbeddedPostgres,
  type EmbeddedState,
  EnvironmentError,
  lookAtEmbeddedPostgres,
  ServerError,
  startEmbeddedPostgres,
} from '@praxis/embedded-postgres';
import { ConfigError } from '../base/config.ts';
import { makeDataDirectory } from '../base/data-directory.ts';
import { StartError } from '../base/start-error.ts';

export type { EmbeddedPostgres, EmbeddedState } from '@praxis/embedded-postgres';

/** What the server and its operator's messages call us. */
export const embeddedApplication: Application = {
  name: 'praxis',
  dataDirSetting: 'PRAXIS_DATA_DIR',
  useOtherDatabase: 'set DATABASE_URL',
};

/**
 * Starts or finds the server of the data directory, which is made if missing.
 * @throws ConfigError when this machine or this user cannot run it, with what to do
 * @throws StartError when the directory cannot be used, or the server does not start
 */
export async function startEmbeddedDatabase(options: Omit<EmbeddedOptions, 'application'>): Promise<EmbeddedPostgres> {
  makeDataDirectory(options.dataDir);
  try {
    return await startEmbeddedPostgres({ ...options, application: embeddedApplication });
  } catch (cause) {
    if (cause instanceof EnvironmentError) throw new ConfigError(cause.message, { cause });
    if (cause instanceof ServerError) throw new StartError(cause.message, { cause });
    throw cause;
  }
}

/**
 * The server of the data directory, for who only looks.
 * @throws StartError when the passwords of its roles cannot be read
 */
export function lookAtEmbeddedDatabase(dataDir: string): EmbeddedState {
  try {
    return lookAtEmbeddedPostgres({ application: embeddedApplication, dataDir });
  } catch (cause) {
    if (cause instanceof ServerError) throw new StartError(cause.message, { cause });
    throw cause;
  }
}
