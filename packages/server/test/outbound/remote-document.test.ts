/** Fetching what a client names: which answers are taken. Denials first; a real server on this machine. */
import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { after } from 'node:test';
import { OutboundError } from '../../src/outbound/outbound-error.ts';
import { fetchRemoteDocument, remoteBytesMax } from '../../src/outbound/remote-document.ts';

/** A server on this machine that answers as it is told. */
async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise((resolve) => server.once('listening', resolve));
  return (server.address() as AddressInfo).port;
}

const asked: string[] = [];
const port = await serve((request, reply) => {
  asked.push(`${request.method} ${request.headers.host} ${request.url}`);
  const json = { 'content-type': 'application/json' };
  const answers: Readonly<Record<string, () => unknown>> = {
    '/keys': () => reply.writeHead(200, { ...json, 'cache-control': 'public, max-age=120' }).end('{"keys":[]}'),
    '/plain': () => reply.writeHead(200, { 'content-type': 'application/jwk-set+json; charset=utf-8' }).end('{}'),
    '/private': () => reply.writeHead(200, { ...json, 'cache-control': 'no-store' }).end('{}'),
    '/redirect': () => reply.writeHead(302, { location: '/keys' }).end(),
    '/missing': () => reply.writeHead(404, json).end('{}'),
    '/html': () => reply.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
    '/untyped': () => reply.writeHead(200).end('{}'),
    '/zipped': () => reply.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end('{}'),
    '/large': () => reply.writeHead(200, json).end(' '.repeat(remoteBytesMax + 1)),
    '/cut': () => reply.writeHead(200, { ...json, 'content-length': '100' }).write('{', () => reply.destroy()),
    '/flood': () => reply.writeHead(200, json).end(' '.repeat(1_000_000)),
    '/headers': () => reply.writeHead(200, { ...json, 'x-long': 'x'.repeat(20_000) }).end('{}'),
    '/silent': () => undefined,
    '/slow': () => reply.writeHead(200, json).write('{'),
  };
  answers[request.url ?? '']?.();
});
const origin = `http://127.0.0.1:${port}`;

const wrongAnswers: readonly (readonly [path: string, message: string])[] = [
  ['/redirect', 'was not answered with 200: redirects are not followed'],
  ['/missing', 'was not answered with 200: redirects are not followed'],
  ['/html', 'was not answered with JSON'],
  ['/untyped', 'was not answered with JSON'],
  ['/zipped', 'was answered in a content coding'],
  ['/large', `is larger than ${remoteBytesMax} bytes`],
  ['/flood', 'answered with more than 81920 bytes'],
  ['/cut', 'ended its answer early'],
  ['/headers', 'cannot be reached'],
  ['/silent', 'did not answer in time'],
  ['/slow', 'did not answer in time'],
];
for (const [path, message] of wrongAnswers) {
  test(`an answer like that of ${path} is refused`, async () => {
    const fetching = fetchRemoteDocument(origin + path, { loopback: true, timeoutMs: 500 });
    await assert.rejects(fetching, new OutboundError(message));
  });
}

test('a host that is not found, and one that refuses the connection, are told apart from nothing else', async () => {
  const nobody = { loopback: true, resolve: () => Promise.reject(new Error('ENOTFOUND')) };
  const found = 'names a host that is not found';
  await assert.rejects(fetchRemoteDocument('https://keys.example.com/', nobody), new OutboundError(found));
  const empty = { loopback: true, resolve: async () => [] };
  await assert.rejects(fetchRemoteDocument('https://keys.example.com/', empty), new OutboundError(found));
  const plain = `https://127.0.0.1:${port}/keys`; // the server does not speak TLS
  await assert.rejects(fetchRemoteDocument(plain, { loopback: true }), new OutboundError('cannot be reached'));
});

test('the connection goes to the address that was checked: the name is resolved once', async () => {
  asked.length = 0;
  let resolved = 0;
  const resolve = async (): Promise<string[]> => {
    resolved += 1;
    return resolved === 1 ? ['127.0.0.1'] : ['10.0.0.1'];
  };
  const document = await fetchRemoteDocument(`http://localhost:${port}/keys`, { loopback: true, resolve });
  assert.equal(document.body.toString(), '{"keys":[]}');
  assert.deepEqual({ resolved, asked }, { resolved: 1, asked: [`GET localhost:${port} /keys`] });
});

test('the document comes with what its Cache-Control says', async () => {
  const ageOf = async (path: string): Promise<number | undefined> =>
    (await fetchRemoteDocument(origin + path, { loopback: true })).maxAgeSeconds;
  assert.deepEqual([await ageOf('/keys'), await ageOf('/private'), await ageOf('/plain')], [120, 0, undefined]);
});
