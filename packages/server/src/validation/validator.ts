/**
 * Examines resources in a thread of its own, one after another, firms in turns: expressions of profiles come from
 * outside and may run for ever or take all memory. What takes too long ends the thread; the next task gets a new one.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { JsonObject } from '@praxis/fhir';
import { type FairQueueLimits, openFairQueue, type TurnOf } from '../limits/fair-queue.ts';
import type { Examination } from './examine.ts';

export interface ExaminationTask {
  /** The resource as JSON: to copy its elements one by one would hold the sender's thread for long. */
  readonly text: string;
  /** Canonicals that the resource has to conform to, beside those it states itself. */
  readonly profiles: readonly string[];
  /** Canonicals that the resource states or that its extensions have. */
  readonly named: readonly string[];
  /** Profiles that do not come with the server: canonical, StructureDefinition. */
  readonly definitions: readonly (readonly [canonical: string, definition: JsonObject])[];
  readonly findingsMax: number;
}

export interface Validator {
  /**
   * What is found; undefined when it takes longer than `examinationMsMax` or more memory than `memoryMbMax`.
   * @param of for whom, so that nobody waits for all that another firm has asked for
   * @throws PraxisError `rate-exceeded` when too many of the application wait, `unavailable` when too many do
   */
  examine(task: ExaminationTask, of: TurnOf): Promise<Examination | undefined>;
  /** Ends the thread. Tasks that wait are answered undefined. */
  close(): Promise<void>;
}

/** One examination, start of the thread not included. R4's largest definitions (1.2 MB) take 0.4 s. */
export const examinationMsMax = 5_000;
/** Heap of the thread. */
export const memoryMbMax = 256;
/** Examinations under way and waiting, at most. */
export const turnLimits: FairQueueLimits = {
  ofFirmMax: 8,
  ofApplicationMax: 32,
  allMax: 256,
  what: 'validations',
  retrySeconds: Math.ceil(examinationMsMax / 1000),
};

/** A validator without a thread yet: the first task starts it. It does not keep the process alive. */
export function openValidator(limits: { readonly examinationMsMax: number } = { examinationMsMax }): Validator {
  let worker: Worker | undefined;
  let isClosed = false;
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = openFairQueue(turnLimits);

  async function run(task: ExaminationTask): Promise<Examination | undefined> {
    if (isClosed) return undefined;
    worker ??= await startWorker();
    const answer = await ask(worker, task, limits.examinationMsMax);
    if (answer === undefined) {
      await worker.terminate();
      worker = undefined;
    }
    return answer;
  }

  return {
    examine: (task, of) =>
      inTurn(of, () => {
        const mine = run(task);
        last = mine.catch(() => undefined);
        return mine;
      }),
    async close() {
      isClosed = true;
      await worker?.terminate();
      await last;
    },
  };
}

async function startWorker(): Promise<Worker> {
  const worker = new Worker(new URL('./validator-worker.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: memoryMbMax },
  });
  await once(worker, 'online');
  worker.unref();
  return worker;
}

/** Undefined: not in time, or the thread died. @throws Error what the thread could not cope with */
function ask(worker: Worker, task: ExaminationTask, timeoutMs: number): Promise<Examination | undefined> {
  return new Promise((resolve, reject) => {
    const settle = (answer: () => void) => {
      clearTimeout(timer);
      worker.unref();
      worker.removeAllListeners();
      worker.on('error', () => undefined); // it may still die of the task that is given up
      answer();
    };
    const timer = setTimeout(() => settle(() => resolve(undefined)), timeoutMs);
    worker.ref();
    worker.removeAllListeners();
    worker.on('message', (message: Examination | { readonly failure: string }) =>
      settle(() => ('failure' in message ? reject(new Error(message.failure)) : resolve(message))),
    );
    worker.on('error', () => settle(() => resolve(undefined)));
    worker.on('exit', () => settle(() => resolve(undefined)));
    worker.postMessage(task);
  });
}
