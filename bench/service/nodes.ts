/**
 * Databases that a bench runs, and nodes of the service (`praxis serve`, with its supervisor) on them.
 */
import path from 'node:path';
import { makeSecret } from '../../packages/server/src/base/ids.ts';
import { openLog } from '../../packages/server/src/base/log.ts';
import type { ConnectionParts } from '../../packages/server/src/database/database.ts';
import { startEmbeddedDatabase } from '../../packages/server/src/database/embedded-postgres.ts';
import { urlOf } from '../../packages/server/test/support/nodes.ts';
import { startStockCluster } from '../../packages/server/test/support/stock-cluster.ts';
import { cpuMicrosOfTrees } from '../cpu.ts';
import { end, freePort, serve } from '../siege/installation.ts';
import { childrenOf } from '../siege/processes.ts';
import type { Server } from './load.ts';
import { type Place, type Prepared, prepareFirm } from './prepare.ts';
import type { Yard } from './processes.ts';

/** A database that runs. */
export interface RunningPlace extends Place {
  /** The first process of the database. */
  readonly pid: number;
}

/** A database with the firm of the bench. */
export interface Ground extends RunningPlace {
  readonly prepared: Prepared;
}

/** Starts an embedded database that belongs to the bench, so that several nodes may use it, and fills it. */
export async function openGround(yard: Yard, patients: number): Promise<Ground> {
  const dataDir = yard.directory();
  const embedded = await startEmbeddedDatabase({ dataDir, log: openLog('warn') });
  yard.onEnd(() => embedded.stop());
  return await fillGround(dataDir, embedded, patients);
}

/** The same with the PostgreSQL of the distribution. @param programs directory of initdb and postgres */
export async function openStockGround(yard: Yard, programs: string, patients: number): Promise<Ground> {
  const cluster = await startStockCluster(programs);
  yard.onEnd(() => cluster.stop());
  return await fillGround(yard.directory(), cluster, patients);
}

async function fillGround(dataDir: string, database: RunningDatabase, patients: number): Promise<Ground> {
  const place = buildPlace(dataDir, database, makeSecret());
  return { ...place, prepared: await prepareFirm(dataDir, patients, place) };
}

interface RunningDatabase {
  readonly owner: ConnectionParts;
  readonly runtime: ConnectionParts;
  readonly pid: number;
}

/** A database that the bench has started, and the settings that lead nodes to it. @param dataDir what nodes keep is in it */
export function buildPlace(dataDir: string, { owner, runtime, pid }: RunningDatabase, secretKey: string): RunningPlace {
  return {
    connections: { owner, runtime, stop: async () => undefined },
    settings: {
      PRAXIS_DATA_DIR: path.join(dataDir, 'node'),
      PRAXIS_SECRET_KEY: secretKey,
      DATABASE_URL: urlOf(owner),
      PRAXIS_RUNTIME_DATABASE_URL: urlOf(runtime),
    },
    pid,
  };
}

export interface BenchNode extends Server {
  /** The supervisor. */
  readonly pid: number;
}

/**
 * Starts a node. The CPU time is that of all its processes and of the database.
 * @param more environment variables beside those that every node has
 */
export async function startNode(
  yard: Yard,
  place: RunningPlace,
  workers: number,
  more: Readonly<Record<string, string>> = {},
): Promise<BenchNode> {
  const port = String(await freePort());
  const environment = {
    ...more,
    ...place.settings,
    PRAXIS_PORT: port,
    PRAXIS_WORKERS: String(workers),
    PRAXIS_RATE_LIMIT: '0',
    PRAXIS_LOG_LEVEL: 'warn',
  };
  const child = await serve(environment, 'inherit', []);
  yard.onEnd(() => end(child));
  const pid = child.pid ?? 0;
  return {
    origin: `http://127.0.0.1:${port}`,
    pid,
    cpuMicros: async () => cpuMicrosOfTrees([pid, place.pid]),
  };
}

/** Pids of the processes of a node that answer requests. */
export function listWorkers({ pid }: BenchNode): readonly number[] {
  return childrenOf(pid)
    .filter(({ command }) => command.includes('serving/worker'))
    .map((worker) => worker.pid);
}
