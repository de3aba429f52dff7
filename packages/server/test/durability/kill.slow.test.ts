/**
 * kill -9 while applications write: what was acknowledged is there afterwards, whole, and the next start needs no hand.
 * Slow: kills and starts the service and its own database several times.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openPlatform } from '../../src/app.ts';
import { systemClock } from '../../src/base/clock.ts';
import { readConfig } from '../../src/base/config.ts';
import { sql } from '../../src/database/sql.ts';
import { testLog } from '../support/cluster.ts';
import { makeDataDir, postmasterPid } from '../support/embedded.ts';
import {
  answerOf,
  type Caller,
  callerOf,
  makeApplication,
  makeFirm,
  type TestApplication,
} from '../support/service.ts';
import { type Serving, serve } from './serving.ts';

const rounds = 20;
const writers = 4;

interface Ground {
  readonly dataDir: string;
  readonly application: TestApplication;
}

/** A data directory with one firm and one application. */
async function prepare(dataDir: string): Promise<Ground> {
  const config = readConfig({ PRAXIS_DATA_DIR: dataDir });
  const platform = await openPlatform({ config, clock: systemClock, log: testLog });
  try {
    const place = { platform, origin: '' };
    const firm = await makeFirm(place, 'maple');
    return { dataDir, application: await makeApplication(place, 'Writer', ['acl/*'], [firm]) };
  } finally {
    await platform.close();
  }
}

async function openWriter(origin: string, { application }: Ground): Promise<Caller> {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: application.clientId,
    client_secret: application.clientSecret,
  });
  const headers = { 'x-api-key': application.clientKey };
  const answer = await answerOf(
    await fetch(`${origin}/auth/realms/sandbox/protocol/openid-connect/token`, { method: 'POST', headers, body }),
  );
  assert.equal(answer.status, 200, answer.text);
  return callerOf({ base: `${origin}/sandbox/firm/maple/pm/fhir/v2` }, answer.json.access_token, application.clientKey);
}

/** Creates and updates until the service is gone; returns the last acknowledged body of each resource by id. */
async function writeUntilKilled(caller: Caller, acknowledged: Map<string, string>): Promise<void> {
  for (let number = 0; ; number++) {
    try {
      const patient = { resourceType: 'Patient', name: [{ family: `Family ${number}` }] };
      const created = await caller.send('POST', 'Patient', patient);
      assert.equal(created.status, 201, created.text);
      acknowledged.set(created.json.id, created.text);
      const changed = await caller.send('PUT', `Patient/${created.json.id}`, {
        ...patient,
        id: created.json.id,
        active: true,
      });
      assert.equal(changed.status, 200, changed.text);
      acknowledged.set(created.json.id, changed.text);
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      return; // the connection broke: what was under way was not acknowledged
    }
  }
}

/** Every acknowledged resource is there, as acknowledged or one version further: that write's answer was lost, not it. */
async function requireAll(caller: Caller, acknowledged: ReadonlyMap<string, string>): Promise<void> {
  for (const [id, text] of acknowledged) {
    const read = await caller.get(`Patient/${id}`);
    assert.equal(read.status, 200, `Patient/${id} is lost: ${read.text}`);
    const version = Number(JSON.parse(text).meta.versionId);
    const first = await caller.get(`Patient/${id}/_history/${version}`);
    assert.equal(first.text, text);
  }
}

/** Who is killed with signal 9: by process number, or by group when negative. */
const victims: Readonly<Record<string, (serving: Serving, dataDir: string) => number[]>> = {
  'the service': ({ pid }) => [-pid],
  'the service with its database server': ({ pid }, dataDir) => [-pid, postmasterPid(dataDir) ?? 0],
};

for (const [name, choose] of Object.entries(victims)) {
  test(`kill -9 of ${name} during writes, ${rounds} times: nothing acknowledged is lost and the next start needs no hand`, {
    timeout: 280_000,
  }, async (t) => {
    const ground = await prepare(makeDataDir(t));
    const acknowledged = new Map<string, string>();
    for (let round = 0; round < rounds; round++) {
      const serving = await serve(ground.dataDir);
      const caller = await openWriter(serving.origin, ground);
      await requireAll(caller, acknowledged);
      acknowledged.clear();
      const writing = Array.from({ length: writers }, () => writeUntilKilled(caller, acknowledged));
      while (acknowledged.size === 0) await delay(1);
      await delay(round * 7);
      for (const pid of choose(serving, ground.dataDir)) process.kill(pid, 'SIGKILL');
      await Promise.all([...writing, serving.ended]);
    }
    const serving = await serve(ground.dataDir);
    await requireAll(await openWriter(serving.origin, ground), acknowledged);
    process.kill(serving.pid, 'SIGTERM');
    await serving.ended;
    assert.equal(serving.child.exitCode, 0);
    assert.equal(postmasterPid(ground.dataDir), undefined);
  });
}

test('the embedded database is durable: fsync, synchronous_commit and full_page_writes are on, for the service too', async (t) => {
  const config = readConfig({ PRAXIS_DATA_DIR: makeDataDir(t) });
  const platform = await openPlatform({ config, clock: systemClock, log: testLog });
  t.after(() => platform.close());
  const rows = await platform.database.query<{ name: string; setting: string }>(sql`
    SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes') ORDER BY name`);
  assert.deepEqual(rows, [
    { name: 'fsync', setting: 'on' },
    { name: 'full_page_writes', setting: 'on' },
    { name: 'synchronous_commit', setting: 'on' },
  ]);
});
