/**
 * Stopping as npm, shells and service managers do it, and starting on data that is already there.
 * Slow: starts and stops the service and its own database several times.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openPlatform } from '../../src/app.ts';
import { systemClock } from '../../src/base/clock.ts';
import { readConfig } from '../../src/base/config.ts';
import { listFirms } from '../../src/tenancy/firms.ts';
import { testLog } from '../support/cluster.ts';
import { makeDataDir, postmasterPid } from '../support/embedded.ts';
import { makeFirm } from '../support/service.ts';
import { serve } from './serving.ts';

const open = (dataDir: string) =>
  openPlatform({ config: readConfig({ PRAXIS_DATA_DIR: dataDir }), clock: systemClock, log: testLog });

test('a signal that arrives several times at once is one wish to stop: the database is stopped, too', async (t) => {
  const dataDir = makeDataDir(t);
  const serving = await serve(dataDir);
  for (const pauseMs of [0, 20, 20]) {
    await delay(pauseMs);
    process.kill(serving.pid, 'SIGTERM');
  }
  await serving.ended;
  assert.equal(serving.child.exitCode, 0);
  assert.equal(postmasterPid(dataDir), undefined);
});

test('serve --sandbox touches nothing in a database that holds firms and was not seeded here', async (t) => {
  const dataDir = makeDataDir(t);
  const before = await open(dataDir);
  await makeFirm({ platform: before, origin: '' }, 'maple');
  await before.close();
  const serving = await serve(dataDir, ['--sandbox']);
  process.kill(serving.pid, 'SIGTERM');
  await serving.ended;
  assert.match(serving.said.join('\n'), /^no sandbox: the database holds firms already/m);
  const after = await open(dataDir);
  t.after(() => after.close());
  assert.deepEqual(
    (await listFirms(after.database, 'sandbox')).map(({ prefix, name }) => [prefix, name]),
    [['maple', 'Firm maple']],
  );
  assert.deepEqual(await listFirms(after.database, 'prod'), []);
});
