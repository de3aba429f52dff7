/** Slow: kills and starts a database of its own several times. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openDatabase } from '../../src/database/database.ts';
import { type EmbeddedPostgres, startEmbeddedDatabase } from '../../src/database/embedded-postgres.ts';
import { sql } from '../../src/database/sql.ts';
import { testLog } from '../support/cluster.ts';
import { endProcess, isRunning, makeDataDir, postmasterPid, runEmbedded } from '../support/embedded.ts';

const start = (dataDir: string) => startEmbeddedDatabase({ dataDir, log: testLog });

async function writtenNumbers(server: EmbeddedPostgres): Promise<Set<number>> {
  const owner = await openDatabase({
    connection: server.owner,
    rowSecurity: 'bypassed',
    poolMax: 2,
    statementTimeoutMs: 5000,
    log: testLog,
  });
  const rows = await owner.query<{ n: number }>(sql`SELECT n FROM written`);
  await owner.close();
  return new Set(rows.map(({ n }) => n));
}

const acknowledged = (said: readonly string[]) =>
  said.filter((line) => line.startsWith('acknowledged ')).map((line) => Number(line.split(' ')[1]));

/** Who is killed with signal 9, given the writing process and the server's process. */
const victims: Readonly<Record<string, (writer: number, postmaster: number) => number[]>> = {
  'the parent alone': (writer) => [writer],
  'the process group': (writer) => [-writer],
  'the server alone': (_writer, postmaster) => [postmaster],
  'the process group and the server': (writer, postmaster) => [-writer, postmaster],
};

// One database for all of them: what an earlier crash left must not show in a later one.
const crashed = makeDataDir({ after });
const kept: number[] = [];

for (const [name, choose] of Object.entries(victims)) {
  test(`after kill -9 of ${name} during writes nothing acknowledged is lost and the next start needs no hand`, async () => {
    for (let round = 0; round < 2; round++) {
      const writer = runEmbedded(crashed, { writes: true });
      await writer.hears('acknowledged');
      await delay(20 + 30 * round);
      const postmaster = postmasterPid(crashed) ?? 0;
      for (const pid of choose(writer.child.pid ?? 0, postmaster)) process.kill(pid, 'SIGKILL');
      await delay(10);
      if (isRunning(writer.child.pid ?? 0)) await endProcess(writer.child.pid ?? 0);
      await writer.ended;
      kept.push(...acknowledged(writer.said));
      const server = await start(crashed);
      const found = await writtenNumbers(server);
      await server.stop();
      assert.deepEqual(
        kept.filter((n) => !found.has(n)),
        [],
      );
      assert.equal(postmasterPid(crashed), undefined);
    }
  });
}

test('a server left behind by a killed process is used again', async () => {
  const left = runEmbedded(crashed);
  const pid = Number((await left.hears('ready')).split(' ')[1]);
  await endProcess(left.child.pid ?? 0);
  assert.ok(isRunning(pid));
  const server = await start(crashed);
  assert.deepEqual([server.pid, server.started], [pid, false]);
  await server.stop();
  assert.ok(!isRunning(pid));
});

test('a lock file whose process number now belongs to another program is no obstacle', async () => {
  const left = runEmbedded(crashed);
  const pid = Number((await left.hears('ready')).split(' ')[1]);
  await endProcess(left.child.pid ?? 0);
  await endProcess(pid);
  const lockFile = path.join(crashed, 'postgres', 'cluster', 'postmaster.pid');
  writeFileSync(lockFile, readFileSync(lockFile, 'utf8').replace(/^\d+/, String(process.pid)));
  const server = await start(crashed);
  assert.equal(server.started, true);
  await server.stop();
});

test('no second server starts while a process of a killed one still computes', async () => {
  const left = runEmbedded(crashed);
  const pid = Number((await left.hears('ready')).split(' ')[1]);
  const server = await start(crashed);
  const database = await openDatabase({
    connection: server.runtime,
    poolMax: 2,
    statementTimeoutMs: 800,
    log: testLog,
  });
  // Processes notice the end of their server when they wait, which this statement does not until its timeout.
  const startedMs = performance.now();
  const computing = database.query(sql`SELECT sum(n * n) FROM generate_series(1, 1000000000) AS n`);
  const failed = assert.rejects(computing);
  await delay(100);
  await endProcess(left.child.pid ?? 0);
  await endProcess(pid);
  const again = await start(crashed);
  assert.ok(performance.now() - startedMs > 800);
  await failed;
  await database.close();
  await again.stop();
  await server.stop();
});

test('a process killed while it makes the database leaves nothing half-made', async (t) => {
  const dataDir = makeDataDir(t);
  for (const waitMs of [80, 250, 400]) {
    const killed = runEmbedded(dataDir);
    const deadlineMs = performance.now() + 5000;
    while (!readdirSync(dataDir).some((entry) => entry.startsWith('postgres')) && performance.now() < deadlineMs)
      await delay(2);
    await delay(waitMs);
    process.kill(-(killed.child.pid ?? 0), 'SIGKILL');
    await killed.ended;
  }
  const server = await start(dataDir);
  assert.deepEqual(readdirSync(dataDir), ['postgres']);
  await server.stop();
});

test('a server that dies while in use is started again, and statements that may be repeated do not notice', async () => {
  const server = await start(crashed);
  const database = await openDatabase({
    connection: server.runtime,
    poolMax: 4,
    statementTimeoutMs: 2000,
    log: testLog,
  });
  for (let round = 0; round < 2; round++) {
    const pid = postmasterPid(crashed) ?? 0;
    const sleeping = Array.from({ length: 5 }, () =>
      database.query(sql`SELECT pg_sleep(0.05), 1 AS one`, { idempotent: true }),
    );
    await delay(20);
    process.kill(pid, 'SIGKILL');
    for (const rows of await Promise.all(sleeping)) assert.equal((rows[0] as { one: number }).one, 1);
    assert.notEqual(postmasterPid(crashed), pid);
  }
  await database.close();
  await server.stop();
});
