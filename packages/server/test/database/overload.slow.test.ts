/** Slow: more requests than the database can take, for some seconds. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { PraxisError } from '../../src/base/errors.ts';
import { sql } from '../../src/database/sql.ts';
import { StatementError } from '../../src/database/sqlstate.ts';
import { openTestDatabase } from '../support/database.ts';

// Of 2 connections one is shared by short statements, the other serves one statement at a time.
const { owner, runtime } = await openTestDatabase(
  { after },
  { poolMax: 2, statementTimeoutMs: 2_500, waitersMax: 2, waitMaxMs: 600 },
);

const errorOf = (code: string, diagnostics: string) => (error: unknown) => {
  assert.ok(error instanceof PraxisError);
  assert.deepEqual([error.code, error.status, error.details.diagnostics], [code, 503, diagnostics]);
  return true;
};

test('a statement that takes too long ends with statement-timeout, and the connection goes on', async () => {
  await assert.rejects(
    runtime.query(sql`SELECT pg_sleep(5)`),
    errorOf('statement-timeout', 'Query took longer than the service allows: narrow it'),
  );
  assert.deepEqual(await runtime.query(sql`SELECT 1 AS one`), [{ one: 1 }]);
});

test('a statement of a caller that takes the database for its whole time is too costly, and not the fault of the service', async () => {
  const caller = { application: 3 };
  const refused = (error: unknown) => {
    assert.ok(error instanceof PraxisError);
    assert.deepEqual([error.code, error.status], ['too-costly', 422]);
    assert.match(
      String(error.details.diagnostics),
      /reached the time limit\. Nothing was changed\. To make it cheaper:/,
    );
    return true;
  };
  await assert.rejects(runtime.forFirm(1, caller).query(sql`SELECT pg_sleep(5)`), refused);
  await assert.rejects(
    runtime.transaction(1, (tx) => tx.query(sql`SELECT pg_sleep(5)`), { caller }),
    refused,
  );
});

test('whose transaction waits for a lock of another too long is told of the conflict', async () => {
  const caller = { application: 4 };
  await owner.transaction(undefined, async (tx) => {
    await tx.query(sql`SELECT pg_advisory_xact_lock(1)`);
    const waiting = runtime.transaction(1, (inner) => inner.query(sql`SELECT pg_advisory_xact_lock(1)`), { caller });
    await assert.rejects(waiting, (error) => {
      assert.ok(error instanceof PraxisError);
      assert.deepEqual(
        [error.code, error.status, error.details.diagnostics, error.details.headers],
        ['conflict', 409, 'Others are changing the same data: try again', { 'retry-after': '1' }],
      );
      return true;
    });
  });
  await runtime.transaction(1, (tx) => tx.query(sql`SELECT pg_advisory_xact_lock(1)`), { caller });
});

test('who waits too long for a connection, or comes when too many wait, is answered unavailable', async () => {
  const holding = runtime.query(sql`SELECT pg_sleep(1.5)`);
  const waiting = [runtime.query(sql`SELECT 1`), runtime.query(sql`SELECT 2`)];
  await Promise.all([
    assert.rejects(
      runtime.query(sql`SELECT 3`),
      errorOf('unavailable', 'Too many requests are waiting for the database: try again'),
    ),
    ...waiting.map((outcome) =>
      assert.rejects(outcome, errorOf('unavailable', 'No database connection became free in time: try again')),
    ),
  ]);
  await holding;
  assert.deepEqual(runtime.load().exclusive, { connections: 1, inFlight: 0, waiting: 0 });
});

test('short statements do not wait behind long ones', async () => {
  await runtime.query(sql`SELECT 1`, { short: true });
  const holding = runtime.query(sql`SELECT pg_sleep(1.5)`);
  let isHeld = true;
  const held = holding.then(() => {
    isHeld = false;
  });
  const numbers = await Promise.all(
    Array.from({ length: 15 }, (_, index) =>
      runtime.query<{ n: number }>(sql`SELECT ${index}::int AS n`, { short: true }),
    ),
  );
  assert.deepEqual(
    numbers.map(([row]) => row?.n),
    [...Array(15).keys()],
  );
  assert.equal(isHeld, true);
  await held;
});

test('a short statement that turns out long takes no more statements behind it', async () => {
  const long = runtime.query(sql`SELECT pg_sleep(1.5)`, { short: true });
  await new Promise((resolve) => setTimeout(resolve, 60));
  await assert.rejects(
    runtime.query(sql`SELECT 1`, { short: true }),
    errorOf('unavailable', 'No database connection became free in time: try again'),
  );
  await long;
});

test('a refused statement is told by SQLSTATE and names, without values', async () => {
  const refusal = await runtime.query(sql`SELECT ${'secret'}::int`).catch((error: unknown) => error);
  assert.ok(refusal instanceof StatementError);
  assert.equal(refusal.sqlState, '22P02');
  assert.equal(
    refusal.message,
    'Database refused the statement (SQLSTATE 22P02): a value does not fit its type; statement: SELECT $1::int',
  );
  assert.ok(!JSON.stringify(refusal).includes('secret'));
});

test('after close everything is refused', async (t) => {
  const { runtime: closing } = await openTestDatabase(t, { poolMax: 2 });
  const underWay = closing.query(sql`SELECT pg_sleep(0.05), 7 AS n`);
  await new Promise((resolve) => setTimeout(resolve, 10));
  const closed = closing.close();
  await assert.rejects(closing.query(sql`SELECT 1`), errorOf('unavailable', 'Service is shutting down'));
  assert.equal(((await underWay)[0] as { n: number }).n, 7);
  await closed;
});
