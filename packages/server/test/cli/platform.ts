/**
 * What commands work on, over a test database: no HTTP server, a clock that stands still, and a secret key of its own.
 */
import { type Clock, fixedClock } from '../../src/base/clock.ts';
import { type Config, readConfig } from '../../src/base/config.ts';
import { newSecret } from '../../src/base/ids.ts';
import { openSecrets } from '../../src/base/secrets.ts';
import type { Platform } from '../../src/app.ts';
import { openDatabase } from '../../src/database/database.ts';
import { openStore } from '../../src/storage/store.ts';
import { ensureDefaultEnvironments } from '../../src/tenancy/environments.ts';
import { createFirm, type Firm } from '../../src/tenancy/firms.ts';
import { testLog } from '../support/cluster.ts';
import { type Lifetime, openTestDatabase } from '../support/database.ts';

export const startMs = Date.UTC(2026, 10, 21, 9, 30);

export interface TestPlatform extends Platform {
  readonly clock: Clock & { advance(ms: number): void };
}

export interface TestPlatformOptions {
  /** Default: one of its own. */
  readonly secretKey?: string;
  readonly settings?: Readonly<Record<string, string>>;
}

/** The platform of one process over a database of its own with the default environments. */
export async function openTestPlatform(t: Lifetime, options: TestPlatformOptions = {}): Promise<TestPlatform> {
  const { runtime: database, connections } = await openTestDatabase(t);
  await ensureDefaultEnvironments(database);
  const config: Config = readConfig({ PRAXIS_LOG_LEVEL: 'silent', ...options.settings });
  return {
    config,
    clock: fixedClock(startMs),
    log: testLog,
    secrets: openSecrets(options.secretKey ?? newSecret()),
    database,
    store: openStore(database),
    async asOwner(work) {
      const owner = await openDatabase({ connection: connections.owner, rowSecurity: 'bypassed', poolMax: 2, statementTimeoutMs: 0, log: testLog, applicationName: 'praxis owner' });
      try {
        return await work(owner);
      } finally {
        await owner.close();
      }
    },
    close: async () => undefined,
  };
}

/** A firm of the sandbox environment. */
export function makeFirm(platform: Platform, prefix: string): Promise<Firm> {
  return createFirm(platform.database, { environment: 'sandbox', prefix, name: 'Practice', timeZone: 'America/New_York' });
}
