/** Connections that are used again: only where the host has the same checked addresses, and by nobody's leave but the host's. */
import assert from 'node:assert/strict';
import { createServer as createPlainServer } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import test, { after } from 'node:test';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { systemClock } from '../../src/base/clock.ts';
import { openKeptConnections } from '../../src/outbound/kept-connections.ts';
import { type MessageOutcome, postSigned } from '../../src/outbound/webhook.ts';
import { createWebhookSecret } from '../../src/outbound/webhook-signature.ts';
import { makeCertificate } from './certificates.ts';
import { notPublic } from './odd-targets.ts';

const nowMs = systemClock.now();
const host = 'hooks.example.com';
const authority = makeCertificate({ name: 'authority.example.com', isAuthority: true }, nowMs);
const { key, cert } = makeCertificate({ name: host, issuer: authority }, nowMs);
const trusted = getCACertificates('default');
setDefaultCACertificates([...trusted, authority.cert]);
after(() => setDefaultCACertificates(trusted));

/** The number of the connection on which each request came, and what was asked. */
const asked: string[] = [];
const numbers = new Map<Socket, number>();
const server = createServer({ key, cert }, (request, reply) => {
  asked.push(`${numbers.get(request.socket)} ${request.url}`);
  const { socket } = request;
  const answers: Readonly<Record<string, () => unknown>> = {
    '/ok': () => reply.writeHead(204).end(),
    '/close': () => reply.writeHead(204, { connection: 'close' }).end(),
    '/huge': () => reply.writeHead(200).end('x'.repeat(100_000)),
    '/twice': () => socket.write('HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n'),
    '/later': () => {
      reply.writeHead(204).end();
      setTimeout(() => socket.write('HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n'), 20);
    },
    '/leave': () => {
      reply.writeHead(204).end();
      setTimeout(() => socket.destroy(), 20);
    },
    // The first request of a connection is answered, and the next one finds it closed.
    '/stale': () => {
      const again = asked.filter((line) => line === `${numbers.get(socket)} /stale`).length > 1;
      if (again) socket.destroy();
      else reply.writeHead(204).end();
    },
    '/always': () => (asked.length > 1 ? socket.destroy() : reply.writeHead(204).end()),
  };
  request.resume().once('end', () => answers[request.url ?? '']?.());
});
server.on('secureConnection', (socket: TLSSocket) => {
  socket.on('error', () => undefined);
  numbers.set(socket, numbers.size + 1);
});
server.on('tlsClientError', () => undefined);
after(() => {
  server.closeAllConnections();
  server.close();
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
const { port } = server.address() as AddressInfo;

const message = {
  body: Buffer.from('{}'),
  headers: {},
  secrets: [createWebhookSecret()],
  id: 'm',
  timestamp: 1_790_000_000,
};
/** Sends to each path, one after the other. @param addresses of the host, message by message; else this machine's */
async function postAll(
  paths: readonly string[],
  addresses: (readonly string[])[] = [],
): Promise<readonly MessageOutcome[]> {
  asked.length = 0;
  numbers.clear();
  const connections = openKeptConnections();
  const outcomes: MessageOutcome[] = [];
  for (const path of paths) {
    const resolve = async (): Promise<readonly string[]> => addresses.shift() ?? ['127.0.0.1'];
    const url = `https://${host}:${port}${path}`;
    outcomes.push(await postSigned({ ...message, url, timeoutMs: 10_000 }, { loopback: true, resolve, connections }));
    await new Promise((done) => setTimeout(done, 60));
  }
  connections.close();
  return outcomes;
}
const done = { kind: 'answered', status: 204 };

test('a kept connection is not used once the name resolves to an address that is refused', async () => {
  const outcomes = await postAll(['/ok', '/ok', '/ok'], [['127.0.0.1'], ['10.0.0.1'], ['127.0.0.1', '10.0.0.1']]);
  assert.deepEqual(outcomes, [
    done,
    { kind: 'unreachable', reason: notPublic },
    { kind: 'unreachable', reason: notPublic },
  ]);
  assert.deepEqual(asked, ['1 /ok']);
});

test('a kept connection is not used once the name has other addresses, and again when it has these', async () => {
  const outcomes = await postAll(
    ['/ok', '/ok', '/ok', '/ok'],
    [['127.0.0.1'], ['127.0.0.1', '127.0.0.2'], ['127.0.0.1'], ['127.0.0.2', '127.0.0.1']],
  );
  assert.deepEqual(outcomes, [done, done, done, done]);
  assert.deepEqual(asked, ['1 /ok', '2 /ok', '1 /ok', '2 /ok']);
});

test('connections that the endpoint closes, that said too much, or that break are not used again', async () => {
  const outcomes = await postAll(['/close', '/huge', '/leave', '/ok']);
  assert.deepEqual(outcomes, [
    done,
    { kind: 'unreachable', reason: 'answered with more than 65536 bytes' },
    done,
    done,
  ]);
  assert.deepEqual(asked, ['1 /close', '2 /huge', '3 /leave', '4 /ok']);
});

test('an answer that nobody asked for is not taken for that of the next message', async () => {
  for (const path of ['/twice', '/later']) {
    assert.deepEqual(await postAll([path, '/ok']), [done, done], path);
    assert.deepEqual(asked, [`1 ${path}`, '2 /ok']);
  }
});

test('a message that finds its connection closed is sent again by a new one, once', async () => {
  assert.deepEqual(await postAll(['/stale', '/stale']), [done, done]);
  assert.deepEqual(asked, ['1 /stale', '1 /stale', '2 /stale']);
  const closed = { kind: 'unreachable', reason: 'closed the connection before it answered' };
  assert.deepEqual(await postAll(['/always', '/always']), [done, closed]);
  assert.deepEqual(asked, ['1 /always', '1 /always', '2 /always']);
});

test('messages to one endpoint share a connection, each judged by itself', async () => {
  assert.deepEqual(await postAll(['/ok', '/ok', '/ok']), [done, done, done]);
  assert.deepEqual(asked, ['1 /ok', '1 /ok', '1 /ok']);
});

test('http, which only this machine speaks, keeps connections by the same rules', async () => {
  const ports: (number | undefined)[] = [];
  const plain = createPlainServer((request, reply) => {
    ports.push(request.socket.remotePort);
    request
      .resume()
      .once('end', () => reply.writeHead(204, request.url === '/close' ? { connection: 'close' } : {}).end());
  });
  await new Promise((resolve) => plain.listen(0, '127.0.0.1', () => resolve(undefined)));
  const connections = openKeptConnections();
  for (const path of ['/ok', '/close', '/ok']) {
    const url = `http://127.0.0.1:${(plain.address() as AddressInfo).port}${path}`;
    assert.deepEqual(await postSigned({ ...message, url }, { loopback: true, connections }), done);
  }
  const url = `http://127.0.0.1:${(plain.address() as AddressInfo).port}/ok`;
  assert.equal((await postSigned({ ...message, url }, { loopback: false, connections })).kind, 'unreachable');
  connections.close();
  plain.close();
  assert.equal(ports.length, 3);
  assert.equal(ports[0], ports[1]);
  assert.notEqual(ports[1], ports[2]);
});
