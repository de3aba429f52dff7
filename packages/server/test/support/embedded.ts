/** Embedded databases of their own for tests of starting, stopping and crashing: in a new directory, with full durability. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

interface Lifetime {
  after(work: () => void | Promise<void>): void;
}

/** A new directory that every account may enter; afterwards its server is killed and it is removed. */
export function makeDataDir(t: Lifetime): string {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'praxis-embedded-'));
  chmodSync(dataDir, 0o755);
  t.after(async () => {
    const pid = postmasterPid(dataDir);
    if (pid !== undefined) await endProcess(pid);
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
  });
  return dataDir;
}

/** The process number in the lock file; undefined when there is none. */
export function postmasterPid(dataDir: string): number | undefined {
  try {
    return Number(readFileSync(path.join(dataDir, 'postgres', 'cluster', 'postmaster.pid'), 'utf8').split('\n')[0]);
  } catch {
    return undefined;
  }
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** Kills `pid` and waits until it is gone. */
export async function endProcess(pid: number): Promise<void> {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    return;
  }
  while (isRunning(pid)) await delay(5);
}

export interface EmbeddedProcess {
  readonly child: ChildProcess;
  /** The lines it has said. */
  readonly said: readonly string[];
  /** Resolves with the first line that begins so. */
  hears(beginning: string): Promise<string>;
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
}

/** Runs support/embedded-process.ts, in a process group of its own. */
export function runEmbedded(dataDir: string, options: { writes?: true; uid?: number } = {}): EmbeddedProcess {
  const program = fileURLToPath(new URL('./embedded-process.ts', import.meta.url));
  const child = spawn(process.execPath, [program], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, EMBEDDED_DATA_DIR: dataDir, ...(options.writes ? { EMBEDDED_WRITES: '1' } : {}) },
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
  });
  const said: string[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => said.push(line));
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  const hears = (beginning: string) =>
    new Promise<string>((resolve, reject) => {
      const look = (): void => {
        const line = said.find((candidate) => candidate.startsWith(beginning));
        if (line !== undefined) resolve(line);
      };
      look();
      lines.on('line', look);
      void ended.then(() => reject(new Error(`process ended without saying "${beginning}"`)));
    });
  return { child, said, hears, ended };
}
