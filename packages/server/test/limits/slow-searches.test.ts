/** Slow searches of one application do not take the database from the others (F4, docs/decisions/0240). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from '../../src/database/sql.ts';
import { patient } from '../support/records.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const service = await openTestService({ after }, { PRAXIS_STATEMENT_TIMEOUT_MS: '60000' });
const { owner } = service.database;
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const noisy = await openCaller(service, await makeApplication(service, 'Noisy', ['acl/*'], [maple]), maple);
const quiet = await openCaller(service, await makeApplication(service, 'Quiet', ['acl/*'], [cedar]), cedar);
for (const caller of [noisy, quiet])
  assert.equal((await caller.send('PUT', 'Patient/p', { ...patient('Stone'), id: 'p' })).status, 201);

/** Number of the lock, also in the function below. */
const gate = 4;
const slowCount = 14;

/** From now on whoever looks at the names of patients of maple waits while somebody holds the gate. */
async function slowDown(): Promise<void> {
  await owner.query(sql`CREATE TABLE slow_firm (firm int)`);
  await owner.query(sql`INSERT INTO slow_firm VALUES (${maple.id})`);
  await owner.query(sql`GRANT SELECT ON slow_firm TO praxis_runtime`);
  await owner.query(sql`CREATE FUNCTION pass_gate(of int) RETURNS boolean LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_advisory_xact_lock_shared(4) FROM slow_firm WHERE firm = of; RETURN true; END'`);
  await owner.query(sql`CREATE POLICY gate ON index_string AS RESTRICTIVE TO praxis_runtime USING (pass_gate(firm))`);
}

/** Holds the gate until the returned function is called. */
async function shutGate(): Promise<() => Promise<void>> {
  const shut = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  const holding = owner.transaction(undefined, async (tx) => {
    await tx.query(sql`SELECT pg_advisory_xact_lock(${gate})`);
    shut.resolve();
    await opened.promise;
  });
  await shut.promise;
  return async () => {
    opened.resolve();
    await holding;
  };
}

test('F4: beside fourteen slow searches of one application a search of another tenant is answered, before they end', async () => {
  await slowDown();
  const openGate = await shutGate();
  let ended = 0;
  const slow = Array.from({ length: slowCount }, async () => {
    const answer = await noisy.get('Patient?family=stone');
    ended += 1;
    return answer;
  });
  for (;;) {
    const { inFlight, waiting } = service.platform.database.load().exclusive;
    if (inFlight + waiting >= slowCount) break;
    await delay(5);
  }
  const answers = [await quiet.get('Patient?family=stone'), await quiet.get('Patient?family=s&_total=accurate')];
  const endedBefore = ended;
  await openGate();
  for (const { status, json } of answers) assert.deepEqual([status, json.total ?? 1], [200, 1]);
  assert.equal(endedBefore, 0, 'the slow ones were still under way');
  for (const { status, headers } of await Promise.all(slow))
    if (status !== 200) assert.deepEqual([status, headers.get('retry-after')], [429, '1']); // it waited for long
});
