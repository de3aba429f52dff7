/** CPU time of processes, for benchmarks on machines that do other things as well: Linux only. */
import { readdirSync, readFileSync } from 'node:fs';
import type { Database } from '../packages/server/src/database/database.ts';
import { sql } from '../packages/server/src/database/sql.ts';

/** Reads the CPU time so far of all processes of the database server, in µs; NaN where it cannot be told. */
export async function openDatabaseCpu(database: Database): Promise<() => number> {
  const [backend] = await database.query<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`);
  const postmaster = backend && parentOf(backend.pid);
  return () => {
    if (postmaster === undefined) return Number.NaN;
    return allPids()
      .filter((pid) => parentOf(pid) === postmaster)
      .reduce((sum, pid) => sum + ranMicros(`/proc/${pid}/schedstat`), 0);
  };
}

/** The CPU time so far of these processes and of all that they have started, also of those that have ended, in µs. */
export function cpuMicrosOfTrees(roots: readonly number[]): number {
  const parents = new Map(allPids().map((pid) => [pid, parentOf(pid)]));
  const isBelow = (pid: number | undefined): boolean =>
    pid !== undefined && pid > 0 && (roots.includes(pid) || isBelow(parents.get(pid)));
  return [...parents.keys()].filter(isBelow).reduce((sum, pid) => sum + threadsMicros(pid) + endedMicros(pid), 0);
}

const microsPerTick = 10_000;

/** Of all threads of a process. */
function threadsMicros(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.reduce((sum, thread) => sum + ranMicros(`/proc/${pid}/task/${thread}/schedstat`), 0);
  } catch {
    return 0; // it has ended meanwhile
  }
}

/** Of the children that have ended and were waited for. */
function endedMicros(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields?.[13] ?? 0) + Number(fields?.[14] ?? 0)) * microsPerTick;
}

function ranMicros(schedstat: string): number {
  try {
    return Number(readFileSync(schedstat, 'utf8').split(' ')[0]) / 1000;
  } catch {
    return 0; // it has ended meanwhile
  }
}

function allPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Undefined: it has ended, or this is not Linux. */
function parentOf(pid: number): number | undefined {
  const parent = statOf(pid)?.[1];
  return parent === undefined ? undefined : Number(parent);
}

/** Fields of the stat line from the state on: "pid (name) state parent …"; the name may hold anything. */
function statOf(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** The value in the middle; of an even number of values the mean of both. NaN: there is none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** The value below which `share` of the values lie. */
export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;
}
