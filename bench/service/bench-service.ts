/**
 * `npm run bench`: the service by real HTTP beside its floor, all from one run on one machine, so that each figure is a
 * ratio. Floor and product take turns round by round; the median round of each counts.
 *
 *     npm run bench [-- --rounds 3 --seconds 2 --connections 16 --patients 2000]
 */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { type Figures, run as runLoad, type Server, type Workload } from './load.ts';
import { prepareFirm } from './prepare.ts';
import type { Listening } from './protocol.ts';
import { rowsOf } from './report.ts';
import { floorWorkloads, productWorkloads } from './workloads.ts';

interface Options {
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
  readonly patients: number;
}

/** What a run makes and has to take away. */
interface Run {
  readonly dataDir: string;
  readonly servers: Server[];
}

/** Runs the bench with these arguments; returns the exit status. */
export async function benchService(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  const run: Run = { dataDir: mkdtempSync(path.join(os.tmpdir(), 'praxis-bench-')), servers: [] };
  try {
    await bench(run, options);
  } finally {
    for (const { process: child } of run.servers) child.disconnect();
    await Promise.all(run.servers.map(({ process: child }) => new Promise((resolve) => child.once('exit', resolve))));
    rmSync(run.dataDir, { recursive: true, force: true });
  }
  return 0;
}

function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '2' },
      connections: { type: 'string', default: '16' },
      patients: { type: 'string', default: '2000' },
    },
  });
  return {
    rounds: Number(values.rounds),
    seconds: Number(values.seconds),
    connections: Number(values.connections),
    patients: Number(values.patients),
  };
}

async function bench(run: Run, { rounds, seconds, connections, patients }: Options): Promise<void> {
  console.log(
    `${os.cpus().length} × ${os.cpus()[0]?.model}, Node ${process.version}, ${connections} connections, ${rounds} rounds of ${seconds} s`,
  );
  const prepared = await prepareFirm(run.dataDir, patients);
  console.log(`${prepared.resources} resources in the firm\n`);
  const product = await start(run, 'product.ts', {
    PRAXIS_DATA_DIR: run.dataDir,
    PRAXIS_PORT: '0',
    PRAXIS_RATE_LIMIT: '0',
    PRAXIS_LOG_LEVEL: 'warn',
  });
  const floor = await start(run, 'floor.ts', prepared.floorEnvironment);
  const pairs = await productWorkloads(product.origin, prepared);
  const floors = floorWorkloads(prepared);
  const figures = new Map<Workload, Figures[]>();
  for (let round = 0; round <= rounds; round += 1) {
    for (const workload of [...floors, ...pairs.map((pair) => pair.workload)]) {
      const server = floors.includes(workload) ? floor : product;
      // Round 0 warms up.
      const measured = await runLoad(server, workload, connections, round === 0 ? Math.min(1, seconds) : seconds);
      if (round > 0) figures.set(workload, [...(figures.get(workload) ?? []), measured]);
    }
  }
  for (const line of rowsOf(floors, pairs, figures)) console.log(line);
}

async function start({ servers }: Run, script: string, environment: Readonly<Record<string, string>>): Promise<Server> {
  const child = fork(path.join(import.meta.dirname, script), {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const { origin } = await new Promise<Listening>((resolve, reject) => {
    child.once('message', (message) => resolve(message as Listening));
    child.once('exit', (code) => reject(new Error(`${script} ended with ${code}`)));
  });
  const server = { origin, process: child };
  servers.push(server);
  return server;
}
