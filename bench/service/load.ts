/**
 * A bounded load on one address of this machine, and what it cost the processes that serve.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Call, Line } from './line.ts';

export interface Workload {
  readonly name: string;
  /** The call number `index` of the run. */
  readonly call: (index: number) => Call;
  readonly status: number;
}

export interface Figures {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time of the server's processes per request. */
  readonly cpuMicros: number;
  readonly requests: number;
}

export interface Server {
  readonly origin: string;
  /** CPU time that its processes have used so far, in µs. */
  readonly cpuMicros: () => Promise<number>;
}

export interface Load {
  /** Callers at once, each with a connection of its own. */
  readonly connections: number;
  readonly seconds: number;
  /** After the last answer, until the CPU time is read: what a server puts off belongs to what it was asked. */
  readonly settleMs?: number;
}

/** Runs `workload`; throws at the first answer of another status. */
export async function run(server: Server, workload: Workload, load: Load): Promise<Figures> {
  const lines = Array.from({ length: load.connections }, () => new Line(server.origin));
  const latenciesMs: number[] = [];
  let next = 0;
  const cpuBefore = await server.cpuMicros();
  const beginMs = performance.now();
  const endMs = beginMs + load.seconds * 1000;
  const call = async (line: Line): Promise<void> => {
    for (let sentMs = performance.now(); sentMs < endMs; ) {
      const status = await line.send(workload.call(next++));
      if (status !== workload.status) throw new Error(`${workload.name}: status ${status}, not ${workload.status}`);
      const answeredMs = performance.now();
      latenciesMs.push(answeredMs - sentMs);
      sentMs = answeredMs;
    }
  };
  await Promise.all(lines.map(call));
  const elapsedSeconds = (performance.now() - beginMs) / 1000;
  for (const line of lines) line.close();
  if (load.settleMs !== undefined) await delay(load.settleMs);
  const cpuMicros = (await server.cpuMicros()) - cpuBefore;
  latenciesMs.sort((a, b) => a - b);
  const at = (share: number): number =>
    latenciesMs[Math.min(latenciesMs.length - 1, Math.floor(latenciesMs.length * share))] ?? Number.NaN;
  return {
    requestsPerSecond: latenciesMs.length / elapsedSeconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    cpuMicros: cpuMicros / latenciesMs.length,
    requests: latenciesMs.length,
  };
}

/** Sends the calls `from` to `from + count` once each; throws at the first answer of another status. */
export async function sendAll(
  { origin }: Pick<Server, 'origin'>,
  callOf: (index: number) => { readonly call: Call; readonly status: number },
  { from, count, connections }: { readonly from: number; readonly count: number; readonly connections: number },
): Promise<void> {
  let next = from;
  const send = async (): Promise<void> => {
    const line = new Line(origin);
    while (next < from + count) {
      const { call, status: expected } = callOf(next++);
      const status = await line.send(call);
      if (status !== expected) throw new Error(`${call.method} ${call.path}: status ${status}, not ${expected}`);
    }
    line.close();
  };
  await Promise.all(Array.from({ length: connections }, send));
}
