/**
 * A write that fails anywhere leaves nothing anywhere: every table is as it was.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { StatementError } from '../../src/database/sqlstate.ts';
import type { IndexRows } from '../../src/search/index/index-rows.ts';
import { openStore } from '../../src/storage/store.ts';
import { openTestDatabase } from '../support/database.ts';
import { changed, everything, incompressible, indexRows, makeFirms, resourceWrite } from './fixture.ts';

const { owner, runtime } = await openTestDatabase({ after });
const { maple } = await makeFirms(owner);
const store = openStore(runtime);
await store.write(maple, resourceWrite('kept', 0, { index: indexRows('kept') }));

const tooLong = incompressible(4000);

/** Index rows that the database refuses, one of each kind; the tables are written in this order, so others came before. */
const refusedRows: readonly (readonly [string, Partial<IndexRows>])[] = [
  ['a token beyond the size of a key', { tokenCode: [tooLong, 'short'] }],
  ['a token with the character U+0000, which PostgreSQL text cannot hold', { tokenCode: ['nul \0', 'short'] }],
  ['a system beyond 64 bits', { tokenSystem: ['0', '9223372036854775808'] }],
  ['a reference beyond the size of a key', { referenceTargetId: [tooLong] }],
  ['a date beyond 64 bits', { dateHi: ['99999999999999999999'] }],
  ['a string beyond the size of a key', { stringOriginal: [tooLong] }],
  ['a number that is none', { numberLo: ['twelve'], numberHi: ['--'], numberSystem: ['x'] }],
  ['a unit beyond the size of a key', { numberCode: [tooLong] }],
];

const isRefusal = (error: unknown): boolean => error instanceof StatementError;

for (const [what, change] of refusedRows) {
  const index = changed(indexRows('bad'), change);
  test(`${what} leaves nothing of a create, an update or a batch`, async () => {
    const before = await everything(owner);
    await assert.rejects(store.write(maple, resourceWrite('refused', 0, { index })), isRefusal);
    await assert.rejects(store.write(maple, resourceWrite('kept', 1, { index })), isRefusal);
    const batch = [
      resourceWrite('good-1'),
      resourceWrite('kept', 1),
      resourceWrite('refused', 0, { index }),
      resourceWrite('good-2'),
    ];
    await assert.rejects(store.writeMany(maple, batch), isRefusal);
    assert.deepEqual(await everything(owner), before);
  });
}

test('a type that is none is refused before anything is sent', async () => {
  const before = await everything(owner);
  await assert.rejects(store.write(maple, resourceWrite('odd', 0, { type: 'Patients' })), TypeError);
  await assert.rejects(store.read(maple, 'Patients', 'odd'), TypeError);
  assert.deepEqual(await everything(owner), before);
});

test('an error of the work undoes a transaction, and its value is returned otherwise', async () => {
  const before = await everything(owner);
  const broken = store.transaction(maple, async (inside) => {
    await inside.write(maple, resourceWrite('tx-1', 0, { index: indexRows('tx-1') }));
    await inside.writeMany(maple, [resourceWrite('tx-2'), resourceWrite('kept', 1)]);
    assert.equal(await inside.exists(maple, 'Patient', 'tx-1'), true, 'it reads its own writes');
    assert.equal(await store.exists(maple, 'Patient', 'tx-1'), false, 'nobody else does yet');
    const outcome = await inside.write(maple, resourceWrite('tx-1'));
    throw new Error(outcome.outcome);
  });
  await assert.rejects(broken, /^Error: conflict$/);
  assert.deepEqual(await everything(owner), before);
  const value = await store.transaction(maple, async (inside) => {
    await inside.transaction(maple, (nested) => nested.write(maple, resourceWrite('tx-3')));
    return await inside.writeMany(maple, [resourceWrite('tx-4'), resourceWrite('tx-3', 1)]);
  });
  assert.deepEqual(value, [
    { outcome: 'written', versionId: 1 },
    { outcome: 'written', versionId: 2 },
  ]);
  const [versions] = await owner.query<{ transactions: number; versions: number }>(sql`
    SELECT count(DISTINCT xid)::int AS transactions, count(*)::int AS versions FROM resource_version WHERE id IN ('tx-3', 'tx-4')`);
  assert.deepEqual(versions, { transactions: 1, versions: 3 });
});

test('an error inside of inner work undoes all that the work around it had done, and no more', async () => {
  await store.transaction(maple, async (inside) => {
    await inside.write(maple, resourceWrite('tx-5'));
    const outer = inside.transaction(maple, async (one) => {
      await one.write(maple, resourceWrite('tx-6'));
      await one.transaction(maple, (two) => two.write(maple, resourceWrite('tx-7')));
      await one.transaction(maple, async (two) => {
        await two.write(maple, resourceWrite('tx-8'));
        throw new Error('broken');
      });
    });
    await assert.rejects(outer, /^Error: broken$/);
    await inside.write(maple, resourceWrite('tx-9'));
  });
  const rows = await owner.query<{ id: string }>(
    sql`SELECT id FROM resource_version WHERE id IN ('tx-5', 'tx-6', 'tx-7', 'tx-8', 'tx-9') ORDER BY id`,
  );
  assert.deepEqual(
    rows.map(({ id }) => id),
    ['tx-5', 'tx-9'],
  );
});

test('two transactions that lock each other out both end, one after the other', async () => {
  for (const id of ['a', 'b']) await store.write(maple, resourceWrite(`lock-${id}`));
  let waiting = 0;
  const both = async (first: string, second: string): Promise<void> => {
    await store.transaction(maple, async (inside) => {
      for (const id of [first, second]) {
        const current = await inside.read(maple, 'Patient', `lock-${id}`);
        const outcome = await inside.write(maple, resourceWrite(`lock-${id}`, current?.versionId ?? 0));
        assert.equal(outcome.outcome, 'written');
        // The first time, both hold one row before either asks for the other.
        for (waiting += 1; waiting < 2; ) await new Promise((resolve) => setTimeout(resolve, 5));
      }
    });
  };
  await Promise.all([both('a', 'b'), both('b', 'a')]);
  const found = await store.currentVersions(maple, [
    { type: 'Patient', id: 'lock-a' },
    { type: 'Patient', id: 'lock-b' },
  ]);
  assert.deepEqual(
    found.map(({ versionId }) => versionId),
    [3, 3],
  );
});
