/**
 * Slow: attempts that take 8 s each. Rights that change while a request is worked on for long: it is not begun again for as long
 * as they change, since clients give up (docs/integrate/contract.md#credentials).
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { patient } from '../support/records.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const service = await openTestService({ after });
const { owner } = service.database;
const firm = await makeFirm(service, 'maple');
const caller = await openCaller(service, await makeApplication(service, 'Vendor', ['acl/*'], [firm]), firm);

test('the second of two attempts that take 8 s each is the last: 503, and nothing is written', async () => {
  await owner.query(sql`CREATE SEQUENCE attempts`);
  await owner.query(sql`
    CREATE OR REPLACE FUNCTION praxis_in_time(in_lu bigint, in_value bigint) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    AS $function$
    BEGIN
      PERFORM nextval('attempts'), pg_sleep(8);
      UPDATE access_epoch SET epoch = epoch + 1;
      RETURN in_value;
    END $function$`);
  const answer = await caller.send('POST', 'Patient', patient('Late'));
  assert.equal(answer.status, 503, answer.text);
  assert.equal(answer.headers.get('retry-after'), '5');
  assert.equal(answer.json.issue[0].details.coding[0].code, 'stale-access');
  assert.deepEqual(await owner.query(sql`SELECT last_value AS made FROM attempts`), [{ made: 2 }]);
  assert.equal((await caller.get('Patient?family=Late&_summary=count')).json.total, 0);
});
