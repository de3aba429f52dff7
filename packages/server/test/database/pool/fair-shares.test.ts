/** Connections are given out in turns by application and firm, and no application takes all (docs/decisions/0240). */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { PraxisError } from '../../../src/base/errors.ts';
import { longMs } from '../../../src/database/pool/shares.ts';
import { type Sql, sql } from '../../../src/database/sql.ts';
import { openTestDatabase } from '../../support/database.ts';

// Of 16 connections 12 serve one statement at a time.
const { owner, runtime } = await openTestDatabase(
  { after },
  { poolMax: 16, statementTimeoutMs: 20_000, waitersMax: 80, waitMaxMs: 20_000 },
);

const noisy = { application: 7 };
const quiet = { application: 8 };
let gates = 0;

/** Statements that are under way until the gate is opened. */
async function openGate(at = { owner, runtime }) {
  const gate = ++gates;
  const shut = Promise.withResolvers<void>();
  const isShut = Promise.withResolvers<void>();
  const holding = at.owner.transaction(undefined, async (tx) => {
    await tx.query(sql`SELECT pg_advisory_xact_lock(${gate})`);
    isShut.resolve();
    await shut.promise;
  });
  await isShut.promise;
  return {
    wait: (firm: number, caller: { application: number }) =>
      at.runtime.forFirm(firm, caller).query(sql`SELECT pg_advisory_xact_lock_shared(${gate})`),
    open: async () => {
      shut.resolve();
      await holding;
    },
  };
}

const one = (firm: number, caller: { application: number }) =>
  runtime.forFirm(firm, caller).query(sql`SELECT 1 AS one`);

const tooMuchAtOnce = (error: unknown) => {
  assert.ok(error instanceof PraxisError);
  assert.deepEqual(
    [error.code, error.status, error.details.diagnostics, error.details.headers],
    [
      'rate-exceeded',
      429,
      'Too many requests of this application are waiting for the database: send another when one is answered',
      { 'retry-after': '1' },
    ],
  );
  return true;
};

async function untilLoaded(inFlight: number, waiting: number): Promise<void> {
  for (;;) {
    const { exclusive } = runtime.load();
    if (exclusive.inFlight === inFlight && exclusive.waiting === waiting) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('F4: while slow statements of one application wait for connections, those of another are served', async () => {
  const gate = await openGate();
  const slow = Array.from({ length: 14 }, () => gate.wait(1, noisy));
  await untilLoaded(8, 6);
  for (let each = 0; each < 3; each += 1) assert.deepEqual(await one(2, quiet), [{ one: 1 }]);
  assert.deepEqual(await runtime.transaction(2, (tx) => tx.query(sql`SELECT 2 AS two`), { caller: quiet }), [
    { two: 2 },
  ]);
  const own = one(1, noisy);
  await untilLoaded(8, 7);
  await gate.open();
  assert.equal((await Promise.all([...slow, own])).length, 15);
  assert.deepEqual({ ...runtime.load().exclusive, connections: 0 }, { connections: 0, inFlight: 0, waiting: 0 });
});

test('of several applications that take what they can get, each has a part and one is left for who comes next', async () => {
  const gate = await openGate();
  const slow = [noisy, quiet, { application: 9 }].flatMap((caller) =>
    Array.from({ length: 8 }, () => gate.wait(1, caller)),
  );
  await untilLoaded(11, 13);
  assert.deepEqual(await one(2, { application: 10 }), [{ one: 1 }]);
  assert.deepEqual(await runtime.query(sql`SELECT 1 AS one`), [{ one: 1 }], 'the service itself is served as well');
  await gate.open();
  await Promise.all(slow);
});

test('what waits of one application is bounded, and others may still wait', async () => {
  const gate = await openGate();
  const slow = Array.from({ length: 20 }, () => gate.wait(1, noisy));
  await untilLoaded(8, 12);
  slow.push(...Array.from({ length: 8 }, () => gate.wait(1, noisy)));
  await assert.rejects(one(1, noisy), tooMuchAtOnce);
  await assert.rejects(one(5, noisy), tooMuchAtOnce);
  assert.deepEqual(await one(1, quiet), [{ one: 1 }]);
  await gate.open();
  await Promise.all(slow);
});

test('who waits in vain is told 429 where others were answered meanwhile, and 503 where the database answered nobody', async () => {
  const { runtime: narrow } = await openTestDatabase({ after }, { poolMax: 8, waitMaxMs: 500 });
  const ask = (statement: Sql) => narrow.forFirm(1, noisy).query(statement);
  const outcomes = async (): Promise<unknown[]> => {
    const slow = Array.from({ length: 6 }, () => ask(sql`SELECT pg_sleep(1)`));
    const ended = await Promise.allSettled(slow);
    return ended.flatMap((each) => (each.status === 'rejected' ? [each.reason.status] : []));
  };
  const inVain = await outcomes();
  assert.ok(inVain.length > 0);
  assert.deepEqual(new Set(inVain), new Set([503]));
  const timer = setInterval(() => void narrow.query(sql`SELECT 1`, { short: true }), 50);
  const whileOthersAre = await outcomes();
  clearInterval(timer);
  assert.equal(whileOthersAre.length, inVain.length);
  assert.deepEqual(new Set(whileOthersAre), new Set([429]));
});

test('who waits is served by application in turns, and by firm within it', async () => {
  const { runtime: narrow } = await openTestDatabase({ after }, { poolMax: 2, waitersMax: 40 });
  const served: string[] = [];
  const ask = async (application: number, firm: number): Promise<void> => {
    await narrow.forFirm(firm, { application }).query(sql`SELECT 1`);
    served.push(`${application}/${firm}`);
  };
  await Promise.all([...[1, 1, 1, 1, 2].map((firm) => ask(1, firm)), ask(2, 1), ask(3, 1)]);
  // The first finds the connection free; who has used least is next, so the others come before any second of the first.
  assert.equal(served[0], '1/1');
  assert.deepEqual(new Set(served.slice(1, 3)), new Set(['2/1', '3/1']));
  assert.ok(served.slice(3, 5).includes('1/2'), 'one of the second firm comes before the third of the first');
  assert.equal(served.length, 7);
});

test('after a timeout, statements of that application at that firm have half the time, others all of it', async () => {
  const { runtime: impatient } = await openTestDatabase({ after }, { statementTimeoutMs: 1_600 });
  const limitOf = async (firm: number, application: number): Promise<[string, string]> => {
    const asked = sql`SELECT current_setting('statement_timeout') AS ms`;
    const caller = { application };
    const [row] = await impatient.forFirm(firm, caller).query<{ ms: string }>(asked);
    const [inside] = await impatient.transaction(firm, (tx) => tx.query<{ ms: string }>(asked), { caller });
    return [row?.ms ?? '', inside?.ms ?? ''];
  };
  const sleep = () => impatient.forFirm(1, noisy).query(sql`SELECT pg_sleep(20)`);
  const whole = ['1600ms', '1600ms'];
  assert.deepEqual(await limitOf(1, 7), whole);
  const timedOut = { code: 'too-costly', status: 422 };
  await Promise.all([assert.rejects(sleep(), timedOut), assert.rejects(sleep(), timedOut)]);
  assert.deepEqual(await limitOf(1, 7), ['800ms', '800ms'], 'of two at once each had the whole time');
  await assert.rejects(sleep(), timedOut);
  assert.deepEqual(await limitOf(1, 7), ['400ms', '400ms']);
  for (let each = 0; each < 3; each += 1) await assert.rejects(sleep(), timedOut);
  assert.deepEqual(await limitOf(1, 7), ['100ms', '100ms'], 'the least');
  assert.deepEqual(await limitOf(2, 7), whole);
  assert.deepEqual(await limitOf(1, 8), whole);
  const [none] = await impatient.query<{ ms: string }>(sql`SELECT current_setting('statement_timeout') AS ms`);
  assert.equal(none?.ms, '1600ms');
});

test('while others come, an application with long statements gets no further connection; alone it does', async () => {
  const busy = await openTestDatabase({ after }, { poolMax: 16, waitMaxMs: 20_000 });
  const gate = await openGate(busy);
  const lines = () => busy.runtime.load().exclusive;
  const slow = (count: number) => Array.from({ length: count }, () => gate.wait(1, noisy));
  const waiting = slow(3);
  while (lines().inFlight < 3) await delay(5);
  await delay(longMs * 4); // until the database has worked so long for each, by its share
  waiting.push(...slow(1));
  while (lines().inFlight < 4) await delay(5);
  assert.equal(lines().waiting, 0, 'nobody else has come');
  assert.deepEqual(await busy.runtime.forFirm(2, quiet).query(sql`SELECT 1 AS one`), [{ one: 1 }]);
  waiting.push(...slow(1));
  assert.equal(lines().waiting, 1);
  assert.deepEqual(await busy.runtime.forFirm(2, quiet).query(sql`SELECT 1 AS one`), [{ one: 1 }]);
  assert.equal(lines().waiting, 1, 'what another has given back does not go to it');
  await gate.open();
  assert.equal((await Promise.all(waiting)).length, 5);
});
