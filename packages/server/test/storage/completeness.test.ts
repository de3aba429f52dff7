/** X-Complete-Until: nothing last updated before it is yet to come (docs/decisions/0172). */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { PraxisError } from '../../src/base/errors.ts';
import { sql } from '../../src/database/sql.ts';
import { openCompletenessJob, readFloor } from '../../src/storage/completeness.ts';
import { openStore } from '../../src/storage/store.ts';
import { openTestDatabase } from '../support/database.ts';
import { patient } from '../support/records.ts';
import { makeApplication, makeFirm, openCaller, openTestService, startMs } from '../support/service.ts';
import { makeFirms, nowMs, resourceWrite } from './fixture.ts';

const lagMs = 10_000;

const steady = (now: () => number) => ({ now, isSteady: () => true });

/** Waits until every transaction of the cluster that has an id now has ended. */
async function untilEnded(owner: Awaited<ReturnType<typeof openTestDatabase>>['owner']): Promise<void> {
  const [now] = await owner.query<{ xid: string }>(sql`SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS xid`);
  for (;;) {
    const [row] = await owner.query<{ ended: boolean }>(
      sql`SELECT pg_snapshot_xmin(pg_current_snapshot()) >= ${now?.xid ?? '0'}::xid8 AS ended`,
    );
    if (row?.ended === true) return;
  }
}

test('a floor is settled once no transaction that may not have seen it runs', async (t) => {
  const { owner, runtime } = await openTestDatabase(t);
  const { maple } = await makeFirms(owner);
  const store = openStore(runtime);
  let clockMs = nowMs + lagMs;
  const { run } = openCompletenessJob(
    runtime,
    steady(() => clockMs),
    lagMs,
  );
  assert.equal(await store.completeUntil(maple), 0);
  await store.transaction(maple, async (inside) => {
    await inside.write(maple, resourceWrite('early', 0, { lastUpdatedMs: nowMs - 1 }));
    await run();
    for (let step = 0; step < 3; step += 1) await run();
    assert.equal(await store.completeUntil(maple), 0, 'a version below the floor can still appear');
  });
  await untilEnded(owner);
  await run();
  assert.equal(await store.completeUntil(maple), nowMs);
  clockMs += 5;
  await run();
  await untilEnded(owner);
  await run();
  assert.equal(await store.completeUntil(maple), nowMs + 5);
});

test('a floor that is not settled yet is looked at sooner than the next one is set', async (t) => {
  const { owner, runtime } = await openTestDatabase(t);
  const { maple } = await makeFirms(owner);
  const store = openStore(runtime);
  const steps = openCompletenessJob(
    runtime,
    steady(() => nowMs + 30_000),
    30_000,
  );
  await store.transaction(maple, async (inside) => {
    await inside.write(maple, resourceWrite('early', 0, { lastUpdatedMs: nowMs - 1 }));
    await steps.run();
    assert.equal(await store.completeUntil(maple), 0);
    assert.equal(steps.pauseMs, 1_000);
  });
  await untilEnded(owner);
  await steps.run();
  assert.equal(await store.completeUntil(maple), nowMs);
  assert.equal(steps.pauseMs, 3_000);
});

test('below the floor nothing is written any more, and what is said never goes back', async (t) => {
  const { owner, runtime } = await openTestDatabase(t);
  const { maple } = await makeFirms(owner);
  const store = openStore(runtime);
  await openCompletenessJob(
    runtime,
    steady(() => nowMs + lagMs),
    lagMs,
  ).run();
  await assert.rejects(
    store.write(maple, resourceWrite('late', 0, { lastUpdatedMs: nowMs - 1 })),
    (error: unknown) => error instanceof PraxisError && error.code === 'unavailable' && /clock/.test(error.message),
  );
  assert.equal(await store.exists(maple, 'Patient', 'late'), false);
  assert.equal((await store.write(maple, resourceWrite('in-time', 0, { lastUpdatedMs: nowMs }))).outcome, 'written');
  await untilEnded(owner);
  const behind = openCompletenessJob(
    runtime,
    steady(() => nowMs),
    lagMs,
  );
  await behind.run();
  assert.equal(await store.completeUntil(maple), nowMs);
  await behind.run();
  assert.equal(await store.completeUntil(maple), nowMs);
});

test('while the time is not steady the floor rises no faster than time passes, and not at all at first', async (t) => {
  const { owner, runtime } = await openTestDatabase(t);
  const { maple } = await makeFirms(owner);
  const store = openStore(runtime);
  let passedMs = 0;
  let clockMs = nowMs;
  let isSteady = false;
  const stepsOf = () =>
    openCompletenessJob(runtime, { now: () => clockMs, isSteady: () => isSteady }, lagMs, () => passedMs);
  const steps = stepsOf();
  const floorAfter = async ({ run }: { run(): Promise<unknown> }): Promise<number> => {
    await untilEnded(owner);
    await run();
    return await readFloor(runtime);
  };
  assert.equal(await floorAfter(steps), 0);
  isSteady = true;
  assert.equal(await floorAfter(steps), nowMs - lagMs);
  isSteady = false;
  clockMs = nowMs + 400 * 86_400_000;
  passedMs += 1_000;
  assert.equal(await floorAfter(steps), nowMs - lagMs + 1_000);
  assert.equal(await floorAfter(stepsOf()), nowMs - lagMs + 1_000, 'a process that has seen no floor yet');
  assert.equal((await store.write(maple, resourceWrite('in-time', 0, { lastUpdatedMs: nowMs }))).outcome, 'written');
  clockMs = nowMs + 20_000;
  passedMs += 20_000;
  isSteady = true;
  assert.equal(await floorAfter(steps), clockMs - lagMs);
});

test('searches by _lastUpdated, and the end of the change feed, say up to when they are complete', async () => {
  const service = await openTestService({ after }, { PRAXIS_COMPLETE_LAG_MS: String(lagMs) });
  const maple = await makeFirm(service, 'maple');
  const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);
  await full.send('POST', 'Patient', patient('A'));
  for (let step = 0; step < 3; step += 1) {
    await untilEnded(service.database.owner);
    await service.service.jobs.settle();
  }
  const said = new Date(startMs - lagMs).toISOString();
  for (const path of [
    'Patient?_lastUpdated=gt2000',
    'Patient?_sort=-_lastUpdated',
    '?_type=Patient&_lastUpdated=gt2000',
    '$changes',
  ]) {
    const { status, headers, text } = await full.get(path);
    assert.equal(status, 200, text);
    assert.equal(headers.get('x-complete-until'), said, path);
  }
  const form = await full.send('POST', 'Patient/_search', '_lastUpdated=gt2000', {
    'content-type': 'application/x-www-form-urlencoded',
  });
  assert.equal(form.headers.get('x-complete-until'), said);
  assert.equal((await full.get('Patient')).headers.get('x-complete-until'), null);
  assert.equal(
    (await full.get('Patient?_lastUpdated=gt2000', { 'x-api-key': 'wrong' })).headers.get('x-complete-until'),
    null,
  );
});
