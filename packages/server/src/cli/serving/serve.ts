/** `praxis serve`: a node, until SIGTERM or SIGINT. */
import type { CommandContext } from '../command.ts';
import { forkWorker } from './fork-worker.ts';
import { hearSignals } from './signals.ts';
import { computePoolSize, countCollectorThreads, countWorkers, readMachine } from './worker-count.ts';

/**
 * Runs the node to its end.
 * @param sandbox seed a sandbox where there is none, and show first calls
 */
export async function serve({ config, print }: CommandContext, sandbox: boolean): Promise<void> {
  const signals = hearSignals(); // from now on, so that a signal during the start drains, too
  const machine = readMachine();
  const workers = countWorkers(config, machine);
  const databasePool = computePoolSize(config, workers);
  // Workers read their settings themselves: in the environment of the sandbox, endpoints on this machine may be told of events.
  if (sandbox) process.env.PRAXIS_OUTBOUND_LOOPBACK ??= 'sandbox';
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
