/** What a thread of an import does: it has its own connections, and imports the chunks that it is sent. */
import os from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { openPlatform } from '../../app.ts';
import { PraxisError } from '../../base/errors.ts';
import { openLog } from '../../base/log.ts';
import { UsageError } from '../command.ts';
import { openChunkImporter } from './chunk-importer.ts';
import type { ThreadData, ThreadError, ThreadRequest } from './thread-messages.ts';

/** Resolves when it is ready, which it says by a message; from then on it does what messages ask for. */
export async function importSentChunks(): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error('to be started as a thread');
  // Requests that a service on this machine answers come first.
  os.setPriority(os.constants.priority.PRIORITY_BELOW_NORMAL);
  const { task, config, connections }: ThreadData = workerData;
  const log = openLog(config);
  const platform = await openPlatform({ config, log, connections: { ...connections, stop: async () => undefined } });
  const importer = await openChunkImporter(platform, task);
  const answer = async (request: ThreadRequest) => {
    // One text is copied in a fraction of the time of many.
    if ('prepare' in request) return (await importer.prepare(request.prepare)).join('\n');
    if ('store' in request) return await importer.store(request.store);
    return await importer.check(request.check);
  };
  port.on('message', (request: ThreadRequest | 'close') => {
    if (request === 'close') void platform.close().then(() => port.close());
    else
      void answer(request).then(
        (value) => port.postMessage({ number: request.number, value }),
        (error: unknown) => port.postMessage({ number: request.number, error: describe(error) }),
      );
  });
  port.postMessage('ready');
}

function describe(error: unknown): ThreadError {
  if (!(error instanceof Error)) return { message: String(error), stack: undefined };
  const { message, stack } = error;
  if (error instanceof UsageError) return { message, stack, usage: true };
  if (error instanceof PraxisError)
    return { message, stack, code: error.code, details: { diagnostics: error.details.diagnostics } };
  return { message, stack };
}
