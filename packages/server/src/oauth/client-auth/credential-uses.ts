/**
 * When API keys and client secrets were last used, for the people who retire the older of two. Uses are noted in memory and
 * written behind, so that no request waits for it; a crash loses the last of them, and dates are true to an interval.
 */
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Database } from '../../database/database.ts';
import { type Sql, sql } from '../../database/sql.ts';

export type UsedCredential = 'api_key' | 'client_secret';

export interface CredentialUses {
  /** Notes that the credential was right just now. */
  note(kind: UsedCredential, id: number): void;
  /** Writes what was noted. */
  flush(): Promise<void>;
  /** Stops the timer and writes what is left; failures are logged. */
  close(): Promise<void>;
}

/** How often uses are written. */
const flushIntervalMs = 30_000;
/** A credential whose stored date is younger than this is not written again. */
const dateIntervalMs = 60_000;
/** Credentials noted at once; beyond it they wait for the next use. */
const notedMax = 100_000;

/** Notes uses for `database` and writes them every 30 s, until it is closed. */
export function openCredentialUses(database: Database, clock: Clock, log: Log): CredentialUses {
  const noted: Record<UsedCredential, Map<number, number>> = { api_key: new Map(), client_secret: new Map() };

  const flush = async (): Promise<void> => {
    for (const kind of ['api_key', 'client_secret'] as const) {
      const uses = [...noted[kind]];
      noted[kind].clear();
      if (uses.length > 0) await database.query(writeUses(kind, uses), { idempotent: true });
    }
  };
  const flushOrLog = (): Promise<void> =>
    flush().catch((error: unknown) => log.warn({ err: error }, 'last uses of credentials were not written'));
  const timer = setInterval(() => void flushOrLog(), flushIntervalMs);
  timer.unref();

  return {
    note(kind, id) {
      if (noted[kind].size < notedMax || noted[kind].has(id)) noted[kind].set(id, clock.now());
    },
    flush,
    async close() {
      clearInterval(timer);
      await flushOrLog();
    },
  };
}

/** Rows in the order of their ids, so that nodes that write at once do not wait for each other in a circle. */
function writeUses(kind: UsedCredential, uses: readonly (readonly [id: number, atMs: number])[]): Sql {
  const table = sql.identifier(kind);
  const ids = uses.map(([id]) => id);
  const latestMs = Math.max(...uses.map(([, atMs]) => atMs));
  return sql`
    WITH used AS (
      SELECT id FROM ${table} WHERE id = ANY (${ids}::int[])
        AND (last_used_at IS NULL OR last_used_at < ${sql.timestamp(latestMs - dateIntervalMs)})
      ORDER BY id FOR UPDATE)
    UPDATE ${table} t SET last_used_at = ${sql.timestamp(latestMs)} FROM used WHERE t.id = used.id`;
}
