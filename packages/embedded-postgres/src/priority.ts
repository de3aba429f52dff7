/**
 * The priority of the server's processes. Where Linux groups processes by their session (sched(7), autogroup), a niceness
 * counts only within a session. Each process of the server opens a session of its own (setsid(2)), and the group of a new
 * session begins without niceness. So each of them is lowered, too.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';

/** How often new processes of the server are looked for: pools keep their connections, so there are few. */
const lookEveryMs = 1000;

/** The kernel lets an account without privileges change one group within 100 ms. */
const retryMs = 120;

const chrtMaxMs = 1000;

/**
 * Gives the process `pid` the policy SCHED_BATCH (sched(7)), which processes that it starts inherit: one that wakes up does not
 * interrupt another. Does nothing where there is no chrt(1).
 */
export function setBatchScheduling(pid: number): void {
  if (process.platform === 'linux')
    spawnSync('chrt', ['-b', '-p', '0', String(pid)], { stdio: 'ignore', timeout: chrtMaxMs });
}

/** Lowers the process `pid`; processes that it starts get its niceness, but not that of its group. */
export function lowerPriority(pid: number, niceness: number): void {
  if (niceness === 0) return;
  try {
    os.setPriority(pid, lowered(niceness));
  } catch {
    // It has ended, or runs as another account whose priority this one may not change: it works as well.
  }
}

/**
 * Lowers the groups of the server `pid` and of all that it starts, until the returned function is called. Does nothing where
 * processes are not grouped.
 */
export function keepGroupsLowered(pid: number, niceness: number): () => void {
  let timer: NodeJS.Timeout | undefined;
  let known = new Set<number>();
  const look = (): void => {
    const processes = listServerProcesses(pid);
    if (processes === undefined) return;
    const rest = processes.filter((each) => !known.has(each));
    known = new Set(processes.filter((each) => known.has(each) || lowerGroup(each, lowered(niceness))));
    const isLimited = rest.some((each) => !known.has(each));
    timer = setTimeout(look, isLimited ? retryMs : lookEveryMs).unref();
  };
  if (niceness !== 0 && process.platform === 'linux') look();
  return () => clearTimeout(timer);
}

/** The server's processes; undefined where it has ended, or the system does not tell. */
function listServerProcesses(pid: number): number[] | undefined {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
    return [pid, ...children.filter((each) => each !== '').map(Number)];
  } catch {
    return undefined;
  }
}

/** @returns whether it need not be tried again */
function lowerGroup(pid: number, niceness: number): boolean {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(niceness));
    return true;
  } catch (error) {
    // Otherwise it has ended, or there are no groups, or it runs as another account.
    return (error as NodeJS.ErrnoException).code !== 'EAGAIN';
  }
}

function lowered(niceness: number): number {
  return Math.min(os.constants.priority.PRIORITY_LOW, os.getPriority() + niceness);
}
