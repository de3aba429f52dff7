/** Importers in threads of their own, each with its own connections to the database. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Platform } from '../../app.ts';
import { PraxisError } from '../../base/errors.ts';
import { UsageError } from '../command.ts';
import type { ChunkImporter, ImportTask } from './chunk-importer.ts';
import type { Chunk } from './chunks.ts';
import type { ChunkNames, ThreadAnswer, ThreadData, ThreadError, ThreadRequest } from './thread-messages.ts';

/** Of the memory of a thread, what is new: most of what a chunk makes is gone before a third of it is full. */
const maxYoungGenerationSizeMb = 192;

const source = new URL('./import-thread.ts', import.meta.url);

/** Starts `count` threads. @throws when one of them cannot work */
export async function openImportThreads(
  { config, connections }: Pick<Platform, 'config' | 'connections'>,
  task: ImportTask,
  count: number,
): Promise<readonly ChunkImporter[]> {
  const { owner, runtime } = connections;
  const workerData: ThreadData = { task, config, connections: { owner, runtime } };
  return await Promise.all(Array.from({ length: count }, () => openThread(workerData)));
}

async function openThread(workerData: ThreadData): Promise<ChunkImporter> {
  const thread = new Worker(source, { workerData, resourceLimits: { maxYoungGenerationSizeMb } });
  const waiting = new Map<number, PromiseWithResolvers<never>>();
  let last = 0;
  let ended: Error | undefined;
  const fail = (error: Error): void => {
    ended ??= error;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  await Promise.race([
    once(thread, 'message'),
    once(thread, 'exit').then(() => Promise.reject(new Error('a thread of the import did not start'))),
  ]);
  thread.on('error', fail);
  thread.on('exit', () => fail(new Error('a thread of the import has ended')));
  thread.on('message', (answer: ThreadAnswer) => {
    const asked = waiting.get(answer.number);
    waiting.delete(answer.number);
    if ('error' in answer) asked?.reject(makeError(answer.error));
    else asked?.resolve(answer.value as never); // of the request with the number
  });
  const ask = <T>(request: (number: number) => ThreadRequest, transfer: readonly ArrayBuffer[] = []): Promise<T> => {
    if (ended !== undefined) return Promise.reject(ended);
    last += 1;
    const asked = Promise.withResolvers<never>();
    waiting.set(last, asked);
    thread.postMessage(request(last), [...transfer]);
    return asked.promise;
  };
  return {
    async prepare(chunk) {
      const names = await ask<ChunkNames>((number) => ({ number, prepare: chunk }), buffersOf(chunk));
      return names === '' ? [] : names.split('\n');
    },
    store: (keepMax) => ask((number) => ({ number, store: keepMax })),
    check: (chunk) => ask((number) => ({ number, check: chunk }), buffersOf(chunk)),
    async close() {
      if (ended !== undefined) return;
      const exit = once(thread, 'exit');
      thread.postMessage('close');
      await exit;
    },
  };
}

function buffersOf({ bytes }: Chunk): readonly ArrayBuffer[] {
  return bytes === undefined ? [] : [bytes.buffer];
}

function makeError({ message, stack, code, details, usage }: ThreadError): Error {
  if (usage === true) return new UsageError(message);
  if (code !== undefined && details !== undefined) return new PraxisError(code, details);
  return Object.assign(new Error(message), { stack });
}
