/** Tells whether the process that has left a mark still runs, also where its number was given to another one since. */
import { readFile } from 'node:fs/promises';

/** What tells this process from others of this machine. */
export async function readThisProcess(): Promise<string> {
  return `${process.pid} ${await readStart(process.pid)}`;
}

/** @param mark as `readThisProcess` gives it; any other text is of no process */
export async function isLiving(mark: string): Promise<boolean> {
  const [, pid, start = ''] = /^(\d{1,10}) (\d*)$/.exec(mark) ?? [];
  if (pid === undefined) return false;
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    // It is there, and of another user.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  return (await readStart(Number(pid))) === start;
}

/** When it began, in ticks of the kernel (https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html); '' where nothing tells it. */
async function readStart(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name of the program, in parentheses, may hold anything.
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}
