/**
 * kill -9 of service and database while keyed writes are under way: each is repeated with its key until it is answered, and
 * has had one effect (docs/decisions/0173). A follower of the change feed goes on from its place after each start, and has
 * missed nothing (docs/decisions/0171).
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
import { applyTo, type Copy, openFollowing } from '../support/follower.ts';
import { patient } from '../support/records.ts';
import { type Caller, callerOf, makeApplication, makeFirm, postForm } from '../support/service.ts';
import { serve } from './serving.ts';

const rounds = 6;
const writers = 6;

test(`${rounds} kills, ${writers} writers: one effect for each key, and a follower that misses none`, {
  timeout: 280_000,
}, async (t) => {
  const dataDir = makeDataDir(t);
  const config = readConfig({ PRAXIS_DATA_DIR: dataDir });
  const platform = await openPlatform({ config, clock: systemClock, log: testLog });
  const firm = await makeFirm({ platform, origin: '' }, 'maple');
  const application = await makeApplication({ platform }, 'Writer', ['acl/*'], [firm]);
  await platform.close();

  const answered = new Map<string, string>();
  const copy: Copy = new Map();
  const versions = new Map<string, number>();
  let place = '$changes?_count=50';
  const follow = async (caller: Caller): Promise<void> => {
    const following = openFollowing(caller, place);
    applyTo(copy, await following.read(), versions);
    place = following.place.slice(following.place.indexOf('$changes'));
  };
  const open: string[] = [];
  let made = 0;
  /** Writes what is still open, then more, until the service is gone. */
  const write = async (caller: Caller): Promise<void> => {
    for (;;) {
      const key = open.pop() ?? `key-${made++}`;
      try {
        const answer = await caller.send('POST', 'Patient', patient(key), { 'idempotency-key': `"${key}"` });
        assert.ok([201, 409, 503].includes(answer.status), answer.text);
        if (answer.status === 201) answered.set(key, answer.json.id);
        else open.push(key);
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        return void open.push(key); // the connection broke: nobody knows what came of it
      }
    }
  };
  const enter = async (origin: string): Promise<Caller> => {
    const { clientId, clientSecret, clientKey } = application;
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    const token = await postForm(`${origin}/auth/realms/sandbox/protocol/openid-connect/token`, form, clientKey);
    return callerOf({ base: `${origin}/sandbox/firm/maple/pm/fhir/v2` }, token.json.access_token, clientKey);
  };

  for (let round = 0; round < rounds; round += 1) {
    const serving = await serve(dataDir);
    const caller = await enter(serving.origin);
    await follow(caller);
    const before = answered.size;
    const writing = Array.from({ length: writers }, () => write(caller));
    while (answered.size < before + writers) await delay(1);
    await delay(round * 9);
    const database = postmasterPid(dataDir) ?? 0;
    for (const pid of round % 2 === 0 ? [-serving.pid] : [-serving.pid, database]) process.kill(pid, 'SIGKILL');
    await Promise.all([...writing, serving.ended]);
  }
  assert.ok(open.length >= writers, 'every kill left writes without an answer');
  const serving = await serve(dataDir);
  const caller = await enter(serving.origin);
  for (const key of open) {
    const answer = await caller.send('POST', 'Patient', patient(key), { 'idempotency-key': `"${key}"` });
    assert.equal(answer.status, 201, answer.text);
    answered.set(key, answer.json.id);
  }
  await follow(caller);
  process.kill(serving.pid, 'SIGTERM');
  await serving.ended;
  assert.deepEqual([...copy.keys()].toSorted(), [...answered.values()].map((id) => `Patient/${id}`).toSorted());

  const after = await openPlatform({ config, clock: systemClock, log: testLog });
  t.after(() => after.close());
  const rows = await after.asOwner((owner) =>
    owner.query<{ id: string; family: string; versions: number }>(sql`
      SELECT r.id, r.content::jsonb->'name'->0->>'family' AS family,
        (SELECT count(*)::int FROM resource_version v WHERE v.firm = r.firm AND v.rtype = r.rtype AND v.id = r.id) AS versions
      FROM resource r`),
  );
  const effects = rows.map(({ id, family, versions }) => [family, id, versions]);
  assert.deepEqual(effects.toSorted(), [...answered].map(([key, id]) => [key, id, 1]).toSorted());
});
