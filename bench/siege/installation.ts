/**
 * The installation under siege: `praxis serve --sandbox` as processes of its own, with its own data directory and the embedded
 * database.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  readSandbox,
  type SandboxApplication,
  type SandboxFile,
} from '../../packages/server/src/cli/sandbox/credentials.ts';
import { type Hazards, openHazards } from './hazards.ts';
import { childrenOf } from './processes.ts';

const program = fileURLToPath(new URL('../../packages/server/src/cli/main.ts', import.meta.url));

export interface Installation {
  readonly origin: string;
  readonly sandbox: SandboxFile;
  /** Undefined where none are wanted. */
  readonly hazards: Hazards | undefined;
  /** Pid of the process that was started; starting again after it was killed gives another. */
  pid(): number;
  /** Pids of the processes that answer requests. */
  workers(): readonly number[];
  /** Pid of the database's first process; 0 while there is none. */
  postmaster(): number;
  /** Starts again after the first process was killed, again and again until it is ready, as a service manager does. */
  restart(): Promise<void>;
  /** How often the first process has ended without having been killed. */
  ends(): number;
  /** Runs a command of the program on the installation. */
  command(...line: readonly string[]): { readonly status: number | null; readonly said: string };
  stop(): Promise<void>;
}

export function applicationOf({ applications }: SandboxFile, name: string): SandboxApplication {
  const found = applications.find((each) => each.name === name);
  if (found === undefined) throw new Error(`the sandbox has no application ${name}`);
  return found;
}

const restartPauseMs = 500;

export interface InstallationOptions {
  /** Whether disk, clock and the way to the database can be made to fail. */
  readonly isHazardous?: boolean;
  /** File for what its processes say; absent: they say it on this one's standard error. */
  readonly log?: string;
}

/** Starts it; resolves when it is ready. */
export async function startInstallation(
  settings: Readonly<Record<string, string>>,
  { isHazardous = false, log }: InstallationOptions = {},
): Promise<Installation> {
  const directory = mkdtempSync(path.join(tmpdir(), 'praxis-siege-'));
  const dataDir = path.join(directory, 'data');
  mkdirSync(dataDir);
  const hazards = isHazardous ? openHazards(directory, dataDir) : undefined;
  const port = String(await freePort());
  const environment = { PRAXIS_PORT: port, PRAXIS_DATA_DIR: dataDir, PRAXIS_LOG_LEVEL: 'error', ...settings };
  const logged = log === undefined ? 'inherit' : openSync(log, 'w');
  let ends = 0;
  let isEnding = false;
  const start = async (): Promise<ChildProcess> => {
    const started = await serve({ ...environment, ...hazards?.settings }, logged);
    started.once('exit', (_status, signal) => {
      if (signal !== 'SIGKILL' && !isEnding) ends += 1;
    });
    return started;
  };
  const remove = (): void => {
    hazards?.close();
    rmSync(directory, { recursive: true, force: true });
  };
  let child: ChildProcess;
  try {
    child = await start();
  } catch (error) {
    remove();
    throw error;
  }
  const sandbox = readSandbox(dataDir);
  if (sandbox === undefined) throw new Error('the sandbox was not seeded');
  const origin = `http://127.0.0.1:${port}`;
  const pid = (): number => child.pid ?? 0;
  return {
    origin,
    sandbox: { ...sandbox, origin },
    hazards,
    pid,
    workers() {
      const workers = childrenOf(pid()).filter(({ command }) => command.includes('serving/worker'));
      return workers.map((worker) => worker.pid);
    },
    postmaster: () => postmasterIn(dataDir),
    async restart() {
      for (let attempt = 1; ; attempt++) {
        try {
          child = await start();
          return;
        } catch (error) {
          if (attempt >= 60) throw error;
          await delay(restartPauseMs);
        }
      }
    },
    ends: () => ends,
    command(...line) {
      const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment };
      const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...line], { env, encoding: 'utf8' });
      return { status, said: `${stdout}${stderr}` };
    },
    async stop() {
      isEnding = true;
      await end(child);
      remove();
    },
  };
}

function postmasterIn(dataDir: string): number {
  try {
    return Number(readFileSync(path.join(dataDir, 'postgres', 'cluster', 'postmaster.pid'), 'utf8').split('\n')[0]);
  } catch {
    return 0;
  }
}

/** Starts `praxis serve`; resolves when it is ready. */
export async function serve(
  environment: Readonly<Record<string, string>>,
  logged: 'inherit' | number,
  options: readonly string[] = ['--sandbox'],
): Promise<ChildProcess> {
  const child = spawn(process.execPath, [program, 'serve', ...options], {
    stdio: ['ignore', 'pipe', logged],
    // NODE_OPTIONS for profilers.
    env: { ...pick(process.env, ['PATH', 'HOME', 'NODE_OPTIONS']), ...environment },
  });
  await new Promise<void>((resolve, reject) => {
    let said = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      said = `${said}${chunk.toString()}`.slice(-10_000);
      if (said.includes('praxis ready on ')) resolve();
    });
    child.once('close', (status) => reject(new Error(`praxis serve ended with ${status}: ${said}`)));
  });
  return child;
}

function pick(from: NodeJS.ProcessEnv, names: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])));
}

/** Ends it as a service manager does; resolves when it has ended. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  child.kill('SIGTERM');
  await ended;
}

/** A port of this machine that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port is free');
  return address.port;
}
