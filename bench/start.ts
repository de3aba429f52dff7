/**
 * `npm run bench -- start [--starts 15 --settled 30 --workers 1,2 --node PROGRAM --sandbox]`: how long `praxis serve` with one worker
 * takes from its exec until `/health/ready` answers 200, on a data directory with a seeded sandbox that was stopped in order: with the
 * embedded database, and with `DATABASE_URL` of a server that runs. Both take turns. Then the memory of each worker, so many seconds
 * after the start of as many workers. Ends with an error when a median start or the memory of a worker is beyond its bound.
 *
 * `--node`: the Node that runs the command, by default the one that runs the bench. `--sandbox`: starts as `npm start` does.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { get } from 'node:http';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { makeSecret } from '../packages/server/src/base/ids.ts';
import { openLog } from '../packages/server/src/base/log.ts';
import { startEmbeddedDatabase } from '../packages/server/src/database/embedded-postgres.ts';
import { urlOf } from '../packages/server/test/support/nodes.ts';
import { inYard, type Yard } from './service/processes.ts';
import { end, freePort, serve } from './siege/installation.ts';
import { childrenOf, proportionalBytesOf, residentBytesOf } from './siege/processes.ts';

const embeddedMaxMs = 800;
const urlMaxMs = 500;
const megabyte = 1_000_000;
const residentMax = 150 * megabyte;
/** Pause between two attempts to reach a node that does not listen yet. */
const pollMs = 2;

const program = fileURLToPath(new URL('../packages/server/bin/praxis.mjs', import.meta.url));

interface Kind {
  readonly name: string;
  readonly maxMs: number;
  readonly environment: Readonly<Record<string, string>>;
}

interface Command {
  readonly node: string;
  readonly line: readonly string[];
}

/** Runs the bench with these arguments; returns the exit status. */
export async function benchStart(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      starts: { type: 'string', default: '15' },
      settled: { type: 'string', default: '30' },
      workers: { type: 'string', default: '1,2' },
      node: { type: 'string', default: process.execPath },
      sandbox: { type: 'boolean', default: false },
    },
  });
  const command = { node: values.node, line: ['serve', ...(values.sandbox ? ['--sandbox'] : [])] };
  return await inYard(async (yard) => {
    const kinds = [await prepareEmbedded(yard), await prepareWithUrl(yard)] as const;
    const areQuick = await compareStarts(kinds, command, Number(values.starts));
    const counts = values.workers.split(',').map(Number);
    const areSmall = await weighWorkers(kinds[0], command, counts, Number(values.settled));
    return areQuick && areSmall ? 0 : 1;
  });
}

async function prepareEmbedded(yard: Yard): Promise<Kind> {
  return await seed({
    name: 'embedded database',
    maxMs: embeddedMaxMs,
    environment: { ...(await settingsOf(yard)) },
  });
}

async function prepareWithUrl(yard: Yard): Promise<Kind> {
  const embedded = await startEmbeddedDatabase({ dataDir: yard.directory(), log: openLog('warn') });
  yard.onEnd(() => embedded.stop());
  return await seed({
    name: '`DATABASE_URL`',
    maxMs: urlMaxMs,
    environment: {
      ...(await settingsOf(yard)),
      PRAXIS_SECRET_KEY: makeSecret(),
      DATABASE_URL: urlOf(embedded.owner),
      PRAXIS_RUNTIME_DATABASE_URL: urlOf(embedded.runtime),
    },
  });
}

async function settingsOf(yard: Yard): Promise<Readonly<Record<string, string>>> {
  return {
    PRAXIS_DATA_DIR: path.join(yard.directory(), 'data'),
    PRAXIS_PORT: String(await freePort()),
    PRAXIS_WORKERS: '1',
    PRAXIS_LOG_LEVEL: 'error',
  };
}

/** The first start, which seeds, and its end. */
async function seed(kind: Kind): Promise<Kind> {
  await end(await serve(kind.environment, 'inherit'));
  return kind;
}

async function compareStarts(kinds: readonly Kind[], command: Command, starts: number): Promise<boolean> {
  // What the first start compiles, others find.
  for (const kind of kinds) await end((await start(kind, command)).child);
  const taken = kinds.map((): number[] => []);
  for (let turn = 0; turn < starts; turn++)
    for (const [index, kind] of kinds.entries()) {
      const { child, readyMs } = await start(kind, command);
      taken[index]?.push(readyMs);
      await end(child);
    }
  console.log(
    `| ready after, ms, of ${starts} starts | median (at most) | least | quartiles | most |\n|---|---:|---:|---:|---:|`,
  );
  let areQuick = true;
  for (const [index, { name, maxMs }] of kinds.entries()) {
    const sorted = (taken[index] ?? []).toSorted((left, right) => left - right);
    const at = (share: number): string => quantileOf(sorted, share).toFixed(0);
    console.log(`| ${name} | ${at(0.5)} (${maxMs}) | ${at(0)} | ${at(0.25)}, ${at(0.75)} | ${at(1)} |`);
    areQuick &&= quantileOf(sorted, 0.5) <= maxMs;
  }
  return areQuick;
}

function quantileOf(sorted: readonly number[], share: number): number {
  const place = share * (sorted.length - 1);
  const [below, above] = [sorted[Math.floor(place)] ?? Number.NaN, sorted[Math.ceil(place)] ?? Number.NaN];
  return below + (above - below) * (place - Math.floor(place));
}

async function weighWorkers(
  kind: Kind,
  command: Command,
  counts: readonly number[],
  settledSeconds: number,
): Promise<boolean> {
  console.log(
    `\n| ${settledSeconds} s after the start | MB resident (at most ${residentMax / megabyte}) | MB proportional |\n|---|---:|---:|`,
  );
  let areSmall = true;
  for (const count of counts) {
    const environment = { ...kind.environment, PRAXIS_WORKERS: String(count) };
    const { child } = await start({ ...kind, environment }, command);
    await delay(settledSeconds * 1000);
    for (const [index, pid] of findWorkers(child.pid ?? 0).entries()) {
      const resident = residentBytesOf(pid);
      console.log(
        `| worker ${index + 1} of ${count} | ${megabytes(resident)} | ${megabytes(proportionalBytesOf(pid))} |`,
      );
      areSmall &&= resident <= residentMax;
    }
    await end(child);
  }
  return areSmall;
}

/** Starts a node; resolves when it is ready. */
async function start(
  { environment }: Kind,
  { node, line }: Command,
): Promise<{ child: ChildProcess; readyMs: number }> {
  const beganMs = performance.now();
  const child = spawn(node, [program, ...line], {
    stdio: ['ignore', 'ignore', 'inherit'],
    // NODE_OPTIONS for profilers.
    env: { ...pick(['PATH', 'HOME', 'NODE_OPTIONS']), ...environment },
  });
  while (!(await isReady(Number(environment['PRAXIS_PORT'])))) {
    if (child.exitCode !== null) throw new Error(`praxis serve ended with ${child.exitCode}`);
    await delay(pollMs);
  }
  return { child, readyMs: performance.now() - beganMs };
}

function pick(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get({ port, path: '/health/ready', agent: false }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode === 200));
    });
    request.once('error', () => resolve(false));
  });
}

/** Also below a launcher. */
function findWorkers(pid: number): readonly number[] {
  return childrenOf(pid).flatMap((child) =>
    child.command.includes('serving/worker') ? [child.pid] : findWorkers(child.pid),
  );
}

function megabytes(bytes: number): string {
  return (bytes / megabyte).toFixed(0);
}
