/**
 * `npm run leak-hunt [-- options]`: hunts for leaks at full size, then takes out every guard in turn, and writes the report.
 *
 *     --requests N   requests to send (100000)
 *     --minutes N    the hunt ends after so long, whatever was sent (1440)
 *     --seed N       where the random requests begin (the day)
 *     --workers N    processes that hunt at once, each with worlds and a seed of its own (2)
 *     --path P       with --seed: only the campaign that a failure has named
 *     --guards       only the guards
 *     --guard TEXT   only the guards whose names hold the text
 *     --report FILE  where the report goes (docs/contribute/leak-hunt.md; of fewer than 20000 requests nowhere)
 */
import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startTestCluster } from '../../support/cluster.ts';
import { guards } from './guards.ts';
import { type Counted, type GuardResult, reportText, sumOf } from './report.ts';
import type { Result, Task } from './worker.ts';

const root = join(import.meta.dirname, '../../../../..');
const msPerDay = 86_400_000;
const requestsDefault = 100_000;
/** Seeds of one worker: each block of campaigns takes one. */
const seedsPerWorker = 1_000_000;
const reportedMin = 20_000;

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: String(requestsDefault) },
    minutes: { type: 'string', default: '1440' },
    seed: { type: 'string', default: String(Math.floor(Date.now() / msPerDay)) },
    workers: { type: 'string', default: '2' },
    path: { type: 'string' },
    guards: { type: 'boolean', default: false },
    guard: { type: 'string', default: '' },
    report: { type: 'string' },
  },
});

const cluster = await startTestCluster();
Object.assign(process.env, cluster.environment);
try {
  process.exitCode = await main();
} finally {
  await cluster.stop();
}

async function main(): Promise<number> {
  const requests = Number(values.requests);
  const seed = Number(values.seed);
  const workers = values.path === undefined ? Number(values.workers) : 1;
  if (
    ![requests, seed, workers, Number(values.minutes)].every((number) => Number.isSafeInteger(number) && number > 0)
  ) {
    print('--requests, --minutes, --seed and --workers take integers from 1');
    return 2;
  }
  const seeds = Array.from({ length: workers }, (_, at) => seed + at * seedsPerWorker);
  const isGuardsOnly = values.guards || values.guard !== '';
  const results = isGuardsOnly ? [] : await huntAll(seeds, Math.ceil(requests / workers));
  const found = isGuardsOnly || requests >= reportedMin ? await takeOutAll(seed) : [];
  const leaks = results.flatMap(({ leak }) => leak ?? []);
  for (const leak of leaks) print(leak);
  const counted = sumOf(results.flatMap(({ counted: part }): Counted[] => (part === undefined ? [] : [part])));
  for (const fault of counted.faults) print(`answered 500: ${fault}`);
  const missed = found.filter((each) => each.found === undefined);
  if (!isGuardsOnly) write(reportText({ seeds, counted, leaks, guards: found }), requests);
  print(
    `${counted.requests} requests, ${leaks.length} leaks; ${found.length} guards taken out, ${missed.length} not missed`,
  );
  return leaks.length + missed.length === 0 ? 0 : 1;
}

async function huntAll(seeds: readonly number[], requests: number): Promise<readonly Result[]> {
  const minutes = Number(values.minutes);
  const path = values.path === undefined ? {} : { path: values.path };
  return await Promise.all(seeds.map((seed) => work({ kind: 'hunt', seed, requests, minutes, ...path })));
}

async function takeOutAll(seed: number): Promise<readonly GuardResult[]> {
  const names = guards.map(({ name }) => name).filter((name) => name.includes(values.guard));
  const { found } = await work({ kind: 'guards', seed, names });
  for (const name of names.filter((each) => found?.every((other) => other.name !== each))) print(`left out: ${name}`);
  return found ?? [];
}

/** A process of its own: what is replaced in it is replaced nowhere else. */
async function work(task: Task): Promise<Result> {
  const worker = fork(join(import.meta.dirname, 'worker.ts'), [JSON.stringify(task)]);
  return await new Promise((resolve, reject) => {
    let result: Result | undefined;
    worker.on('message', (message: Result | string) => {
      if (typeof message === 'string') print(`seed ${task.seed}: ${message}`);
      else result = message;
    });
    worker.on('error', reject);
    worker.on('exit', (code) =>
      result === undefined ? reject(new Error(`a worker ended with ${code} and no result`)) : resolve(result),
    );
  });
}

function write(text: string, requests: number): void {
  const file = values.report ?? (requests >= reportedMin ? join(root, 'docs/contribute/leak-hunt.md') : undefined);
  if (file === undefined || values.path !== undefined) return;
  writeFileSync(file, text);
  print(`report: ${file}`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
