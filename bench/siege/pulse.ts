/** The pulse of the service: how long /health/live was silent. */
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { exchange } from './caller.ts';

/** Connections, so that each of several workers is asked. */
const connections = 6;
const pauseMs = 20;

export interface Pulse {
  /** Longest wait for an answer since the last call, in ms, and what was not answered. */
  take(): { readonly longestMs: number; readonly failures: number; readonly beats: number };
  stop(): Promise<void>;
}

/** Asks again and again until `stop`. */
export function openPulse(origin: string): Pulse {
  let isOpen = true;
  let [longestMs, failures, beats] = [0, 0, 0];
  const beat = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (isOpen) {
      const { status, ms } = await exchange(agent, `${origin}/health/live`, 'GET', {});
      beats += 1;
      if (status !== 200) failures += 1;
      longestMs = Math.max(longestMs, ms);
      await delay(pauseMs);
    }
    agent.destroy();
  };
  const beating = Array.from({ length: connections }, beat);
  return {
    take() {
      const taken = { longestMs, failures, beats };
      [longestMs, failures, beats] = [0, 0, 0];
      return taken;
    },
    async stop() {
      isOpen = false;
      await Promise.all(beating);
    },
  };
}
