/**
 * Connections that are held without being used: senders of bodies and readers of answers have to get on, and one address may
 * have so many connections (docs/decisions/0243). Time goes by size: what is large may take long, at a least rate.
 * Headers and idle connections have limits of Node's.
 */
import type { IncomingMessage, Server } from 'node:http';
import { BlockList, isIP, isIPv6, type Socket } from 'node:net';
import { toNetwork } from '../../limits/network.ts';

export interface SocketLimits {
  /** What a body or an answer may take beside the time for its bytes, in s. */
  readonly transferSeconds: number;
  /** The least rate of what is larger. */
  readonly transferBytesPerSecond: number;
  /** Open connections of one address; 0 = any number. */
  readonly connectionsPerAddress: number;
  /** Their connections are those of many, and are not counted. */
  readonly trustedProxies: readonly string[];
}

/** What becomes of a connection that is over a limit. */
export interface SocketRefusals {
  /** Its body came too slowly, and nothing was answered yet. */
  readonly bodyTooSlow: (socket: Socket) => void;
  /** Its address has too many already. */
  readonly tooMany: (socket: Socket) => void;
}

/** Between two looks at all connections. */
const lookMs = 1_000;

/** After this time a connection that was told why it is closed is cut. */
const cutAfterMs = 2_000;

/** What moves on a connection, since a moment in ms and from a number of bytes. */
interface Transfer {
  readonly sinceMs: number;
  readonly from: number;
}

interface Watched {
  /** The last request with a body, and when it began. */
  body: (Transfer & { readonly request: IncomingMessage; readonly isAnswered: () => boolean }) | undefined;
  /** Bytes that were handed to the connection and not taken yet. */
  answer: Transfer | undefined;
  refusedMs: number | undefined;
}

/** Watches the connections of `server` until it is closed. */
export function watchSockets(server: Server, limits: SocketLimits, refusals: SocketRefusals): void {
  const sockets = new Map<Socket, Watched>();
  const addresses = openAddresses(limits);
  server.on('connection', (socket: Socket) => {
    const watched: Watched = { body: undefined, answer: undefined, refusedMs: undefined };
    const leave = addresses.enter(socket.remoteAddress ?? '');
    sockets.set(socket, watched);
    socket.once('close', () => {
      sockets.delete(socket);
      leave?.();
    });
    if (leave !== undefined) return;
    watched.refusedMs = performance.now();
    refusals.tooMany(socket);
  });
  server.on('request', (request: IncomingMessage, response: { readonly headersSent: boolean }) => {
    const watched = hasBody(request) ? sockets.get(request.socket) : undefined;
    if (watched === undefined) return;
    const isAnswered = (): boolean => response.headersSent;
    watched.body = { request, isAnswered, sinceMs: performance.now(), from: request.socket.bytesRead };
  });
  const timer = setInterval(() => {
    const nowMs = performance.now();
    for (const [socket, watched] of sockets) look(socket, watched, nowMs, limits, refusals);
  }, lookMs).unref();
  server.once('close', () => clearInterval(timer));
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function look(socket: Socket, watched: Watched, nowMs: number, limits: SocketLimits, refusals: SocketRefusals): void {
  if (watched.refusedMs !== undefined) {
    if (nowMs - watched.refusedMs > cutAfterMs) socket.destroy();
    return;
  }
  const pending = socket.writableLength;
  const handed = socket.bytesWritten;
  if (pending === 0) watched.answer = undefined;
  else watched.answer ??= { sinceMs: nowMs, from: handed - pending };
  if (watched.answer !== undefined && isTooSlow(watched.answer, nowMs, handed, limits)) return void socket.destroy();
  const { body } = watched;
  if (body === undefined) return;
  if (body.request.complete) watched.body = undefined;
  else if (isTooSlow(body, nowMs, socket.bytesRead, limits)) {
    watched.refusedMs = nowMs;
    if (body.isAnswered()) socket.destroy();
    else refusals.bodyTooSlow(socket);
  }
}

function isTooSlow({ sinceMs, from }: Transfer, nowMs: number, bytes: number, limits: SocketLimits): boolean {
  return (nowMs - sinceMs) / 1000 > limits.transferSeconds + (bytes - from) / limits.transferBytesPerSecond;
}

/** Counts the connections of each address. */
function openAddresses({ connectionsPerAddress, trustedProxies }: SocketLimits) {
  const counts = new Map<string, number>();
  const proxies = new BlockList();
  for (const proxy of trustedProxies) {
    const [address = '', bits] = proxy.split('/');
    if (isIP(address) === 0) continue; // the name of several ranges: fewer are left out of the count
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (bits === undefined) proxies.addAddress(address, family);
    else proxies.addSubnet(address, Number(bits), family);
  }
  const isCounted = (address: string): boolean =>
    connectionsPerAddress > 0 && isIP(address) > 0 && !proxies.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  return {
    /** @returns what to call when the connection has ended; undefined when the address has too many */
    enter(address: string): (() => void) | undefined {
      if (!isCounted(address)) return () => undefined;
      const name = toNetwork(address);
      const count = counts.get(name) ?? 0;
      if (count >= connectionsPerAddress) return undefined;
      counts.set(name, count + 1);
      return () => {
        const left = (counts.get(name) ?? 1) - 1;
        if (left === 0) counts.delete(name);
        else counts.set(name, left);
      };
    },
  };
}
