/** Fetching what a client names: which URLs and addresses, and what answers. Denials first; a real server on this machine. */
import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { after } from 'node:test';
import { isLoopbackAddress, isPublicAddress } from '../../src/outbound/remote-address.ts';
import {
  fetchRemoteDocument,
  RemoteDocumentError,
  remoteBytesMax,
  requireRemoteUrl,
} from '../../src/outbound/remote-document.ts';

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
    '/headers': () => reply.writeHead(200, { ...json, 'x-long': 'x'.repeat(20_000) }).end('{}'),
    '/silent': () => undefined,
    '/slow': () => reply.writeHead(200, json).write('{'),
  };
  answers[request.url ?? '']?.();
});
const origin = `http://127.0.0.1:${port}`;

const closedAddresses = [
  ['this network', '0.0.0.0 0.1.2.3 ::'],
  ['private', '10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 fc00::1 fd12:3456::1'],
  ['shared', '100.64.0.1 100.127.255.255'],
  ['loopback', '127.0.0.1 127.255.255.255 ::1'],
  ['link-local, where clouds keep their metadata', '169.254.169.254 fe80::1 fe80::1%eth0'],
  ['special and documentation', '192.0.0.8 192.0.2.1 198.51.100.1 203.0.113.1 192.88.99.1 2001:db8::1 3fff::1 2001::1'],
  ['anycast services', '192.31.196.1 192.52.193.1 192.175.48.6 2620:4f:8000::6'],
  ['benchmarks', '198.18.0.1 198.19.255.255'],
  ['multicast and reserved', '224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255 ff02::1'],
  ['IPv4 in IPv6', '::ffff:10.0.0.1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 64:ff9b::a00:1 2002:a00:1:: ::10.0.0.1'],
  ['no address', 'localhost 1.2.3 8.8.8.8.8 0x7f.1 2130706433 [::1]'],
] as const;
for (const [name, addresses] of closedAddresses) {
  test(`addresses that are ${name} are not of the public Internet`, () => {
    for (const address of [...addresses.split(' '), '']) assert.equal(isPublicAddress(address), false, address);
  });
}

test('addresses of the public Internet are open, those of this machine are its own', () => {
  for (const address of ['8.8.8.8', '93.184.216.34', '172.32.0.1', '100.128.0.1', '2606:2800:220:1::1', '2a00:1450::1'])
    assert.equal(isPublicAddress(address), true, address);
  assert.deepEqual(
    ['127.0.0.1', '127.1.2.3', '::1', '10.0.0.1', '8.8.8.8', 'localhost', '::ffff:127.0.0.1'].map(isLoopbackAddress),
    [true, true, true, false, false, false, true],
  );
});

const notPublic = 'names an address that is not of the public Internet';
const wrongUrls: readonly (readonly [url: string, message: string])[] = [
  ['', 'is not a URL'],
  ['keys.example.com/jwks', 'is not a URL'],
  ['http://keys.example.com/jwks', 'must begin with https://'],
  ['ftp://keys.example.com/jwks', 'must begin with https://'],
  ['file:///etc/passwd', 'must begin with https://'],
  ['data:application/json,{}', 'must begin with https://'],
  ['https://user:password@keys.example.com/', 'must have no user, password or fragment'],
  ['https://keys.example.com/#x', 'must have no user, password or fragment'],
  ['https://localhost/', notPublic],
  ['https://localhost./', notPublic],
  ['https://10.0.0.1/', notPublic],
  ['https://0x7f.1/', notPublic],
  ['https://2130706433/', notPublic],
  ['https://017700000001/', notPublic],
  ['https://169.254.169.254/latest/meta-data', notPublic],
  ['https://[::1]/', notPublic],
  ['https://[::ffff:127.0.0.1]/', notPublic],
  [`https://keys.example.com/${'x'.repeat(2000)}`, 'is longer than 2000 characters'],
];
for (const [url, message] of wrongUrls) {
  test(`the URL ${url.slice(0, 50)} is refused before anything is asked`, async () => {
    const asked: string[] = [];
    const resolve = async (host: string): Promise<string[]> => {
      asked.push(host);
      return ['127.0.0.1'];
    };
    await assert.rejects(fetchRemoteDocument(url, { loopback: false, resolve }), new RemoteDocumentError(message));
    assert.deepEqual(asked, []);
  });
}

test('http is taken of this machine only, and only where the setting says so', () => {
  for (const url of ['http://localhost:1/', 'http://127.0.0.1:1/', 'http://[::1]:1/', 'https://localhost/']) {
    assert.equal(requireRemoteUrl(url, { loopback: true }).href, url);
    assert.throws(() => requireRemoteUrl(url, { loopback: false }), RemoteDocumentError, url);
  }
  assert.throws(() => requireRemoteUrl('http://10.0.0.1/', { loopback: true }), RemoteDocumentError);
  assert.throws(() => requireRemoteUrl('https://10.0.0.1/', { loopback: true }), RemoteDocumentError);
});

const wrongAnswers: readonly (readonly [path: string, message: string])[] = [
  ['/redirect', 'was not answered with 200: redirects are not followed'],
  ['/missing', 'was not answered with 200: redirects are not followed'],
  ['/html', 'was not answered with JSON'],
  ['/untyped', 'was not answered with JSON'],
  ['/zipped', 'was answered in a content coding'],
  ['/large', `is larger than ${remoteBytesMax} bytes`],
  ['/cut', 'ended before its end'],
  ['/headers', 'cannot be reached'],
  ['/silent', 'was not answered in time'],
  ['/slow', 'was not answered in time'],
];
for (const [path, message] of wrongAnswers) {
  test(`an answer like that of ${path} is refused`, async () => {
    const fetching = fetchRemoteDocument(origin + path, { loopback: true, timeoutMs: 500 });
    await assert.rejects(fetching, new RemoteDocumentError(message));
  });
}

test('a host that is not found, and one that refuses the connection, are told apart from nothing else', async () => {
  const nobody = { loopback: true, resolve: () => Promise.reject(new Error('ENOTFOUND')) };
  const found = 'names a host that is not found';
  await assert.rejects(fetchRemoteDocument('https://keys.example.com/', nobody), new RemoteDocumentError(found));
  const empty = { loopback: true, resolve: async () => [] };
  await assert.rejects(fetchRemoteDocument('https://keys.example.com/', empty), new RemoteDocumentError(found));
  const plain = `https://127.0.0.1:${port}/keys`; // the server does not speak TLS
  await assert.rejects(fetchRemoteDocument(plain, { loopback: true }), new RemoteDocumentError('cannot be reached'));
});

test('a name with any address that is not public is refused, and nothing is asked of it', async () => {
  asked.length = 0;
  for (const addresses of [['10.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['::1'], ['169.254.169.254']]) {
    const resolve = async (): Promise<string[]> => addresses;
    const fetching = fetchRemoteDocument(`https://keys.example.com:${port}/keys`, { loopback: false, resolve });
    await assert.rejects(fetching, new RemoteDocumentError(notPublic));
  }
  assert.deepEqual(asked, []);
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
