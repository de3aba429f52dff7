/** A node with workers, as a test sees it: their processes, its page of metrics, and callers who stay on one connection each. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { isRunning } from '../support/embedded.ts';
import type { Serving } from './serving.ts';

/** The process numbers of the workers, those that start or leave as well. */
export function workersOf({ pid }: Pick<Serving, 'pid'>): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  return children.filter((child) => isWorker(child));
}

function isWorker(pid: number): boolean {
  try {
    return isRunning(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('serving/worker.ts');
  } catch {
    return false;
  }
}

/** Tries until `look` is content; at the end says why it was not. */
export async function until<T>(what: string, look: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const endMs = performance.now() + 60_000;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > endMs) assert.fail(`never came: ${what}`);
    await delay(50);
  }
}

export async function freePort(): Promise<string> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? String(address.port) : '';
}

/** Metrics by their name with labels. */
export async function scrape(port: string): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(samples.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}

export interface Heard {
  /** Undefined: there was no answer. */
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
}

export interface Line {
  send(method: string, url: string, headers: Readonly<Record<string, string>>, body?: string): Promise<Heard>;
  close(): void;
}

/** One who calls on one kept connection, and opens another one only when that one has been closed. */
export function openLine(): Line {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    send: (method, url, headers, body) =>
      new Promise((resolve) => {
        const lost = (): void => resolve({ status: undefined, headers: {} });
        const call = request(url, { method, headers: { ...headers }, agent }, (response) => {
          response.resume();
          response.once('end', () => resolve({ status: response.statusCode, headers: response.headers }));
          response.once('error', lost);
        });
        call.once('error', lost);
        call.end(body);
      }),
    close: () => agent.destroy(),
  };
}
