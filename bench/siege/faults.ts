/** Faults that are brought about while everybody works, each with the time until which its effects are excused. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Installation } from './installation.ts';
import { childrenOf } from './processes.ts';

export interface Fault {
  readonly name: string;
  /** Brings it about; resolves when what was hit is back. */
  readonly strike: (installation: Installation) => Promise<void>;
}

/** How long what is stopped stands still, in ms. */
const stillMs = 3_000;

export const faults: readonly Fault[] = [
  {
    name: 'kill a worker',
    strike: async (installation) => {
      const [worker] = installation.workers();
      if (worker !== undefined) signal(worker, 'SIGKILL');
    },
  },
  {
    name: 'stop a worker for a while',
    strike: async (installation) => {
      const worker = installation.workers().at(-1);
      if (worker !== undefined) await standStill(worker);
    },
  },
  {
    name: 'kill a backend of the database',
    strike: async (installation) => {
      const backend = backendsOf(installation).find(({ command }) => command.includes('praxis'));
      if (backend !== undefined) signal(backend.pid, 'SIGKILL');
    },
  },
  {
    name: 'end all backends of the database',
    strike: async (installation) => {
      for (const { pid, command } of backendsOf(installation)) if (command.includes('praxis')) signal(pid, 'SIGTERM');
    },
  },
  {
    name: 'stop the database for a while',
    strike: async (installation) => {
      const processes = [installation.postmaster(), ...backendsOf(installation).map(({ pid }) => pid)];
      for (const pid of processes) signal(pid, 'SIGSTOP');
      await delay(stillMs);
      for (const pid of processes) signal(pid, 'SIGCONT');
    },
  },
  {
    name: 'kill the database',
    strike: async (installation) => signal(installation.postmaster(), 'SIGKILL'),
  },
  {
    name: 'kill the supervisor',
    strike: async (installation) => {
      signal(installation.pid(), 'SIGKILL');
      await delay(500);
      await installation.restart();
    },
  },
  {
    name: 'restart the workers one after another',
    strike: async (installation) => signal(installation.pid(), 'SIGHUP'),
  },
];

function backendsOf(installation: Installation) {
  return childrenOf(installation.postmaster());
}

async function standStill(pid: number): Promise<void> {
  signal(pid, 'SIGSTOP');
  await delay(stillMs);
  signal(pid, 'SIGCONT');
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended meanwhile.
  }
}
