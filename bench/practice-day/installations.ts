/**
 * Databases with the practices of a practice day. They are filled once; further ones are copies, so that all hold the same.
 */
import { execFileSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { entryProblem } from '../../packages/server/src/admin/entry-problem.ts';
import { openPlatform, type Platform } from '../../packages/server/src/app.ts';
import { systemClock } from '../../packages/server/src/base/clock.ts';
import { readConfig } from '../../packages/server/src/base/config.ts';
import { makeSecret } from '../../packages/server/src/base/ids.ts';
import { openLog } from '../../packages/server/src/base/log.ts';
import { listProblemLines } from '../../packages/server/src/cli/importing/problem.ts';
import { loadResources } from '../../packages/server/src/cli/loading.ts';
import { loadPractice } from '../../packages/server/src/cli/sandbox/practice.ts';
import { type Database, openDatabase } from '../../packages/server/src/database/database.ts';
import { startEmbeddedDatabase } from '../../packages/server/src/database/embedded-postgres.ts';
import { sql } from '../../packages/server/src/database/sql.ts';
import { readSecretKeys } from '../../packages/server/src/keys/secret-keys.ts';
import { issueApiKey } from '../../packages/server/src/oauth/client-auth/api-keys.ts';
import { issueClient } from '../../packages/server/src/oauth/client-auth/clients.ts';
import { toDayStart } from '../../packages/server/src/synthetic/zoned-time.ts';
import { createApplication } from '../../packages/server/src/tenancy/applications.ts';
import { authorise } from '../../packages/server/src/tenancy/authorisations.ts';
import { createFirm, type Firm } from '../../packages/server/src/tenancy/firms.ts';
import { tidyGround } from '../service/fill-ledger.ts';
import { buildPlace, type RunningPlace } from '../service/nodes.ts';
import type { Yard } from '../service/processes.ts';
import { generateBusyDays } from './busy-days.ts';
import { type DayPlan, environment, type PracticePlan, seed, timeZone } from './plan.ts';

export interface Credentials {
  readonly apiKey: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** What the databases hold. */
export interface Contents {
  readonly plan: DayPlan;
  /** By the names of the applications. */
  readonly credentials: ReadonlyMap<string, Credentials>;
  readonly resources: number;
  readonly loadSeconds: number;
  /** UTC midnight before the day, in ms. */
  readonly todayMs: number;
}

export interface Installations {
  readonly contents: Contents;
  readonly places: readonly RunningPlace[];
}

/** Practices that are loaded at once: one is indexed here while the database writes the other. */
const loadedAtOnce = 2;
const lookMs = 200;
const settledMaxMs = 120_000;

/** Fills a database and makes `count` of it. */
export async function openInstallations(yard: Yard, plan: DayPlan, count: number): Promise<Installations> {
  const log = openLog('warn');
  const directories = Array.from({ length: count }, () => yard.directory());
  const [first = '', ...others] = directories;
  const secretKey = makeSecret();
  // What is loaded can be loaded again, so the load does not wait for the disk.
  const loading = await startEmbeddedDatabase({ dataDir: first, log, durability: 'none' });
  const contents = await fill(buildPlace(first, loading, secretKey), plan).finally(() => loading.stop());
  // Owners are kept: root runs the database as another user.
  for (const other of others) execFileSync('cp', ['-a', `${first}/.`, other]);
  const places: RunningPlace[] = [];
  for (const dataDir of directories) {
    const embedded = await startEmbeddedDatabase({ dataDir, log });
    yard.onEnd(() => embedded.stop());
    places.push(buildPlace(dataDir, embedded, secretKey));
  }
  return { contents, places };
}

async function fill({ connections, settings }: RunningPlace, plan: DayPlan): Promise<Contents> {
  const beganMs = performance.now();
  const log = openLog('warn');
  const config = readConfig(settings);
  readSecretKeys(config); // made before the database
  const platform = await openPlatform({ config, clock: systemClock, log, connections });
  try {
    const todayMs = toDayStart(platform.clock.now());
    const firms = new Map<string, Firm>();
    for (const { prefix, name } of plan.practices)
      firms.set(prefix, await createFirm(platform.database, { environment, prefix, name, timeZone }));
    const waiting = plan.practices.map((practice) => ({ practice, firm: firms.get(practice.prefix) }));
    let resources = 0;
    const loadNext = async (): Promise<void> => {
      for (let next = waiting.shift(); next?.firm !== undefined; next = waiting.shift()) {
        const stored = await load(platform, next.firm, next.practice, todayMs);
        resources += stored;
      }
    };
    await Promise.all(Array.from({ length: loadedAtOnce }, loadNext));
    const credentials = await register(platform, plan, firms);
    return { plan, credentials, resources, todayMs, loadSeconds: (performance.now() - beganMs) / 1000 };
  } finally {
    await platform.close();
  }
}

async function load(platform: Platform, firm: Firm, { patients }: PracticePlan, todayMs: number): Promise<number> {
  const stored = await loadPractice(platform, firm, { seed, patients, todayMs });
  const options = { seed, patients, todayMs, firm: firm.prefix, name: firm.name, timeZone };
  const added = await loadResources(platform, firm, originate(generateBusyDays(options)), {
    validate: false,
    onProblem(problem) {
      throw new Error(listProblemLines(problem).join('; '));
    },
  });
  return stored + added;
}

function* originate(resources: ReturnType<typeof generateBusyDays>) {
  for (const resource of resources) yield { resource, origin: `${resource.resourceType}/${resource.id}` };
}

/** Makes the applications; each practice authorises its own. */
async function register(
  { database, secrets, clock }: Platform,
  { practices, applications }: DayPlan,
  firms: ReadonlyMap<string, Firm>,
): Promise<ReadonlyMap<string, Credentials>> {
  const credentials = new Map<string, Credentials>();
  for (const { name, acl } of applications) {
    const application = await createApplication(database, { environment, name, acl }, entryProblem);
    const { apiKey } = await issueApiKey(database, secrets, application, 'client', 'bench');
    credentials.set(name, { apiKey, ...(await issueClient(database, secrets, application)) });
    for (const practice of practices) {
      const firm = firms.get(practice.prefix);
      if (firm !== undefined && Object.values(practice.applications).includes(name))
        await authorise(database, clock, firm, application, { purpose: 'Practice day' }, entryProblem);
    }
  }
  return credentials;
}

/**
 * Waits until nodes have brought the appointments that were loaded into their calendars, and does what autovacuum would do during
 * the measurement.
 */
export async function settlePlace(place: RunningPlace): Promise<void> {
  const owner = await openDatabase({
    connection: place.connections.owner,
    rowSecurity: 'bypassed',
    poolMax: 1,
    statementTimeoutMs: 60_000,
    log: openLog('warn'),
  });
  try {
    for (const endMs = performance.now() + settledMaxMs; !(await isSettled(owner)); ) {
      if (performance.now() > endMs) throw new Error('the calendars do not have the appointments that were loaded');
      await delay(lookMs);
    }
  } finally {
    await owner.close();
  }
  await tidyGround(place);
}

async function isSettled(owner: Database): Promise<boolean> {
  const [row] = await owner.query<{ waiting: number }>(
    sql`SELECT count(*)::int AS waiting FROM bookable_actor WHERE NOT settled`,
  );
  return row?.waiting === 0;
}
