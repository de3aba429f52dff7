/**
 * `npm run bench -- import [--resources N] [--rounds N] [--kills N] [--threads N] [--profile DIRECTORY] [--data DIRECTORY]`: how many resources of synthetic practices
 * `praxis import` stores in a second, validated, beside both of what it cannot do without:
 *
 * - `COPY`, over one connection, of the very same rows into the same tables with their indexes;
 * - parsing, validation with invariants, and index rows, in one thread, with nothing stored.
 *
 *     --resources N     resources that are imported (50000)
 *     --rounds N        imports, each beside both others; the median of the ratios counts (1)
 *     --kills N         then imports them at another firm, killed so many times by SIGKILL and begun again (0)
 *     --threads N       threads of the import (one for each core)
 *     --profile DIRECTORY  where profiles of the CPU are written, of each thread (none)
 *     --data DIRECTORY  where the files and the database lie, which are removed at the end (a new temporary directory)
 *
 * Ends with 1 where the import has less than 0.7 of the pace of the slower one, or where something is there twice or missing after kills.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { isJsonObject, parseJson } from '@praxis/fhir';
import { openPlatform, type Platform } from '../../packages/server/src/app.ts';
import { systemClock } from '../../packages/server/src/base/clock.ts';
import { readConfig } from '../../packages/server/src/base/config.ts';
import { openLog } from '../../packages/server/src/base/log.ts';
import { startEmbeddedDatabase } from '../../packages/server/src/database/embedded-postgres.ts';
import { sql } from '../../packages/server/src/database/sql.ts';
import { requireResource } from '../../packages/server/src/engine/write/build-write.ts';
import { findBreaches } from '../../packages/server/src/engine/write/invariants.ts';
import { readSecretKeys } from '../../packages/server/src/keys/secret-keys.ts';
import { openOperatorBudget } from '../../packages/server/src/limits/budgets.ts';
import { indexResource } from '../../packages/server/src/search/index/index-rows.ts';
import { generatePractice } from '../../packages/server/src/synthetic/practice.ts';
import { toDayStart } from '../../packages/server/src/synthetic/zoned-time.ts';
import { createFirm, type Firm } from '../../packages/server/src/tenancy/firms.ts';
import { emptyTables, timeCopy, writeTables } from './copy-tables.ts';
import { type CpuMeter, type CpuTime, openCpuMeter } from './cpu-meter.ts';

const ratioMin = 0.7;
const timeZone = 'America/New_York';
const killedWithinMs = 300;
/** Patients of the practice at least; each has some 24 resources. */
const patientsMin = 2_000;
const resourcesPerPatient = 20;
const program = fileURLToPath(new URL('../../packages/server/src/cli/main.ts', import.meta.url));

interface Options {
  readonly resources: number;
  readonly rounds: number;
  readonly kills: number;
  readonly threads: string | undefined;
  readonly profile: string | undefined;
}

/** Runs the bench with these arguments; returns the exit status. */
export async function benchImport(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      resources: { type: 'string', default: '50000' },
      rounds: { type: 'string', default: '1' },
      kills: { type: 'string', default: '0' },
      threads: { type: 'string' },
      profile: { type: 'string' },
      data: { type: 'string' },
    },
  });
  const [resources, rounds, kills] = [values.resources, values.rounds, values.kills].map(Number) as [
    number,
    number,
    number,
  ];
  const options = { resources, rounds, kills, threads: values.threads, profile: values.profile };
  const directory = mkdtempSync(path.join(values.data ?? os.tmpdir(), 'praxis-bench-import-'));
  try {
    return await inDatabase(directory, (installation) => measure(installation, options));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

interface Installation {
  readonly directory: string;
  readonly dataDir: string;
  readonly platform: Platform;
}

async function inDatabase(directory: string, work: (installation: Installation) => Promise<number>): Promise<number> {
  const dataDir = path.join(directory, 'data');
  mkdirSync(dataDir);
  const log = openLog('warn');
  const config = readConfig({ PRAXIS_DATA_DIR: dataDir });
  readSecretKeys(config); // made before the database
  const connections = await startEmbeddedDatabase({ dataDir, log });
  const platform = await openPlatform({ config, clock: systemClock, log, connections });
  try {
    return await work({ directory, dataDir, platform });
  } finally {
    await platform.close();
  }
}

async function measure(installation: Installation, options: Options): Promise<number> {
  const { directory, platform } = installation;
  const file = path.join(directory, 'practices.ndjson');
  await writePractices(file, options.resources);
  const [backend] = await platform.database.query<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`);
  const cpu = openCpuMeter(backend?.pid ?? 0);
  const rounds: Round[] = [];
  console.log(
    `\n| ${options.resources} resources, round | what | s | resources/s | s of CPU: programs | database | ratio |\n|---:|---|---:|---:|---:|---:|---:|`,
  );
  for (let round = 1; round <= options.rounds; round += 1) {
    const measured = await measureRound(installation, options, file, `measured-${round}`, cpu);
    rounds.push(measured);
    tell(options, round, measured);
  }
  const [{ rows } = { rows: undefined }] = rounds;
  if (rows === undefined) throw new TypeError('there is no round');
  const ratio = medianOf(rounds.map(computeRatio));
  console.log(`\nThe import has ${ratio.toFixed(2)} of the pace of the slower one (at least ${ratioMin}).\n`);
  const broken =
    ratio < ratioMin ? [`the import has ${ratio.toFixed(2)} of the pace of the slower one, at least ${ratioMin}`] : [];
  if (rows.resources !== options.resources) broken.push(`${rows.resources} resources are there`);
  if (options.kills > 0) broken.push(...(await importKilled(installation, options, file, rows)));
  for (const line of broken) console.log(`BROKEN: ${line}`);
  return broken.length === 0 ? 0 : 1;
}

interface Measured {
  readonly s: number;
  readonly cpu: CpuTime;
}

interface Round extends Readonly<Record<'imported' | 'copied' | 'alone', Measured>> {
  /** What the import has left. */
  readonly rows: RowCounts;
}

/** One after another, into empty tables. */
async function measureRound(
  installation: Installation,
  options: Options,
  file: string,
  prefix: string,
  cpu: CpuMeter,
): Promise<Round> {
  const { directory, platform } = installation;
  const { owner } = platform.connections;
  if (!('host' in owner)) throw new TypeError('the embedded database has a socket');
  await emptyTables(owner);
  const firm = await makeFirm(platform, prefix);
  cpu.take();
  const alone = { s: await timeAlone(file), cpu: cpu.take() };
  const imported = { s: await timeImport(installation, options, file, firm), cpu: cpu.take() };
  const rows = await countRows(platform, firm);
  await writeTables(owner, directory);
  await emptyTables(owner);
  cpu.take();
  const copied = { s: await timeCopy(owner, directory), cpu: cpu.take() };
  return { alone, imported, copied, rows };
}

/** How fast the import is, beside the slower one of the others. */
function computeRatio({ imported, copied, alone }: Round): number {
  return Math.max(copied.s, alone.s) / imported.s;
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function tell({ resources }: Options, round: number, measured: Round): void {
  const { imported, copied, alone } = measured;
  const line = (name: string, { s, cpu }: Measured, ratio = ''): string =>
    `| ${[round, name, s.toFixed(1), Math.round(resources / s), cpu.programs.toFixed(1), cpu.database.toFixed(1), ratio].join(' | ')} |`;
  console.log(line('parse, validate, index rows, one thread', alone));
  console.log(line('praxis import, from its exec to its end', imported, computeRatio(measured).toFixed(2)));
  console.log(line('COPY of the same rows, one connection', copied));
}

async function writePractices(file: string, resources: number): Promise<void> {
  const out = createWriteStream(file);
  const todayMs = toDayStart(Date.now());
  const seen = new Set<string>();
  let written = 0;
  for (let practice = 1; written < resources; practice += 1) {
    const options = {
      seed: 'import',
      patients: Math.max(patientsMin, Math.ceil(resources / resourcesPerPatient)),
      todayMs,
      firm: `practice${practice}`,
      name: `Practice ${practice}`,
      timeZone,
    };
    for (const resource of generatePractice(options)) {
      const name = `${resource.resourceType}/${resource.id}`;
      if (seen.has(name)) continue; // practices share what is the same everywhere
      seen.add(name);
      if (!out.write(`${JSON.stringify(resource)}\n`)) await once(out, 'drain');
      written += 1;
      if (written === resources) break;
    }
  }
  await new Promise<void>((resolve) => out.end(resolve));
}

async function makeFirm(platform: Platform, prefix: string): Promise<Firm> {
  return await createFirm(platform.database, { environment: 'sandbox', prefix, name: prefix, timeZone });
}

/** Parses, validates and indexes all lines in this thread; how long that takes, in s, without reading the file. */
async function timeAlone(file: string): Promise<number> {
  const budget = openOperatorBudget();
  const place = { timeZone, searchParameters: [], baseUrl: 'http://127.0.0.1:8080/sandbox' };
  let ms = 0;
  for await (const lines of batchesOf(file)) {
    const beganMs = performance.now();
    for (const line of lines) {
      const resource = parseJson(line);
      if (!isJsonObject(resource)) throw new TypeError('a line is no object');
      const type = String(resource.resourceType);
      requireResource(resource, type, budget);
      const breaches = await findBreaches(resource, budget);
      if (breaches.length > 0) throw new Error(`a ${type} breaks invariants`);
      await indexResource(type, resource, { ...place, characters: line.length }, budget);
    }
    ms += performance.now() - beganMs;
  }
  return ms / 1000;
}

async function* batchesOf(file: string): AsyncGenerator<readonly string[]> {
  let lines: string[] = [];
  for await (const line of createInterface({ input: createReadStream(file) })) {
    lines.push(line);
    if (lines.length < 500) continue;
    yield lines;
    lines = [];
  }
  yield lines;
}

function startImport({ dataDir }: Installation, { threads, profile }: Options, file: string, firm: Firm): ChildProcess {
  const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${path.resolve(profile)}`];
  const line = ['import', file, '--firm', firm.prefix, ...(threads === undefined ? [] : ['--threads', threads])];
  return spawn(process.execPath, [...profiling, program, ...line], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, PRAXIS_DATA_DIR: dataDir },
  });
}

async function endOf(child: ChildProcess): Promise<number | null> {
  const [status] = await once(child, 'exit');
  return status;
}

async function timeImport(installation: Installation, options: Options, file: string, firm: Firm): Promise<number> {
  const beganMs = performance.now();
  const status = await endOf(startImport(installation, options, file, firm));
  if (status !== 0) throw new Error(`praxis import ended with ${status}`);
  return (performance.now() - beganMs) / 1000;
}

/** Rows of a firm; of `versions` and `events` there is one for each resource where nothing was stored twice. */
interface RowCounts {
  readonly resources: number;
  readonly versions: number;
  readonly events: number;
  readonly indexed: number;
}

async function countRows(platform: Platform, { id }: Firm): Promise<RowCounts> {
  const [row] = await platform.asOwner((owner) =>
    owner.query<RowCounts>(sql`
      SELECT (SELECT count(*) FROM resource WHERE firm = ${id}) AS resources,
        (SELECT count(*) FROM resource_version WHERE firm = ${id}) AS versions,
        (SELECT count(*) FROM audit_ledger WHERE firm = ${id} AND interaction = 'create') AS events,
        (SELECT count(*) FROM index_token WHERE firm = ${id}) + (SELECT count(*) FROM index_reference WHERE firm = ${id})
          + (SELECT count(*) FROM index_date WHERE firm = ${id}) + (SELECT count(*) FROM index_string WHERE firm = ${id})
          + (SELECT count(*) FROM index_number WHERE firm = ${id}) AS indexed`),
  );
  if (row === undefined) throw new TypeError('counts have a row');
  return row;
}

/** What an import that has not ended knows to be stored. */
async function countStored(platform: Platform, { id }: Firm): Promise<number> {
  const [row] = await platform.asOwner((owner) =>
    owner.query<{ stored: number | null }>(sql`SELECT sum(stored) AS stored FROM import_range WHERE firm = ${id}`),
  );
  return row?.stored ?? 0;
}

/** Imports at a new firm and kills the program so many times; what is other than it was without kills. */
async function importKilled(
  installation: Installation,
  options: Options,
  file: string,
  expected: RowCounts,
): Promise<readonly string[]> {
  const { platform } = installation;
  const firm = await makeFirm(platform, 'killed');
  for (let kill = 1; kill <= options.kills; kill += 1) {
    const child = startImport(installation, options, file, firm);
    const ended = endOf(child);
    // At any moment after it has stored its share.
    const share = (options.resources * kill) / (options.kills + 1);
    while (child.exitCode === null && (await countStored(platform, firm)) < share) await delay(100);
    await delay(Math.random() * killedWithinMs);
    child.kill('SIGKILL');
    await ended;
    console.log(`kill ${kill}: ${await countStored(platform, firm)} resources are stored`);
  }
  await timeImport(installation, options, file, firm);
  const rows = await countRows(platform, firm);
  console.log(`after ${options.kills} kills: ${JSON.stringify(rows)}, without: ${JSON.stringify(expected)}`);
  return (Object.keys(expected) as (keyof RowCounts)[])
    .filter((name) => rows[name] !== expected[name])
    .map((name) => `after kills there are ${rows[name]} ${name}, without ${expected[name]}`);
}
