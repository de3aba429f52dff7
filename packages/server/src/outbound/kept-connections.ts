/**
 * Connections to endpoints that stay open for the next message. A message takes one only if its host has just been resolved
 * to the addresses that were checked when the connection was made, so a kept connection leads nowhere that a new one could
 * not. TLS sessions are not remembered (docs/decisions/0312).
 */
import { Agent, type RequestOptions } from 'node:https';
import type { Duplex } from 'node:stream';

export interface KeptConnections {
  /** @internal for `requestPinned` */
  readonly agent: Agent;
  /** Closes all. Messages that are sent end with the words of a connection that was closed. */
  close(): void;
}

/** Options of a request, with the addresses that its connection is pinned to. */
export interface PinnedRequestOptions extends RequestOptions {
  readonly pinnedTo?: string;
}

/** Less than Node's servers wait for the next request (5 s). */
const idleMsMax = 4_000;
/** A certificate that has expired, or was replaced, is seen after a minute. */
const ageMsMax = 60_000;
const idleOfEndpointMax = 8;
const idleMax = 256;

/** Opens none until a message is sent. Idle ones keep no process alive. */
export function openKeptConnections(): KeptConnections {
  const agent = new Agent({
    keepAlive: true,
    maxCachedSessions: 0,
    maxFreeSockets: idleOfEndpointMax,
    scheduling: 'lifo',
    timeout: idleMsMax,
  });
  const firstUse = new WeakMap<Duplex, number>();
  const getName = agent.getName.bind(agent);
  agent.getName = (options?: PinnedRequestOptions): string => `${getName(options)}:${options?.pinnedTo}`;
  // Node lists these methods for this purpose, and has no types for them.
  const keep: unknown = Reflect.get(agent, 'keepSocketAlive');
  Reflect.set(agent, 'keepSocketAlive', (socket: Duplex): boolean => {
    const nowMs = performance.now();
    const firstMs = firstUse.get(socket) ?? nowMs;
    firstUse.set(socket, firstMs);
    const idle = Object.values(agent.freeSockets).reduce((sum, sockets) => sum + (sockets?.length ?? 0), 0);
    if (nowMs - firstMs > ageMsMax || idle >= idleMax) return false;
    return typeof keep === 'function' && Reflect.apply(keep, agent, [socket]) === true;
  });
  return { agent, close: () => agent.destroy() };
}
