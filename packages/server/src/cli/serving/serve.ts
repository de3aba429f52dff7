/** `praxis serve`: a node, until SIGTERM or SIGINT. */
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../../base/config.ts';
import { type Log, openLog } from '../../base/log.ts';
import { type MetricsPage, openMetricsPage } from '../../http/pages/metrics-page.ts';
import { readSecretKeys } from '../../keys/secret-keys.ts';
import type { CommandContext } from '../command.ts';
import type { ToWorker } from './messages.ts';
import { type Supervisor, startSupervisor } from './supervisor.ts';
import { computePoolSize, countWorkers, readMachine } from './worker-count.ts';
import { WorkerStartFailure } from './worker-process.ts';

/** Connections that a worker opens beside its pool, for a short time: migrations and maintenance as the owner. */
const ownerConnections = 2;
/**
 * Workers hold a processor for milliseconds, statements for as long as they take: on few cores, statements of some would keep
 * the event loops of all waiting (docs/decisions/0258). A worker gets nine times the processor time of a statement.
 */
const databaseNiceness = 5;

/**
 * Runs the node to its end.
 * @param sandbox seed a sandbox where there is none, and show first calls
 */
export async function serve({ config, print }: CommandContext, sandbox: boolean): Promise<void> {
  const log = openLog(config.logLevel);
  const signals = hearSignals(); // from now on, so that a signal during the start drains, too
  const workers = countWorkers(config, readMachine());
  const databasePool = computePoolSize(config, workers);
  readSecretKeys(config); // that of an embedded database is made before the database
  const embedded = await openEmbedded(config, log);
  try {
    const { owner, runtime } = embedded ?? {};
    const later: ToWorker = {
      kind: 'start',
      databasePool,
      sandbox: false,
      ...(owner === undefined || runtime === undefined ? {} : { embedded: { owner, runtime } }),
    };
    const first = { ...later, sandbox, connectionsNeeded: databasePool * (workers + 1) + ownerConnections };
    const supervisor = await startSupervisor({ config, log, workers, first, later });
    const page = await openPage(config, supervisor);
    const seeded = supervisor.sandbox;
    if (seeded !== undefined && seeded.calls === undefined)
      print('no sandbox: the database holds firms already, and no sandbox.json names credentials for them');
    print(`praxis ready on ${supervisor.origin}`);
    if (seeded?.calls !== undefined) {
      print(`credentials of the sandbox: ${config.dataDir}/sandbox.json; try:\n`);
      for (const call of seeded.calls) print(`${call}\n`);
    }
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
    await embedded?.stop();
  }
}

async function openEmbedded(config: Config, log: Log) {
  if (config.databaseUrl !== '') return undefined;
  // A node with a database of its own needs none of it.
  const { startEmbeddedDatabase } = await import('../../database/embedded-postgres.ts');
  return await startEmbeddedDatabase({ dataDir: path.resolve(config.dataDir), log, niceness: databaseNiceness });
}

/** The page of metrics where one is wanted. */
async function openPage(config: Config, supervisor: Supervisor): Promise<MetricsPage | undefined> {
  if (config.metricsPort === 0) return undefined;
  try {
    return await openMetricsPage(config.host, config.metricsPort, supervisor.metrics);
  } catch (error) {
    await supervisor.stop();
    throw error;
  }
}

/** Signals within this time of the first are repetitions of it. */
const repeatedSignalMs = 1000;

/** SIGTERM and SIGINT stop, SIGHUP restarts the workers, unless it says that the terminal of this process is gone. */
function hearSignals() {
  const stopped = Promise.withResolvers<NodeJS.Signals>();
  const hadTerminal = hasTerminal();
  let firstMs: number | undefined;
  let impatience = (): void => undefined;
  let restart: (() => Promise<void>) | undefined;
  let restarts = Promise.resolve();
  let waits = false;
  const stop = (signal: NodeJS.Signals): void => {
    firstMs ??= performance.now();
    stopped.resolve(signal);
    // A signal to the process group comes from npm and the launcher, too: that is one wish to stop, not two.
    if (performance.now() - firstMs <= repeatedSignalMs) return;
    impatience();
    process.exit(1);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('SIGHUP', (signal) => {
    if (hadTerminal && !hasTerminal()) return stop(signal);
    if (restart === undefined || waits) return;
    waits = true;
    const begin = restart;
    restarts = restarts.then(() => {
      waits = false;
      return begin();
    });
  });
  return {
    /** Resolves at the first signal to stop. */
    stopped: stopped.promise,
    /** `work` is called at SIGHUP, again if one comes while it runs. */
    onRestart(work: () => Promise<void>): void {
      restart = work;
    },
    /** `end` is called at a second wish to stop, before this process ends at once. */
    onImpatience(end: () => void): void {
      impatience = end;
    },
  };
}

/** Whether this process has a controlling terminal (credentials(7)); one that was closed is none. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}
