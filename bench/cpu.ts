/** CPU time of a database's processes, for benchmarks on machines that do other things as well: Linux only. */
import { readdirSync, readFileSync } from 'node:fs';
import type { Database } from '../packages/server/src/database/database.ts';
import { sql } from '../packages/server/src/database/sql.ts';

/** Reads the CPU time so far of all processes of the database server, in µs; NaN where it cannot be told. */
export async function openDatabaseCpu(database: Database): Promise<() => number> {
  const [backend] = await database.query<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`);
  const postmaster = backend && parentOf(backend.pid);
  return () => {
    if (postmaster === undefined) return Number.NaN;
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.filter((pid) => parentOf(Number(pid)) === postmaster).reduce((sum, pid) => sum + microsOf(pid), 0);
  };
}

function microsOf(pid: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000;
  } catch {
    return 0; // it has ended meanwhile
  }
}

/** Undefined: it has ended, or this is not Linux. */
function parentOf(pid: number): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1]);
  } catch {
    return undefined;
  }
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
