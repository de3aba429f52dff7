/**
 * The two databases of the scale bench: 20 firms each, alike but for the size of their practices. Each has an embedded
 * PostgreSQL of its own, so that neither pushes the other out of the buffers.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openPlatform, type Platform } from '../../packages/server/src/app.ts';
import { type Clock, systemClock } from '../../packages/server/src/base/clock.ts';
import { readConfig } from '../../packages/server/src/base/config.ts';
import { openLog } from '../../packages/server/src/base/log.ts';
import { makeTrustedClock } from '../../packages/server/src/base/service-clock.ts';
import { loadPractice } from '../../packages/server/src/cli/sandbox/practice.ts';
import type { Database } from '../../packages/server/src/database/database.ts';
import { startEmbeddedDatabase } from '../../packages/server/src/database/embedded-postgres.ts';
import { sql } from '../../packages/server/src/database/sql.ts';
import { readSecretKeys } from '../../packages/server/src/keys/secret-keys.ts';
import { toDayStart } from '../../packages/server/src/synthetic/zoned-time.ts';
import { createFirm, type Firm, getFirm } from '../../packages/server/src/tenancy/firms.ts';
import { openOperatorScope } from '../../packages/server/src/tenancy/operator.ts';

export interface DataSetSize {
  readonly name: 'small' | 'large';
  readonly firms: number;
  readonly patientsPerFirm: number;
}

export interface DataSet extends DataSetSize {
  readonly platform: Platform;
  readonly members: readonly Firm[];
  readonly todayMs: number;
  readonly changesFromMs: number;
  readonly resources: number;
  readonly megabytes: number;
  readonly loadSeconds: number;
}

/** What a directory says of the data in it; written when they are complete. */
interface Mark {
  readonly firms: number;
  readonly patientsPerFirm: number;
  readonly todayMs: number;
  readonly changesFromMs: number;
  readonly resources: number;
  readonly loadSeconds: number;
}

export const seed = 'scale';
const environment = 'sandbox';
const timeZone = 'America/New_York';

/** Firms that are loaded at once: one is indexed here while the database writes the other. */
const loadedAtOnce = 2;

/** Time between two changes of a firm, so that the last hour holds as many in a small practice as in a large one. */
const changeEveryMs = 30_000;
const changesBeginDays = 60;
const dayMs = 86_400_000;

/** The data set in `directory`: loaded there, or found complete from an earlier run. */
export async function openDataSet(
  directory: string,
  size: DataSetSize,
  tell: (text: string) => void,
): Promise<DataSet> {
  const dataDir = path.join(directory, size.name);
  mkdirSync(dataDir, { recursive: true });
  const log = openLog('warn');
  const config = readConfig({ PRAXIS_DATA_DIR: dataDir });
  readSecretKeys(config); // made before the database
  // Only reading is measured, so the load need not wait for the disk.
  const connections = await startEmbeddedDatabase({ dataDir, log, durability: 'none' });
  const platform = await openPlatform({ config, clock: systemClock, log, connections });
  if (!existsSync(markFile(directory, size.name))) writeMark(directory, size.name, await load(platform, size, tell));
  const mark = readMark(directory, size.name);
  if (mark.firms !== size.firms || mark.patientsPerFirm !== size.patientsPerFirm)
    throw new Error(
      `${dataDir} holds ${mark.firms} firms of ${mark.patientsPerFirm} patients: choose another directory`,
    );
  const members = await Promise.all(prefixesOf(size).map((prefix) => getFirm(platform.database, environment, prefix)));
  return { ...size, ...mark, platform, members, megabytes: await megabytesOf(platform) };
}

/** What a directory says of the data set. @throws Error ENOENT when it is not there */
export function readMark(directory: string, name: DataSet['name']): Mark {
  return JSON.parse(readFileSync(markFile(directory, name), 'utf8'));
}

/** Notes that the data set was moved to another day: samples are taken by it. */
export function markToday(directory: string, name: DataSet['name'], todayMs: number): void {
  writeMark(directory, name, { ...readMark(directory, name), todayMs });
}

function writeMark(directory: string, name: DataSet['name'], mark: Mark): void {
  writeFileSync(markFile(directory, name), JSON.stringify(mark));
}

function markFile(directory: string, name: DataSet['name']): string {
  return path.join(directory, name, 'scale.json');
}

function prefixesOf({ firms }: DataSetSize): readonly string[] {
  return Array.from({ length: firms }, (_, index) => `firm${index + 1}`);
}

async function load(platform: Platform, size: DataSetSize, tell: (text: string) => void): Promise<Mark> {
  const startMs = performance.now();
  const todayMs = toDayStart(platform.clock.now());
  const changesFromMs = todayMs - changesBeginDays * dayMs;
  const waiting = [...prefixesOf(size)];
  let resources = 0;
  const loadNext = async (): Promise<void> => {
    for (let prefix = waiting.shift(); prefix !== undefined; prefix = waiting.shift()) {
      const firm = await createFirm(platform.database, { environment, prefix, name: `Practice ${prefix}`, timeZone });
      await openOperatorScope(platform.database, platform.clock, firm);
      const ticking = { ...platform, clock: makeTrustedClock(tickingClock(changesFromMs)) };
      const stored = await storePractice(ticking, firm, { patients: size.patientsPerFirm, todayMs });
      resources += stored;
      tell(`${size.name}: ${resources} resources, ${Math.round((performance.now() - startMs) / 1000)} s`);
    }
  };
  await Promise.all(Array.from({ length: loadedAtOnce }, loadNext));
  await platform.asOwner(vacuum);
  const loadSeconds = Math.round((performance.now() - startMs) / 1000);
  return { firms: size.firms, patientsPerFirm: size.patientsPerFirm, todayMs, changesFromMs, resources, loadSeconds };
}

/** Stores the practice of a firm of the data set, as new versions where it is stored already; returns how many resources it has. */
export async function storePractice(
  platform: Platform,
  firm: Firm,
  { patients, todayMs }: { readonly patients: number; readonly todayMs: number },
): Promise<number> {
  return await loadPractice(platform, firm, { seed, patients, todayMs });
}

/** What the autovacuum of a server that has run for a while has done. */
async function vacuum(owner: Database): Promise<void> {
  await owner.query(sql`SELECT 1`); // the first statement of a connection shares its transaction with settings
  await owner.query(sql`VACUUM ANALYZE`);
}

/** When the resource that is loaded as the one of this number, from 0, is said to have been changed. */
export function changedMs({ changesFromMs }: Pick<DataSet, 'changesFromMs'>, number: number): number {
  return changesFromMs + number * changeEveryMs;
}

/** The clock of a load: it is read once for a change and once for its audit row. */
function tickingClock(changesFromMs: number): Clock {
  let readings = 0;
  return { now: () => changedMs({ changesFromMs }, Math.floor(readings++ / 2)) };
}

async function megabytesOf(platform: Platform): Promise<number> {
  const [row] = await platform.asOwner((owner) =>
    owner.query<{ size: number }>(sql`SELECT pg_database_size(current_database()) AS size`),
  );
  return Math.round((row?.size ?? 0) / 1e6);
}
