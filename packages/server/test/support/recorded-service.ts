/** A service whose statements are noted, beside one on the same database whose statements are not. */
import { type Platform, startService } from '../../src/app.ts';
import type { Sql } from '../../src/database/sql.ts';
import { openStore } from '../../src/storage/store.ts';
import { recording } from './recording.ts';
import { openTestService, type TestService } from './service.ts';

type Lifetime = Parameters<typeof openTestService>[0];

export interface RecordedService extends TestService {
  /** Notes its statements; `platform` does not. */
  readonly recorded: Platform;
}

/**
 * Starts it. `settings` as of `openTestService`.
 * @param note with the firm that a statement runs as; undefined: none
 */
export async function openRecordedService(
  t: Lifetime,
  note: (firm: number | undefined, statement: Sql) => void,
  settings: Readonly<Record<string, string>> = {},
): Promise<RecordedService> {
  const plain = await openTestService(t, settings);
  const database = recording(plain.platform.database, note);
  const recorded = { ...plain.platform, database, store: openStore(database, undefined, plain.clock) };
  const service = await startService(recorded);
  t.after(() => service.drain());
  return { ...plain, service, origin: service.origin, recorded };
}
