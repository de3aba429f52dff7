/** The pulse of the service: how long /health/live was silent, at each worker. */
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { exchange } from './caller.ts';
import type { OwnDelay } from './own-delay.ts';

/** Connections that probe, at the beginning and at most; there are more when a worker is not reached by any. */
const connections = { first: 4, max: 40 } as const;
const pauseMs = 20;
const reachEveryMs = 500;

/** Of one worker. */
export interface Beats {
  readonly worker: string;
  /** Longest wait for an answer, in ms, without the time that this process was late itself. */
  readonly longestMs: number;
  /** Of a hundred waits one is longer, in ms. */
  readonly p99Ms: number;
  readonly beats: number;
}

export interface Pulse {
  /** What was felt since the last call, by worker; what was not answered counts for the worker that answered there before. */
  take(): readonly Beats[];
  stop(): Promise<void>;
}

/** Asks again and again until `stop`, on connections of which each of `expected` workers has one at least. */
export function openPulse(origin: string, expected: number, own: OwnDelay): Pulse {
  let isOpen = true;
  let felt = new Map<string, number[]>();
  /** By connection: the worker that answered last there. */
  const workers: string[] = [];
  const beat = async (connection: number): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (isOpen) {
      const beganMs = performance.now();
      const { headers, status } = await exchange(agent, `${origin}/health/live`, 'GET', {});
      const endMs = performance.now();
      if (status !== 0) workers[connection] = String(headers['x-worker'] ?? '');
      const worker = workers[connection] ?? '';
      const waits = felt.get(worker) ?? [];
      waits.push(endMs - beganMs - own.within(beganMs, endMs));
      felt.set(worker, waits);
      await delay(pauseMs);
    }
    agent.destroy();
  };
  const beating: Promise<void>[] = [];
  const open = (): void => void beating.push(beat(beating.length));
  for (let count = 0; count < connections.first; count++) open();
  const reaching = setInterval(() => {
    if (new Set(workers).size < expected && beating.length < connections.max) open();
  }, reachEveryMs);
  return {
    take() {
      const taken = [...felt].map(([worker, waits]) => {
        const sorted = waits.sort((left, right) => left - right);
        const p99Ms = sorted[Math.floor(sorted.length * 0.99)] ?? 0;
        return { worker, longestMs: sorted.at(-1) ?? 0, p99Ms, beats: sorted.length };
      });
      felt = new Map();
      return taken.sort((left, right) => left.worker.localeCompare(right.worker));
    },
    async stop() {
      isOpen = false;
      clearInterval(reaching);
      await Promise.all(beating);
    },
  };
}
