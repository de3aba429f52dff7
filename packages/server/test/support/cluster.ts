/**
 * The PostgreSQL server that tests share. Crash safety is off for speed; tests that are about durability start servers of
 * their own.
 *
 * A test run starts one and names it in PRAXIS_TEST_CLUSTER; with PRAXIS_TEST_POSTGRES, the directory of the programs of another
 * PostgreSQL, it is that one with its own default settings (stock-cluster.ts). A test file that is run alone uses one in the system's
 * directory for temporary files, which is kept, so that its second run starts in a tenth of a second.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { computeSettingsMark } from '../../../embedded-postgres/src/settings.ts';
import { openLog } from '../../src/base/log.ts';
import type { ConnectionParts } from '../../src/database/database.ts';
import { type EmbeddedPostgres, startEmbeddedDatabase } from '../../src/database/embedded-postgres.ts';
import { startStockCluster } from './stock-cluster.ts';

export const testLog = openLog(process.env['PRAXIS_LOG_LEVEL'] ?? 'silent');

const environmentVariable = 'PRAXIS_TEST_CLUSTER';
const stockVariable = 'PRAXIS_TEST_POSTGRES';

/** In the directory of a run whose server is not the embedded one: how to connect. */
const connectionsFile = 'connections.json';

/** The server as a test file uses it. */
export interface JoinedCluster {
  readonly owner: ConnectionParts;
  readonly runtime: ConnectionParts;
  stop(): Promise<void>;
}

export interface TestCluster {
  /** To be added to the environment of test processes. */
  readonly environment: Readonly<Record<string, string>>;
  /** Stops the server and removes its data. */
  stop(): Promise<void>;
}

/** Starts the server of a test run in a new directory. */
export async function startTestCluster(): Promise<TestCluster> {
  const programs = process.env[stockVariable];
  if (programs !== undefined) return await startStock(programs);
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'praxis-tests-'));
  chmodSync(dataDir, 0o755); // the account that PostgreSQL runs as must pass
  const server = await start(dataDir);
  return {
    environment: { [environmentVariable]: dataDir },
    async stop() {
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function startStock(programs: string): Promise<TestCluster> {
  const server = await startStockCluster(programs);
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'praxis-tests-'));
  const { owner, runtime } = server;
  writeFileSync(path.join(dataDir, connectionsFile), JSON.stringify({ owner, runtime }), { mode: 0o600 });
  return {
    environment: { [environmentVariable]: dataDir },
    async stop() {
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** The server of the test run, or the one for files that are run alone; to be stopped after use. */
export async function joinTestCluster(): Promise<JoinedCluster> {
  const dataDir = process.env[environmentVariable];
  if (dataDir !== undefined && process.env[stockVariable] !== undefined)
    return { ...JSON.parse(readFileSync(path.join(dataDir, connectionsFile), 'utf8')), stop: async () => undefined };
  return await start(
    dataDir ?? path.join(os.tmpdir(), `praxis-test-${process.getuid?.() ?? 'user'}-${computeSettingsMark('none', '')}`),
  );
}

function start(dataDir: string): Promise<EmbeddedPostgres> {
  return startEmbeddedDatabase({ dataDir, log: testLog, durability: 'none' });
}
