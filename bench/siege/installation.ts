/**
 * The installation under siege: `praxis serve --sandbox` as processes of its own, with its own data directory and the embedded
 * database.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  readSandbox,
  type SandboxApplication,
  type SandboxFile,
} from '../../packages/server/src/cli/sandbox/credentials.ts';
import { childrenOf } from './processes.ts';

const program = fileURLToPath(new URL('../../packages/server/src/cli/main.ts', import.meta.url));

export interface Installation {
  readonly origin: string;
  readonly sandbox: SandboxFile;
  /** Pid of the process that was started; starting again after it was killed gives another. */
  pid(): number;
  /** Pids of the processes that answer requests. */
  workers(): readonly number[];
  /** Pid of the database's first process. */
  postmaster(): number;
  /** Starts again after the first process was killed. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export function applicationOf({ applications }: SandboxFile, name: string): SandboxApplication {
  const found = applications.find((each) => each.name === name);
  if (found === undefined) throw new Error(`the sandbox has no application ${name}`);
  return found;
}

/** Starts it; resolves when it is ready. */
export async function startInstallation(settings: Readonly<Record<string, string>>): Promise<Installation> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'praxis-siege-'));
  const port = String(await freePort());
  const environment = { PRAXIS_PORT: port, PRAXIS_DATA_DIR: dataDir, PRAXIS_LOG_LEVEL: 'error', ...settings };
  let child = await serve(environment);
  const sandbox = readSandbox(dataDir);
  if (sandbox === undefined) throw new Error('the sandbox was not seeded');
  const origin = `http://127.0.0.1:${port}`;
  const pid = (): number => child.pid ?? 0;
  return {
    origin,
    sandbox: { ...sandbox, origin },
    pid,
    workers() {
      const workers = childrenOf(pid()).filter(({ command }) => command.includes('serving/worker'));
      return workers.map((worker) => worker.pid);
    },
    postmaster: () =>
      Number(readFileSync(path.join(dataDir, 'postgres', 'cluster', 'postmaster.pid'), 'utf8').split('\n')[0]),
    async restart() {
      child = await serve(environment);
    },
    async stop() {
      await end(child);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function serve(environment: Readonly<Record<string, string>>): Promise<ChildProcess> {
  const child = spawn(process.execPath, [program, 'serve', '--sandbox'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // NODE_OPTIONS for profilers.
    env: { ...pick(process.env, ['PATH', 'HOME', 'NODE_OPTIONS']), ...environment },
  });
  await new Promise<void>((resolve, reject) => {
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => {
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

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  child.kill('SIGTERM');
  await ended;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port is free');
  return address.port;
}
