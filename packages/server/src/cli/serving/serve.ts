/** `praxis serve`: a node, until SIGTERM or SIGINT. */
import { readConfig } from '../../base/config.ts';
import type { CommandContext } from '../command.ts';
import { forkWorker } from './fork-worker.ts';
import { hearSignals } from './signals.ts';
import { computePoolSize, countCollectorThreads, countWorkers, readMachine } from './worker-count.ts';

/**
 * Runs the node to its end.
 * @param sandbox seed a sandbox where there is none, and show first calls
 */
export async function serve({ config: given, print }: CommandContext, sandbox: boolean): Promise<void> {
  if (sandbox) setSandboxDefaults();
  const config = sandbox ? readConfig(process.env) : given;
  const signals = hearSignals(); // from now on, so that a signal during the start drains, too
  const machine = readMachine();
  const workers = countWorkers(config, machine);
  const databasePool = computePoolSize(config, workers);
  // It takes longest to load, so it begins before this process loads the rest and starts the database (docs/decisions/0297).
  const firstChild = forkWorker(1, countCollectorThreads(workers, machine));
  try {
    const { runNode } = await import('./run-node.ts');
    await runNode({ config, print, sandbox, workers, databasePool, firstChild, signals });
  } catch (error) {
    firstChild.kill('SIGKILL');
    throw error;
  }
}

/**
 * Settings of who tries the service, where they set none; in the environment, since workers read their settings themselves. Endpoints on
 * this machine may be told of the sandbox's events. Logs are for those who ask for them: without a level, faults alone are told, in
 * words.
 */
function setSandboxDefaults(): void {
  process.env.PRAXIS_OUTBOUND_LOOPBACK ??= 'sandbox';
  if (process.env['PRAXIS_LOG_LEVEL']) return;
  process.env['PRAXIS_LOG_LEVEL'] = 'warn';
  process.env['PRAXIS_LOG_FORMAT'] ||= 'text';
}
