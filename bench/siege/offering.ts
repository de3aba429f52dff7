/**
 * The process that offers load: `node offering.ts`, with a channel to the siege. Ordinary requests of several applications, in a
 * closed loop (`rate` 0: each connection sends the next one when it has an answer) or an open one (`rate` a second, whether or
 * not others have been answered).
 */
import { openRawClient, type RawRequest } from './raw-client.ts';

export interface Offer {
  readonly port: number;
  /** Whole requests, sent in turns; text, since the channel takes JSON. */
  readonly requests: readonly string[];
  readonly connections: number;
  /** Requests a second; 0: a closed loop. */
  readonly rate: number;
  readonly seconds: number;
}

export interface Offered {
  /** Requests that were due. */
  readonly due: number;
  /** Answered with 2xx within `patienceMs` of when they were due. */
  readonly good: number;
  /** By status, those too late included; 0: the connection ended; -1: not sent, since no connection was free. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** A client gives up after this time, in ms. */
const patienceMs = 5_000;
/** How long one looks for a free connection, in ms: what waits before it is sent is no load of the service. */
const connectionMs = 100;
const tickMs = 2;

process.on('message', (offer: Offer) => {
  void serve(offer).then((offered) => process.send?.(offered));
});

async function serve({ port, requests: texts, connections, rate, seconds }: Offer): Promise<Offered> {
  const requests: RawRequest[] = texts.map((text) => Buffer.from(text));
  const client = openRawClient(port, connections);
  while (client.idle() < connections) await new Promise((resolve) => setTimeout(resolve, 20));
  const statuses: Record<string, number> = {};
  const answeredMs: number[] = [];
  let [due, good] = [0, 0];
  const queue: number[] = [];
  const count = (status: number): void => {
    statuses[status] = (statuses[status] ?? 0) + 1;
  };
  const send = (dueMs: number): void => {
    const request = requests[due++ % requests.length];
    if (request === undefined) return;
    client.send(request, (status) => {
      const ms = performance.now() - dueMs;
      count(status);
      if (status < 200 || status > 299 || ms > patienceMs) return;
      good += 1;
      answeredMs.push(ms);
    });
  };
  const beganMs = performance.now();
  let planned = 0;
  const tick = (nowMs: number): void => {
    if (rate === 0) {
      while (client.idle() > 0) send(nowMs);
      return;
    }
    for (const until = ((nowMs - beganMs) / 1000) * rate; planned < until; planned++)
      queue.push(beganMs + (planned / rate) * 1000);
    let first = 0;
    for (; first < queue.length; first++) {
      const dueMs = queue[first] ?? nowMs;
      if (nowMs - dueMs > connectionMs) {
        due += 1;
        count(-1);
      } else if (client.idle() > 0) send(dueMs);
      else break;
    }
    queue.splice(0, first);
  };
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const nowMs = performance.now();
      tick(nowMs);
      if (nowMs - beganMs < seconds * 1000) return;
      clearInterval(timer);
      resolve();
    }, tickMs);
  });
  // What was answered within the time is counted, and nothing after it: else an overload would be measured by what comes later.
  const ended = { due, good, statuses: { ...statuses } };
  client.close();
  answeredMs.sort((left, right) => left - right);
  const at = (share: number): number => answeredMs[Math.floor(answeredMs.length * share)] ?? 0;
  return { ...ended, p50Ms: at(0.5), p99Ms: at(0.99) };
}
