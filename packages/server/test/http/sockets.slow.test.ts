/**
 * Connections that are held and not used: bodies that trickle, answers that are not read, many from one address
 * (docs/decisions/0243).
 * Slow: waits for the limits of time of connections.
 */
import assert from 'node:assert/strict';
import net from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { askForUrl, openWorld, pdf } from '../content/world.ts';
import { connect, socketUrlOf } from '../practice/subscriptions/socket-client.ts';
import { patient } from '../support/records.ts';
import { openRaw } from '../support/wire.ts';

const connectionsMax = 40;
const world = await openWorld(
  { after },
  {
    PRAXIS_TRANSFER_SECONDS: '2',
    PRAXIS_TRANSFER_BYTES_PER_SECOND: '50000000',
    PRAXIS_CONNECTIONS_PER_ADDRESS: String(connectionsMax),
  },
);
const slow = await openWorld({ after }, { PRAXIS_TRANSFER_SECONDS: '2', PRAXIS_TRANSFER_BYTES_PER_SECOND: '1000' });
const { full } = world;

const lines = (method: string, url: string, headers: Readonly<Record<string, string | number>>): string => {
  const { pathname, search, host } = new URL(url);
  const all = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${pathname}${search} HTTP/1.1\r\n${all.join('')}\r\n`;
};

const unanswered = async (): Promise<number> =>
  (await world.service.parts.metrics.requestsInFlight.get()).values.reduce((sum, { value }) => sum + value, 0);

test('F15: an upload that takes longer than the time of small bodies arrives, at the least rate', async () => {
  const { url } = await askForUrl(slow.caller, 'application/pdf');
  const file = Buffer.concat([pdf, Buffer.alloc(10_000, '\n%')]);
  const raw = await openRaw(slow.origin);
  raw.write(
    lines('PUT', url, { 'content-type': 'application/pdf', 'content-length': file.length, connection: 'close' }),
  );
  const parts = 14;
  for (let each = 0; each < parts; each += 1) {
    await delay(250); // 3.5 s in all, more than the 2 s of bodies without a size
    raw.write(file.subarray((file.length * each) / parts, (file.length * (each + 1)) / parts));
  }
  const answer = await raw.answer();
  assert.equal(answer.status, 200, answer.text);
  raw.destroy();
});

test('a body that trickles is cut with 408, and nothing of it is stored', async () => {
  const { base } = world.maple;
  const headers = { ...full.headers, 'content-type': 'application/fhir+json', 'content-length': 100_000 };
  const raw = await openRaw(world.origin);
  raw.write(lines('PUT', `${base}/Patient/trickled`, headers));
  const trickle = setInterval(() => raw.write('{'), 100);
  const answer = await raw.answer();
  clearInterval(trickle);
  assert.equal(answer.status, 408);
  assert.deepEqual(
    answer.json.issue.map(
      ({ details, diagnostics }: { details: { coding: { code: string }[] }; diagnostics: string }) => [
        details.coding[0]?.code,
        diagnostics,
      ],
    ),
    [['request-malformed', 'The request did not arrive in time']],
  );
  assert.equal(answer.headers.get('connection'), 'close');
  raw.destroy();
  assert.equal((await full.get('Patient/trickled')).status, 404);
});

test('F11: answers that are not read end with their connection', async () => {
  const div = `<div xmlns="http://www.w3.org/1999/xhtml">${'x'.repeat(400_000)}</div>`;
  const count = 50;
  for (let each = 0; each < count; each += 1) {
    const large = { ...patient('Unread'), id: `unread-${each}`, text: { status: 'generated', div } };
    assert.equal((await full.send('PUT', `Patient/${large.id}`, large)).status, 201);
  }
  const search = lines('GET', `${world.maple.base}/Patient?family=Unread&_count=${count}`, full.headers);
  const sockets = Array.from({ length: 3 }, () => {
    const { hostname, port } = new URL(world.origin);
    return net
      .connect(Number(port), hostname)
      .on('error', () => undefined)
      .pause();
  });
  for (const socket of sockets) socket.write(search);
  while ((await unanswered()) < sockets.length) await delay(20);
  // Nobody reads: without a limit this would never end.
  while ((await unanswered()) > 0) await delay(100);
  const received = await Promise.all(
    sockets.map(async (socket) => {
      let bytes = 0;
      socket.on('data', (chunk) => {
        bytes += chunk.length;
      });
      socket.resume();
      await new Promise((resolve) => socket.once('close', resolve));
      return bytes;
    }),
  );
  assert.ok(received.every((bytes) => bytes < count * div.length));
  assert.equal((await full.get('Patient?family=Unread&_count=3')).status, 200, 'who reads is answered');
});

test('connections of one address are bounded, and told so', async () => {
  const held = await Promise.all(Array.from({ length: connectionsMax }, () => openRaw(world.origin)));
  const one = await openRaw(world.origin);
  const answer = await one.answer();
  assert.equal(answer.status, 429);
  assert.equal(answer.headers.get('retry-after'), '1');
  assert.equal(answer.headers.get('connection'), 'close');
  assert.equal(answer.json.issue[0].details.coding[0].code, 'rate-exceeded');
  assert.equal(
    answer.json.issue[0].diagnostics,
    'This address has too many connections: use those that are open, or close some',
  );
  await one.closed;
  for (const raw of [one, ...held]) raw.destroy();
  for (;;) {
    const answered = await full.get('Patient?_count=1').catch(() => undefined);
    if (answered?.status === 200) break;
    await delay(50);
  }
});

test('a websocket that is not bound in time is closed', async () => {
  const client = await connect({ after }, socketUrlOf(world, 'maple'));
  assert.deepEqual(await client.closed, { code: 4408, reason: 'no token was sent in time' });
});
