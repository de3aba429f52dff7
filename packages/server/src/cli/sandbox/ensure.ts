/**
 * Bringing the sandbox to its seeded state, whatever an earlier start left behind.
 */
import type { Platform } from '../../app.ts';
import { ConfigError } from '../../base/config.ts';
import { sql } from '../../database/sql.ts';
import { dayStartMs } from '../../synthetic/zoned-time.ts';
import { getFirm } from '../../tenancy/firms.ts';
import { readSandbox, type SandboxFile, writeSandbox } from './credentials.ts';
import { loadPractice } from './practice.ts';
import { removePractices, removeSandbox } from './remove.ts';
import { sandboxPlan, sandboxSeed, seedSandbox } from './seed.ts';

/**
 * The credentials of the sandbox, seeding it where no earlier seeding came to its end. The file is written last, so its
 * absence means that what is there may be half of it.
 * @throws ConfigError when the database holds firms that are not the sandbox's
 */
export async function ensureSandbox(
  platform: Platform,
  origin: string,
  onProgress: (text: string) => void,
): Promise<SandboxFile> {
  const { dataDir } = platform.config;
  const known = readSandbox(dataDir);
  if (known !== undefined) {
    if (known.origin !== origin) writeSandbox(dataDir, { ...known, origin });
    return { ...known, origin };
  }
  await requireNoOtherFirms(platform);
  await removeSandbox(platform);
  const seeded = await seedSandbox(platform, origin, onProgress);
  writeSandbox(dataDir, seeded);
  return seeded;
}

/** Removes what was written to the practices since and stores them anew; credentials and authorisations stay. */
export async function resetPractices(platform: Platform, onProgress: (text: string) => void): Promise<void> {
  await removePractices(platform);
  for (const { environment, firms } of sandboxPlan) {
    for (const { prefix, patients } of firms) {
      const firm = await getFirm(platform.database, environment, prefix);
      const size = { seed: sandboxSeed, patients, todayMs: dayStartMs(platform.clock.now()) };
      onProgress(`${environment}/${prefix}: ${await loadPractice(platform, firm, size)} resources`);
    }
  }
}

async function requireNoOtherFirms(platform: Platform): Promise<void> {
  const planned = sandboxPlan.flatMap((row) => row.firms.map((firm) => `${row.environment}/${firm.prefix}`));
  const others = await platform.database.query<{ name: string }>(sql`
    SELECT e.name || '/' || f.prefix AS name FROM firm f JOIN environment e ON e.id = f.environment
    WHERE NOT (e.name || '/' || f.prefix = ANY(${planned}::text[])) ORDER BY 1 LIMIT 1`);
  const [other] = others;
  if (other === undefined) return;
  throw new ConfigError(
    `the database holds firm ${other.name}, which is no sandbox firm: start with praxis serve, without --sandbox`,
  );
}
