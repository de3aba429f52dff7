/** CPU time of this process, of programs that it has started, and of the embedded database. Linux only. */
import { readdirSync, readFileSync } from 'node:fs';

export interface CpuMeter {
  /** Since the last call, in s; of programs when they have ended. */
  take(): CpuTime;
}

export interface CpuTime {
  /** Of this process and the programs that it has started. */
  readonly programs: number;
  readonly database: number;
}

/** Of the clock of the kernel: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
const ticksPerSecond = 100;

/** @param backend the process of one of the connections to the database */
export function openCpuMeter(backend: number): CpuMeter {
  const postmaster = readStat(String(backend))?.parent ?? '';
  let last = readTicks(postmaster);
  return {
    take() {
      const now = readTicks(postmaster);
      const since = {
        programs: (now.programs - last.programs) / ticksPerSecond,
        database: (now.database - last.database) / ticksPerSecond,
      };
      last = now;
      return since;
    },
  };
}

function readTicks(postmaster: string): CpuTime {
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const ofDatabase = processes.map(readStat).filter((stat) => stat?.parent === postmaster);
  const own = readStat('self');
  const first = readStat(postmaster);
  return {
    programs: (own?.own ?? 0) + (own?.ended ?? 0),
    database: ofDatabase.reduce((sum, stat) => sum + (stat?.own ?? 0), (first?.own ?? 0) + (first?.ended ?? 0)),
  };
}

/** Ticks of a process and of its children that have ended; undefined when it has. */
function readStat(pid: string) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const sum = (...at: readonly number[]): number => at.reduce((total, index) => total + Number(fields[index]), 0);
    return { parent: fields[1], own: sum(11, 12), ended: sum(13, 14) };
  } catch {
    return undefined;
  }
}
