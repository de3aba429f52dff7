/** GET /health/ready: 503 while writes fail or the database does not answer, and 200 again by itself (docs/decisions/0246). */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type Sql, sql } from '../../src/database/sql.ts';
import { patient } from '../support/records.ts';
import { answerOf, makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const service = await openTestService({ after });
const firm = await makeFirm(service, 'maple');
const caller = await openCaller(service, await makeApplication(service, 'Everything', ['acl/*'], [firm]), firm);
const { owner } = service.database;

async function ready() {
  return await answerOf(await fetch(`${service.origin}/health/ready`));
}

/** As a full disk does: reads succeed, and whatever is written fails. */
async function failWrites(condition: Sql): Promise<void> {
  await owner.query(sql`
    CREATE FUNCTION fail_write() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${condition} END $$`);
  for (const table of ['write_probe', 'resource'])
    await owner.query(sql`
      CREATE TRIGGER fail_write BEFORE INSERT OR UPDATE ON ${sql.identifier(table)} FOR EACH ROW EXECUTE FUNCTION fail_write()`);
}

async function endFailing(): Promise<void> {
  await owner.query(sql`DROP FUNCTION fail_write CASCADE`);
}

for (const [problem, condition] of [
  ['Writes fail: the disk of the database is full', sql`RAISE disk_full;`],
  ['Writes fail: the disk of the database reports errors', sql`RAISE io_error;`],
  ['Writes fail: the database refuses them (SQLSTATE 42501)', sql`RAISE insufficient_privilege;`],
] as const) {
  test(`not ready: ${problem}`, async () => {
    assert.equal((await ready()).status, 200);
    await failWrites(condition);
    assert.ok((await caller.send('POST', 'Patient', patient('Stone'))).status >= 500);
    await service.service.jobs.settle();
    const answer = await ready();
    assert.equal(answer.status, 503);
    assert.deepEqual(answer.json, { status: 'unavailable', problems: [problem] });
    assert.match(answer.headers.get('retry-after') ?? '', /^\d+$/);
    await endFailing();
    await service.service.jobs.settle();
    assert.deepEqual((await ready()).json, { status: 'ok' });
    assert.equal((await caller.send('POST', 'Patient', patient('Stone'))).status, 201);
  });
}

test('probes of readiness write nothing themselves', async () => {
  const written = () => owner.query(sql`SELECT xmin::text, written_at::text FROM write_probe`);
  await owner.transaction(undefined, async (tx) => {
    await tx.query(sql`SELECT FROM write_probe FOR UPDATE`); // whose row others pass over
    const before = await written();
    for (let times = 0; times < 20; times += 1) assert.equal((await ready()).status, 200);
    await service.service.jobs.settle();
    assert.deepEqual(await written(), before);
  });
});

test('a database that hangs makes it answer 503, and soon: while it still hangs', async () => {
  const answers = await owner.transaction(undefined, async (tx) => {
    await tx.query(sql`LOCK TABLE completeness, write_probe IN ACCESS EXCLUSIVE MODE`);
    const asked = Promise.all([ready(), ready(), ready()]);
    return await Promise.race([asked, delay(8_000, [])]);
  });
  assert.equal(answers.length, 3, 'answered while the database hung');
  for (const { status, json, headers } of answers) {
    assert.equal(status, 503);
    assert.deepEqual(json, { status: 'unavailable', problems: ['The database does not answer'] });
    assert.match(headers.get('retry-after') ?? '', /^\d+$/);
  }
});
