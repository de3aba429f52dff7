/**
 * kill -9 of the service under load: no write is without its row in the audit ledger, and of the
 * rows of reads only those of the last moments before the kill are missing.
 * Slow: kills and starts the service and its own database several times.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openPlatform, type Platform } from '../../src/app.ts';
import { openHeadFiles } from '../../src/audit/head-files.ts';
import { verifyLedger } from '../../src/audit/verify.ts';
import { systemClock } from '../../src/base/clock.ts';
import { type Config, readConfig } from '../../src/base/config.ts';
import { sql } from '../../src/database/sql.ts';
import { testLog } from '../support/cluster.ts';
import { makeDataDir } from '../support/embedded.ts';
import {
  type Caller,
  callerOf,
  clientForm,
  makeApplication,
  makeFirm,
  postForm,
  type TestApplication,
} from '../support/service.ts';
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
    .query<{ id: string }>(sql`SELECT request_id AS id FROM audit_ledger WHERE firm = ${firm}`);
  return new Set(rows.map(({ id }) => id));
}

/** A firm and an application that may act there. */
async function prepare(config: Config) {
  const platform = await openPlatform({ config, clock: systemClock, log: testLog });
  const firm = await makeFirm({ platform, origin: '' }, 'maple');
  const application = await makeApplication({ platform }, 'Load', ['acl/*'], [firm]);
  await platform.close();
  return { firm, application };
}

/** The application with a token of the service at `origin`. */
async function callerAt(origin: string, application: TestApplication): Promise<Caller> {
  const url = `${origin}/auth/realms/sandbox/protocol/openid-connect/token`;
  const token = await postForm(url, clientForm(application), application.clientKey);
  const base = `${origin}/sandbox/firm/maple/pm/fhir/v2`;
  return callerOf({ base }, token.json.access_token, application.clientKey);
}

test(`kill -9 under load, ${rounds} times: no write is without its audit row, no read of more than ${lostMaxMs} ms before`, {
  timeout: 200_000,
}, async (t) => {
  const dataDir = makeDataDir(t);
  const config = readConfig({ PRAXIS_DATA_DIR: dataDir });
  const { firm, application } = await prepare(config);
  for (let round = 0; round < rounds; round++) {
    const serving = await serve(dataDir);
    const caller = await callerAt(serving.origin, application);
    const created = await caller.send('POST', 'Patient', { resourceType: 'Patient' });
    assert.equal(created.status, 201);
    const load: Load = { caller, patient: created.json.id, writes: new Map(), reads: new Map() };
    const loading = loadUntilKilled(load, round);
    while (load.reads.size < 200 || load.writes.size < 20) await delay(10);
    await delay(round * 37);
    const killedAtMs = Date.now();
    process.kill(-serving.pid, 'SIGKILL');
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
      const heads = openHeadFiles(`${dataDir}/audit-heads`);
      const check = await verifyLedger({ database, secrets, clock: systemClock, heads }, firm.id);
      assert.deepEqual(check.findings, []);
    } finally {
      await platform.close();
    }
  }
});

/** Reads under way when the service is told to end. */
const lastReads = 40;

test('at shutdown nothing is lost: reads of the last moment, and who was turned away, have their rows under a seal', {
  timeout: 120_000,
}, async (t) => {
  const dataDir = makeDataDir(t);
  const config = readConfig({ PRAXIS_DATA_DIR: dataDir });
  const { firm, application } = await prepare(config);
  const serving = await serve(dataDir);
  const caller = await callerAt(serving.origin, application);
  const created = await caller.send('POST', 'Patient', { resourceType: 'Patient' });
  assert.equal(created.status, 201);
  await delay(2 * lostMaxMs); // rows of before are written, so that those of now wait for the next batch
  const answered: string[] = [];
  const begunAtMs = Date.now();
  const turnedAway = fetch(`${serving.origin}/sandbox/firm/nowhere/pm/fhir/v2/Patient`, {
    headers: { authorization: 'Bearer x', 'x-api-key': 'y', 'x-request-id': 'last-stranger' },
  });
  const reads = Array.from({ length: lastReads }, async (_, at) => {
    const { status } = await caller.get(`Patient/${created.json.id}`, { 'x-request-id': `last-${at}` });
    assert.equal(status, 200);
    answered.push(`last-${at}`);
  });
  assert.equal((await turnedAway).status, 401);
  await Promise.any(reads);
  process.kill(serving.pid, 'SIGTERM');
  const [signalAtMs, before] = [Date.now(), answered.length];
  await Promise.allSettled(reads); // what had not been taken when the service closed its door has no answer
  t.diagnostic(
    `${before} reads answered in the ${signalAtMs - begunAtMs} ms before the signal, ${answered.length} in all`,
  );
  await serving.ended;
  const platform = await openPlatform({ config, clock: systemClock, log: testLog });
  t.after(() => platform.close());
  const rows = await noted(platform, firm.id);
  assert.deepEqual(
    answered.filter((id) => !rows.has(id)),
    [],
  );
  assert.ok((await noted(platform, 0)).has('last-stranger'));
  const { secrets, database } = platform;
  const heads = openHeadFiles(`${dataDir}/audit-heads`);
  for (const ledger of [firm.id, 0]) {
    const check = await verifyLedger({ database, secrets, clock: systemClock, heads }, ledger);
    assert.deepEqual(check.findings, []);
    assert.ok(check.sealedRows > 0);
    assert.equal(check.openRows, 0, `of ledger ${ledger}`);
  }
});
