/**
 * SIGTERM drains: `praxis serve` as a process of its own on an embedded database finishes what it has begun, takes nothing
 * new, stops its database and ends with status 0; a silent client does not keep it.
 * Slow: waits for what the service lets end before it stops.
 */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import net from 'node:net';
import { createInterface } from 'node:readline';
import test, { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openPlatform } from '../../src/app.ts';
import { systemClock } from '../../src/base/clock.ts';
import { readConfig } from '../../src/base/config.ts';
import { startPraxis } from '../cli/praxis-process.ts';
import { testLog } from '../support/cluster.ts';
import { isRunning, makeDataDir, postmasterPid } from '../support/embedded.ts';
import { patient } from '../support/records.ts';
import { answerOf, makeApplication, makeFirm, type TestApplication } from '../support/service.ts';
import { openRaw, type RawConnection } from '../support/wire.ts';

const drainMs = 1500;
const dataDir = makeDataDir({ after });
const application = await prepare();

/** One firm and one application in the data directory. */
async function prepare(): Promise<TestApplication> {
  const config = readConfig({ PRAXIS_DATA_DIR: dataDir });
  const platform = await openPlatform({ config, clock: systemClock, log: testLog });
  try {
    const place = { platform, origin: '' };
    return await makeApplication(place, 'Vendor', ['acl/*'], [await makeFirm(place, 'maple')]);
  } finally {
    await platform.close();
  }
}

interface Served {
  readonly child: ChildProcess;
  readonly origin: string;
  readonly postgres: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Exit status and signal. */
  readonly ended: Promise<readonly [status: number | null, signal: string | null]>;
}

async function serve(settings: Readonly<Record<string, string>> = {}): Promise<Served> {
  const child = startPraxis(
    { PRAXIS_DATA_DIR: dataDir, PRAXIS_PORT: '0', PRAXIS_DRAIN_MS: String(drainMs), ...settings },
    'serve',
  );
  child.stderr?.resume();
  const ended = new Promise<readonly [number | null, string | null]>((resolve) =>
    child.once('exit', (...end) => resolve(end)),
  );
  const origin = await new Promise<string>((resolve, reject) => {
    if (child.stdout)
      createInterface({ input: child.stdout }).on('line', (line) => {
        const [, address] = /^praxis ready on (\S+)/.exec(line) ?? [];
        if (address !== undefined) resolve(address);
      });
    void ended.then((end) => reject(new Error(`ended before it was ready: ${end}`)));
  });
  const { clientId, clientSecret, clientKey } = application;
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
  });
  const { json } = await answerOf(
    await fetch(`${origin}/auth/realms/sandbox/protocol/openid-connect/token`, {
      method: 'POST',
      headers: { 'x-api-key': clientKey, connection: 'close' },
      body,
    }),
  );
  const headers = { authorization: `Bearer ${json.access_token}`, 'x-api-key': clientKey };
  return { child, origin, postgres: postmasterPid(dataDir) ?? 0, headers, ended };
}

/** Whether a new connection is refused, tried until it is. */
async function refusesConnections(origin: string): Promise<boolean> {
  const { hostname, port } = new URL(origin);
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const outcome = await new Promise<string>((resolve) => {
      const socket = net.connect(Number(port), hostname);
      socket.once('connect', () => resolve('accepted'));
      socket.once('error', (error: Error & { code?: string }) => resolve(error.code ?? ''));
      socket.once('connect', () => socket.destroy());
    });
    if (outcome === 'ECONNREFUSED') return true;
    await delay(10);
  }
  return false;
}

const body = JSON.stringify(patient('Stone'));

/** A create whose body has arrived by half. */
async function beginCreate({ origin, headers }: Served): Promise<RawConnection> {
  const raw = await openRaw(origin);
  const lines = Object.entries({
    ...headers,
    'content-type': 'application/fhir+json',
    'content-length': String(body.length),
  });
  raw.write(
    `POST /sandbox/firm/maple/pm/fhir/v2/Patient HTTP/1.1\r\nhost: x\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body.slice(0, 10)}`,
  );
  await delay(100);
  return raw;
}

async function assertStopped({ ended, postgres }: Served): Promise<void> {
  assert.deepEqual(await ended, [0, null]);
  assert.notEqual(postgres, 0);
  assert.equal(isRunning(postgres), false, 'PostgreSQL is still running');
  assert.equal(postmasterPid(dataDir), undefined);
}

test('a running request finishes, new connections are refused, the exit status is 0 and PostgreSQL is stopped', async () => {
  const served = await serve();
  const raw = await beginCreate(served);
  served.child.kill('SIGTERM');
  assert.equal(await refusesConnections(served.origin), true);
  raw.write(body.slice(10));
  const answer = await raw.answer();
  assert.equal(answer.status, 201);
  assert.equal(answer.json.name[0].family, 'Stone');
  await raw.closed;
  await assertStopped(served);
  const again = await serve();
  const found = await fetch(`${again.origin}/sandbox/firm/maple/pm/fhir/v2/Patient/${answer.json.id}`, {
    headers: again.headers,
  });
  assert.equal(found.status, 200);
  assert.deepEqual(await found.json(), answer.json);
  again.child.kill('SIGINT');
  await assertStopped(again);
});

test('connections without a request do not hold it up', async () => {
  const served = await serve();
  const idle = await openRaw(served.origin);
  idle.write('GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n');
  assert.equal((await idle.answer()).status, 200);
  const began = performance.now();
  served.child.kill('SIGTERM');
  await idle.closed;
  await assertStopped(served);
  assert.ok(performance.now() - began < drainMs);
});

test('a request that never ends, and a client that never sends one, are cut after the time for draining', async () => {
  const served = await serve({ PRAXIS_DRAIN_MS: '300' });
  const silent = await openRaw(served.origin);
  const stuck = await beginCreate(served);
  served.child.kill('SIGTERM');
  await Promise.all([silent.closed, stuck.closed]);
  await assertStopped(served);
});

test('a metrics port that is taken ends the start with a message and status 1, and leaves nothing running', async (t) => {
  const taken = net.createServer().listen(0, '127.0.0.1');
  t.after(() => void taken.close());
  await new Promise((resolve) => taken.once('listening', resolve));
  const address = taken.address();
  const port = typeof address === 'object' && address !== null ? String(address.port) : '';
  const child = startPraxis({ PRAXIS_DATA_DIR: dataDir, PRAXIS_PORT: '0', PRAXIS_METRICS_PORT: port }, 'serve');
  let complaints = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    complaints += chunk.toString();
  });
  child.stdout?.resume();
  const status = await new Promise((resolve) => child.once('close', resolve));
  assert.equal(status, 1);
  assert.match(complaints, /EADDRINUSE/);
  assert.equal(postmasterPid(dataDir), undefined);
});

test('metrics are served on their own port until the end', async () => {
  const free = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => free.once('listening', resolve));
  const address = free.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  await new Promise((resolve) => free.close(resolve));
  const served = await serve({ PRAXIS_METRICS_PORT: String(port) });
  const scraped = await fetch(`http://127.0.0.1:${port}/metrics`);
  assert.equal(scraped.status, 200);
  assert.match(await scraped.text(), /^praxis_token_requests_total\{flow="client_credentials",outcome="issued"\} 1$/m);
  served.child.kill('SIGTERM');
  await assertStopped(served);
  await assert.rejects(fetch(`http://127.0.0.1:${port}/metrics`));
});
