// Recovery of the embedded database after the crash of one of its processes is waited for, however long it takes.
// Slow: waits for a database of its own to recover from a crash.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openDatabase } from '../../src/database/database.ts';
import { startEmbeddedDatabase } from '../../src/database/embedded-postgres.ts';
import { sql } from '../../src/database/sql.ts';
import { testLog } from '../support/cluster.ts';
import { isRunning, makeDataDir, postmasterPid } from '../support/embedded.ts';

const needsLinux = process.platform === 'linux' ? false : 'finds the recovering process in /proc';

/** The process of the server that replays the log; undefined when there is none. */
function recoveringProcess(postmaster: number): number | undefined {
  return readdirSync('/proc')
    .map(Number)
    .find((pid) => {
      if (!Number.isInteger(pid) || pid <= postmaster) return false;
      try {
        const isChild = new RegExp(`^PPid:\\s+${postmaster}$`, 'm').test(readFileSync(`/proc/${pid}/status`, 'utf8'));
        return isChild && readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('postgres: startup');
      } catch {
        return false; // it has ended
      }
    });
}

test('a server that recovers from a crash is waited for, not stopped, beyond the time in which one has to answer', {
  skip: needsLinux,
}, async (t) => {
  const unreachableMaxMs = 500;
  const dataDir = makeDataDir(t);
  const server = await startEmbeddedDatabase({ dataDir, log: testLog, unreachableMaxMs });
  const owner = await openDatabase({
    connection: server.owner,
    rowSecurity: 'bypassed',
    poolMax: 2,
    statementTimeoutMs: 60_000,
    log: testLog,
  });
  const pid = postmasterPid(dataDir) ?? 0;
  let recovering: number | undefined;
  for (let round = 0; recovering === undefined && round < 5; round++) {
    // What the recovery has to replay, so that it is seen under way.
    await owner.query(sql`CREATE TABLE IF NOT EXISTS written (n int)`);
    await owner.query(sql`INSERT INTO written SELECT generate_series(1, 1000000)`);
    const [row] = await owner.query<{ pid: number }>(
      sql`SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' LIMIT 1`,
    );
    process.kill(row?.pid ?? 0, 'SIGKILL');
    for (const endMs = performance.now() + 10_000; recovering === undefined && performance.now() < endMs; )
      recovering = recoveringProcess(pid);
  }
  assert.ok(recovering !== undefined, 'no recovery was seen');
  process.kill(recovering, 'SIGSTOP');
  await delay(6 * unreachableMaxMs);
  assert.deepEqual([postmasterPid(dataDir), isRunning(pid), isRunning(recovering)], [pid, true, true]);
  process.kill(recovering, 'SIGCONT');
  const deadlineMs = performance.now() + 60_000;
  let written: { n: number } | undefined;
  while (written === undefined && performance.now() < deadlineMs)
    [written] = await owner
      .query<{ n: number }>(sql`SELECT count(*)::int AS n FROM written`)
      .catch(() => delay(100, []));
  assert.ok((written?.n ?? 0) >= 1_000_000, 'what was acknowledged is there');
  assert.equal(postmasterPid(dataDir), pid, 'it is the same server');
  await owner.close();
  await server.stop();
  assert.equal(isRunning(pid), false);
});
