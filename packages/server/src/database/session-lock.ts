/**
 * A lock that one process of an installation holds for as long as it works, over many transactions
 * (https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS). It ends with its process, however that ends.
 */
import pg from 'pg';
import type { Log } from '../base/log.ts';
import { makeConnectionError } from './connection-fault.ts';
import { buildClientConfig, type DatabaseConnection } from './connection-settings.ts';

/** Keys of such locks: four ASCII bytes. */
export const sessionLocks = { sandbox: 0x73616e64, archive: 0x61726368 } as const;

export interface SessionLockOptions {
  readonly connection: DatabaseConnection;
  readonly lock: keyof typeof sessionLocks;
  readonly log: Log;
  /** Called once when another process holds the lock, before it is waited for. */
  readonly onWait: () => void;
}

/** Runs `work` while this process alone holds the lock. @throws StartError when the database cannot be reached */
export async function runWithLock<T>(options: SessionLockOptions, work: () => Promise<T>): Promise<T> {
  const { connection, lock, log, onWait } = options;
  const session = { applicationName: `praxis ${lock}`, statementTimeoutMs: 0 };
  const client = new pg.Client(buildClientConfig(connection, session));
  client.on('error', (error) => log.error({ err: error }, 'database connection lost while holding a lock'));
  await client.connect().catch((error: unknown) => Promise.reject(makeConnectionError(connection, error)));
  try {
    const key = sessionLocks[lock];
    const attempt = await client.query<{ held: boolean }>('SELECT pg_try_advisory_lock($1) AS held', [key]);
    if (attempt.rows[0]?.held !== true) {
      onWait();
      await client.query('SELECT pg_advisory_lock($1)', [key]);
    }
    return await work();
  } finally {
    await client.end();
  }
}
