/** A node with its database, from start to end. */
import type { ChildProcess } from 'node:child_process';
import path from 'node:path';
import type { Config } from '../../base/config.ts';
import { type Log, openLog } from '../../base/log.ts';
import type { MetricsPage } from '../../http/pages/metrics-page.ts';
import { readSecretKeys } from '../../keys/secret-keys.ts';
import type { CommandContext } from '../command.ts';
import type { ToWorker } from './messages.ts';
import type { NodeSignals } from './signals.ts';
import { type Supervisor, startSupervisor, type WorkerStarts } from './supervisor.ts';
import { countNodeConnections } from './worker-count.ts';
import { WorkerStartFailure } from './worker-process.ts';

export interface NodeOptions extends Pick<CommandContext, 'config' | 'print'> {
  /** Seed a sandbox where there is none, and show first calls. */
  readonly sandbox: boolean;
  readonly workers: number;
  /** Connections of each worker. */
  readonly databasePool: number;
  /** The process of the first worker. */
  readonly firstChild: ChildProcess;
  readonly signals: NodeSignals;
}

/**
 * Workers hold a processor for milliseconds, statements for as long as they take: on few cores, statements of some would keep
 * the event loops of all waiting (docs/decisions/0258). A worker gets nine times the processor time of a statement.
 */
const databaseNiceness = 5;

/** Runs the node until it is told to stop. */
export async function runNode(options: NodeOptions): Promise<void> {
  const { config, print, workers, firstChild, signals } = options;
  const log = openLog(config);
  readSecretKeys(config); // that of an embedded database is made before the database
  const opening = openEmbedded(config, log);
  const starts = opening.then((embedded) => describeStarts(options, embedded));
  try {
    const supervisor = await startSupervisor({ config, log, workers, firstChild, starts });
    const page = await openPage(config, supervisor);
    const seeded = supervisor.sandbox;
    if (seeded !== undefined && seeded.calls === undefined)
      print('no sandbox: the database holds firms already, and no sandbox.json names credentials for them');
    print(`praxis ready on ${supervisor.origin}`);
    if (seeded?.calls !== undefined) printFirstCalls(options, supervisor.origin, seeded.calls);
    signals.onRestart(() => supervisor.restart());
    signals.onImpatience(() => supervisor.kill());
    const signal = await signals.stopped;
    log.info({ signal }, 'draining');
    await Promise.all([supervisor.stop(), page?.close()]);
  } catch (error) {
    // The worker has said why.
    if (!(error instanceof WorkerStartFailure) || error.end.status === null) throw error;
    process.exitCode = error.end.status || 1;
  } finally {
    const embedded = await opening.catch(() => undefined);
    await embedded?.stop();
  }
}

/** What a newcomer does next, for a terminal and for who reads the output from a file. */
function printFirstCalls({ config, print }: NodeOptions, origin: string, calls: readonly string[]): void {
  print(`credentials of the sandbox: ${config.dataDir}/sandbox.json; try:\n`);
  for (const call of calls) print(`${call}\n`);
  print(`guides and reference: ${config.baseUrl || origin}/docs`);
}

async function openEmbedded(config: Config, log: Log) {
  if (config.databaseUrl !== '') return undefined;
  // A node with a database of its own needs none of it.
  const { startEmbeddedDatabase } = await import('../../database/embedded-postgres.ts');
  return await startEmbeddedDatabase({ dataDir: path.resolve(config.dataDir), log, niceness: databaseNiceness });
}

function describeStarts(
  { sandbox, workers, databasePool }: NodeOptions,
  embedded: Awaited<ReturnType<typeof openEmbedded>>,
): WorkerStarts {
  const { owner, runtime } = embedded ?? {};
  const later: ToWorker = {
    kind: 'start',
    databasePool,
    ...(sandbox ? { sandbox: 'show' as const } : {}),
    ...(owner === undefined || runtime === undefined ? {} : { embedded: { owner, runtime } }),
  };
  const connectionsNeeded = countNodeConnections(databasePool, workers);
  return { first: { ...later, ...(sandbox ? { sandbox: 'seed' as const } : {}), connectionsNeeded }, later };
}

/** The page of metrics where one is wanted. */
async function openPage(config: Config, supervisor: Supervisor): Promise<MetricsPage | undefined> {
  if (config.metricsPort === 0) return undefined;
  try {
    const { openMetricsPage } = await import('../../http/pages/metrics-page.ts');
    return await openMetricsPage(config.host, config.metricsPort, supervisor.metrics);
  } catch (error) {
    await supervisor.stop();
    throw error;
  }
}
