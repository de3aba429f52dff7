/**
 * Connections to endpoints that stay open for the next message. A message takes one only if its host has just been resolved
 * to the addresses that were checked when the connection was made, so a kept connection leads nowhere that a new one could
 * not. TLS sessions are not remembered (docs/decisions/0312).
 */
import type { AgentOptions, Agent as PlainAgent } from 'node:http';
import { Agent, type RequestOptions } from 'node:https';
import type { Duplex } from 'node:stream';

export interface KeptConnections {
  /** @internal for `requestPinned` */
  readonly agent: Agent;
  /** @internal For http, which only this machine speaks. @param make makes it when it is asked for first: few processes have a use for it */
  openPlain(make: (options: AgentOptions) => PlainAgent): PlainAgent;
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
  const options = {
    keepAlive: true,
    maxFreeSockets: idleOfEndpointMax,
    scheduling: 'lifo',
    timeout: idleMsMax,
  } as const;
  const agent = new Agent({ ...options, maxCachedSessions: 0 });
  let plain: PlainAgent | undefined;
  keepFor(agent);
  return {
    agent,
    openPlain(make) {
      if (plain === undefined) {
        plain = make(options);
        keepFor(plain);
      }
      return plain;
    },
    close() {
      agent.destroy();
      plain?.destroy();
    },
  };
}

/** Has the agent keep connections by the addresses that they were pinned to, not for long, and not too many. */
function keepFor(agent: PlainAgent): void {
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
}
