/** Reads that are bounded by their plan share connections as long as they are short (docs/decisions/0305). */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { boundedRead, type FirmConnection, pointRead } from '../../../src/database/database.ts';
import { BoundedReads, shortMaxMs } from '../../../src/database/pool/bounded-reads.ts';
import { sql } from '../../../src/database/sql.ts';
import { openTestDatabase } from '../../support/database.ts';

const { owner, runtime } = await openTestDatabase({ after }, { poolMax: 16, statementTimeoutMs: 20_000 });

const [firm, one, another] = [1, { application: 7 }, { application: 8 }];
let gates = 0;

/** How many statements are under way in each lane while the reads of the caller wait. */
async function countInLanes(
  asker: FirmConnection,
  reads: number,
): Promise<readonly [shared: number, exclusive: number]> {
  const gate = ++gates;
  let answers: readonly Promise<unknown>[] = [];
  const counts = await owner.transaction(undefined, async (tx) => {
    await tx.query(sql`SELECT pg_advisory_xact_lock(${gate})`);
    answers = Array.from({ length: reads }, () =>
      asker.query(sql`SELECT pg_advisory_xact_lock_shared(${gate})`, boundedRead),
    );
    for (;;) {
      const { shared, exclusive } = runtime.load();
      if (shared.inFlight + exclusive.inFlight === reads) return [shared.inFlight, exclusive.inFlight] as const;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  });
  await Promise.all(answers);
  return counts;
}

// The first connection that is shared is there.
await runtime.query(sql`SELECT 1`, pointRead);

const readShort = async (asker: FirmConnection, times: number): Promise<void> => {
  for (let time = 0; time < times; time += 1) await asker.query(sql`SELECT 1`, boundedRead);
};

test('a new asker shares a connection for one at once, and for more after many short ones', async () => {
  const asker = runtime.forFirm(firm, one);
  assert.deepEqual(await countInLanes(asker, 3), [1, 2]);
  const other = runtime.forFirm(firm, another);
  await readShort(other, 40);
  assert.deepEqual(await countInLanes(other, 4), [4, 0]);
});

test('after a long one, those of its application at its firm have connections to themselves, others and point reads do not', async () => {
  const asker = runtime.forFirm(firm + 2, one);
  await readShort(asker, 40);
  await asker.query(sql`SELECT pg_sleep(0.2)`, boundedRead);
  assert.deepEqual(await countInLanes(asker, 2), [0, 2]);
  assert.deepEqual(await countInLanes(runtime.forFirm(firm + 2, another), 1), [1, 0]);
  assert.deepEqual(await countInLanes(runtime.forFirm(firm + 3, one), 1), [1, 0]);
  const reading = asker.query(sql`SELECT pg_sleep(0.2)`, pointRead);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(runtime.load().shared.inFlight, 1);
  await reading;
});

test('while bounded reads fill their half of the connections, point reads are answered by the others', async () => {
  const asker = runtime.forFirm(firm + 4, one);
  await readShort(asker, 200);
  const gate = ++gates;
  let answers: readonly Promise<unknown>[] = [];
  await owner.transaction(undefined, async (tx) => {
    await tx.query(sql`SELECT pg_advisory_xact_lock(${gate})`);
    answers = Array.from({ length: 16 }, () =>
      asker.query(sql`SELECT pg_advisory_xact_lock_shared(${gate})`, boundedRead),
    );
    assert.deepEqual(await runtime.forFirm(firm + 4, one).query(sql`SELECT 1 AS one`, pointRead), [{ one: 1 }]);
  });
  await Promise.all(answers);
});

test('an asker stands apart for twenty times as long as a long one took, ten seconds at most', () => {
  let nowMs = 1_000;
  const reads = new BoundedReads(() => nowMs);
  const asker = { application: 1, firm: '1' };
  const read = (ms: number): void => {
    reads.began(asker);
    reads.ended(asker, ms);
  };
  read(shortMaxMs);
  assert.equal(reads.mayShare(asker), true);
  for (const [ms, apartMs] of [
    [shortMaxMs + 1, 520],
    [5_000, 10_000],
  ] as const) {
    read(ms);
    nowMs += apartMs - 1;
    assert.equal(reads.mayShare(asker), false);
    assert.equal(reads.mayShare({ ...asker, firm: '2' }), true);
    nowMs += 1;
    assert.equal(reads.mayShare(asker), true);
  }
});
