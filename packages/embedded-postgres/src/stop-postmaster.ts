/** Stopping the server process of a cluster (https://www.postgresql.org/docs/current/server-shutdown.html). */
import { spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { Binaries } from './binaries.ts';
import type { Layout } from './layout.ts';
import type { Postmaster } from './lock-file.ts';
import { isAlive } from './processes.ts';

const pollIntervalMs = 4;

/** What ends a server, gentlest first, and how long to wait for it. */
const stopSteps = [
  { signal: 'SIGINT', mode: 'fast', waitMaxMs: 30_000 },
  { signal: 'SIGQUIT', mode: 'immediate', waitMaxMs: 5000 },
  { signal: 'SIGKILL', mode: 'immediate', waitMaxMs: 5000 },
] as const;

/** Ends the server: connections are cut and open transactions rolled back; when it does not obey, it is killed. */
export async function stopPostmaster(
  layout: Layout,
  binaries: Binaries,
  postmaster: Postmaster,
  gently = true,
): Promise<void> {
  for (const step of gently ? stopSteps : stopSteps.slice(1)) {
    if (process.platform === 'win32')
      spawnSync(binaries.pgCtl, ['stop', '-D', layout.cluster, '-m', step.mode], { stdio: 'ignore' });
    else signalIfAlive(postmaster.pid, step.signal);
    const deadlineMs = performance.now() + step.waitMaxMs;
    while (performance.now() < deadlineMs) {
      if (!isAlive(postmaster.pid)) return;
      await delay(pollIntervalMs);
    }
  }
}

function signalIfAlive(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}
