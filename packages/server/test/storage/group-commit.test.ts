/**
 * Writes of one application at one firm that come together are one transaction, and yet each has the outcome that it would have
 * alone (docs/decisions/0285).
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { boxStored } from '../../src/access/disclosure.ts';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { PraxisError } from '../../src/base/errors.ts';
import { sql } from '../../src/database/sql.ts';
import { openStore } from '../../src/storage/store.ts';
import { openScope } from '../../src/tenancy/scope.ts';
import { openTestDatabase } from '../support/database.ts';
import { incompressible, indexRows, makeFirms, nowMs, resourceWrite } from './fixture.ts';

const { owner, runtime } = await openTestDatabase({ after });
const { maple, mapleOther, cedar } = await makeFirms(owner);
const store = openStore(runtime);

/** Transactions that wrote the versions of these ids. */
async function countTransactions(prefix: string): Promise<number> {
  const [row] = await owner.query<{ count: number }>(sql`
    SELECT count(DISTINCT COALESCE(written_by, xid)::text)::int AS count FROM resource_version WHERE id LIKE ${`${prefix}%`}`);
  return row?.count ?? 0;
}

const listIds = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) => `${prefix}-${at}`);

const codeOf = (result: PromiseSettledResult<unknown>): unknown => {
  if (result.status === 'fulfilled') return (result.value as { outcome: string }).outcome;
  return result.reason instanceof PraxisError ? result.reason.code : result.reason;
};

test('forty creates at once are a few transactions, and each is there with its rows', async () => {
  const ids = listIds('many', 40);
  const outcomes = await Promise.all(
    ids.map((id) => store.write(maple, resourceWrite(id, 0, { index: indexRows(id) }))),
  );
  assert.deepEqual(
    outcomes,
    ids.map(() => ({ outcome: 'written', versionId: 1 })),
  );
  assert.ok((await countTransactions('many')) <= 5);
  const rows = await owner.query<{ id: string; code: string }>(sql`
    SELECT r.id, t.code FROM resource r JOIN index_token t ON t.firm = r.firm AND t.rid = r.rid AND t.param = 11
    WHERE r.id LIKE 'many-%' ORDER BY r.rid`);
  assert.equal(rows.length, 40);
  for (const { id, code } of rows) assert.equal(code, `code-${id}`);
});

test('writes of another application or firm are never in the same transaction', async () => {
  const scopes = { maple, other: mapleOther, cedar };
  await Promise.all(
    listIds('apart', 12).flatMap((id) =>
      Object.entries(scopes).map(([name, scope]) => store.write(scope, resourceWrite(`${id}-${name}`))),
    ),
  );
  const mixed = await owner.query(sql`
    SELECT xid FROM resource_version WHERE id LIKE 'apart-%' GROUP BY xid HAVING count(DISTINCT (firm, application)) > 1`);
  assert.deepEqual(mixed, []);
});

test('one that the database refuses fails alone', async () => {
  const ids = listIds('refused', 12);
  const results = await Promise.allSettled(
    ids.map((id, at) => {
      const index = at === 7 ? { ...indexRows(id), tokenCode: [incompressible(9_000), 'x'] } : indexRows(id);
      return store.write(maple, resourceWrite(id, 0, { index }));
    }),
  );
  assert.deepEqual(
    results.map(({ status }) => status),
    ids.map((_, at) => (at === 7 ? 'rejected' : 'fulfilled')),
  );
  const stored = await owner.query<{ id: string }>(sql`SELECT id FROM resource WHERE id LIKE 'refused-%'`);
  assert.equal(stored.length, 11);
});

test('conflicts are told to those that are in conflict', async () => {
  await store.write(maple, resourceWrite('contested'));
  const writes = [
    ...listIds('beside', 6).map((id) => resourceWrite(id)),
    resourceWrite('contested'),
    resourceWrite('contested', 1),
    resourceWrite('contested', 1),
    resourceWrite('never', 3),
  ];
  const outcomes = await Promise.all(writes.map((write) => store.write(maple, write)));
  const conflict = { outcome: 'conflict', currentVersion: 2 };
  assert.deepEqual(
    outcomes.slice(0, 6),
    Array.from({ length: 6 }, () => ({ outcome: 'written', versionId: 1 })),
  );
  assert.deepEqual(outcomes[9], { outcome: 'conflict', currentVersion: undefined });
  assert.equal(outcomes.slice(7, 9).filter(({ outcome }) => outcome === 'written').length, 1);
  assert.deepEqual(
    outcomes.slice(7, 9).filter(({ outcome }) => outcome === 'conflict'),
    [conflict],
  );
});

test('when rights have changed none of them is written', async () => {
  const stale = openScope({ ...maple, epoch: maple.epoch - 1 });
  const results = await Promise.allSettled(listIds('stale', 8).map((id) => store.write(stale, resourceWrite(id))));
  assert.deepEqual(
    results.map(codeOf),
    results.map(() => 'stale-access'),
  );
  assert.deepEqual(await owner.query(sql`SELECT id FROM resource WHERE id LIKE 'stale-%'`), []);
});

test('who waits until its token has ended is refused, and the others are not', async () => {
  let now = nowMs;
  const clock: Clock = { ...systemClock, now: () => now };
  const timed = openStore(runtime, undefined, clock);
  const ending = openScope({ ...maple, endsAtMs: nowMs + 1 });
  const results = Promise.allSettled(
    listIds('ending', 8).map((id, at) => timed.write(at === 6 ? ending : maple, resourceWrite(id))),
  );
  await Promise.resolve();
  now = nowMs + 2;
  assert.deepEqual(
    (await results).map(codeOf),
    Array.from({ length: 8 }, (_, at) => (at === 6 ? 'stale-access' : 'written')),
  );
});

test('a write that waits for the lock of another transaction holds back nobody else of its application', async () => {
  await store.write(maple, resourceWrite('locked'));
  const locked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const holder = store.transaction(mapleOther, async (inside) => {
    await inside.write(mapleOther, resourceWrite('locked', 1));
    locked.resolve();
    await release.promise;
  });
  await locked.promise;
  let isLate = true;
  const late = store.write(maple, resourceWrite('locked', 1)).finally(() => {
    isLate = false;
  });
  const others = listIds('passing', 10).map((id) => store.write(maple, resourceWrite(id)));
  const lateAgain = store.write(maple, resourceWrite('locked', 1));
  const outcomes = await Promise.all(others);
  assert.deepEqual(
    outcomes,
    outcomes.map(() => ({ outcome: 'written', versionId: 1 })),
  );
  assert.equal(isLate, true);
  release.resolve();
  await holder;
  assert.deepEqual(
    [await late, await lateAgain],
    [1, 2].map(() => ({ outcome: 'conflict', currentVersion: 2 })),
  );
});

test('groups that change the same resources in different orders do not wait for each other in a circle', async () => {
  const ids = listIds('circle', 8);
  await Promise.all(ids.map((id) => store.write(maple, resourceWrite(id))));
  const update = (scope: typeof maple, order: readonly string[]) =>
    order.map((id) => store.write(scope, resourceWrite(id, 1)));
  const outcomes = await Promise.all([...update(maple, ids), ...update(mapleOther, ids.toReversed())]);
  const written = outcomes.filter(({ outcome }) => outcome === 'written');
  assert.equal(written.length, ids.length);
});

test('large writes are sent by themselves', async () => {
  const content = boxStored(JSON.stringify({ resourceType: 'Patient', text: incompressible(70_000) }));
  const writes = [
    resourceWrite('large-0', 0, { content }),
    ...listIds('large-beside', 4).map((id) => resourceWrite(id)),
  ];
  await Promise.all(writes.map((write) => store.write(maple, write)));
  const [own] = await owner.query<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM resource_version v JOIN resource_version l ON l.xid = v.xid WHERE l.id = 'large-0'`);
  assert.equal(own?.count, 1);
});
