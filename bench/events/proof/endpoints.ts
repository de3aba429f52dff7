/**
 * Endpoints of subscribers that fail in every way: each is a server of its own on this machine, by http or https, which is set to
 * one way of failing after another.
 */
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Certificate, makeCertificate } from '../../../packages/server/test/outbound/certificates.ts';

/** How an endpoint behaves. `lost`: it takes what it is sent, and the connection ends before its answer. */
export const failings = ['refuse', 'hang', 'error', 'busy', 'cut off', 'lost', 'slow', 'wrong TLS', 'restart'] as const;
export type Failing = (typeof failings)[number];

/** What an endpoint is sent. */
export interface Delivery {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  readonly arrivedMs: number;
}

export interface Endpoint {
  readonly url: string;
  /** How it fails now; undefined: it does not. */
  failing(): Failing | undefined;
  /** Sets how it fails. */
  fail(how: Failing | undefined): Promise<void>;
  close(): Promise<void>;
}

export interface EndpointOptions {
  readonly isTls: boolean;
  readonly authority: Certificate;
  /** Called with each whole delivery; `isTaken`: the endpoint answers that it has it, or has it at least. */
  readonly onDelivery: (delivery: Delivery, isTaken: boolean) => void;
}

/** The name of this machine, which its certificates are for. */
const host = 'localhost';
/** Between the end of a server that restarts and its next beginning, in ms. */
const awayMs = 150;
const slowMs = 400;

/** Opens an endpoint at a free port, which it keeps. */
export async function openEndpoint({ isTls, authority, onDelivery }: EndpointOptions): Promise<Endpoint> {
  const nowMs = Date.now();
  const right = makeCertificate({ name: host, issuer: authority }, nowMs);
  const wrong = makeCertificate({ name: host }, nowMs);
  const sockets = new Set<Socket>();
  let failing: Failing | undefined;

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const arrivedMs = Date.now();
    const how = failing;
    if (how === 'cut off') {
      // In the middle of what is sent, or of the answer.
      request.once('data', () => request.socket.destroy());
      if (request.headers['content-length'] === '0') request.socket.destroy();
      return;
    }
    const text = await readText(request);
    if (text === undefined) return;
    const { url: path = '', headers } = request;
    const delivery = { path, headers, text, arrivedMs };
    const isTaken = how === undefined || how === 'slow' || how === 'lost' || how === 'restart' || how === 'wrong TLS';
    onDelivery(delivery, isTaken);
    if (how === 'hang') return;
    if (how === 'lost') {
      response.writeHead(200, { 'content-length': '100' }).write('the answer breaks off');
      request.socket.destroySoon();
      return;
    }
    if (how === 'slow') await delay(slowMs);
    if (how === 'error') response.writeHead(500).end();
    else if (how === 'busy') response.writeHead(429, { 'retry-after': '1' }).end();
    else response.writeHead(204).end();
  };

  const listener = (request: IncomingMessage, response: ServerResponse): void => void answer(request, response);
  const open = () =>
    isTls ? createTlsServer({ cert: right.cert, key: right.key }, listener) : createHttpServer(listener);
  let server = open();
  let port = 0;
  let isListening = false;
  const begin = async (): Promise<void> => {
    if (isListening) return;
    server = open();
    server.on('connection', (socket: Socket) => {
      // Without TLS what is not the expected protocol takes the place of the wrong certificate.
      if (failing === 'wrong TLS' && !isTls) return void socket.on('error', () => undefined).end('220 ready\r\n');
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket)).on('error', () => undefined);
    });
    server.on('tlsClientError', () => undefined);
    server.on('clientError', (_error, socket) => void socket.destroy());
    await listen(server, port);
    port = (server.address() as AddressInfo).port;
    isListening = true;
  };
  const end = async (): Promise<void> => {
    if (!isListening) return;
    isListening = false;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  const present = (certificate: Certificate): void => {
    if (isTls) (server as TlsServer).setSecureContext({ cert: certificate.cert, key: certificate.key });
  };

  await begin();
  return {
    url: `${isTls ? 'https' : 'http'}://${host}:${port}`,
    failing: () => failing,
    async fail(how) {
      failing = how;
      if (how === 'refuse' || how === 'restart') await end();
      if (how === 'restart') await delay(awayMs);
      if (how !== 'refuse') await begin();
      present(how === 'wrong TLS' ? wrong : right);
      // Connections that are kept have been through their handshake.
      if (how !== undefined && how !== 'slow') for (const socket of sockets) socket.destroy();
    },
    async close() {
      await end();
    },
  };
}

async function listen(server: ReturnType<typeof createHttpServer>, port: number): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, '127.0.0.1', () => resolve());
      });
    } catch (error) {
      if (attempt === 100) throw error;
      await delay(50); // another process has the port for a moment
    }
  }
}

/** All of what is sent; undefined: it broke off. */
async function readText(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  try {
    for await (const part of request) parts.push(part);
  } catch {
    return undefined;
  }
  return request.complete ? Buffer.concat(parts).toString() : undefined;
}
