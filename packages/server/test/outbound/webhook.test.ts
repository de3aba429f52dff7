/**
 * Signed messages to endpoints of this machine: what arrives, what every odd answer amounts to, and that nothing of an answer
 * comes back. Denials first.
 */
import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import test, { after } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { OutboundError } from '../../src/outbound/outbound-error.ts';
import { type MessageOutcome, postSigned, type SignedMessage } from '../../src/outbound/webhook.ts';
import { createWebhookSecret } from '../../src/outbound/webhook-signature.ts';
import { version } from '../../src/version.ts';

/** 2026-09-21T14:13:20Z */
const timestamp = 1_790_000_000;
const said = 'secret-of-the-endpoint';

interface Received {
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}
const received: Received[] = [];

async function listen(server: { listen(port: number, host: string): unknown; address(): unknown }): Promise<number> {
  await new Promise((resolve) => Object(server.listen(0, '127.0.0.1')).once('listening', resolve));
  return (server.address() as AddressInfo).port;
}

const answers: Readonly<Record<string, RequestListener>> = {
  '/ok': (_request, reply) => reply.writeHead(204).end(),
  '/fails': (_request, reply) => reply.writeHead(500).end(said),
  '/gone': (_request, reply) => reply.writeHead(410).end(),
  '/moved': (_request, reply) => reply.writeHead(307, { location: '/ok' }).end(),
  '/cookie': (_request, reply) => reply.writeHead(200, { 'set-cookie': 'a=b' }).end(),
  '/largest': (_request, reply) => reply.writeHead(200).end('x'.repeat(60_000)),
  '/huge': (_request, reply) => reply.writeHead(200).end('x'.repeat(10_000_000)),
  '/headers': (_request, reply) => reply.writeHead(200, { 'x-said': 'x'.repeat(20_000) }).end(),
  '/cut': (_request, reply) => reply.writeHead(200, { 'content-length': '100' }).write(said, () => reply.destroy()),
  '/silent': () => undefined,
  '/no-end': (_request, reply) => reply.writeHead(200).write(said),
  '/trickle': (request, reply) => {
    const timer = setInterval(() => reply.write('x'), 20);
    request.socket.once('close', () => clearInterval(timer));
    reply.writeHead(200);
  },
  '/interim': (request, reply) => {
    const timer = setInterval(() => {
      for (let index = 0; index < 100; index += 1)
        reply.writeEarlyHints({ link: `</${'x'.repeat(1_000)}>; rel=preload` });
    }, 1);
    request.socket.once('close', () => clearInterval(timer));
  },
};
const server = createServer((request, reply) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const { method, url = '', headers } = request;
    received.push({ line: `${method} ${url}`, headers, body: Buffer.concat(chunks).toString() });
    const retryAfter = /^\/wait\/(\d+)\/(.*)$/.exec(url);
    if (retryAfter === null) answers[url.split('?')[0] ?? '']?.(request, reply);
    else reply.writeHead(Number(retryAfter[1]), { 'retry-after': decodeURIComponent(retryAfter[2] ?? '') }).end();
  });
});
after(() => {
  server.closeAllConnections();
  server.close();
});
const port = await listen(server);
const origin = `http://127.0.0.1:${port}`;

/** A server that says the bytes it is told, and no HTTP of its own. */
async function serveBytes(answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const tcp = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    answer(socket);
  });
  after(() => {
    for (const socket of sockets) socket.destroy();
    tcp.close();
  });
  return `http://127.0.0.1:${await listen(tcp)}/`;
}

const secret = createWebhookSecret();
const plain = {
  body: Buffer.from('{"resourceType":"Bundle"}'),
  headers: { 'content-type': 'application/fhir+json' },
  secrets: [secret],
  id: 'msg-1',
  timestamp,
};
const post = async (url: string, changes: Partial<SignedMessage> = {}): Promise<MessageOutcome> =>
  await postSigned({ ...plain, url, timeoutMs: 10_000, ...changes }, { loopback: true });
const unreachable = (reason: string): MessageOutcome => ({ kind: 'unreachable', reason });

test('what cannot be signed is an error of who sends it, and nothing is sent', async () => {
  received.length = 0;
  for (const changes of [{ id: 'a.b' }, { id: '' }, { timestamp: 1.5 }, { timestamp: -1 }, { secrets: [] }])
    await assert.rejects(post(`${origin}/ok`, changes), TypeError);
  await assert.rejects(post(`${origin}/ok`, { secrets: ['whsec_short'] }), OutboundError);
  assert.deepEqual(received, []);
});

test('headers that are not for subscribers are not sent, whenever they were stored', async () => {
  received.length = 0;
  for (const name of ['Host', 'webhook-id', 'Content-Length', 'Transfer-Encoding', 'Cookie', 'Expect']) {
    const outcome = await post(`${origin}/ok`, { headers: { [name]: '1' } });
    assert.deepEqual(outcome, unreachable(`has a header that may not be set: ${name.toLowerCase()}`));
  }
  const split = await post(`${origin}/ok`, { headers: { authorization: 'a\r\nHost: b' } });
  assert.deepEqual(split, unreachable('has a header that has a value that is not of visible ASCII characters'));
  assert.deepEqual(
    await post(`${origin}/ok`, { headers: { 'content-type': 'a\r\nx: b' } }),
    unreachable('cannot be reached'),
  );
  assert.deepEqual(received, []);
});

const failing: readonly (readonly [path: string, reason: string])[] = [
  ['/huge', 'answered with more than 65536 bytes'],
  ['/interim', 'answered with more than 65536 bytes'],
  ['/headers', 'answered with more than 16384 bytes of headers'],
  ['/cut', 'ended its answer early'],
];
for (const [path, reason] of failing) {
  test(`an answer like that of ${path} counts for nothing`, async () => {
    assert.deepEqual(await post(origin + path), unreachable(reason));
  });
}

for (const path of ['/silent', '/no-end', '/trickle']) {
  test(`an endpoint like ${path} is left when the time is over`, async () => {
    assert.deepEqual(await post(origin + path, { timeoutMs: 200 }), unreachable('did not answer in time'));
  });
}

const odd: readonly (readonly [what: string, answer: (socket: Socket) => void, reason: string])[] = [
  ['closes at once', (socket) => socket.destroy(), 'closed the connection before it answered'],
  ['resets', (socket) => socket.resetAndDestroy(), 'closed the connection before it answered'],
  ['ends without a word', (socket) => socket.end(), 'closed the connection before it answered'],
  ['speaks something else', (socket) => socket.end(`220 ${said} ESMTP\r\n`), 'did not answer in HTTP/1.1'],
  ['speaks HTTP/2', (socket) => socket.end('\0\0\0\u0004\0\0\0\0\0'), 'did not answer in HTTP/1.1'],
  [
    'has two lengths',
    (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx'),
    'did not answer in HTTP/1.1',
  ],
  [
    'has no end of its chunks',
    (socket) => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n'),
    'ended its answer early',
  ],
  [
    'switches protocols',
    (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nxx'),
    'did not answer in HTTP/1.1',
  ],
  [
    'has an extension of chunks without end',
    (socket) => socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;${'x'.repeat(1_000_000)}`),
    'did not answer in HTTP/1.1',
  ],
];
for (const [what, answer, reason] of odd) {
  test(`an endpoint that ${what} has not answered`, async () => {
    assert.deepEqual(await post(await serveBytes(answer)), unreachable(reason));
  });
}

test('an endpoint that reads nothing of a large message, and one that answers before it has read, harm nobody', async () => {
  const body = Buffer.alloc(20_000_000, 'x');
  const deaf = await serveBytes((socket) => socket.pause());
  assert.deepEqual(await post(deaf, { body, timeoutMs: 300 }), unreachable('did not answer in time'));
  const hasty = await serveBytes((socket) => {
    socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n', () => socket.resetAndDestroy());
  });
  const outcome = await post(hasty, { body });
  assert.ok(outcome.kind === 'unreachable' || outcome.status === 413, JSON.stringify(outcome));
});

test('nobody listens: the connection is refused', async () => {
  const nobody = createTcpServer();
  const closed = await listen(nobody);
  await new Promise((resolve) => nobody.close(resolve));
  assert.deepEqual(await post(`http://127.0.0.1:${closed}/`), unreachable('refused the connection'));
  assert.deepEqual(await post(`http://localhost:${closed}/`), unreachable('refused the connection'));
});

test('a message is given up at once, before and while it is sent', async () => {
  received.length = 0;
  const ended = AbortSignal.abort();
  const given = unreachable('was given up');
  assert.deepEqual(await postSigned({ ...plain, url: `${origin}/ok` }, { loopback: true, signal: ended }), given);
  assert.deepEqual(received, []);
  const stop = new AbortController();
  const sending = postSigned({ ...plain, url: `${origin}/silent` }, { loopback: true, signal: stop.signal });
  while (received.length === 0) await new Promise(setImmediate);
  stop.abort();
  assert.deepEqual(await sending, given);
  const never = (): Promise<never> => new Promise(() => undefined);
  const resolving = postSigned(
    { ...plain, url: 'https://hooks.example.com/', timeoutMs: 50 },
    { loopback: true, resolve: never },
  );
  assert.deepEqual(await resolving, unreachable('did not answer in time'));
});

const statuses: readonly (readonly [path: string, status: number])[] = [
  ['/ok', 204],
  ['/fails', 500],
  ['/gone', 410],
  ['/moved', 307],
  ['/cookie', 200],
  ['/largest', 200],
];
test('the status is the outcome: nothing is followed, kept or told of what the endpoint says', async () => {
  received.length = 0;
  for (const [path, status] of statuses) assert.deepEqual(await post(origin + path), { kind: 'answered', status });
  assert.deepEqual(await post(`${origin}/ok`), { kind: 'answered', status: 204 });
  assert.deepEqual(
    received.map(({ line }) => line),
    [...statuses.map(([path]) => `POST ${path}`), 'POST /ok'],
  );
  assert.equal(
    received.some(({ headers }) => 'cookie' in headers),
    false,
  );
});

const pauses: readonly (readonly [retryAfter: string, seconds: number | undefined])[] = [
  ['120', 120],
  ['0', 0],
  ['86401', 86_400],
  ['9'.repeat(400), 86_400],
  ['Mon, 21 Sep 2026 14:14:20 GMT', 60],
  ['Monday, 21-Sep-26 14:14:20 GMT', 60],
  ['Mon Sep 21 14:14:20 2026', 60],
  ['Mon, 21 Sep 2026 13:00:00 GMT', 0],
  ['Mon, 21 Sep 2099 13:00:00 GMT', 86_400],
  ['-1', undefined],
  ['1.5', undefined],
  ['soon', undefined],
  ['2026-09-21T14:14:20Z', undefined],
  ['Mon, 99 Sep 2026 14:14:20 GMT', undefined],
];
for (const status of [429, 503]) {
  test(`Retry-After of ${status} is seconds or a date, and a day at most`, async () => {
    for (const [retryAfter, retryAfterSeconds] of pauses) {
      const outcome = await post(`${origin}/wait/${status}/${encodeURIComponent(retryAfter)}`);
      const expected = { kind: 'answered', status, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
      assert.deepEqual(outcome, expected, retryAfter);
    }
  });
}

test('a message arrives with these headers and no others, and is verified by each of its secrets', async () => {
  received.length = 0;
  const secrets = [createWebhookSecret(), secret];
  const headers = { ...plain.headers, authorization: 'Bearer abc' };
  const answered = { kind: 'answered', status: 204 };
  assert.deepEqual(await post(`${origin}/ok?a=b`, { headers, secrets }), answered);
  assert.deepEqual(await post(`${origin}/ok`, { method: 'PUT', body: Buffer.alloc(0) }), answered);
  const [first, second] = received;
  assert.ok(first !== undefined && second !== undefined);
  const { 'webhook-signature': signature = '', ...others } = first.headers;
  assert.deepEqual(
    { ...first, headers: others },
    {
      line: 'POST /ok?a=b',
      headers: {
        'accept-encoding': 'identity',
        authorization: 'Bearer abc',
        connection: 'close',
        'content-length': String(plain.body.length),
        'content-type': 'application/fhir+json',
        host: `127.0.0.1:${port}`,
        'user-agent': `Praxis/${version}`,
        'webhook-id': 'msg-1',
        'webhook-timestamp': String(timestamp),
      },
      body: plain.body.toString(),
    },
  );
  assert.match(String(signature), /^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
  assert.deepEqual([second.line, second.body, second.headers['content-length']], ['PUT /ok', '', '0']);
  assert.deepEqual(
    secrets.map((each) => new Webhook(each).sign('msg-1', new Date(timestamp * 1000), plain.body.toString())),
    String(signature).split(' '),
  );
});
