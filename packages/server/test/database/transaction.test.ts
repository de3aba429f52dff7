import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { PraxisError } from '../../src/base/errors.ts';
import type { Queryable } from '../../src/database/database.ts';
import { sql } from '../../src/database/sql.ts';
import { StatementError } from '../../src/database/sqlstate.ts';
import { openTestDatabase } from '../support/database.ts';

const { owner, runtime } = await openTestDatabase({ after });

await owner.query(sql`CREATE TABLE counter (id int PRIMARY KEY, n int NOT NULL)`);
await owner.query(sql`GRANT SELECT, INSERT, UPDATE, DELETE ON counter TO praxis_runtime`);
await owner.query(sql`INSERT INTO counter SELECT id, 0 FROM generate_series(1, 10) AS id`);

const add = (id: number) => sql`UPDATE counter SET n = n + 1 WHERE id = ${id}`;
const read = async (id: number): Promise<number | undefined> =>
  (await runtime.query<{ n: number }>(sql`SELECT n FROM counter WHERE id = ${id}`))[0]?.n;

test('a transaction whose work throws changes nothing and rethrows the same error', async () => {
  const fault = new Error('changed my mind');
  await assert.rejects(
    runtime.transaction(undefined, async (tx) => {
      await tx.query(add(1));
      throw fault;
    }),
    (error) => error === fault,
  );
  assert.equal(await read(1), 0);
});

test('a transaction in which a statement failed does not commit, even when its work went on', async () => {
  const outcome = runtime.transaction(undefined, async (tx) => {
    await tx.query(add(2));
    await tx.query(sql`INSERT INTO counter VALUES (2, 0)`).catch(() => undefined);
    return 'done';
  });
  await assert.rejects(
    outcome,
    (error) => error instanceof StatementError && error.sqlState === '23505' && error.constraint === 'counter_pkey',
  );
  assert.equal(await read(2), 0);
});

test('a statement sent after the transaction has ended is refused', async () => {
  const kept = await runtime.transaction(undefined, async (tx): Promise<Queryable> => tx);
  await assert.rejects(kept.query(add(3)), {
    message: 'Transaction has ended: a statement was sent after its work returned',
  });
  assert.equal(await read(3), 0);
});

test('a transaction commits and gives its value', async () => {
  const value = await runtime.transaction(undefined, async (tx) => {
    await Promise.all([tx.query(add(4)), tx.query(add(4))]);
    return 'value';
  });
  assert.deepEqual([value, await read(4)], ['value', 2]);
});

test('serialization failures run the work again until it succeeds', async () => {
  let runs = 0;
  const increment = () =>
    runtime.transaction(
      undefined,
      async (tx) => {
        runs++;
        const [row] = await tx.query<{ n: number }>(sql`SELECT n FROM counter WHERE id = 5`);
        await tx.query(sql`UPDATE counter SET n = ${(row?.n ?? 0) + 1} WHERE id = 5`);
      },
      { isolation: 'serializable' },
    );
  await Promise.all([increment(), increment()]);
  assert.equal(await read(5), 2);
  assert.ok(runs >= 2);
});

test('serialization failures that do not end are answered unavailable', async () => {
  let runs = 0;
  const outcome = runtime.transaction(undefined, async (tx) => {
    runs++;
    await tx.query(sql`DO $$ BEGIN RAISE EXCEPTION 'collision' USING ERRCODE = 'serialization_failure'; END $$`);
  });
  await assert.rejects(
    outcome,
    (error) => error instanceof PraxisError && error.code === 'unavailable' && error.status === 503,
  );
  assert.equal(runs, 4);
});

test('a deadlock is resolved by running one of the two again', async () => {
  const inOrder = (first: number, second: number) =>
    runtime.transaction(undefined, async (tx) => {
      await tx.query(add(first));
      await tx.query(sql`SELECT pg_sleep(0.1)`);
      await tx.query(add(second));
    });
  await Promise.all([inOrder(6, 7), inOrder(7, 6)]);
  assert.deepEqual([await read(6), await read(7)], [2, 2]);
});

test('a single statement runs again after a serialization failure', async () => {
  await owner.query(sql`CREATE SEQUENCE attempts`);
  await owner.query(sql`GRANT USAGE ON SEQUENCE attempts TO praxis_runtime`);
  await owner.query(sql`
    CREATE FUNCTION third_time() RETURNS bigint LANGUAGE plpgsql AS $$
      DECLARE attempt bigint := nextval('attempts');
      BEGIN
        IF attempt < 3 THEN RAISE EXCEPTION 'collision' USING ERRCODE = 'serialization_failure'; END IF;
        RETURN attempt;
      END $$`);
  assert.deepEqual(await runtime.query(sql`SELECT third_time() AS attempt`), [{ attempt: 3 }]);
});

test('a connection lost inside a transaction runs the work again', async () => {
  let runs = 0;
  await runtime.transaction(undefined, async (tx) => {
    runs++;
    await tx.query(add(8));
    if (runs > 1) return;
    const [row] = await tx.query<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`);
    await owner.query(sql`SELECT pg_terminate_backend(${row?.pid})`);
    await tx.query(sql`SELECT 1`);
  });
  assert.deepEqual([runs, await read(8)], [2, 1]);
});

test('a transaction may have a statement timeout of its own', async () => {
  const slow = runtime.transaction(undefined, (tx) => tx.query(sql`SELECT pg_sleep(1)`), { statementTimeoutMs: 30 });
  await assert.rejects(slow, (error) => error instanceof PraxisError && error.code === 'statement-timeout');
  assert.deepEqual(await runtime.query(sql`SELECT current_setting('statement_timeout') AS timeout`), [
    { timeout: '10s' },
  ]);
});
