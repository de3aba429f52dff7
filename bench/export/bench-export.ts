/**
 * `npm run bench -- export`: a bulk export by HTTP with gzip, beside COPY … TO STDOUT of the same contents through the same gzip.
 *
 *     npm run bench -- export [--resources 100000] [--rounds 3] [--workers 1] [--writers 50] [--kills 0]
 *
 *     --resources N  of the practice, about (100,000)
 *     --rounds N     exports and copies, in turns (3)
 *     --workers N    PRAXIS_WORKERS (1)
 *     --writers N    who change resources while an export is planned and fetched (50); 0: none
 *     --kills N      of a worker by SIGKILL, while an export is planned and fetched (0)
 *
 * Ends with 1 when the export is slower than half the copy, when a worker grows with what it exports, when the export under
 * writers has other versions than those of its moment, or when files differ after kills. Linux only.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openPlatform } from '../../packages/server/src/app.ts';
import { systemClock } from '../../packages/server/src/base/clock.ts';
import { readConfig } from '../../packages/server/src/base/config.ts';
import { openLog } from '../../packages/server/src/base/log.ts';
import { fitLine } from '../regression.ts';
import { openCaller } from '../service/caller.ts';
import { type BenchNode, type Ground, listWorkers, openGround, startNode } from '../service/nodes.ts';
import { patientId } from '../service/prepare.ts';
import { inYard } from '../service/processes.ts';
import { residentBytesOf } from '../siege/processes.ts';
import { type ExportClient, type FetchedFile, hashFile, openExportClient } from './client.ts';
import { type Copied, copyThroughGzip } from './copying.ts';
import { compareFiles, readMoment } from './moment.ts';

const ratioMin = 0.5;
/** Of the memory of a worker, from the first half of an export to the second. */
const growthMax = 0.1;
const resourcesPerPatient = 24.75;
const sampleMs = 100;
const megabyte = 1_000_000;
/** Between two writes of a writer, and between two kills, in ms. */
const writeEveryMs = 250;
const killEveryMs = 1_500;

interface Options {
  readonly resources: number;
  readonly rounds: number;
  readonly workers: number;
  readonly writers: number;
  readonly kills: number;
}

/** An export, measured. */
interface Exported {
  readonly planSeconds: number;
  readonly seconds: number;
  readonly compressedBytes: number;
  /** Of the service, the database and this client. */
  readonly cpuSeconds: number;
  /** Resident memory of the worker that has grown most: of the second half over the first. */
  readonly growth: number;
  readonly slope: number;
}

/** Runs the bench with the arguments that follow its name; returns the exit status. */
export async function benchExport(args: readonly string[]): Promise<number> {
  const text = (value: string) => ({ type: 'string', default: value }) as const;
  const options = {
    resources: text('100000'),
    rounds: text('3'),
    workers: text('1'),
    writers: text('50'),
    kills: text('0'),
  };
  const { values } = parseArgs({ args: [...args], options });
  const [resources = 0, rounds = 0, workers = 0, writers = 0, kills = 0] = [
    values.resources,
    values.rounds,
    values.workers,
    values.writers,
    values.kills,
  ].map(Number);
  return await inYard(async (yard) => {
    const ground = await openGround(yard, Math.max(1, Math.round(resources / resourcesPerPatient)));
    const node = await startNode(yard, ground, workers);
    const client = await openExportClient(node.origin, ground.prepared);
    yard.onEnd(() => client.close());
    const broken = await measureAll({ resources, rounds, workers, writers, kills }, ground, node, client);
    for (const line of broken) console.log(`BROKEN: ${line}`);
    return broken.length === 0 ? 0 : 1;
  });
}

async function measureAll(
  options: Options,
  ground: Ground,
  node: BenchNode,
  client: ExportClient,
): Promise<readonly string[]> {
  console.log(`${ground.prepared.resources} resources, ${options.workers} worker(s)`);
  return [
    ...(await measureSpeed(options, ground, node, client)),
    ...(options.writers > 0 ? await checkMoment(options, ground, node, client) : []),
    ...(options.kills > 0 ? await checkKills(options, node, client) : []),
  ];
}

async function measureSpeed({ rounds }: Options, ground: Ground, node: BenchNode, client: ExportClient) {
  const url = ground.settings['DATABASE_URL'] ?? '';
  const select = 'SELECT content FROM resource WHERE content IS NOT NULL';
  const copies: Copied[] = [];
  const exports: Exported[] = [];
  const copyCpu: number[] = [];
  await exportOnce(node, client); // plans and code are warm then
  for (let round = 0; round < rounds; round += 1) {
    const before = (await node.cpuMicros()) + cpuMicrosOfThis();
    copies.push(await copyThroughGzip(url, select));
    copyCpu.push(((await node.cpuMicros()) + cpuMicrosOfThis() - before) / 1e6);
    exports.push(await exportOnce(node, client));
  }
  const bytes = copies[0]?.bytes ?? 0;
  console.log(
    '\n| round | COPY and gzip, MB/s | export, MB/s | ratio | planning, s | reading, s | s of CPU: COPY and gzip | export | worker, MB per minute | growth |',
  );
  console.log('|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|');
  const ratios = exports.map((exported, at) => {
    const copied = copies[at] ?? { seconds: Number.NaN };
    const ratio = copied.seconds / exported.seconds;
    const speeds = [copied.seconds, exported.seconds].map((seconds) => (bytes / megabyte / seconds).toFixed(1));
    const parts = [exported.planSeconds, exported.seconds - exported.planSeconds].map((seconds) => seconds.toFixed(2));
    const memory = [((exported.slope * 60_000) / megabyte).toFixed(1), exported.growth.toFixed(3)];
    const cpu = [copyCpu[at] ?? Number.NaN, exported.cpuSeconds].map((each) => each.toFixed(2));
    console.log(`| ${[at + 1, ...speeds, ratio.toFixed(2), ...parts, ...cpu, ...memory].join(' | ')} |`);
    return ratio;
  });
  const [copied, exported] = [copies[0]?.compressedBytes ?? 0, exports[0]?.compressedBytes ?? 0];
  console.log(`\n${mb(bytes)} MB of content; compressed ${mb(copied)} MB by COPY, ${mb(exported)} MB as files`);
  const ratio = medianOf(ratios);
  const growth = medianOf(exports.map((each) => each.growth));
  console.log(`Median: ratio ${ratio.toFixed(2)} (≥ ${ratioMin}), growth ${growth.toFixed(3)} (≤ ${growthMax})`);
  return [
    ...(ratio >= ratioMin ? [] : [`the export has ${ratio.toFixed(2)} of the speed of COPY`]),
    ...(growth <= growthMax ? [] : [`a worker grows by ${growth.toFixed(3)} of its memory while it exports`]),
  ];
}

/** From the kick-off to the last byte. */
async function exportOnce(node: BenchNode, client: ExportClient): Promise<Exported> {
  const memory = watchMemory(node);
  const cpuBefore = (await node.cpuMicros()) + cpuMicrosOfThis();
  const beganMs = performance.now();
  const status = await client.begin('');
  const files = await client.plan(status);
  const planSeconds = (performance.now() - beganMs) / 1000;
  let compressedBytes = 0;
  await client.fetchAll(files, ({ compressed }) => {
    compressedBytes += compressed.length;
  });
  const seconds = (performance.now() - beganMs) / 1000;
  const cpuSeconds = ((await node.cpuMicros()) + cpuMicrosOfThis() - cpuBefore) / 1e6;
  const { growth, slope } = await memory.stop();
  await client.remove(status);
  return { planSeconds, seconds, compressedBytes, cpuSeconds, growth, slope };
}

function cpuMicrosOfThis(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

function watchMemory(node: BenchNode): { stop(): Promise<{ readonly growth: number; readonly slope: number }> } {
  const pids = listWorkers(node);
  const taken: { readonly ms: number; readonly bytes: readonly number[] }[] = [];
  const sample = (): void => void taken.push({ ms: performance.now(), bytes: pids.map(residentBytesOf) });
  sample();
  const timer = setInterval(sample, sampleMs);
  return {
    async stop() {
      clearInterval(timer);
      sample();
      const middle = Math.floor(taken.length / 2);
      const lines = pids.map((_, at) => {
        const bytesOf = (each: (typeof taken)[number]): number => each.bytes[at] ?? Number.NaN;
        const mean = (some: typeof taken): number => some.reduce((sum, each) => sum + bytesOf(each), 0) / some.length;
        const growth = mean(taken.slice(middle)) / mean(taken.slice(0, middle)) - 1;
        return { growth, slope: fitLine(taken.map((each) => [each.ms, bytesOf(each)])).slope };
      });
      return lines.reduce((most, line) => (line.growth > most.growth ? line : most));
    },
  };
}

/** An export while others write: every version as of its moment, no other. */
async function checkMoment({ writers }: Options, ground: Ground, node: BenchNode, client: ExportClient) {
  const writing = await startWriters(node, ground, writers);
  await delay(1_000);
  const status = await client.begin('');
  const job = new URL(status).searchParams.get('job') ?? '';
  const files: FetchedFile[] = [];
  await client.fetchAll(await client.plan(status), (file) => void files.push(file));
  const writes = await writing.stop();
  const config = readConfig({ ...ground.settings });
  const platform = await openPlatform({
    config,
    clock: systemClock,
    log: openLog('warn'),
    connections: ground.connections,
  });
  const moment = await readMoment(platform, job).finally(() => platform.close());
  const problems = compareFiles(files, moment);
  console.log(
    `\nUnder ${writers} writers (${writes} writes): ${moment.size} versions of the moment, ${problems.length} differences`,
  );
  await client.remove(status);
  return problems.slice(0, 5);
}

/** Writers who update, delete and create patients until they are stopped. */
async function startWriters(node: BenchNode, ground: Ground, count: number): Promise<{ stop(): Promise<number> }> {
  const caller = await openCaller(node.origin, ground.prepared);
  const { body, patients } = ground.prepared;
  const resource: object = JSON.parse(body);
  let writes = 0;
  let isStopping = false;
  const write = async (writer: number): Promise<void> => {
    for (let turn = 0; !isStopping; turn += 1) {
      const id = patientId((writer * 97 + turn) % patients);
      const update = JSON.stringify({
        ...resource,
        resourceType: 'Patient',
        id,
        birthDate: `19${10 + (turn % 90)}-01-01`,
      });
      const put = caller.write('PUT', `Patient/${id}`, update);
      const calls = [
        put,
        put,
        caller.write('POST', 'Patient', body),
        put,
        { ...put, method: 'DELETE', body: undefined },
      ];
      const call = calls[turn % calls.length] ?? put;
      const answer = await fetch(node.origin + call.path, { ...call, body: call.body ?? null }).catch(() => undefined);
      await answer?.arrayBuffer();
      if (answer?.ok === true) writes += 1;
      await delay(writeEveryMs);
    }
  };
  const all = Promise.all(Array.from({ length: count }, (_, writer) => write(writer)));
  return {
    async stop() {
      isStopping = true;
      await all;
      return writes;
    },
  };
}

/** An export whose workers are killed: the files are those of an export that nobody disturbed. */
async function checkKills({ kills }: Options, node: BenchNode, client: ExportClient) {
  let killed = 0;
  let isOver = false;
  let killsNow = Math.floor(kills / 2); // while it is planned; the others while it is read
  const kill = async (): Promise<void> => {
    for (; killed < kills && !isOver; await delay(killEveryMs)) {
      const [worker] = listWorkers(node);
      if (worker === undefined || killed >= killsNow) continue;
      process.kill(worker, 'SIGKILL');
      killed += 1;
    }
  };
  const disturbed = new Map<string, string>();
  const calm = new Map<string, string>();
  const status = await client.begin('');
  const killing = kill();
  const files = await client.plan(status);
  const killedPlanning = killed;
  killsNow = kills;
  // As often as it takes until all kills were made.
  do await client.fetchAll(files, (file) => void disturbed.set(file.url, hashFile(file)));
  while (killed < kills);
  isOver = true;
  await killing;
  await client.fetchAll(await client.plan(status), (file) => void calm.set(file.url, hashFile(file)));
  const differences = [...calm].filter(([url, hash]) => disturbed.get(url) !== hash);
  console.log(
    `\n${killed} kills, ${killedPlanning} of them while it was planned: ${calm.size} files, ${differences.length} differ`,
  );
  await client.remove(status);
  return [
    ...differences.map(([url]) => `differs after kills: ${url}`),
    ...(calm.size === disturbed.size ? [] : ['there are other files after kills']),
  ];
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function mb(bytes: number): string {
  return (bytes / megabyte).toFixed(1);
}
