/**
 * The order in which changes are told: nothing appears before what was told already, and versions of a resource follow each
 * other whichever transaction began first (docs/decisions/0170).
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { raiseOrderEpoch } from '../../src/storage/order-epoch.ts';
import { type ChangePlace, firstPlace, openStore } from '../../src/storage/store.ts';
import type { TenantScope } from '../../src/tenancy/scope.ts';
import { openTestDatabase } from '../support/database.ts';
import { untilTold } from '../support/follower.ts';
import { makeFirms, nowMs, opened, resourceDelete, resourceWrite } from './fixture.ts';

const { owner, runtime } = await openTestDatabase({ after });
const { maple, cedar } = await makeFirms(owner);
const store = openStore(runtime);

/** Everything after a place, as `id/version`, read in pages of `limit`. */
async function told(scope: TenantScope, from: ChangePlace = firstPlace, limit = 2): Promise<string[]> {
  await untilTold(owner);
  const names: string[] = [];
  for (let place = from; ; ) {
    const page = await store.changes(scope, { after: place, limit, types: undefined, comparedTypes: [] });
    assert.ok(page !== undefined);
    names.push(...page.changes.map(({ now }) => `${now.id}/${now.versionId}`));
    place = page.end;
    if (!page.hasMore) return names;
  }
}

async function endOf(scope: TenantScope): Promise<ChangePlace> {
  await untilTold(owner);
  const page = await store.changes(scope, { after: firstPlace, limit: 1000, types: undefined, comparedTypes: [] });
  assert.ok(page !== undefined);
  return page.end;
}

test('a firm has its own changes, and none of another', async () => {
  await store.write(maple, resourceWrite('own'));
  assert.deepEqual(await told(cedar), []);
  assert.deepEqual(await told(maple), ['own/1']);
});

test('what is written while an older transaction runs waits for its end', async () => {
  const start = await endOf(maple);
  await store.transaction(maple, async (inside) => {
    await inside.write(maple, resourceWrite('slow'));
    await store.write(maple, resourceWrite('fast'));
    const page = await store.changes(maple, { after: start, limit: 10, types: undefined, comparedTypes: [] });
    assert.deepEqual(page?.changes, []);
    assert.deepEqual(page?.end, start);
  });
  assert.deepEqual(await told(maple, start), ['slow/1', 'fast/1']);
});

test('a version of an older transaction follows the version that a younger one wrote before it', async () => {
  await store.write(maple, resourceWrite('shared'));
  const start = await endOf(maple);
  await store.transaction(maple, async (inside) => {
    await inside.write(maple, resourceWrite('begins')); // gives the transaction its id
    await store.write(maple, resourceWrite('shared', 1));
    assert.equal((await inside.write(maple, resourceWrite('shared', 2))).outcome, 'written');
    await inside.write(maple, resourceDelete('shared', 3));
  });
  assert.deepEqual(await told(maple, start), ['begins/1', 'shared/2', 'shared/3', 'shared/4']);
  const [row] = await owner.query<{ moved: number; own: boolean }>(sql`
    SELECT count(*)::int AS moved, bool_and(written_by < xid) AS own FROM resource_version WHERE written_by IS NOT NULL`);
  assert.deepEqual(row, { moved: 2, own: true });
});

test('types that nobody asked for are passed, and what was before is told of compared types alone', async () => {
  const start = await endOf(maple);
  await store.write(maple, resourceWrite('own', 1));
  await untilTold(owner);
  const none = await store.changes(maple, { after: start, limit: 5, types: ['Observation'], comparedTypes: [] });
  assert.deepEqual(none?.changes, []);
  assert.deepEqual(none?.end, await endOf(maple));
  const page = { after: start, limit: 5, types: ['Patient'] };
  const [compared] = (await store.changes(maple, { ...page, comparedTypes: ['Patient'] }))?.changes ?? [];
  assert.match(String(opened(compared?.before)?.['content']), /"versionId":"1"/);
  const [plain] = (await store.changes(maple, { ...page, comparedTypes: [] }))?.changes ?? [];
  assert.equal(opened(plain?.before)?.['content'], '');
  assert.equal(plain?.before?.deleted, false);
});

test('the place of a moment has every version made since behind it, also of transactions under way', async () => {
  const laterMs = nowMs + 60_000;
  const place = await store.transaction(maple, async (inside) => {
    await inside.write(maple, resourceWrite('under-way', 0, { lastUpdatedMs: laterMs }));
    await store.write(maple, resourceWrite('committed', 0, { lastUpdatedMs: laterMs + 1 }));
    return await store.placeSince(maple, laterMs);
  });
  const names = await told(maple, place);
  assert.ok(names.includes('under-way/1') && names.includes('committed/1'), names.join());
  assert.deepEqual(await told(maple, await store.placeSince(maple, laterMs + 9)), []);
});

test('after a raised epoch the order goes on, whatever the transaction ids are', async () => {
  const start = await endOf(maple);
  await raiseOrderEpoch(owner);
  await store.write(maple, resourceWrite('after'));
  assert.deepEqual(await told(maple, start), ['after/1']);
});

test('a place whose version was taken back by a restore is not known any more', async () => {
  const gone: ChangePlace = { epoch: 1, xid: '999999999999', seq: 5, isVersion: true };
  assert.equal(await store.changes(maple, { after: gone, limit: 5, types: undefined, comparedTypes: [] }), undefined);
});
