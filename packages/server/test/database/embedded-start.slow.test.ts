/**
 * The embedded database starts, stops, starts again, and refuses what it cannot start with.
 * Slow: initialises and starts many database servers.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError } from '../../src/base/config.ts';
import { StartError } from '../../src/base/start-error.ts';
import { openDatabase } from '../../src/database/database.ts';
import { startEmbeddedDatabase } from '../../src/database/embedded-postgres.ts';
import { sql } from '../../src/database/sql.ts';
import { testLog } from '../support/cluster.ts';
import { endProcess, isRunning, makeDataDir, postmasterPid, runEmbedded } from '../support/embedded.ts';

// For the tests that leave it as they found it.
const shared = makeDataDir({ after });

const start = (dataDir: string) => startEmbeddedDatabase({ dataDir, log: testLog });

test('what is acknowledged is durable, and the session is as documented', async () => {
  const server = await start(shared);
  const database = await openDatabase({
    connection: server.runtime,
    poolMax: 2,
    statementTimeoutMs: 1000,
    log: testLog,
  });
  const rows = await database.query<{ name: string; setting: string }>(sql`
    SELECT name, setting FROM pg_settings
    WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes', 'data_checksums', 'jit', 'listen_addresses', 'server_encoding', 'TimeZone', 'log_error_verbosity')`);
  assert.deepEqual(Object.fromEntries(rows.map(({ name, setting }) => [name, setting])), {
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    data_checksums: 'on',
    jit: 'off',
    listen_addresses: process.platform === 'win32' ? '127.0.0.1' : '',
    server_encoding: 'UTF8',
    TimeZone: 'UTC',
    log_error_verbosity: 'terse',
  });
  await database.close();
  await server.stop();
});

test('nobody connects without a password, and only this account reaches the socket and the passwords', async () => {
  const server = await start(shared);
  const withoutPassword = { ...server.runtime, password: '' };
  await assert.rejects(
    openDatabase({ connection: withoutPassword, poolMax: 2, statementTimeoutMs: 1000, log: testLog }),
    StartError,
  );
  for (const [name, mode] of [
    ['credentials.json', 0o600],
    ['socket', 0o700],
    ['log', 0o700],
    ['cluster', 0o700],
  ] as const) {
    assert.equal(statSync(path.join(shared, 'postgres', name)).mode & 0o777, mode, name);
  }
  await server.stop();
});

test('a data directory of another major version is refused with what to do', async (t) => {
  const dataDir = makeDataDir(t);
  await (await start(dataDir)).stop();
  writeFileSync(path.join(dataDir, 'postgres', 'cluster', 'PG_VERSION'), '14\n');
  await assert.rejects(
    start(dataDir),
    (error) =>
      error instanceof ConfigError &&
      /was made by PostgreSQL 14, this praxis brings 18: make a backup/.test(error.message),
  );
});

test('a server with other settings is not shared while it is in use, and replaced when it is not', async (t) => {
  const dataDir = makeDataDir(t);
  const server = await start(dataDir);
  const other = () => startEmbeddedDatabase({ dataDir, log: testLog, durability: 'none' });
  await assert.rejects(
    other(),
    (error) => error instanceof ConfigError && /is in use by another version of praxis/.test(error.message),
  );
  const abandoned = runEmbedded(dataDir);
  await abandoned.hears('ready');
  await server.stop();
  await endProcess(abandoned.child.pid ?? 0);
  assert.ok(isRunning(server.pid));
  const replacement = await other();
  assert.equal(replacement.started, true);
  assert.notEqual(replacement.pid, server.pid);
  await replacement.stop();
});

test('processes share the server, and the last one stops it', async () => {
  const first = await start(shared);
  const second = await start(shared);
  const third = runEmbedded(shared);
  assert.equal(await third.hears('ready'), `ready ${first.pid}`);
  assert.deepEqual([first.started, second.started, second.pid], [true, false, first.pid]);
  await first.stop();
  await second.stop();
  assert.ok(isRunning(first.pid));
  third.child.stdin?.end();
  await third.ended;
  assert.ok(!isRunning(first.pid));
  assert.equal(postmasterPid(shared), undefined);
});

test('processes that start together on an empty directory make one database and one server', async (t) => {
  const dataDir = path.join(makeDataDir(t), 'deep', 'data');
  const processes = Array.from({ length: 3 }, () => runEmbedded(dataDir));
  const ready = await Promise.all(processes.map((process) => process.hears('ready')));
  assert.equal(new Set(ready).size, 1);
  assert.deepEqual(readdirSync(dataDir), ['postgres']);
  for (const { child } of processes) child.stdin?.end();
  await Promise.all(processes.map((process) => process.ended));
  assert.equal(postmasterPid(dataDir), undefined);
});

test('a path too long for a socket address is no obstacle', async (t) => {
  const dataDir = path.join(makeDataDir(t), 'x'.repeat(120));
  mkdirSync(dataDir);
  const server = await start(dataDir);
  assert.ok(!existsSync(path.join(dataDir, 'postgres', 'socket')));
  const database = await openDatabase({
    connection: server.runtime,
    poolMax: 2,
    statementTimeoutMs: 1000,
    log: testLog,
  });
  assert.equal(await database.isReachable(), true);
  await database.close();
  await server.stop();
  assert.ok(!existsSync(server.runtime.host));
});

test('the log holds neither statements nor values of failing statements', async () => {
  const server = await start(shared);
  const owner = await openDatabase({
    connection: server.owner,
    rowSecurity: 'bypassed',
    poolMax: 2,
    statementTimeoutMs: 1000,
    log: testLog,
  });
  await owner.query(sql`CREATE TABLE person (name text PRIMARY KEY)`);
  await owner.query(sql`INSERT INTO person VALUES (${'Ada Lovelace'})`);
  await assert.rejects(owner.query(sql`INSERT INTO person VALUES (${'Ada Lovelace'})`));
  await owner.close();
  await server.stop();
  const log = path.join(shared, 'postgres', 'log');
  const text = readdirSync(log)
    .map((name) => readFileSync(path.join(log, name), 'utf8'))
    .join('');
  assert.match(text, /duplicate key value violates unique constraint/);
  assert.doesNotMatch(text, /Lovelace|INSERT/);
});

/** Position in /proc/PID/stat, counted from the state on (proc_pid_stat(5)), and value (sched(7)). */
const schedulingPolicy = { index: 38, batch: '3' };

test('processes of the server do not interrupt others when they wake up', {
  skip: spawnSync('chrt', ['-p', String(process.pid)]).status !== 0 && 'this system has no chrt',
}, async () => {
  const server = await startEmbeddedDatabase({ dataDir: makeDataDir({ after }), log: testLog });
  const database = await openDatabase({
    connection: server.runtime,
    poolMax: 2,
    statementTimeoutMs: 1000,
    log: testLog,
  });
  const [backend] = await database.query<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`);
  for (const pid of [server.pid, backend?.pid ?? 0]) {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    assert.equal(fields[schedulingPolicy.index], schedulingPolicy.batch);
  }
  await database.close();
  await server.stop();
});

const groupOfThis = '/proc/self/autogroup';

test('a server that is lowered is lowered as a whole, connections that come later included', {
  skip: !existsSync(groupOfThis) && 'this system does not group processes by session',
}, async () => {
  const dataDir = makeDataDir({ after });
  const server = await startEmbeddedDatabase({ dataDir, log: testLog, niceness: 4 });
  const database = await openDatabase({
    connection: server.runtime,
    poolMax: 2,
    statementTimeoutMs: 1000,
    log: testLog,
  });
  const [backend] = await database.query<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`);
  const own = os.getPriority();
  for (const pid of [server.pid, backend?.pid ?? 0]) {
    assert.equal(os.getPriority(pid), own + 4);
    await until(() => /nice (-?\d+)/.exec(readFileSync(`/proc/${pid}/autogroup`, 'utf8'))?.[1] === String(own + 4));
  }
  await database.close();
  await server.stop();
});

/** Resolves when it holds. */
async function until(holds: () => boolean): Promise<void> {
  for (let attempt = 0; !holds(); attempt += 1) {
    assert.ok(attempt < 200, 'not within 10 s');
    await delay(50);
  }
}
