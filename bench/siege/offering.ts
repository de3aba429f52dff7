/**
 * The process that offers load: `node offering.ts`, with a channel to the siege. Ordinary requests of several applications, in a
 * closed loop (`rate` 0: each connection sends the next one when it has an answer) or an open one (`rate` a second, whether or
 * not others have been answered).
 */
import { openRawClient, type RawRequest } from './raw-client.ts';

export interface Offer {
  readonly port: number;
  /** By application, which has connections of its own: whole requests, sent in turns; text, since the channel takes JSON. */
  readonly applications: readonly (readonly string[])[];
  /** Of all applications together. */
  readonly connections: number;
  /** Requests a second, of all together; 0: a closed loop. */
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
  /** Cores that this process used. */
  readonly cpu: number;
}

/** A client gives up after this time, in ms. */
const patienceMs = 5_000;
/** How long one looks for a free connection, in ms: what waits before it is sent is no load of the service. */
const connectionMs = 100;
const tickMs = 2;

process.on('message', (offer: Offer) => {
  void serve(offer).then((offered) => process.send?.(offered));
});

async function serve({ port, applications, connections, rate, seconds }: Offer): Promise<Offered> {
  const callers = applications.map((requests) => openApplication(port, requests, connections / applications.length));
  while (!callers.every((caller) => caller.isConnected())) await new Promise((resolve) => setTimeout(resolve, 20));
  const beganMs = performance.now();
  const beganCpu = process.cpuUsage();
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const nowMs = performance.now();
      for (const caller of callers) caller.tick(nowMs, nowMs - beganMs, rate / callers.length);
      if (nowMs - beganMs < seconds * 1000) return;
      clearInterval(timer);
      resolve();
    }, tickMs);
  });
  const { user, system } = process.cpuUsage(beganCpu);
  const cpu = (user + system) / 1000 / (performance.now() - beganMs);
  // What was answered within the time is counted, and nothing after it: else an overload would be measured by what comes later.
  return { ...sumOf(callers.map((caller) => caller.end())), cpu };
}

/** What became of the requests of one application. */
interface Counted {
  due: number;
  readonly statuses: Record<string, number>;
  /** How long good answers took, in ms. */
  readonly goodMs: number[];
}

/** One application, with connections of its own. */
function openApplication(port: number, texts: readonly string[], connections: number) {
  const requests: RawRequest[] = texts.map((text) => Buffer.from(text));
  const client = openRawClient(port, Math.ceil(connections));
  const counted: Counted = { due: 0, statuses: {}, goodMs: [] };
  const queue: number[] = [];
  let planned = 0;
  let isOver = false;
  const count = (status: number): void => {
    counted.statuses[status] = (counted.statuses[status] ?? 0) + 1;
  };
  const send = (dueMs: number): void => {
    const request = requests[counted.due++ % requests.length];
    if (request === undefined) return;
    client.send(request, (status) => {
      if (isOver) return;
      const ms = performance.now() - dueMs;
      count(status);
      if (status >= 200 && status <= 299 && ms <= patienceMs) counted.goodMs.push(ms);
    });
  };
  return {
    isConnected: () => client.idle() >= Math.ceil(connections),
    /** Sends what is due after `passedMs`. */
    tick(nowMs: number, passedMs: number, rate: number): void {
      if (rate === 0) {
        while (client.idle() > 0) send(nowMs);
        return;
      }
      for (const until = (passedMs / 1000) * rate; planned < until; planned++)
        queue.push(nowMs - passedMs + (planned / rate) * 1000);
      let first = 0;
      for (; first < queue.length; first++) {
        const dueMs = queue[first] ?? nowMs;
        if (nowMs - dueMs > connectionMs) {
          counted.due += 1;
          count(-1);
        } else if (client.idle() > 0) send(dueMs);
        else break;
      }
      queue.splice(0, first);
    },
    end(): Counted {
      isOver = true;
      client.close();
      return counted;
    },
  };
}

function sumOf(all: readonly Counted[]): Omit<Offered, 'cpu'> {
  const statuses: Record<string, number> = {};
  for (const counted of all)
    for (const [status, count] of Object.entries(counted.statuses)) statuses[status] = (statuses[status] ?? 0) + count;
  const goodMs = all.flatMap((counted) => counted.goodMs).toSorted((left, right) => left - right);
  const at = (share: number): number => goodMs[Math.floor(goodMs.length * share)] ?? 0;
  const due = all.reduce((sum, counted) => sum + counted.due, 0);
  return { due, good: goodMs.length, statuses, p50Ms: at(0.5), p99Ms: at(0.99) };
}
