/**
 * Endpoints with TLS: certificates that are wrong in each way, what the environment cannot turn off, and that nothing is
 * remembered from one connection to the next. Denials first; a receiver with the package `standardwebhooks`.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type ServerOptions } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { systemClock } from '../../src/base/clock.ts';
import { type MessageOutcome, postSigned } from '../../src/outbound/webhook.ts';
import { createWebhookSecret } from '../../src/outbound/webhook-signature.ts';
import { type Certificate, type CertificateWish, makeCertificate } from './certificates.ts';

// Certificates and the package that verifies signatures are judged by the time of the machine.
const nowMs = systemClock.now();
const make = (wish: CertificateWish): Certificate => makeCertificate(wish, nowMs);
const host = 'hooks.example.com';
const authority = make({ name: 'authority.example.com', isAuthority: true });
const strange = make({ name: 'strange.example.com', isAuthority: true });
const good = make({ name: host, issuer: authority });
const trusted = getCACertificates('default');
setDefaultCACertificates([...trusted, authority.cert]);
after(() => setDefaultCACertificates(trusted));

const secret = createWebhookSecret();
const message = {
  body: Buffer.from(JSON.stringify({ type: 'handshake', name: 'Jürgen' })),
  headers: { 'content-type': 'application/fhir+json' },
  secrets: [secret],
  id: 'msg-1',
  timestamp: Math.floor(nowMs / 1000),
  timeoutMs: 10_000,
};

interface Endpoint {
  readonly port: number;
  /** For each connection whose TLS was agreed on the name that it was for, and whether it went on with an earlier session. */
  readonly connections: (readonly [name: string, isReused: boolean])[];
  /** Bodies of requests, after they were verified. */
  readonly verified: unknown[];
}

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1').once('listening', () => resolve(undefined)));
  return (server.address() as AddressInfo).port;
}

/** A receiver as the package `standardwebhooks` makes one. */
async function serve(options: ServerOptions): Promise<Endpoint> {
  const connections: Endpoint['connections'] = [];
  const verified: unknown[] = [];
  const server = createServer(options, (request, reply) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      try {
        const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, `${value}`]));
        verified.push(new Webhook(secret).verify(Buffer.concat(chunks).toString(), headers));
        reply.writeHead(204).end();
      } catch {
        reply.writeHead(401).end();
      }
    });
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    connections.push([`${Object(socket).servername}`, socket.isSessionReused()]);
  });
  server.on('tlsClientError', () => undefined);
  return { port: await listen(server), connections, verified };
}

const post = async (port: number, changes: Partial<typeof message> = {}, name = host): Promise<MessageOutcome> =>
  await postSigned(
    { ...message, url: `https://${name}:${port}/hook`, ...changes },
    { loopback: true, resolve: async () => ['127.0.0.1'] },
  );

const intermediate = make({ name: 'intermediate.example.com', issuer: authority, isAuthority: true });
const wrong: readonly (readonly [what: string, options: ServerOptions, reason: string])[] = [
  ['expired', make({ name: host, issuer: authority, fromDay: -9, toDay: -1 }), 'that has expired'],
  ['too early', make({ name: host, issuer: authority, fromDay: 1 }), 'that is not valid yet'],
  ['of another host', make({ name: 'other.example.com', issuer: authority }), 'of another host'],
  ['of the parent of the host', make({ name: 'example.com', issuer: authority }), 'of another host'],
  ['signed by itself', make({ name: host }), 'that it signed itself'],
  ['of an unknown authority', make({ name: host, issuer: strange }), 'without the certificate of its issuer'],
  ['without its chain', make({ name: host, issuer: intermediate }), 'without the certificate of its issuer'],
];
const unknown = make({ name: host, issuer: strange });
const chained = { key: unknown.key, cert: unknown.cert + strange.cert };
for (const [what, options, reason] of [
  ...wrong,
  ['of an unknown authority that is sent too', chained, 'of an authority that is not known'] as const,
]) {
  test(`an endpoint whose certificate is ${what} gets nothing`, async () => {
    const { key, cert } = options;
    const { port, verified } = await serve({ ...(key && { key }), ...(cert && { cert }) });
    const outcome = { kind: 'unreachable', reason: `has a TLS certificate ${reason}` };
    assert.deepEqual({ outcome: await post(port), verified }, { outcome, verified: [] });
  });
}

test('an endpoint without TLS, with an old one, or that hangs while it is agreed on gets nothing', async () => {
  const noTls = { kind: 'unreachable', reason: 'does not speak TLS 1.2 or 1.3' };
  const asked: string[] = [];
  const plain = createHttpServer((request) => asked.push(`${request.url}`));
  assert.deepEqual(await post(await listen(plain)), noTls);
  const old = await serve({
    key: good.key,
    cert: good.cert,
    maxVersion: 'TLSv1.1',
    minVersion: 'TLSv1',
    ciphers: 'ALL:@SECLEVEL=0',
  });
  assert.deepEqual(await post(old.port), noTls);
  const talker = createTcpServer((socket) => socket.on('error', () => undefined).end('220 mail.example.com ESMTP\r\n'));
  assert.deepEqual(await post(await listen(talker)), noTls);
  const silent = createTcpServer((socket) => socket.on('error', () => undefined).resume());
  const late = { kind: 'unreachable', reason: 'did not answer in time' };
  assert.deepEqual(await post(await listen(silent), { timeoutMs: 200 }), late);
  assert.deepEqual(asked, []);
});

test('the package standardwebhooks verifies a message, and refuses others', async () => {
  const { port, verified } = await serve({ key: good.key, cert: good.cert });
  const refused = { kind: 'answered', status: 401 };
  assert.deepEqual(await post(port, { secrets: [createWebhookSecret()] }), refused);
  assert.deepEqual(await post(port, { timestamp: message.timestamp - 301 }), refused);
  assert.deepEqual(verified, []);
  assert.deepEqual(await post(port), { kind: 'answered', status: 204 });
  const both = [createWebhookSecret(), secret];
  assert.deepEqual(await post(port, { secrets: both }), { kind: 'answered', status: 204 });
  assert.deepEqual(verified, [JSON.parse(message.body.toString()), JSON.parse(message.body.toString())]);
});

test('each message has a connection and a TLS session of its own, and names the host without the dot of the root', async () => {
  const { port, connections, verified } = await serve({ key: good.key, cert: good.cert });
  for (const name of [host, host, `${host}.`])
    assert.deepEqual(await post(port, {}, name), { kind: 'answered', status: 204 });
  assert.equal(verified.length, 3);
  assert.deepEqual(connections, [
    [host, false],
    [host, false],
    [host, false],
  ]);
});

test('neither proxies nor a switch of the environment change where a message goes and what is verified', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'praxis-outbound-'));
  after(() => rmSync(directory, { recursive: true }));
  const caFile = path.join(directory, 'ca.pem');
  writeFileSync(caFile, authority.cert);
  const proxied: string[] = [];
  const proxy = createHttpServer((request, reply) => {
    proxied.push(`${request.method} ${request.url}`);
    reply.writeHead(200).end();
  });
  proxy.on('connect', (request, socket: Socket) => {
    proxied.push(`CONNECT ${request.url}`);
    socket.destroy();
  });
  const proxyUrl = `http://127.0.0.1:${await listen(proxy)}`;
  const endpoint = await serve({ key: good.key, cert: good.cert });
  const liar = await serve({ key: unknown.key, cert: unknown.cert });
  const script = `
    import { postSigned } from ${JSON.stringify(new URL('../../src/outbound/webhook.ts', import.meta.url).href)};
    const message = ${JSON.stringify({ ...message, body: undefined })};
    for (const port of [${endpoint.port}, ${liar.port}]) {
      const url = 'https://${host}:' + port + '/hook';
      const body = Buffer.from(${JSON.stringify(message.body.toString())});
      const options = { loopback: true, resolve: async () => ['127.0.0.1'] };
      console.log(JSON.stringify(await postSigned({ ...message, url, body }, options)));
    }`;
  const env = {
    ...process.env,
    NODE_EXTRA_CA_CERTS: caFile,
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
    NODE_USE_ENV_PROXY: '1',
    HTTP_PROXY: proxyUrl,
    HTTPS_PROXY: proxyUrl,
    http_proxy: proxyUrl,
    https_proxy: proxyUrl,
    NO_PROXY: '',
    no_proxy: '',
  };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], { env });
  const issuer = 'has a TLS certificate without the certificate of its issuer';
  assert.deepEqual(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
    [
      { kind: 'answered', status: 204 },
      { kind: 'unreachable', reason: issuer },
    ],
  );
  assert.deepEqual({ proxied, verified: endpoint.verified.length }, { proxied: [], verified: 1 });
  // The proxy would have told.
  await new Promise((resolve) =>
    connect(Number(new URL(proxyUrl).port), '127.0.0.1')
      .end('GET / HTTP/1.0\r\n\r\n')
      .resume()
      .once('close', resolve),
  );
  assert.deepEqual(proxied, ['GET /']);
});
