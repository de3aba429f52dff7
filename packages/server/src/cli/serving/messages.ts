/**
 * What the supervisor and its workers say to each other, as JSON over the channel that Node opens between a process and its child
 * (https://nodejs.org/api/child_process.html#subprocesssendmessage-sendhandle-options-callback).
 */
import type { MetricValues } from '../../base/worker-metrics.ts';
import type { ConnectionParts } from '../../database/connection-settings.ts';

export type ToWorker =
  | {
      readonly kind: 'start';
      /** Connections of this worker's share of PRAXIS_DATABASE_POOL. */
      readonly databasePool: number;
      /** Connections that the database must have room for; undefined: a worker before this one has seen to it. */
      readonly connectionsNeeded?: number;
      /** The embedded database, which the supervisor runs. */
      readonly embedded?: { readonly owner: ConnectionParts; readonly runtime: ConnectionParts };
      /** The node has a sandbox: the worker seeds it if there is none, or only shows its first calls. */
      readonly sandbox?: 'seed' | 'show';
    }
  | { readonly kind: 'serve'; readonly origin: string }
  /** Goes with a socket. */
  | { readonly kind: 'connection'; readonly id: number }
  /** Whether this worker does the work that one alone has to do. */
  | { readonly kind: 'jobs'; readonly run: boolean }
  | { readonly kind: 'measure'; readonly id: number }
  /** End the connections of the next `count` requests with their answers: their clients connect again. */
  | { readonly kind: 'release'; readonly count: number }
  /** Finish and end; connections without a request are kept for `lingerMs`. */
  | { readonly kind: 'leave'; readonly lingerMs: number };

export type FromWorker =
  /** The database is ready to be served from. */
  | { readonly kind: 'prepared' }
  | { readonly kind: 'serving'; readonly sandbox?: SandboxLines }
  /** From now on the worker answers for that connection; said before a byte of it is read. */
  | { readonly kind: 'taken'; readonly id: number; readonly connections: number }
  | ({ readonly kind: 'alive' } & Vitals)
  | { readonly kind: 'measured'; readonly id: number; readonly metrics: readonly MetricValues[] }
  /** The last of it: what it has counted. */
  | { readonly kind: 'left'; readonly metrics: readonly MetricValues[] };

/** What is printed for newcomers; undefined `calls`: there is no sandbox. */
export interface SandboxLines {
  readonly calls?: readonly string[];
}

/** How a worker is, said by its own event loop. */
export interface Vitals {
  readonly connections: number;
  readonly residentBytes: number;
  /** Processor time that its process has used so far. */
  readonly cpuMicros: number;
  /** Share of the time since the last time in which the event loop was busy. */
  readonly loopUse: number;
  /** Longest delay of the event loop since the last time, in seconds. */
  readonly loopDelaySeconds: number;
  /** Whether a slice of large work (limits/slices.ts) has begun since the last time. */
  readonly hasLargeWork: boolean;
  /** Whether requests wait for a place (http/connections/request-places.ts). */
  readonly hasWaiting: boolean;
}

/** How often a worker says that it is alive, in ms. */
export const aliveEveryMs = 500;

/** The message, if it is one of `Message`: a process may get others from Node's own modules. */
export function readMessage<Message extends ToWorker | FromWorker>(message: unknown): Message | undefined {
  const isOurs = typeof message === 'object' && message !== null && 'kind' in message;
  // Both ends are of one version of the program, or of two whose messages are told apart by `kind`.
  return isOurs ? (message as Message) : undefined;
}
