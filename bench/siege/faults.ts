/** Faults that are brought about while everybody works. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../packages/server/src/synthetic/random.ts';
import type { Disk } from './disk.ts';
import type { Hazards } from './hazards.ts';
import type { Installation } from './installation.ts';
import { childrenOf, isRunning } from './processes.ts';

export interface Fault {
  readonly name: string;
  /** Brings it about; resolves when what was hit has been let go. */
  readonly strike: (struck: Struck) => Promise<void>;
}

/** What is struck, and the chance that decides how. */
export interface Struck {
  readonly installation: Installation;
  readonly hazards: Hazards;
  readonly random: Random;
}

/** How long what is stopped stands still, in ms. */
const stillMs = { min: 500, max: 3_000 };

/** How far clocks jump, in ms. */
const jumpMs = { min: 60_000, max: 900_000 };

/** Beyond it a worker that says nothing is replaced. */
const hangMs = 7_000;

const always: readonly Fault[] = [
  {
    name: 'kill a worker',
    strike: async ({ installation, random }) => {
      const worker = oneOf(installation.workers(), random);
      if (worker !== undefined) signal(worker, 'SIGKILL');
    },
  },
  {
    name: 'stop a worker for a while',
    strike: async ({ installation, random }) => {
      const worker = oneOf(installation.workers(), random);
      if (worker !== undefined) await standStill([worker], random.integer(stillMs.min, stillMs.max));
    },
  },
  {
    name: 'stop a worker until it is replaced',
    strike: async ({ installation, random }) => {
      const worker = oneOf(installation.workers(), random);
      if (worker === undefined) return;
      signal(worker, 'SIGSTOP');
      for (const endMs = performance.now() + hangMs; isRunning(worker) && performance.now() < endMs; ) await delay(50);
      signal(worker, 'SIGKILL');
    },
  },
  {
    name: 'kill a backend of the database',
    strike: async ({ installation, random }) => {
      const backend = oneOf(backendsOf(installation), random);
      if (backend !== undefined) signal(backend, 'SIGKILL');
    },
  },
  {
    name: 'end all backends of the database',
    strike: async ({ installation }) => {
      for (const pid of backendsOf(installation)) signal(pid, 'SIGTERM');
    },
  },
  {
    name: 'stop the database for a while',
    strike: async ({ installation, random }) => {
      const postmaster = installation.postmaster();
      const processes = childrenOf(postmaster).map(({ pid }) => pid);
      await standStill([postmaster, ...processes], random.integer(stillMs.min, stillMs.max));
    },
  },
  {
    name: 'kill the database',
    strike: async ({ installation }) => {
      const postmaster = installation.postmaster();
      signal(postmaster, 'SIGKILL');
      while (isRunning(postmaster)) await delay(5);
    },
  },
  {
    name: 'kill the supervisor',
    strike: async ({ installation, random }) => {
      signal(installation.pid(), 'SIGKILL');
      await delay(random.integer(0, 1_000));
      await installation.restart();
    },
  },
  {
    name: 'restart the workers one after another',
    strike: async ({ installation }) => signal(installation.pid(), 'SIGHUP'),
  },
  {
    name: 'clock ahead',
    strike: (struck) => jump(struck, 1),
  },
  {
    name: 'clock behind',
    strike: (struck) => jump(struck, -1),
  },
  {
    name: 'slow connections to the database',
    strike: async ({ hazards: { way }, random }) => {
      way.treat({ kind: 'slow', delayMs: random.integer(20, 300) });
      await delay(random.integer(stillMs.min, stillMs.max));
      way.treat({ kind: 'open' });
    },
  },
  {
    name: 'connections to the database are silent for a while',
    strike: async ({ hazards: { way }, random }) => {
      way.treat({ kind: 'silent' });
      await delay(random.integer(stillMs.min, stillMs.max));
      way.treat({ kind: 'open' });
    },
  },
  {
    name: 'connections to the database are cut',
    strike: async ({ hazards: { way } }) => way.cut(),
  },
  {
    name: 'answers of the database are lost',
    strike: async ({ hazards: { way }, random }) => {
      way.treat({ kind: 'answers-held' });
      await delay(random.integer(200, 1_500));
      way.cut();
      way.treat({ kind: 'open' });
    },
  },
  {
    name: 'the database refuses connections for a while',
    strike: async ({ hazards: { way }, random }) => {
      way.treat({ kind: 'refused' });
      way.cut();
      await delay(random.integer(stillMs.min, stillMs.max));
      way.treat({ kind: 'open' });
    },
  },
];

/** All that can be brought about; without those of the disk where there is none of its own. */
export function faultsOf({ disk }: Pick<Hazards, 'disk'>): readonly Fault[] {
  return typeof disk === 'string' ? always : [...always, fullDisk(disk)];
}

function fullDisk(disk: Disk): Fault {
  return {
    name: 'the disk is full for a while',
    strike: async ({ random }) => {
      disk.fill();
      try {
        await delay(random.integer(stillMs.min, stillMs.max));
      } finally {
        disk.free();
      }
    },
  };
}

async function jump({ hazards, random }: Struck, sign: 1 | -1): Promise<void> {
  hazards.shiftClock(sign * random.integer(jumpMs.min, jumpMs.max));
  await delay(random.integer(stillMs.min, stillMs.max));
  hazards.shiftClock(0);
}

/** Processes of the database that serve a connection of the service. */
function backendsOf(installation: Installation): readonly number[] {
  return childrenOf(installation.postmaster())
    .filter(({ command }) => command.includes('praxis'))
    .map(({ pid }) => pid);
}

function oneOf(pids: readonly number[], random: Random): number | undefined {
  return random.sample(pids, 1)[0];
}

async function standStill(pids: readonly number[], ms: number): Promise<void> {
  for (const pid of pids) signal(pid, 'SIGSTOP');
  await delay(ms);
  for (const pid of pids) signal(pid, 'SIGCONT');
}

function signal(pid: number, name: NodeJS.Signals): void {
  if (pid <= 0) return;
  try {
    process.kill(pid, name);
  } catch {
    // It has ended meanwhile.
  }
}
