/**
 * The servers of a bench as processes of their own, in temporary directories; all end with the bench.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Server } from './load.ts';
import type { Prepared } from './prepare.ts';
import type { CpuReport, Listening } from './protocol.ts';

/** What a bench makes and has to take away. */
export interface Yard {
  /** Makes a directory. */
  directory(): string;
  /** Called at the end, the last one first. */
  onEnd(work: () => Promise<void> | void): void;
}

/** Runs `work`, then takes away what it made. */
export async function inYard<T>(work: (yard: Yard) => Promise<T>): Promise<T> {
  const ends: (() => Promise<void> | void)[] = [];
  try {
    return await work({
      directory() {
        const made = mkdtempSync(path.join(os.tmpdir(), 'praxis-bench-'));
        ends.push(() => rmSync(made, { recursive: true, force: true }));
        return made;
      },
      onEnd: (end) => void ends.push(end),
    });
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}

/** A server that is a process of its own. */
export interface ScriptServer extends Server {
  readonly pid: number;
}

/** Starts a script that speaks the protocol. `options` are those of Node. */
export async function startScript(
  yard: Yard,
  script: string,
  environment: Readonly<Record<string, string>>,
  options: readonly string[] = [],
): Promise<ScriptServer> {
  const child = fork(script, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv: [...process.execArgv, ...options],
  });
  const { origin } = await new Promise<Listening>((resolve, reject) => {
    child.once('message', (message) => resolve(message as Listening));
    child.once('exit', (code) => reject(new Error(`${script} ended with ${code}`)));
  });
  yard.onEnd(async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.disconnect();
    await ended;
  });
  return { origin, pid: child.pid ?? 0, cpuMicros: () => reportedCpu(child) };
}

function reportedCpu(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once('message', (message: CpuReport) => resolve(message.cpuMicros));
    child.send('cpu');
  });
}

/** A firm that was prepared, and the product of the same checkout that serves it. */
export interface Product {
  readonly prepared: Prepared;
  readonly server: Server;
}

/** Starts the product of the checkout in `root` on a database of its own. */
export async function startProduct(
  yard: Yard,
  root: string,
  patients: number,
  options: readonly string[] = [],
): Promise<Product> {
  const dataDir = yard.directory();
  const bench = path.join(path.resolve(root), 'bench', 'service');
  const { prepareFirm } = (await import(path.join(bench, 'prepare.ts'))) as typeof import('./prepare.ts');
  const prepared = await prepareFirm(dataDir, patients);
  const environment = {
    PRAXIS_DATA_DIR: dataDir,
    PRAXIS_PORT: '0',
    PRAXIS_RATE_LIMIT: '0',
    PRAXIS_LOG_LEVEL: 'warn',
  };
  return { prepared, server: await startScript(yard, path.join(bench, 'product.ts'), environment, options) };
}
