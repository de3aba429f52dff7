/** Processes of this machine, as Linux tells of them in /proc. */
import { readdirSync, readFileSync } from 'node:fs';

export interface Process {
  readonly pid: number;
  /** The command line. */
  readonly command: string;
}

/** The processes that `parent` has started and that still run. */
export function childrenOf(parent: number): readonly Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent)
    .map((pid) => ({ pid, command: commandOf(pid) }));
}

/** Whether there is such a process; one that has ended and was not collected yet is none. */
export function isRunning(pid: number): boolean {
  const stat = readProc(pid, 'stat');
  return stat !== '' && !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
}

/** Resident memory in bytes; 0 when there is no such process. */
export function residentBytesOf(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readProc(pid, 'status'))?.[1];
  return Number(kilobytes ?? 0) * 1024;
}

/** Resident memory in bytes, of which what several processes share counts in parts; 0 when there is no such process. */
export function proportionalBytesOf(pid: number): number {
  const kilobytes = /^Pss:\s+(\d+) kB/m.exec(readProc(pid, 'smaps_rollup'))?.[1];
  return Number(kilobytes ?? 0) * 1024;
}

/** The stat line: "pid (name) state parent …"; the name may hold anything. */
function parentOf(pid: number): number {
  const stat = readProc(pid, 'stat');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0);
}

function commandOf(pid: number): string {
  return readProc(pid, 'cmdline').replaceAll('\0', ' ').trim();
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return ''; // it has ended meanwhile
  }
}
