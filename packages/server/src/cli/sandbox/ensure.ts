/**
 * Bringing the sandbox to its seeded state, whatever an earlier start left behind.
 */
import type { Platform } from '../../app.ts';
import { sql } from '../../database/sql.ts';
import { getFirm } from '../../tenancy/firms.ts';
import { beginSeeding, endSeeding, isSeeding, readSandbox, type SandboxFile, writeSandbox } from './credentials.ts';

/** What makes practices up and removes them: most starts find a sandbox, and need none of it. */
const loadSeeding = () => import('./seed.ts');
const loadRemoval = () => import('./remove.ts');

/**
 * The credentials of the sandbox, seeding it in an empty database or where an earlier seeding was interrupted. Undefined
 * where the database holds firms but no sandbox was seeded with it, after a restore for instance: nothing is touched then.
 * Of several processes that start together one seeds and the others wait for it: else they would take its seeding for one
 * that was interrupted.
 */
export async function ensureSandbox(
  platform: Platform,
  origin: string,
  onProgress: (text: string) => void,
): Promise<SandboxFile | undefined> {
  // The file is written at the end of a seeding: nobody has to be waited for.
  const known = readSandbox(platform.config.dataDir);
  if (known?.admin !== undefined && known.origin === origin) return known;
  return await platform.holding(
    'sandbox',
    () => onProgress('is under way in another process: waiting for it'),
    () => ensureAlone(platform, origin, onProgress),
  );
}

async function ensureAlone(
  platform: Platform,
  origin: string,
  onProgress: (text: string) => void,
): Promise<SandboxFile | undefined> {
  const { dataDir } = platform.config;
  const known = readSandbox(dataDir);
  if (known !== undefined) {
    const admin = known.admin ?? (await (await loadSeeding()).seedAdministrator(platform));
    if (known.origin !== origin || known.admin === undefined) writeSandbox(dataDir, { ...known, origin, admin });
    return { ...known, origin, admin };
  }
  if (isSeeding(dataDir)) await (await loadRemoval()).removeSandbox(platform);
  if ((await platform.database.query(sql`SELECT 1 AS one FROM firm LIMIT 1`)).length > 0) return undefined;
  beginSeeding(dataDir);
  const seeded = await (await loadSeeding()).seedSandbox(platform, origin, onProgress);
  writeSandbox(dataDir, seeded);
  endSeeding(dataDir);
  return seeded;
}

/** Removes what was written to the practices since and stores them anew; credentials and authorisations stay. */
export async function resetPractices(platform: Platform, onProgress: (text: string) => void): Promise<void> {
  await (await loadRemoval()).removePractices(platform);
  const { sandboxPlan, seedPractice } = await loadSeeding();
  for (const { environment, firms } of sandboxPlan) {
    for (const { prefix, patients } of firms) {
      const firm = await getFirm(platform.database, environment, prefix);
      await seedPractice(platform, firm, patients, onProgress);
    }
  }
}
