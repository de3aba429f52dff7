/**
 * A bounded load on one address of this machine, and what it cost the processes that serve.
 */
import { Agent, request as httpRequest } from 'node:http';

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

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

/** Runs `workload` with `connections` callers for `seconds`; throws at the first answer of another status. */
export async function run(server: Server, workload: Workload, connections: number, seconds: number): Promise<Figures> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const latenciesMs: number[] = [];
  let next = 0;
  const cpuBefore = await server.cpuMicros();
  const beginMs = performance.now();
  const endMs = beginMs + seconds * 1000;
  const caller = async (): Promise<void> => {
    while (performance.now() < endMs) {
      const sentMs = performance.now();
      const index = next;
      next += 1;
      const status = await send(server.origin, agent, workload.call(index));
      if (status !== workload.status) throw new Error(`${workload.name}: status ${status}, not ${workload.status}`);
      latenciesMs.push(performance.now() - sentMs);
    }
  };
  await Promise.all(Array.from({ length: connections }, caller));
  const elapsedSeconds = (performance.now() - beginMs) / 1000;
  const cpuMicros = (await server.cpuMicros()) - cpuBefore;
  agent.destroy();
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
  { origin }: Server,
  callOf: (index: number) => { readonly call: Call; readonly status: number },
  { from, count, connections }: { readonly from: number; readonly count: number; readonly connections: number },
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  let next = from;
  const caller = async (): Promise<void> => {
    while (next < from + count) {
      const { call, status: expected } = callOf(next++);
      const status = await send(origin, agent, call);
      if (status !== expected) throw new Error(`${call.method} ${call.path}: status ${status}, not ${expected}`);
    }
  };
  await Promise.all(Array.from({ length: connections }, caller));
  agent.destroy();
}

function send(origin: string, agent: Agent, call: Call): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      origin + call.path,
      { method: call.method, headers: call.headers, agent },
      (response) => {
        response.resume();
        response.once('end', () => resolve(response.statusCode ?? 0));
        response.once('error', reject);
      },
    );
    request.once('error', reject);
    request.end(call.body);
  });
}
