/**
 * Connections that become websockets: `/{environment}/firm/{firm}/{product}/ws/subscriptions`. They carry no credentials, since
 * browsers cannot send any: a client proves by a token of $get-ws-binding-token what it may hear, and until then it hears nothing
 * (docs/decisions/0320). All that a client may send is that token.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { fail, type LimitName, PraxisError } from '../../base/errors.ts';
import { closeCodes, type EventSocket, type SocketPlace } from '../../practice/subscriptions/sockets/bindings.ts';
import { countRefusal, logFault, toPraxisError } from '../answer/errors.ts';
import { writePlainAnswer } from '../answer/plain-answer.ts';
import { openProxies } from '../connections/proxies.ts';
import { matchPath, type Route, refuseUnknownPath } from '../request/paths.ts';
import { suggestPath } from '../request/suggest-path.ts';
import { type RequestLine, socketPath } from '../request-log.ts';
import { buildSecurityHeaders } from '../security-headers.ts';
import type { ServerServices } from '../services.ts';
import { openEventSocket } from './event-socket.ts';

/** Sockets that one process serves at once, and of these, such as are not bound yet: together, and of one address. */
const socketsMax = 1_000;
const unboundMax = 200;
const unboundOfAddressMax = 20;

/** How long a socket may be open without being bound. */
const bindMs = 10_000;

/** A token with the words before it has fewer bytes. */
const messageBytesMax = 256;

/** Tokens of one socket that wait to be looked at. */
const waitingMax = 10;

/** Units of the rate limits that binding costs. */
const bindUnits = 2;

/** Between two pings. A client that has not answered one by the next is gone. */
const pingMs = 30_000;

/** Retry-After of what is refused for want of room, in s. */
const retrySeconds = 5;

type SocketRoute = Extract<Route, { kind: 'websocket' }>;

/** A connection that is a socket, or is about to become one. */
interface Client {
  readonly address: string;
  socket: WebSocket | undefined;
  events: EventSocket | undefined;
  isBound: boolean;
  /** It has answered the last ping. */
  isAlive: boolean;
}

/** Whether a request asks for a websocket where there is one. Others with an Upgrade header are answered as if they had none. */
export function isSocketRequest({ headers, url = '' }: Pick<IncomingMessage, 'headers' | 'url'>): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket' && findRoute(url) !== undefined;
}

function findRoute(url: string): SocketRoute | undefined {
  const route = matchPath(url.replace(/\?.*$/s, ''));
  return route?.kind === 'websocket' ? route : undefined;
}

/** Serves websockets of `server` until the service stops taking requests. */
export function serveSockets(server: Server, parts: ServerServices): void {
  const security = buildSecurityHeaders(parts.config);
  const proxies = openProxies(parts.config.trustedProxies);
  const clients = new Set<Client>();
  parts.metrics.websockets.readFrom(() => countByState(clients));
  const handshakes = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: messageBytesMax,
    perMessageDeflate: false,
    handleProtocols: () => false,
  });
  handshakes.on('wsClientError', (error: Error, socket: Duplex) =>
    writePlainAnswer(socket, new PraxisError('request-malformed', { diagnostics: describeHandshake(error) }), security),
  );

  const admit = async (request: IncomingMessage, address: string): Promise<readonly [SocketRoute, Client]> => {
    if (parts.stopping.aborted) refuseForNow('The service is stopping: connect again');
    const refuse = (): never => refuseUnknownPath(suggestPath(request.url?.split('?', 1)[0] ?? ''));
    const route = findRoute(request.url ?? '') ?? refuse();
    const environment = await parts.environments.find(route.environment, route.product);
    const host = proxies.findHost(request);
    if (environment === undefined || !parts.origins.environmentAnswersOn(environment.name, host)) return refuse();
    parts.rateLimit.count({ address });
    const unbound = [...clients].filter(({ isBound }) => !isBound);
    if (unbound.filter((each) => each.address === address).length >= unboundOfAddressMax)
      fail('rate-exceeded', {
        diagnostics:
          'This address has too many connections that are not bound: bind those that are open, or close some',
        headers: { 'retry-after': String(retrySeconds) },
        limit: 'websockets',
      });
    if (clients.size >= socketsMax || unbound.length >= unboundMax)
      refuseForNow('The service has as many connections of this kind as it serves: connect again later', 'websockets');
    const client = { address, socket: undefined, events: undefined, isBound: false, isAlive: true };
    clients.add(client);
    return [route, client];
  };

  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const drop = (): void => void socket.destroy();
    socket.on('error', drop);
    const address = proxies.findAddress(request);
    admit(request, address).then(
      ([route, client]) => {
        socket.off('error', drop);
        handshakes.handleUpgrade(request, socket, head, (opened) => {
          client.socket = opened;
          opened.once('close', () => clients.delete(client));
          client.events = serveClient(parts, client, opened, route);
          noteUpgrade(parts, { status: 101, environment: route.environment });
        });
        if (client.socket === undefined) clients.delete(client); // its handshake was none
      },
      (thrown) => writePlainAnswer(socket, noteRefused(parts, thrown), security),
    );
  });

  const pinging = setInterval(() => {
    for (const client of clients) {
      if (!client.isAlive) client.socket?.terminate();
      else client.socket?.ping();
      client.isAlive = false;
    }
  }, pingMs).unref();
  parts.stopping.addEventListener(
    'abort',
    () => {
      clearInterval(pinging);
      for (const { events } of clients) events?.close(1001, 'the service is stopping: connect and bind again');
    },
    { once: true },
  );
}

function countByState(clients: ReadonlySet<Client>) {
  const bound = [...clients].filter(({ isBound }) => isBound).length;
  return [[{ state: 'bound' }, bound] as const, [{ state: 'unbound' }, clients.size - bound] as const];
}

/** Those that become none are refused by the handshake itself, and are not in the log. */
function noteUpgrade(
  { requestLog }: ServerServices,
  outcome: Pick<RequestLine, 'status' | 'code' | 'environment'>,
): void {
  requestLog.note(() => ({ method: 'GET', route: 'websocket', path: socketPath, ms: 0, ...outcome }));
}

function noteRefused(parts: ServerServices, thrown: unknown): PraxisError {
  const error = toPraxisError(thrown);
  logFault(error, parts.log, 'upgrade');
  countRefusal(parts.metrics, error);
  noteUpgrade(parts, { status: error.status, code: error.code });
  return error;
}

/** From its handshake to its end. */
function serveClient(parts: ServerServices, client: Client, socket: WebSocket, route: SocketRoute): EventSocket {
  const { bindings, log } = parts;
  let waiting = 0;
  let last: Promise<void> = Promise.resolve();
  const noteFault = (error: unknown): void => log.error({ err: error }, 'a websocket could not be bound or left');

  const leave = async (): Promise<void> => await bindings.leave(events).catch(noteFault);
  const events = openEventSocket(socket, () => void leave());
  const limit = setTimeout(() => events.close(closeCodes.notTaken, 'no token was sent in time'), bindMs);
  const bind = async (token: string): Promise<void> => {
    try {
      if (socket.readyState !== socket.OPEN) return;
      const outcome = await bindings.bind(events, placeOf(route), token);
      if ('code' in outcome) return events.close(outcome.code, outcome.reason);
      clearTimeout(limit);
      client.isBound = true;
      parts.rateLimit.charge({ ...outcome, address: client.address }, bindUnits);
      // It has ended while it was bound.
      if (socket.readyState !== socket.OPEN) await leave();
    } catch (error) {
      noteFault(error);
      events.close(1011, 'the service is out of order: connect and bind again');
    }
  };

  socket.on('pong', () => {
    client.isAlive = true;
  });
  socket.on('error', () => undefined); // 'close' follows, with what the frames broke
  socket.once('close', () => {
    clearTimeout(limit);
    void leave();
  });
  socket.on('message', (data: RawData, isBinary: boolean) => {
    if (isBinary) return events.close(1003, 'text is taken: bind-with-token TOKEN');
    const token = /^bind-with-token:? ([A-Za-z0-9_-]{43})$/.exec(String(data))?.[1];
    if (token === undefined) return events.close(1008, 'this is taken: bind-with-token TOKEN');
    if (waiting >= waitingMax) return events.close(1008, 'too many tokens at once');
    waiting += 1;
    last = last
      .then(() => bind(token))
      .finally(() => {
        waiting -= 1;
      });
  });
  return events;
}

function placeOf({ environment, firm }: SocketRoute): SocketPlace {
  return { environment, firm };
}

/** What is wrong with a handshake (https://www.rfc-editor.org/rfc/rfc6455#section-4.2.1). */
function describeHandshake({ message }: Error): string {
  return `This is no handshake of a websocket of version 13: ${message}`;
}

/** @throws PraxisError `unavailable` */
function refuseForNow(diagnostics: string, limit?: LimitName): never {
  const ofLimit = limit === undefined ? {} : { limit };
  return fail('unavailable', { diagnostics, headers: { 'retry-after': String(retrySeconds) }, ...ofLimit });
}
