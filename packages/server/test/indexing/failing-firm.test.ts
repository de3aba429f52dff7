/**
 * Work on a firm that fails again and again, here because a stored row is broken: it is parked after five failures, and the work
 * of other firms goes on (docs/decisions/0219).
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { commands } from '../../src/cli/commands.ts';
import { sql } from '../../src/database/sql.ts';
import { openIndexingJob } from '../../src/indexing/firm-parameters.ts';
import { listJobFailures, noteJobFailure } from '../../src/jobs/job-failures.ts';
import { runCommand } from '../cli/platform.ts';
import { captureLog } from '../support/captured-log.ts';
import { type Caller, makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const { log, lines } = captureLog();
const service = await openTestService({ after }, {}, log);
const { jobs, parts } = service.service;
const { database } = service.platform;
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const full = await makeApplication(service, 'Full', ['acl/*'], [maple, cedar]);
const atMaple = await openCaller(service, full, maple);
const atCedar = await openCaller(service, full, cedar);

const secret = 'Melanoma';
const flag = {
  resourceType: 'Flag',
  id: 'f',
  status: 'active',
  code: { text: secret },
  subject: { reference: 'Patient/1' },
};

async function define(caller: Caller, code: string): Promise<void> {
  const answer = await caller.send('PUT', `SearchParameter/${code}`, {
    ...{ resourceType: 'SearchParameter', id: code, url: `https://example.org/fhir/SearchParameter/${code}` },
    ...{ name: code, status: 'active', description: 'Text', code, base: ['Flag'], type: 'string' },
    expression: 'Flag.code.text',
  });
  assert.equal(answer.status, 201, answer.text);
}

async function standing(caller: Caller, code: string): Promise<Record<string, unknown>> {
  const { json, text } = await caller.get(`SearchParameter/${code}/$status`);
  const part: Record<string, unknown>[] = json?.parameter?.at(-1)?.part;
  assert.ok(part, text);
  return Object.fromEntries(part.map(({ name, ...value }) => [name, Object.values(value)[0]]));
}

const parked = async (): Promise<string | undefined> =>
  /^praxis_jobs_parked\{job_name="search-parameters"\} (\d+)$/m.exec(await parts.metrics.registry.metrics())?.[1];
const pausesMs = [10_000, 40_000, 160_000, 640_000];

test('the failure of one firm neither ends nor delays the work of another', async () => {
  for (const caller of [atMaple, atCedar]) assert.equal((await caller.send('PUT', 'Flag/f', flag)).status, 201);
  await service.database.owner.query(
    sql`UPDATE resource SET content = ${`{"resourceType":"Flag","text":${secret}`} WHERE firm = ${maple.id} AND id = 'f'`,
  );
  await define(atMaple, 'broken');
  await define(atCedar, 'whole');
  await jobs.settle();
  assert.equal((await standing(atCedar, 'whole'))['state'], 'active');
  assert.equal((await standing(atMaple, 'broken'))['state'], 'indexing');
});

test('it is tried again after pauses, and parked after five failures in a row', async () => {
  for (const [index, pauseMs] of pausesMs.entries()) {
    const [failure] = await listJobFailures(database, maple.id);
    const nowMs = service.clock.now();
    assert.deepEqual([failure?.failures, failure?.retryMs], [index + 1, nowMs + pauseMs]);
    service.clock.advance(pauseMs - 1);
    await jobs.settle();
    assert.equal((await listJobFailures(database, maple.id))[0]?.failures, index + 1);
    service.clock.advance(1);
    await jobs.settle();
  }
  const failures = await listJobFailures(database);
  assert.deepEqual(failures, [
    {
      job: 'search-parameters',
      environment: 'sandbox',
      prefix: 'maple',
      failures: 5,
      reason: failures[0]?.reason,
      failedMs: service.clock.now(),
      retryMs: null,
    },
  ]);
  assert.match(String(failures[0]?.reason), /^internal error \(\w+\)$/);
  assert.equal(await parked(), '1');
  const { state, reason } = await standing(atMaple, 'broken');
  assert.equal(state, 'indexing');
  assert.equal(reason, `Its indexing has stopped until an operator releases it: ${failures[0]?.reason}`);
});

test('the log tells of it, without a word of the resource', () => {
  const told = lines.map((line) => JSON.parse(line)).filter(({ job }) => job === 'search-parameters');
  assert.deepEqual(
    told.map(({ msg, firm }) => [msg, firm]),
    [
      ...Array(4).fill(['a job failed for a firm and pauses', maple.id]),
      ['a job is parked for a firm until it is released', maple.id],
    ],
  );
  assert.ok(!lines.join('').includes(secret), lines.join('').slice(0, 2_000));
});

test('a process that starts later leaves a parked firm alone, and works on the others', async () => {
  service.clock.advance(10_000);
  await define(atCedar, 'later');
  const anotherProcess = openIndexingJob({ ...parts, database, baseUrlOf: () => maple.base });
  while ((await anotherProcess.run()) !== 'done');
  assert.equal((await listJobFailures(database, maple.id))[0]?.failures, 5);
  assert.equal((await standing(atCedar, 'later'))['state'], 'active');
});

test('a failure of other firms keeps nobody from having a turn, however many they are', async () => {
  const others = await Promise.all(Array.from({ length: 17 }, (_, index) => makeFirm(service, `f${index}`)));
  const [first] = others;
  assert.ok(first);
  await noteJobFailure(database, 'search-parameters', first.id, { reason: 'test', nowMs: service.clock.now() });
  for (const { id } of others)
    await service.database.owner.query(sql`INSERT INTO firm_search_parameter_change (firm) VALUES (${id})`);
  await define(atCedar, 'last');
  await jobs.settle();
  assert.equal((await standing(atCedar, 'last'))['state'], 'active');
  const left = await service.database.owner.query(sql`SELECT firm FROM firm_search_parameter_change`);
  assert.deepEqual(left, [{ firm: first.id }]);
});

test('released by an operator it begins anew', async () => {
  await service.database.owner.query(
    sql`UPDATE resource SET content = ${JSON.stringify(flag)} WHERE firm = ${maple.id} AND id = 'f'`,
  );
  await jobs.settle();
  assert.equal((await standing(atMaple, 'broken'))['state'], 'indexing');
  const printed: string[] = [];
  const run = async (...line: readonly string[]): Promise<void> => {
    printed.push(...(await runCommand(service.platform, commands, ...line)).output);
  };
  await run('job', 'list');
  assert.match(printed.join('\n'), /search-parameters\s+sandbox\s+maple\s+5\s.*parked\s+internal error/);
  await run('job', 'release', 'search-parameters', 'maple');
  await assert.rejects(run('job', 'release', 'search-parameters', 'maple'), /is no job that has failed for firm maple/);
  await assert.rejects(run('job', 'release', 'other', 'maple'), /other is no job/);
  await jobs.settle();
  assert.equal((await standing(atMaple, 'broken'))['state'], 'active');
  assert.deepEqual(await listJobFailures(database, maple.id), []);
  assert.equal(await parked(), '0');
});
