/**
 * Connections that another process has accepted: they are answered as those of a server that listens itself, and leave in an order
 * that loses no request.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface TakenConnections {
  /** Answers the requests of `socket` from now on. */
  take(socket: Socket): void;
  /** How many are open. */
  count(): number;
  /**
   * The answers to the next `count` requests without a body end their connections (RFC 9112 §9.6), whose clients connect again.
   * Health checks do not count: each process keeps those that ask it.
   */
  release(count: number): void;
  /**
   * From now on each answer ends its connection (RFC 9112 §9.6). Connections without a request are kept for `lingerMs`, so that a
   * client that is about to send one gets its answer; then they are closed. What is still open `drainMs` later is cut.
   */
  leave(lingerMs: number, drainMs: number): Promise<void>;
}

interface Standing {
  /** Requests that are not answered to their end. */
  requests: number;
  /** Bytes read when the last of them was answered: more of them are the beginning of another one. */
  readBytes: number;
}

const lookEveryMs = 20;

export function takeConnections(server: Server): TakenConnections {
  const open = new Map<Socket, Standing>();
  let leaving = false;
  let toRelease = 0;
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const isReleased = toRelease > 0 && isReleasable(request);
    if (isReleased) toRelease -= 1;
    if (leaving || isReleased) response.setHeader('connection', 'close');
    const standing = open.get(socket);
    if (standing === undefined) return;
    standing.requests += 1;
    response.once('close', () => {
      standing.requests -= 1;
      standing.readBytes = socket.bytesRead;
    });
  });
  // node:http begins to watch over senders that are too slow when it listens.
  server.emit('listening');
  const endIdle = (): void => {
    for (const [socket, { requests, readBytes }] of open)
      if (requests === 0 && socket.bytesRead === readBytes) socket.destroySoon();
  };
  return {
    take(socket) {
      open.set(socket, { requests: 0, readBytes: 0 });
      socket.once('close', () => open.delete(socket));
      server.emit('connection', socket);
    },
    count: () => open.size,
    release(count) {
      toRelease = count;
    },
    async leave(lingerMs, drainMs) {
      leaving = true;
      const lingerUntilMs = performance.now() + lingerMs;
      while (open.size > 0 && performance.now() < lingerUntilMs) await delay(lookEveryMs);
      const cutAtMs = performance.now() + drainMs;
      for (endIdle(); open.size > 0 && performance.now() < cutAtMs; endIdle()) await delay(lookEveryMs);
      for (const socket of open.keys()) socket.destroy();
    },
  };
}

/** A client that is still sending a body when its connection ends may lose the answer. */
function isReleasable({ headers, url }: IncomingMessage): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return !hasBody && url?.startsWith('/health/') !== true;
}
