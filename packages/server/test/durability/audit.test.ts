/**
 * kill -9 of the service under load (issue 4, Must show 7): no write is without its row in the audit ledger, and of the
 * rows of reads only those of the last moments before the kill are missing.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openPlatform, type Platform } from '../../src/app.ts';
import { openHeadFiles } from '../../src/audit/head-files.ts';
import { verifyLedger } from '../../src/audit/verify.ts';
import { systemClock } from '../../src/base/clock.ts';
import { readConfig } from '../../src/base/config.ts';
import { sql } from '../../src/database/sql.ts';
import { testLog } from '../support/cluster.ts';
import { makeDataDir } from '../support/embedded.ts';
import { answerOf, type Caller, callerOf, makeApplication, makeFirm } from '../support/service.ts';
import { serve } from './serving.ts';

const rounds = 5;
const writers = 3;
const readers = 5;

/** The promise: rows of reads are written within this time of their answers. */
const lostMaxMs = 200;

/**
 * What two loaded cores may add between the clock of this process, which notes an answer when it comes to read it, and the
 * statement of the service.
 */
const clockSlackMs = 150;

interface Load {
  readonly caller: Caller;
  readonly patient: string;
  /** Request id → when its answer was here. */
  readonly writes: Map<string, number>;
  readonly reads: Map<string, number>;
}

async function repeat(count: number, name: string, kept: Map<string, number>, call: (id: string) => Promise<number>) {
  await Promise.all(
    Array.from({ length: count }, async (_, worker) => {
      for (let number = 0; ; number++) {
        const id = `${name}-${worker}-${number}`;
        try {
          const status = await call(id);
          kept.set(id, Date.now());
          assert.ok(status < 300, String(status));
        } catch (error) {
          if (error instanceof assert.AssertionError) throw error;
          return; // the connection broke
        }
      }
    }),
  );
}

async function loadUntilKilled({ caller, patient, writes, reads }: Load, round: number): Promise<void> {
  const body = { resourceType: 'Patient', name: [{ family: 'Load' }] };
  await Promise.all([
    repeat(
      writers,
      `write-${round}`,
      writes,
      async (id) => (await caller.send('POST', 'Patient', body, { 'x-request-id': id })).status,
    ),
    repeat(
      readers,
      `read-${round}`,
      reads,
      async (id) => (await caller.get(`Patient/${patient}`, { 'x-request-id': id })).status,
    ),
  ]);
}

/** The request ids in the ledger of the firm. */
async function noted({ database }: Platform, firm: number): Promise<ReadonlySet<string>> {
  const rows = await database
    .forFirm(firm)
    .query<{ id: string }>(sql`SELECT request_id AS id FROM audit_event WHERE firm = ${firm}`);
  return new Set(rows.map(({ id }) => id));
}

test(`kill -9 under load, ${rounds} times: no write is without its audit row, no read of more than ${lostMaxMs} ms before`, {
  timeout: 200_000,
}, async (t) => {
  const dataDir = makeDataDir(t);
  const config = readConfig({ PRAXIS_DATA_DIR: dataDir });
  const prepared = await openPlatform({ config, clock: systemClock, log: testLog });
  const firm = await makeFirm({ platform: prepared, origin: '' }, 'maple');
  const application = await makeApplication({ platform: prepared }, 'Load', ['acl/*'], [firm]);
  await prepared.close();
  for (let round = 0; round < rounds; round++) {
    const serving = await serve(dataDir);
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: application.clientId,
      client_secret: application.clientSecret,
    });
    const headers = { 'x-api-key': application.clientKey };
    const url = `${serving.origin}/auth/realms/sandbox/protocol/openid-connect/token`;
    const token = await answerOf(await fetch(url, { method: 'POST', headers, body: form }));
    const base = `${serving.origin}/sandbox/firm/maple/pm/fhir/v2`;
    const caller = callerOf({ base }, token.json.access_token, application.clientKey);
    const created = await caller.send('POST', 'Patient', { resourceType: 'Patient' });
    assert.equal(created.status, 201);
    const load: Load = { caller, patient: created.json.id, writes: new Map(), reads: new Map() };
    const loading = loadUntilKilled(load, round);
    while (load.reads.size < 200 || load.writes.size < 20) await delay(10);
    await delay(round * 37);
    const killedAtMs = Date.now();
    process.kill(serving.pid, 'SIGKILL');
    await Promise.all([loading, serving.ended]);
    const platform = await openPlatform({ config, clock: systemClock, log: testLog });
    try {
      const rows = await noted(platform, firm.id);
      const lostWrites = [...load.writes.keys()].filter((id) => !rows.has(id));
      assert.deepEqual(lostWrites, [], 'acknowledged writes without a row');
      const lostReads = [...load.reads].filter(([id]) => !rows.has(id)).map(([, atMs]) => killedAtMs - atMs);
      const oldest = Math.max(0, ...lostReads);
      t.diagnostic(
        `${load.writes.size} writes, ${load.reads.size} reads; ${lostReads.length} rows of reads lost, the oldest ${oldest} ms before`,
      );
      assert.ok(oldest <= lostMaxMs + clockSlackMs, `a read of ${oldest} ms before the kill has no row`);
      const { secrets, database } = platform;
      const check = await verifyLedger({ database, secrets, heads: openHeadFiles(`${dataDir}/audit-heads`) }, firm.id);
      assert.deepEqual(check.findings, []);
    } finally {
      await platform.close();
    }
  }
});

test('at shutdown nothing is lost', async (t) => {
  const dataDir = makeDataDir(t);
  const serving = await serve(dataDir);
  const answer = await fetch(`${serving.origin}/sandbox/firm/nowhere/pm/fhir/v2/Patient`, {
    headers: { authorization: 'Bearer x', 'x-api-key': 'y', 'x-request-id': 'last-one' },
  });
  assert.equal(answer.status, 401);
  process.kill(serving.pid, 'SIGTERM');
  await serving.ended;
  const platform = await openPlatform({
    config: readConfig({ PRAXIS_DATA_DIR: dataDir }),
    clock: systemClock,
    log: testLog,
  });
  t.after(() => platform.close());
  assert.ok((await noted(platform, 0)).has('last-one'));
});
