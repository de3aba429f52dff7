// What keeps the service from starting: one line that says what it is and how it is mended, exit status 1, no stack.
// Slow: starts the service once for each thing that keeps it from starting.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import test, { after } from 'node:test';
import { makeSecret } from '../../src/base/ids.ts';
import { openTestDatabase } from '../support/database.ts';
import { makeDataDir } from '../support/embedded.ts';
import { urlOf } from '../support/nodes.ts';
import { runPraxis } from './praxis-process.ts';

const { connections } = await openTestDatabase({ after });
const dataDir = makeDataDir({ after });
const own = { PRAXIS_DATA_DIR: dataDir, PRAXIS_PORT: '0' };
const file = path.join(dataDir, 'secret.key');
assert.equal((await runPraxis(own, 'firm', 'list')).status, 0);
const key = readFileSync(file, 'utf8');

async function assertRefused(environment: Readonly<Record<string, string>>, message: RegExp, line = ['serve']) {
  const { status, stdout, stderr } = await runPraxis(environment, ...line);
  assert.match(stderr, message);
  assert.match(stderr, /^praxis: [^\n]+\n$/, 'one line');
  assert.deepEqual([status, stdout], [1, '']);
}

test('a database that refuses the login or is not there is named, without the password', async () => {
  const password = makeSecret();
  const at = (change: Partial<typeof connections.owner>) => ({
    DATABASE_URL: urlOf({ ...connections.owner, ...change }),
    PRAXIS_SECRET_KEY: makeSecret(),
  });
  await assertRefused(
    at({ password }),
    /^praxis: Database \S+ refuses the connection: password authentication failed for user "praxis_owner"; correct the password \(DATABASE_URL/,
  );
  assert.ok(!(await runPraxis(at({ password }), 'serve')).stderr.includes(password));
  await assertRefused(
    at({ database: 'absent' }),
    /database "absent" does not exist; make the database, or correct its name/,
  );
  await assertRefused(
    at({ host: '/nonexistent' }),
    /cannot be reached \(.*ENOENT.*\): there is no such socket: start the database/,
  );
  const closed = await freePort();
  await assertRefused(
    at({ host: '127.0.0.1', port: closed }),
    /\(.*ECONNREFUSED.*\): nothing listens there: start the database/,
  );
  await assertRefused(at({ host: 'nowhere.invalid' }), /cannot be reached \(getaddrinfo \w+ nowhere\.invalid\): \w/);
  const debug = await runPraxis({ ...at({ password }), PRAXIS_LOG_LEVEL: 'debug' }, 'firm', 'list');
  assert.match(debug.stderr, /\n {4}at /, 'the stack is shown where the log level asks for it');
  assert.ok(!debug.stderr.includes(password));
});

test('a secret key that is missing beside a database, empty, cut or another one is not made anew', async (t) => {
  t.after(() => writeFileSync(file, key));
  rmSync(file);
  await assertRefused(
    own,
    /secret\.key is missing, and the database in \S+postgres cannot be used without it: put it back /,
  );
  assert.equal(existsSync(file), false);
  for (const broken of ['', key.slice(0, 20)]) {
    writeFileSync(file, broken);
    await assertRefused(
      own,
      /secret\.key is broken: it must hold the secret key, .* put it back from where it was copied to$/m,
    );
    assert.equal(readFileSync(file, 'utf8'), broken);
  }
  writeFileSync(file, makeSecret());
  await assertRefused(own, /secret\.key is not the one that the database was made with \(it has the fingerprint /);
  rmSync(file);
  mkdirSync(file);
  await assertRefused(own, /secret\.key cannot be read \(EISDIR\): run praxis as the user who owns the file/);
  rmSync(file, { recursive: true });
  const fresh = makeDataDir(t);
  writeFileSync(path.join(fresh, 'secret.key'), '');
  await assertRefused(
    { PRAXIS_DATA_DIR: fresh },
    /secret\.key is broken: .*: remove it, and the next start makes another/,
  );
});

test('a data directory that is none, and broken files in it, are named', async (t) => {
  const place = path.join(makeDataDir(t), 'file');
  writeFileSync(place, '');
  for (const more of [{}, { PRAXIS_SECRET_KEY: makeSecret() }])
    await assertRefused(
      { PRAXIS_DATA_DIR: place, ...more },
      /file cannot be used as the data directory.*set PRAXIS_DATA_DIR to/,
    );
  const sandbox = path.join(dataDir, 'sandbox.json');
  t.after(() => rmSync(sandbox, { force: true }));
  for (const broken of ['{"origin":"http', '{}']) {
    writeFileSync(sandbox, broken);
    await assertRefused(own, /sandbox\.json is broken: .*; put it back from a copy, or move it away/, [
      'serve',
      '--sandbox',
    ]);
    assert.equal(readFileSync(sandbox, 'utf8'), broken);
  }
  const credentials = path.join(dataDir, 'postgres', 'credentials.json');
  const kept = `${credentials}.kept`;
  renameSync(credentials, kept);
  t.after(() => renameSync(kept, credentials));
  await assertRefused(own, /credentials\.json is missing: put it back from a copy of the data directory/);
  writeFileSync(credentials, '{"praxis_owner":');
  await assertRefused(own, /credentials\.json is broken: put it back from a copy of the data directory/);
});

test('a port that is used and an address that is not of this machine are named', async (t) => {
  const { server, port } = await listening();
  t.after(() => server.close());
  await assertRefused(
    { ...own, PRAXIS_PORT: String(port) },
    /EADDRINUSE.*: another program listens there; stop it, or set another port/,
  );
  await assertRefused(
    { ...own, PRAXIS_HOST: '192.0.2.1' },
    /EADDRNOTAVAIL.*: no address of this machine; set PRAXIS_HOST/,
  );
});

async function listening(): Promise<{ server: Server; port: number }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return { server, port: address.port };
}

async function freePort(): Promise<number> {
  const { server, port } = await listening();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
