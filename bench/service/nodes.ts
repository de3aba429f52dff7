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
import type { Server } from './load.ts';
import { type Place, type Prepared, prepareFirm } from './prepare.ts';
import type { Yard } from './processes.ts';

/** A database with the firm of the bench. */
export interface Ground extends Place {
  readonly prepared: Prepared;
  /** The first process of the database. */
  readonly pid: number;
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

async function fillGround(
  dataDir: string,
  { owner, runtime, pid }: { readonly owner: ConnectionParts; readonly runtime: ConnectionParts; readonly pid: number },
  patients: number,
): Promise<Ground> {
  const connections = { owner, runtime, stop: async () => undefined };
  const settings = {
    PRAXIS_DATA_DIR: path.join(dataDir, 'node'),
    PRAXIS_SECRET_KEY: makeSecret(),
    DATABASE_URL: urlOf(owner),
    PRAXIS_RUNTIME_DATABASE_URL: urlOf(runtime),
  };
  return { connections, settings, pid, prepared: await prepareFirm(dataDir, patients, { connections, settings }) };
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
  ground: Ground,
  workers: number,
  more: Readonly<Record<string, string>> = {},
): Promise<BenchNode> {
  const port = String(await freePort());
  const environment = {
    ...more,
    ...ground.settings,
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
    cpuMicros: async () => cpuMicrosOfTrees([pid, ground.pid]),
  };
}
