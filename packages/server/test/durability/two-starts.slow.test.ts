// Several starts at once on one fresh data directory: each ends up right.
// Slow: several services start at once, each with its own database.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import test from 'node:test';
import { startPraxis } from '../cli/praxis-process.ts';
import { makeDataDir, postmasterPid } from '../support/embedded.ts';

/** `praxis serve --sandbox`; resolves when it is ready or has ended. */
async function start(dataDir: string, port: number) {
  const child = startPraxis({ PRAXIS_DATA_DIR: dataDir, PRAXIS_PORT: String(port) }, 'serve', '--sandbox');
  let [stdout, stderr] = ['', ''];
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const ready = new Promise<void>((resolve) =>
    child.stdout?.on('data', () => stdout.includes('praxis ready on ') && resolve()),
  );
  await Promise.race([ready, ended]);
  return {
    origin: /praxis ready on (\S+)/.exec(stdout)?.[1],
    complaints: stderr
      .split('\n')
      .filter((line) => !/^(?:$|praxis: (?:seeding |the schema is up to date: ))/.test(line)),
    status: child.exitCode,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

test('of three starts on one fresh directory two serve, and the one whose port is taken says so', async (t) => {
  const dataDir = makeDataDir(t);
  const port = await freePort();
  const started = await Promise.all([start(dataDir, port), start(dataDir, port), start(dataDir, 0)]);
  t.after(async () => void (await Promise.all(started.map((each) => each.stop()))));
  const serving = started.filter(({ origin }) => origin !== undefined);
  assert.equal(serving.length, 2, JSON.stringify(started.map(({ complaints }) => complaints)));
  assert.deepEqual(
    serving.map(({ complaints }) => complaints),
    [[], []],
  );
  const [refused] = started.filter(({ origin }) => origin === undefined);
  assert.equal(refused?.status, 1);
  assert.equal(refused?.complaints.length, 1, refused?.complaints.join('\n'));
  assert.match(
    refused?.complaints[0] ?? '',
    /^praxis: listen EADDRINUSE: .*: another program listens there; stop it, or set another port$/,
  );
  // One has seeded, once and to the end, and its credentials work at both.
  const sandbox = JSON.parse(readFileSync(path.join(dataDir, 'sandbox.json'), 'utf8'));
  assert.equal(existsSync(path.join(dataDir, 'sandbox.seeding')), false);
  const { client } = sandbox.applications[0];
  for (const { origin } of serving) {
    const answer = await fetch(`${origin}/auth/realms/sandbox/protocol/openid-connect/token`, {
      method: 'POST',
      headers: { 'x-api-key': client.apiKey },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: client.clientId,
        client_secret: client.clientSecret,
      }),
    });
    assert.equal(answer.status, 200, await answer.text());
  }
  for (const each of serving) await each.stop();
  assert.equal(postmasterPid(dataDir), undefined);
});
