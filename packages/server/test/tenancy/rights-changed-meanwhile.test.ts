/**
 * Rights that change between the moment they are read and the statement that needs them: the request begins again with the new
 * ones, three times at most, and leaves nothing behind when it gives up (docs/integrate/contract.md#credentials).
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { patient } from '../support/records.ts';
import { type Caller, makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { tenantRows } from '../support/tenant-rows.ts';

const service = await openTestService({ after });
const { owner } = service.database;
const firm = await makeFirm(service, 'maple');
const caller = await openCaller(service, await makeApplication(service, 'Vendor', ['acl/*'], [firm]), firm);

// The next statements that write find their rights changed, as if another node had revoked something a moment before. Tests
// cannot hit that moment from outside, so the database does it, in the function that each of these statements calls first.
await owner.query(sql`CREATE TABLE changes_to_come (changes int NOT NULL)`);
await owner.query(sql`INSERT INTO changes_to_come VALUES (0)`);
await owner.query(sql`
  CREATE OR REPLACE FUNCTION praxis_in_time(in_lu bigint, in_value bigint) RETURNS bigint
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER
  AS $function$
  BEGIN
    UPDATE changes_to_come SET changes = changes - 1 WHERE changes > 0;
    IF FOUND THEN
      UPDATE access_epoch SET epoch = epoch + 1;
    END IF;
    RETURN in_value;
  END $function$`);

async function countChangesToCome(): Promise<number | undefined> {
  const [row] = await owner.query<{ changes: number }>(sql`SELECT changes FROM changes_to_come`);
  return row?.changes;
}

async function createWhile(changes: number, family: string): ReturnType<Caller['send']> {
  await owner.query(sql`UPDATE changes_to_come SET changes = ${changes}`);
  return await caller.send('POST', 'Patient', patient(family));
}

async function countPatients(family: string): Promise<number> {
  return (await caller.get(`Patient?family=${family}&_summary=count`)).json.total;
}

test('four changes during one request: 503 with the time to come again, and nothing is written', async () => {
  assert.equal((await caller.get('Patient')).status, 200);
  const { access_epoch: _before, ...before } = await tenantRows(owner);
  const answer = await createWhile(4, 'Four');
  assert.equal(await countChangesToCome(), 0);
  assert.equal(answer.status, 503, answer.text);
  assert.equal(answer.headers.get('retry-after'), '5');
  assert.equal(answer.json.issue[0].code, 'transient');
  assert.equal(answer.json.issue[0].details.coding[0].code, 'stale-access');
  const { access_epoch: _after, ...now } = await tenantRows(owner);
  assert.deepEqual(now, before);
  assert.equal(await countPatients('Four'), 0);
  assert.equal((await createWhile(0, 'Five')).status, 201);
});

for (const changes of [1, 2, 3]) {
  test(`rights that change ${changes} times: written once, with the rights of the last time`, async () => {
    const answer = await createWhile(changes, `Times${changes}`);
    assert.equal(await countChangesToCome(), 0);
    assert.equal(answer.status, 201, answer.text);
    assert.equal(answer.json.meta.versionId, '1');
    assert.equal(await countPatients(`Times${changes}`), 1);
  });
}
