/** `praxis doctor` on set-ups that are whole, and on such as are broken in one place: what it says, and that it changes nothing. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import test, { after } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import pg from 'pg';
import { systemClock } from '../../src/base/clock.ts';
import { makeSecret } from '../../src/base/ids.ts';
import type { Finding } from '../../src/cli/doctor/finding.ts';
import { sql } from '../../src/database/sql.ts';
import { makeCertificate } from '../outbound/certificates.ts';
import { openTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeDataDir } from '../support/embedded.ts';
import { startNode, urlOf } from '../support/nodes.ts';
import { type Ended, runPraxis, startPraxis } from './praxis-process.ts';

interface Report {
  readonly sound: boolean;
  readonly findings: readonly Finding[];
}

const secretKey = makeSecret();
const database = await openTestDatabase({ after });
const dataDir = makeDataDir({ after });

/** A set-up that is whole, but for what `more` changes. */
function settingsOf({ connections }: Pick<TestDatabase, 'connections'>, more: Readonly<Record<string, string>> = {}) {
  return {
    DATABASE_URL: urlOf(connections.owner),
    PRAXIS_RUNTIME_DATABASE_URL: urlOf(connections.runtime),
    PRAXIS_SECRET_KEY: secretKey,
    PRAXIS_DATA_DIR: dataDir,
    PRAXIS_PORT: '0',
    ...more,
  };
}

const whole = settingsOf(database);
// A start, as far as a command needs one: from now on the database belongs to the secret key.
assert.equal((await runPraxis(whole, 'app', 'create', 'Sync', '--acl', 'acl/pat_r')).status, 0);

async function examine(settings: Readonly<Record<string, string>>): Promise<Report & Pick<Ended, 'status' | 'stderr'>> {
  const { status, stdout, stderr } = await runPraxis(settings, 'doctor', '--json');
  assert.equal(stderr, '');
  return { ...(JSON.parse(stdout) as Report), status, stderr };
}

/** The database of the tests may give up what it has acknowledged, for speed. */
const careless = /^(?:fsync|full_page_writes) of the server is off: a failure of the machine may destroy the database$/;

/** `check: text` of the findings of a verdict. */
function listOf({ findings }: Report, verdict: Finding['verdict']): readonly string[] {
  return findings
    .filter((finding) => finding.verdict === verdict && !careless.test(finding.text))
    .map(({ check, text }) => `${check}: ${text}`);
}

/** The only problem of a set-up, with what is to be mended. */
async function findProblem(settings: Readonly<Record<string, string>>): Promise<string> {
  const report = await examine(settings);
  const problems = report.findings.filter(({ verdict, text }) => verdict === 'problem' && !careless.test(text));
  assert.deepEqual([report.status, report.sound, problems.length], [1, false, 1], JSON.stringify(report.findings));
  return problems.map(({ check, text, mend }) => `${check}: ${text}${mend === undefined ? '' : ` → ${mend}`}`).join();
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return address.port;
}

test('what is asked of a database changes nothing in it, nor in the data directory, and tells no secret', async () => {
  const rows = async (): Promise<unknown> =>
    await database.owner.query(sql`
      SELECT (SELECT count(*) FROM migration) AS migrations, (SELECT count(*) FROM data_key) AS keys,
        (SELECT count(*) FROM audit_event) AS events`);
  const [before, files] = [await rows(), readdirSync(dataDir)];
  const { stdout, stderr } = await runPraxis(whole, 'doctor');
  assert.equal(stderr, '');
  assert.match(stdout, /^ok {7}keys {9}the secret key [0-9a-f]{32} in PRAXIS_SECRET_KEY fits the database$/m);
  assert.match(stdout, /^ok {7}roles {8}row-level security binds the runtime role$/m);
  for (const secret of [secretKey, database.connections.owner.password, database.connections.runtime.password])
    assert.ok(!stdout.includes(secret));
  assert.deepEqual([await rows(), readdirSync(dataDir)], [before, files]);
});

test('a secret key of another database, and a database that refuses or is not there, are named', async () => {
  const wrong = await findProblem({ ...whole, PRAXIS_SECRET_KEY: makeSecret() });
  assert.match(wrong, /^keys: the key in PRAXIS_SECRET_KEY is not the one that the database was made with/);
  const password = makeSecret();
  const refused = await findProblem(
    settingsOf({
      connections: { ...database.connections, owner: { ...database.connections.owner, password } },
    }),
  );
  assert.match(refused, /^database: Database \S+ refuses the connection: password authentication failed/);
  assert.ok(!refused.includes(password));
  const absent = await examine({ ...whole, DATABASE_URL: 'postgresql://praxis_owner:x@127.0.0.1:1/praxis' });
  assert.deepEqual([absent.status, listOf(absent, 'problem').length], [1, 1]);
  assert.match(listOf(absent, 'problem')[0] ?? '', /ECONNREFUSED.*nothing listens there: start the database/);
  assert.deepEqual(
    listOf(absent, 'skipped'),
    ['migrations', 'keys', 'roles', 'connections', 'clock'].map((check) => `${check}: needs the database`),
  );
});

test('pending migrations are counted, an empty database is none, and neither is migrated', async (t) => {
  const behind = await openTestDatabase(t);
  await behind.owner.query(sql`DELETE FROM migration WHERE version IN (SELECT max(version) FROM migration)`);
  assert.match(
    await findProblem(settingsOf(behind)),
    /^migrations: 1 migration is pending \(\d{4}\) → run praxis migrate; praxis serve does it at its start, too$/,
  );
  const [row] = await behind.owner.query<{ applied: boolean }>(
    sql`SELECT EXISTS (SELECT FROM migration WHERE version = 99999) AS applied`,
  );
  assert.equal(row?.applied, false);
  await behind.owner.query(sql`INSERT INTO migration (version, name, checksum) VALUES (9999, 'later', '')`);
  assert.match(await findProblem(settingsOf(behind)), /^migrations: Database has migration 9999-later/);
  const empty = await openTestDatabase(t, { empty: true });
  const report = await examine(settingsOf(empty));
  assert.deepEqual(listOf(report, 'problem'), []);
  assert.ok(listOf(report, 'ok').includes('migrations: the database is empty: the first start fills it'));
  assert.deepEqual(await empty.owner.query(sql`SELECT FROM pg_tables WHERE schemaname = 'public'`), []);
});

test('settings of the database that refuse writes are problems, those that lose the last ones are warnings', async (t) => {
  const hasty = await openTestDatabase(t);
  const client = new pg.Client({ ...hasty.connections.owner });
  await client.connect();
  await client.query(`ALTER DATABASE ${hasty.name} SET synchronous_commit = off`);
  await client.query(`ALTER DATABASE ${hasty.name} SET default_transaction_read_only = on`);
  await client.end();
  const report = await examine(settingsOf(hasty));
  assert.deepEqual(
    [report.status, listOf(report, 'problem')],
    [1, ['database: default_transaction_read_only of the server is on: writes are refused']],
  );
  assert.ok(
    listOf(report, 'warning').includes(
      'database: synchronous_commit of the server is off: what was acknowledged is lost when the server fails',
    ),
  );
});

test('a data directory that is a file, or below one, is named, and one that is missing is not made', async (t) => {
  const directory = makeDataDir(t);
  const file = path.join(directory, 'file');
  writeFileSync(file, '');
  for (const place of [file, path.join(file, 'below')])
    assert.match(
      await findProblem({ ...whole, PRAXIS_DATA_DIR: place }),
      /^disk: \S+ cannot be the data directory: \S+file is a file → set PRAXIS_DATA_DIR to a directory$/,
    );
  if (process.platform === 'linux') {
    // Nothing can be stored there, whoever asks.
    const full = await findProblem({ ...whole, PRAXIS_DATA_DIR: '/proc/praxis' });
    assert.match(full, /^disk: (?:0 MB are free at \/proc\/praxis → make room|\/proc cannot be written)/);
  }
  const missing = path.join(directory, 'one', 'two');
  const report = await examine({ ...whole, PRAXIS_DATA_DIR: missing });
  assert.deepEqual([listOf(report, 'problem'), existsSync(path.join(directory, 'one'))], [[], false]);
  assert.match(listOf(report, 'ok').join('\n'), /^disk: \S+two can be made; [\d.]+ [GM]B are free$/m);
});

test('a port of another program is a problem; that of the service that runs is its own', async (t) => {
  const other = createServer((socket) => socket.destroy());
  const port = await listen(other);
  t.after(() => other.close());
  assert.equal(
    await findProblem({ ...whole, PRAXIS_PORT: String(port) }),
    `ports: PRAXIS_PORT=${port} is used by another program → stop it, or set another port`,
  );
  const posing = createHttpServer((_request, response) =>
    response.end(JSON.stringify({ name: 'Praxis', version: '\u001b]0;1.0' })),
  );
  t.after(() => posing.close());
  assert.match(
    await findProblem({ ...whole, PRAXIS_PORT: String(await listen(posing)) }),
    /is used by another program/,
  );
  assert.match(
    await findProblem({ ...whole, PRAXIS_HOST: '192.0.2.1' }),
    /^ports: PRAXIS_HOST=192\.0\.2\.1 is no address/,
  );
  const node = await startNode(database, secretKey);
  t.after(() => node.stop());
  const report = await examine({ ...whole, PRAXIS_PORT: new URL(node.origin).port, PRAXIS_BASE_URL: node.origin });
  assert.deepEqual(listOf(report, 'problem'), []);
  assert.match(listOf(report, 'ok').join('\n'), /^ports: PRAXIS_PORT=\d+ is used by Praxis \S+, which runs$/m);
  assert.match(listOf(report, 'ok').join('\n'), /^proxies: http:\/\/127\.0\.0\.1:\d+ leads to Praxis \S+$/m);
});

test('proxies that are none, and such as everybody is, are named, and so is an origin without TLS', async () => {
  assert.equal(
    await findProblem({ ...whole, PRAXIS_TRUSTED_PROXIES: '10.0.0.0/8,loopbak' }),
    'proxies: PRAXIS_TRUSTED_PROXIES names loopbak, which is no address and no range: did you mean loopback? → write addresses, CIDR ranges such as 10.0.0.0/8, or loopback, linklocal, uniquelocal',
  );
  assert.match(
    await findProblem({ ...whole, PRAXIS_TRUSTED_PROXIES: '0.0.0.0/0' }),
    /^proxies: PRAXIS_TRUSTED_PROXIES names 0\.0\.0\.0\/0: every client may say which address it has/,
  );
  assert.match(
    await findProblem({ ...whole, PRAXIS_BASE_URL: 'http://praxis.example.com' }),
    /^tls: http:\/\/praxis\.example\.com is not https: credentials and records travel in the clear/,
  );
});

test('a certificate that has expired, and one that clients do not trust, are named', async (t) => {
  const serve = async (days: number): Promise<number> => {
    const { cert, key } = makeCertificate({ name: 'localhost', fromDay: -90, toDay: days }, systemClock.now());
    const server = createTlsServer({ cert, key });
    t.after(() => server.close());
    return await listen(server);
  };
  const expired = await serve(-3);
  const behind = { ...whole, PRAXIS_TRUSTED_PROXIES: 'loopback' };
  assert.match(
    await findProblem({ ...behind, PRAXIS_BASE_URL: `https://localhost:${expired}` }),
    /^tls: the certificate of https:\/\/localhost:\d+ expired [34] days ago → renew it$/,
  );
  const strange = await serve(60);
  assert.match(
    await findProblem({ ...behind, PRAXIS_BASE_URL: `https://localhost:${strange}` }),
    /^tls: clients do not trust the certificate of https:\/\/localhost:\d+ \(\w+\) → /,
  );
});

test('an embedded set-up: before its first start, while it runs, with another key, and stopped', async (t) => {
  const directory = makeDataDir(t);
  const own = { PRAXIS_DATA_DIR: directory, PRAXIS_PORT: '0' };
  const first = await examine(own);
  assert.deepEqual([first.status, first.sound, readdirSync(directory)], [0, true, []]);
  assert.ok(listOf(first, 'ok').includes('database: there is none yet: the first start makes an embedded one'));

  const child = startPraxis(own, 'serve');
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  t.after(() => child.kill('SIGKILL'));
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => chunk.toString().includes('praxis ready on ') && resolve());
    void ended.then(() => reject(new Error('praxis serve ended')));
  });
  const { status, stdout, stderr } = await runPraxis(own, 'doctor');
  assert.deepEqual([status, stderr], [0, ''], stdout);
  assert.match(stdout, /^ok {7}clock {8}the clock shows 2\d{3}-/m);
  assert.match(stdout, /^ok {7}database {5}PostgreSQL \d+\.\d+\S* is reached$/m);
  assert.match(stdout, /^ok {7}migrations {3}the schema is up to date$/m);
  assert.match(stdout, /^ok {7}keys {9}the secret key [0-9a-f]{32} in \S+secret\.key fits the database$/m);
  assert.match(stdout, /^ok {7}connections {2}a node with 1 worker may open 34 of 100 connections$/m);
  assert.match(stdout, /^ok {7}clock {8}the clocks of the database and of this machine differ by \d+ ms$/m);
  assert.match(stdout, /\n\nno problems, no warnings\n$/);
  // What is made with a key is worth nothing with another one.
  assert.equal((await runPraxis(own, 'app', 'create', 'Sync', '--acl', 'acl/pat_r')).status, 0);
  const file = path.join(directory, 'secret.key');
  const key = readFileSync(file, 'utf8');
  writeFileSync(file, makeSecret());
  assert.match(
    await findProblem(own),
    /^keys: the key in \S+secret\.key is not the one that the database was made with/,
  );
  writeFileSync(file, key.slice(0, 20));
  assert.match(await findProblem(own), /^keys: \S+secret\.key is broken: it must hold the secret key/);
  writeFileSync(file, key);
  chmodSync(file, 0o644);
  assert.ok(listOf(await examine(own), 'warning').includes(`keys: others may read ${file}`));

  child.kill('SIGTERM');
  await ended;
  rmSync(file);
  const stopped = await examine(own);
  assert.deepEqual([stopped.status, existsSync(file)], [1, false]);
  assert.match(listOf(stopped, 'problem').join('\n'), /^keys: \S+secret\.key is missing, and the database in /);
  assert.ok(
    listOf(stopped, 'skipped').includes('database: the embedded database does not run: ask again while praxis does'),
  );
});
