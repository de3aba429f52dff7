/** No transaction is open longer than its limit (docs/decisions/0244). */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from '../../src/database/sql.ts';
import { openTestDatabase } from '../support/database.ts';

const { owner, runtime } = await openTestDatabase({ after }, { poolMax: 2, transactionTimeoutMs: 1_000 });
await owner.query(sql`CREATE TABLE note (id int PRIMARY KEY)`);
await owner.query(sql`GRANT SELECT, INSERT ON note TO praxis_runtime`);

const count = async (): Promise<number | undefined> =>
  (await runtime.query<{ n: number }>(sql`SELECT count(*)::int AS n FROM note`))[0]?.n;

test('a transaction that waits for something else too long is undone, and its later statements are refused', async () => {
  const { promise: later, resolve } = Promise.withResolvers<unknown>();
  const outcome = runtime.transaction(undefined, async (tx) => {
    await tx.query(sql`INSERT INTO note VALUES (1)`);
    await delay(1_500);
    await tx.query(sql`INSERT INTO note VALUES (2)`).catch(resolve);
  });
  await assert.rejects(outcome, {
    code: 'unavailable',
    status: 503,
    details: {
      diagnostics: 'The transaction was not done after 1 s, the limit, and nothing was changed: try again',
      headers: { 'retry-after': '5' },
    },
  });
  assert.match(String(await later), /Transaction has ended/);
  assert.equal(await count(), 0);
});

test('one that keeps the database busy too long is told that it is too costly', async () => {
  const outcome = runtime.transaction(undefined, async (tx) => {
    await tx.query(sql`INSERT INTO note VALUES (3)`);
    for (;;) await tx.query(sql`SELECT pg_sleep(0.05)`);
  });
  await assert.rejects(outcome, {
    code: 'too-costly',
    status: 422,
    details: {
      diagnostics:
        'The transaction was not done after 1 s, the limit, and nothing was changed: send fewer changes at once',
    },
  });
  assert.equal(await count(), 0);
  assert.deepEqual(runtime.load().exclusive, { connections: 1, inFlight: 0, waiting: 0 });
});

test('the database itself ends a transaction that this process leaves open', async () => {
  const [row] = await runtime.query<{ ms: string | null; can: boolean }>(sql`
    SELECT current_setting('transaction_timeout', true) AS ms, current_setting('server_version_num')::int >= 170000 AS can`);
  assert.equal(row?.ms, row?.can ? '16s' : null);
});

test('a transaction in time is not touched', async () => {
  await runtime.transaction(undefined, (tx) => tx.query(sql`INSERT INTO note VALUES (4)`));
  assert.equal(await count(), 1);
});
