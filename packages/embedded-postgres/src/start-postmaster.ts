/** Starting the server process of a cluster (https://www.postgresql.org/docs/current/server-start.html). */
import { type ChildProcess, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Account } from './account.ts';
import type { Application } from './application.ts';
import type { Binaries } from './binaries.ts';
import { ServerError } from './errors.ts';
import { type Layout, makeSocketDirectory, socketPort } from './layout.ts';
import { findPostmaster, findReadyPostmaster, type Postmaster, releaseSocketLock } from './lock-file.ts';
import { lowerPriority, setBatchScheduling } from './priority.ts';
import { buildProgramEnvironment } from './processes.ts';
import { buildSettings, type Durability, markSetting } from './settings.ts';

/** The server did not get ready; `output` is what it wrote to standard error. */
export class StartFailure extends ServerError {
  readonly output: string;

  constructor(output: string, layout: Layout) {
    super(
      `Embedded PostgreSQL did not start; its log is in ${layout.log}: ${output.trim().replaceAll(/\s+/g, ' ').slice(-1000)}`,
    );
    this.output = output;
  }

  /** Another server has the cluster, processes of a killed one still end, or a crash is recovered from: looking again helps. */
  get passes(): boolean {
    return /not ready after|lock file|shared memory block|already in use|another postmaster/i.test(this.output);
  }
}

export interface StartOptions {
  readonly layout: Layout;
  readonly binaries: Binaries;
  readonly account: Account;
  readonly application: Application;
  readonly durability: Durability;
  /** Value of the mark by which a later process recognises the settings. */
  readonly mark: string;
  /** Added to the niceness of the server's processes; 0 = none. */
  readonly niceness: number;
}

/** How long a server may be gone or not answer; one that says that it starts, or recovers from a crash, is waited for beyond. */
export const readyMaxMs = 120_000;
const pollIntervalMs = 4;

/**
 * Starts a server on the cluster and waits until it takes connections. It has a session of its own: it outlives this
 * process, and signals that a terminal sends to this process's group do not reach it.
 * @throws StartFailure when it ends before
 */
export async function startPostmaster(options: StartOptions): Promise<Postmaster> {
  const isWindows = process.platform === 'win32';
  const settings = Object.entries({
    ...buildSettings(options.durability),
    ...(isWindows ? { listen_addresses: '127.0.0.1', port: String(await freePort()) } : socketSettings(options)),
    log_directory: options.layout.log,
    [markSetting(options.application)]: options.mark,
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return isWindows ? startThroughPgCtl(options, settings) : await startDirectly(options, settings);
}

function socketSettings({ layout, account, application }: StartOptions) {
  const directory = makeSocketDirectory(layout, account, application);
  releaseSocketLock(layout, directory);
  return {
    listen_addresses: '',
    port: String(socketPort),
    unix_socket_directories: directory,
    unix_socket_permissions: '0700',
  };
}

async function startDirectly(options: StartOptions, settings: readonly string[]): Promise<Postmaster> {
  // A file and not a pipe: a pipe would break when this process dies. It has no name, so nothing is left behind.
  const output = openNamelessFile();
  try {
    const child = options.account.spawn(options.binaries.postgres, ['-D', options.layout.cluster, ...settings], {
      cwd: '/',
      env: buildProgramEnvironment(),
      detached: true,
      stdio: ['ignore', output, output],
    });
    if (child.pid !== undefined) {
      setBatchScheduling(child.pid);
      lowerPriority(child.pid, options.niceness);
    }
    const end = { failure: undefined as string | undefined };
    child.on('error', (error) => {
      end.failure = error.message;
    });
    child.on('exit', (status, signal) => {
      end.failure = `ended with status ${status ?? signal}`;
    });
    child.unref();
    const found = await untilReady(options, child, end);
    if (found === undefined)
      throw new StartFailure(
        `${end.failure ?? `not ready after ${readyMaxMs} ms`}; ${readFrom(output)}`,
        options.layout,
      );
    return found;
  } finally {
    closeSync(output);
  }
}

/** Undefined when it ended before, or was not ready in time. */
async function untilReady(
  options: StartOptions,
  child: ChildProcess,
  end: { readonly failure: string | undefined },
): Promise<Postmaster | undefined> {
  const deadlineMs = performance.now() + readyMaxMs;
  while (end.failure === undefined && performance.now() < deadlineMs) {
    const found = child.pid === undefined ? undefined : findReadyPostmaster(options.layout, child.pid);
    if (found !== undefined) return found;
    await delay(pollIntervalMs);
  }
  return undefined;
}

function openNamelessFile(): number {
  const file = path.join(os.tmpdir(), `postgres-${randomUUID()}.log`);
  const descriptor = openSync(file, 'wx+', 0o600);
  rmSync(file);
  return descriptor;
}

/** All that was written; from its beginning, since the writer has moved the position that both share. */
function readFrom(descriptor: number): string {
  const buffer = Buffer.alloc(fstatSync(descriptor).size);
  readSync(descriptor, buffer, 0, buffer.length, 0);
  return buffer.toString('utf8');
}

/** Windows: pg_ctl takes administrator rights away from the server, with which it would refuse to run. */
function startThroughPgCtl(options: StartOptions, settings: readonly string[]): Postmaster {
  const quoted = settings.map((argument) => `"${argument}"`).join(' ');
  const log = path.join(options.layout.log, 'start.log');
  const { status, stderr } = spawnSync(
    options.binaries.pgCtl,
    ['start', '--wait', `--timeout=${readyMaxMs / 1000}`, '-D', options.layout.cluster, '-l', log, '-o', quoted],
    { encoding: 'utf8', env: buildProgramEnvironment(), stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const found = status === 0 ? findPostmaster(options.layout) : undefined;
  if (found === undefined) throw new StartFailure(stderr, options.layout);
  return found;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
