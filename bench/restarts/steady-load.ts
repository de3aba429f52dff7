/**
 * A steady offer of mixed requests over kept connections (an open loop), by a client that sends again what HTTP allows it to: what is
 * idempotent by its method (RFC 9110 §9.2.2) or by its `Idempotency-Key`. It notes what failed at first, on which connection, and
 * what failed for good.
 */
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

export interface Asked {
  readonly kind: string;
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** What it answers when all is well. */
  readonly status: number;
}

/** An attempt that was not answered as it should be. */
export interface Failure {
  readonly kind: string;
  /** 0: there was no whole answer. */
  readonly status: number;
  readonly said: string;
  /** The client's port of the connection; 0: there was none. */
  readonly port: number;
  /** Whether the connection had answered another request before. */
  readonly isReused: boolean;
  /** performance.now() when it was sent and when it failed. */
  readonly sentMs: number;
  readonly failedMs: number;
  /** Whether it was the first attempt. */
  readonly isFirst: boolean;
}

export interface Tally {
  readonly requests: number;
  /** From the moment at which each was due, in ms; those that failed for good excluded. */
  readonly latenciesMs: readonly number[];
  readonly failures: readonly Failure[];
  /** Requests that no attempt got answered. */
  readonly lost: readonly Failure[];
}

export interface SteadyLoad {
  /** What was offered since the last call and is answered by now, or lost. */
  take(): Promise<Tally>;
  /** Client's ports of the connections on which an answer is waited for. */
  underWay(): ReadonlySet<number>;
  stop(): Promise<void>;
}

const connectionsMax = 64;
const attemptsMax = 4;
const retryPauseMs = 100;
const answerMaxMs = 20_000;

/** @param next the request that is due now */
export function openSteadyLoad(perSecond: number, next: () => Asked): SteadyLoad {
  const agent = new Agent({ keepAlive: true, maxSockets: connectionsMax, scheduling: 'fifo' });
  const sent = new Map<ClientRequest, number>();
  let tally = newTally();
  const under = new Set<Promise<void>>();
  const run = async (asked: Asked, dueMs: number): Promise<void> => {
    const { latenciesMs, failures, lost } = tally;
    for (let attempt = 1; ; attempt++) {
      const failure = await send(agent, asked, attempt === 1, sent);
      if (failure === undefined) return void latenciesMs.push(performance.now() - dueMs);
      failures.push(failure);
      if (attempt === attemptsMax) return void lost.push(failure);
      await delay(retryPauseMs);
    }
  };
  const beganMs = performance.now();
  let count = 0;
  const timer = setInterval(() => {
    for (const until = (performance.now() - beganMs) * (perSecond / 1000); count < until; count += 1) {
      tally.requests += 1;
      const running = run(next(), beganMs + (count * 1000) / perSecond).finally(() => under.delete(running));
      under.add(running);
    }
  }, 1);
  return {
    async take() {
      const taken = tally;
      tally = newTally();
      await Promise.all(under);
      return taken;
    },
    underWay: () => new Set([...sent.keys()].map((sending) => sending.socket?.localPort ?? 0)),
    async stop() {
      clearInterval(timer);
      await Promise.all(under);
      agent.destroy();
    },
  };
}

function newTally() {
  return { requests: 0, latenciesMs: [] as number[], failures: [] as Failure[], lost: [] as Failure[] };
}

/** One attempt; undefined: it was answered as it should be. */
function send(
  agent: Agent,
  asked: Asked,
  isFirst: boolean,
  sent: Map<ClientRequest, number>,
): Promise<Failure | undefined> {
  const { kind, method, url, body } = asked;
  const sentMs = performance.now();
  return new Promise((resolve) => {
    let port = 0;
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const sending = request(url, { agent, method, headers: { ...asked.headers, ...length } }, (response) =>
      read(response).then(
        (text) => settle(response.statusCode ?? 0, text),
        (error: Error) => settle(0, error.message),
      ),
    );
    const settle = (status: number, said: string): void => {
      sent.delete(sending);
      if (status === asked.status) return resolve(undefined);
      const isReused = sending.reusedSocket;
      resolve({ kind, status, said: said.slice(0, 200), port, isReused, sentMs, failedMs: performance.now(), isFirst });
    };
    sending.on('socket', (socket) => {
      const note = (): void => {
        port = socket.localPort ?? 0;
      };
      if (socket.connecting) socket.once('connect', note);
      else note();
    });
    sending.setTimeout(answerMaxMs, () => sending.destroy(new Error('no answer in time')));
    sending.on('error', (error) => settle(0, error.message));
    sent.set(sending, sentMs);
    sending.end(body);
  });
}

async function read(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part);
  return Buffer.concat(parts).toString();
}
