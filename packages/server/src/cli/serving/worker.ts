/**
 * The program of a worker: `node worker.ts NUMBER`, with a channel to the supervisor; without it the worker ends.
 */
import { findSourcesByName } from '../find-sources.ts';

findSourcesByName();
const { serveAsWorker } = await import('./serve-as-worker.ts');
process.exitCode = await serveAsWorker(Number(process.argv[2]));
