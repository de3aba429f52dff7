// PostgreSQL refuses to run as root: who runs it then, and what of directories that only root may enter.
import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { chooseAccount } from '../../../embedded-postgres/src/account.ts';
import { EnvironmentError } from '../../../embedded-postgres/src/errors.ts';
import { openDatabase } from '../../src/database/database.ts';
import { embeddedApplication, startEmbeddedDatabase } from '../../src/database/embedded-postgres.ts';
import { testLog } from '../support/cluster.ts';
import { makeDataDir, runEmbedded } from '../support/embedded.ts';

const isRoot = process.getuid?.() === 0;
const needsRoot = isRoot ? false : 'only root can run a server as another account';
const needsLinux = isRoot && process.platform === 'linux' ? false : 'only root on Linux can lend a capability';

/** The user number that the process runs as, and its effective capabilities as a number. */
function processFacts(pid: number): { uid: number; capabilities: bigint } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    uid: Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]),
    capabilities: BigInt(`0x${/^CapEff:\s*([0-9a-f]+)/m.exec(status)?.[1]}`),
  };
}

/** A directory that only root may enter, with one inside. */
function makeClosedDirectory(t: { after(work: () => void): void }): { closed: string; inside: string } {
  const closed = mkdtempSync(path.join(os.tmpdir(), 'praxis-closed-'));
  t.after(() => rmSync(closed, { recursive: true, force: true }));
  const inside = path.join(closed, 'data');
  mkdirSync(inside);
  chmodSync(closed, 0o700);
  return { closed, inside };
}

test('without a way to enter a closed directory the message says what to do', { skip: needsLinux }, (t) => {
  const { closed, inside } = makeClosedDirectory(t);
  const searchPath = process.env['PATH'];
  process.env['PATH'] = '/nonexistent'; // so that setpriv is not found
  t.after(() => {
    process.env['PATH'] = searchPath;
  });
  assert.throws(
    () => chooseAccount(path.join(inside, 'postgres'), [path.join(inside, 'postgres')], embeddedApplication),
    (error) =>
      error instanceof EnvironmentError &&
      /^PostgreSQL does not run as root, and the account \w+ cannot enter /.test(error.message) &&
      error.message.endsWith(
        `run praxis as a normal user, or put praxis and PRAXIS_DATA_DIR outside of ${closed}, or run chmod o+x ${closed}`,
      ),
  );
});

test('root runs the server as an unprivileged account that owns its files', { skip: needsRoot }, async (t) => {
  const dataDir = makeDataDir(t);
  const server = await startEmbeddedDatabase({ dataDir, log: testLog });
  const owner = statSync(path.join(dataDir, 'postgres', 'cluster')).uid;
  assert.notEqual(owner, 0);
  assert.equal(statSync(path.join(dataDir, 'postgres', 'credentials.json')).uid, 0);
  if (process.platform === 'linux') assert.deepEqual(processFacts(server.pid), { uid: owner, capabilities: 0n });
  await server.stop();
});

test('below a directory that only root may enter the server gets one capability, to pass it', {
  skip: needsLinux,
}, async (t) => {
  const { inside } = makeClosedDirectory(t);
  for (const started of ['created', 'started again']) {
    const server = await startEmbeddedDatabase({ dataDir: inside, log: testLog });
    const { uid, capabilities } = processFacts(server.pid);
    assert.notEqual(uid, 0, started);
    assert.ok(capabilities === 1n << 1n || capabilities === 1n << 2n, `${started} with ${capabilities.toString(2)}`);
    const database = await openDatabase({
      connection: server.runtime,
      poolMax: 2,
      statementTimeoutMs: 1000,
      log: testLog,
    });
    assert.equal(await database.isReachable(), true);
    await database.close();
    await server.stop();
  }
});

test('a normal user runs the server as itself', async (t) => {
  const dataDir = makeDataDir(t);
  if (!isRoot) {
    const server = await startEmbeddedDatabase({ dataDir, log: testLog });
    assert.equal(statSync(path.join(dataDir, 'postgres', 'cluster')).uid, process.getuid?.());
    await server.stop();
    return;
  }
  const nobody = 65534;
  const program = fileURLToPath(import.meta.url);
  if (!mayRead(program) || !mayRead(process.execPath))
    return t.skip('the sources are below a directory that a normal user may not enter');
  chownSync(dataDir, nobody, nobody);
  const running = runEmbedded(dataDir, { uid: nobody });
  const pid = Number((await running.hears('ready')).split(' ')[1]);
  assert.equal(statSync(path.join(dataDir, 'postgres', 'cluster')).uid, nobody);
  assert.equal(statSync(path.join(dataDir, 'postgres', 'credentials.json')).uid, nobody);
  if (process.platform === 'linux') assert.deepEqual(processFacts(pid), { uid: nobody, capabilities: 0n });
  running.child.stdin?.end();
  await running.ended;
});

/** Whether every directory on the way to `file` may be entered by everybody. */
function mayRead(file: string): boolean {
  for (let directory = path.dirname(file); ; directory = path.dirname(directory)) {
    if ((statSync(directory).mode & 0o001) === 0) return false;
    if (directory === path.dirname(directory)) return true;
  }
}
