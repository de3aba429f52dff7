/** Processes: running programs of PostgreSQL, and facts about those that are not children of this one. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import type { Account } from './account.ts';

/** What PostgreSQL's programs need of the environment: none of the PG variables that would change what they do. */
export function buildProgramEnvironment(): NodeJS.ProcessEnv {
  const { PATH, SystemRoot } = process.env;
  return {
    ...(PATH === undefined ? {} : { PATH }),
    ...(SystemRoot === undefined ? {} : { SystemRoot }),
    LC_ALL: 'C',
    TZ: 'UTC',
  };
}

/** Runs a program to its end; `output` is all that it wrote. Rejects when it cannot be run. */
export function runProgram(
  account: Account,
  program: string,
  args: readonly string[],
  input?: string,
): Promise<{ readonly status: number | string; readonly output: string }> {
  const child = account.spawn(program, args, {
    cwd: path.parse(program).root,
    env: buildProgramEnvironment(),
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stdin?.end(input);
  return once(child, 'close').then(([code, signal]: (number | string | null)[]) => ({
    status: code ?? signal ?? 'unknown',
    output: Buffer.concat(chunks).toString('utf8'),
  }));
}

/** Whether there is a process `pid`, dead ones that nobody has collected (zombies) excluded. */
export function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return process.platform !== 'linux' || !/^State:\s*Z/m.test(readProcFile(pid, 'status'));
}

/** The command line of `pid`, one element per argument where the system tells; empty when it cannot be read. */
export function readCommandLine(pid: number): string[] {
  if (process.platform === 'linux')
    return readProcFile(pid, 'cmdline')
      .split('\0')
      .filter((argument) => argument !== '');
  if (process.platform === 'win32') return [];
  return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
    .stdout.trim()
    .split(' ');
}

/** https://man7.org/linux/man-pages/man5/proc.5.html; empty when the process is gone. */
function readProcFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

/** The program files of all processes; undefined where the system does not tell. */
export function listRunningPrograms(): string[] | undefined {
  if (process.platform !== 'linux') return undefined;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readlinkSync(`/proc/${pid}/exe`)];
      } catch {
        return []; // it has ended, or is a thread of the kernel
      }
    });
}
