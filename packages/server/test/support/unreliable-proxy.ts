/**
 * A proxy between a client and the service that drops requests and answers, delays them and sends requests twice, as
 * networks do; by a row of numbers that is the same each time.
 */
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Lifetime } from './database.ts';

/** What happens to a request. */
export type Mishap = 'none' | 'request-lost' | 'answer-lost' | 'sent-twice' | 'late';

export interface UnreliableProxy {
  readonly origin: string;
  /** How often each mishap happened. */
  readonly counts: Readonly<Record<Mishap, number>>;
}

const delayMs = 20;

/** @param mishapOf says what happens to the request of a number, from 0 */
export async function openUnreliableProxy(
  t: Lifetime,
  target: string,
  mishapOf: (number: number) => Mishap,
): Promise<UnreliableProxy> {
  const counts: Record<Mishap, number> = { none: 0, 'request-lost': 0, 'answer-lost': 0, 'sent-twice': 0, late: 0 };
  let number = 0;
  const server = createServer((incoming, outgoing) => {
    const mishap = mishapOf(number++);
    counts[mishap] += 1;
    pass(incoming, outgoing, target, mishap).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, counts };
}

async function pass(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  target: string,
  mishap: Mishap,
): Promise<void> {
  const body = Buffer.concat(await Array.fromAsync(incoming));
  if (mishap === 'request-lost') return void outgoing.destroy();
  if (mishap === 'late') await delay(delayMs);
  const first = send(incoming, body, target);
  // The twin is on its way at the same time; either answer may be the one that arrives.
  const twin = mishap === 'sent-twice' ? send(incoming, body, target) : first;
  const answers = await Promise.all([first, twin]);
  if (mishap === 'answer-lost') return void outgoing.destroy();
  const [answer] = answers.toSorted((a, b) => a.status - b.status);
  if (answer === undefined) return void outgoing.destroy();
  outgoing.writeHead(answer.status, answer.headers).end(answer.body);
}

interface Passed {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

function send({ method, url, headers }: IncomingMessage, body: Buffer, target: string): Promise<Passed> {
  return new Promise((resolve, reject) => {
    const onward = forward(
      `${target}${url}`,
      { method, headers: { ...headers, host: new URL(target).host } },
      (answer) => {
        Array.fromAsync(answer).then(
          (chunks) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) }),
          reject,
        );
      },
    );
    onward.on('error', reject);
    onward.end(body);
  });
}
