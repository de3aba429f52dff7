/** Connections that another process has accepted: slow senders are watched over, and leaving loses no request. */
import assert from 'node:assert/strict';
import { createServer, type Server, type ServerResponse } from 'node:http';
import net from 'node:net';
import test, { type TestContext } from 'node:test';
import { type TakenConnections, takeConnections } from '../../src/http/connections/taken-connections.ts';
import { openRaw } from '../support/wire.ts';

/** A server that never listens, behind one that does. */
async function open(t: TestContext, server: Server): Promise<{ taken: TakenConnections; origin: string }> {
  const taken = takeConnections(server);
  const door = net.createServer((socket) => taken.take(socket)).listen(0, '127.0.0.1');
  await new Promise((resolve) => door.once('listening', resolve));
  t.after(() => {
    door.close();
    server.close();
  });
  const address = door.address();
  return { taken, origin: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}` };
}

const request = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

test('a request that does not arrive in time is answered 408', async (t) => {
  const server = createServer({ connectionsCheckingInterval: 20, headersTimeout: 100, requestTimeout: 100 });
  const { origin } = await open(t, server);
  const raw = await openRaw(origin);
  raw.write('GET / HTT');
  assert.equal((await raw.answer()).status, 408);
  await raw.closed;
});

test('while it leaves, each answer ends its connection; what is under way finishes, and idle connections end', async (t) => {
  const held: ServerResponse[] = [];
  const server = createServer((_request, response) => {
    if (held.length === 0) held.push(response);
    else response.end('{}');
  });
  const { taken, origin } = await open(t, server);
  const [slow, next, idle] = [await openRaw(origin), await openRaw(origin), await openRaw(origin)];
  slow.write(request);
  while (held.length === 0) await new Promise((resolve) => setImmediate(resolve));
  next.write(request);
  assert.equal((await next.answer()).headers.get('connection'), 'keep-alive');
  assert.equal(taken.count(), 3);
  const left = taken.leave(60_000, 60_000);
  next.write(request);
  assert.equal((await next.answer()).headers.get('connection'), 'close');
  await next.closed;
  held[0]?.end('{}');
  assert.equal((await slow.answer()).status, 200);
  slow.write(request);
  assert.equal((await slow.answer()).headers.get('connection'), 'close');
  await slow.closed;
  while (taken.count() > 1) await new Promise((resolve) => setImmediate(resolve));
  idle.destroy();
  await left;
  assert.equal(taken.count(), 0);
});

test('as many connections end with their next answers as are released, and the others stay', async (t) => {
  const { taken, origin } = await open(
    t,
    createServer((_request, response) => response.end('{}')),
  );
  const [first, second, third] = [await openRaw(origin), await openRaw(origin), await openRaw(origin)];
  const ask = async (raw: typeof first, sent = request): Promise<string | null> => {
    raw.write(sent);
    return (await raw.answer()).headers.get('connection');
  };
  assert.equal(await ask(first), 'keep-alive');
  taken.release(2);
  const unaffected = [
    request.replace('/', '/health/live'),
    'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}',
    'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
  ];
  for (const sent of unaffected) assert.equal(await ask(first, sent), 'keep-alive');
  assert.deepEqual([await ask(first), await ask(second), await ask(third)], ['close', 'close', 'keep-alive']);
  await Promise.all([first.closed, second.closed]);
  assert.equal(await ask(third), 'keep-alive');
  third.destroy();
  await third.closed;
});

test('without a time to linger, connections that have no request are closed at once, and the others cut at the end', async (t) => {
  const { taken, origin } = await open(
    t,
    createServer(() => undefined),
  );
  const [idle, stuck] = [await openRaw(origin), await openRaw(origin)];
  stuck.write(request);
  while (taken.count() < 2) await new Promise((resolve) => setImmediate(resolve));
  const left = taken.leave(0, 200);
  await Promise.all([idle.closed, stuck.closed, left]);
  assert.equal(taken.count(), 0);
});
