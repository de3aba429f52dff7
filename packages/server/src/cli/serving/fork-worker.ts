/** Starting the process of a worker. It begins with loading what it needs, and then waits for what the supervisor says. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { heapOptions } from './heap-growth.ts';

const program = fileURLToPath(new URL('worker.ts', import.meta.url));

/**
 * Starts it from the code on disk. It says on standard error why it cannot start.
 * @param collectorThreads as `countCollectorThreads`
 */
export function forkWorker(number: number, collectorThreads: number): ChildProcess {
  const child = fork(program, [String(number)], {
    execArgv: [...process.execArgv, ...heapOptions, `--v8-pool-size=${collectorThreads}`],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  child.on('error', () => undefined); // who watches over it finds that it has no number
  return child;
}
