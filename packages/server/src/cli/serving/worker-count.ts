/** How many workers a node has, and how it parts what they share. */
import os from 'node:os';
import { type Config, ConfigError } from '../../base/config.ts';

/** Memory that a worker under load is reckoned with. */
const workerBytes = 512 * 1024 * 1024;
/** The share of the machine's memory that the default gives to workers. */
const memoryShare = 0.25;
const defaultWorkersMax = 8;

/** Of the connections by default: as many for each of two workers as for one, since one may serve for both (placement.ts). */
const defaultPoolEach = { ofFew: 16, ofMany: 8 } as const;
const fewWorkers = 2;
/** One for short statements, one for transactions. */
const poolEachMin = 2;

/** What a machine has. */
export interface Machine {
  readonly cores: number;
  readonly memoryBytes: number;
}

/** This machine, or as much of it as the container may use. */
export function readMachine(): Machine {
  const constrained = process.constrainedMemory();
  const total = os.totalmem();
  return {
    cores: os.availableParallelism(),
    memoryBytes: constrained > 0 && constrained < total ? constrained : total,
  };
}

/**
 * PRAXIS_WORKERS; by default 1 with the embedded database, otherwise one per core, at most 8 and at most what a quarter of the
 * memory holds.
 */
export function countWorkers({ workers, databaseUrl }: Config, machine: Machine): number {
  if (workers > 0) return workers;
  if (databaseUrl === '') return 1;
  const held = Math.floor((machine.memoryBytes * memoryShare) / workerBytes);
  return Math.max(1, Math.min(machine.cores, defaultWorkersMax, held));
}

/**
 * Database connections of each of `workers`, which together are PRAXIS_DATABASE_POOL at most.
 * @throws ConfigError when these are fewer than the workers need
 */
export function computePoolSize({ databasePoolMax }: Config, workers: number): number {
  const pool = databasePoolMax > 0 ? databasePoolMax : defaultPool(workers);
  const each = Math.floor(pool / workers);
  if (each >= poolEachMin) return each;
  throw new ConfigError(
    `PRAXIS_DATABASE_POOL=${pool} is too small for ${workers} workers, which need ${poolEachMin} connections each: set it to ${workers * poolEachMin} at least, or PRAXIS_WORKERS to ${Math.max(1, Math.floor(pool / poolEachMin))}`,
  );
}

/** Connections that a worker opens beside its pool, for a short time: migrations and maintenance as the owner. */
const ownerConnections = 2;

/** Connections that a node may have open at once: those of all workers, and of one that replaces another. */
export function countNodeConnections(databasePool: number, workers: number): number {
  return databasePool * (workers + 1) + ownerConnections;
}

function defaultPool(workers: number): number {
  return Math.max(Math.min(workers, fewWorkers) * defaultPoolEach.ofFew, workers * defaultPoolEach.ofMany);
}

/** What Node takes by itself. */
const collectorThreadsMax = 4;

/**
 * Threads that each of `workers` collects garbage with, beside its event loop. More of them than cores keep the event loops of the
 * other workers waiting (docs/decisions/0278).
 */
export function countCollectorThreads(workers: number, { cores }: Machine): number {
  return Math.max(1, Math.min(collectorThreadsMax, Math.floor(cores / workers)));
}
