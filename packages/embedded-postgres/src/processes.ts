/** Processes: what programs get of the environment, and facts about those that are not children of this one. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

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
