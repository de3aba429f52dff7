/**
 * Walks over the history of a type or a firm while others write: every page shows the history of the moment of the first
 * one, newest first, nothing lost and nothing repeated (docs/decisions/0105).
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { raiseOrderEpoch } from '../../src/storage/order-epoch.ts';
import {
  type HistoryVersions,
  type HistoryWalk,
  openStore,
  type ResourceStore,
  type StoredResource,
} from '../../src/storage/store.ts';
import { openTestDatabase } from '../support/database.ts';
import { makeFirms, nowMs, resourceWrite } from './fixture.ts';

const writers = 8;
const { owner, runtime } = await openTestDatabase({ after }, { poolMax: writers + 4 });
const { maple, cedar } = await makeFirms(owner);
const store = openStore(runtime);

type Page = (walk: HistoryWalk) => Promise<HistoryVersions>;
const system: Page = (walk) => store.systemHistory(maple, walk);
const ofType =
  (type: string, on: ResourceStore = store): Page =>
  (walk) =>
    on.typeHistory(maple, type, walk);

const nameOf = ({ type, id, versionId }: StoredResource): string => `${type}/${id}/${versionId}`;

/** All versions from `first` on, page by page; `between` runs before each further page. */
async function walk(
  page: Page,
  limit: number,
  between: () => Promise<unknown> = async () => undefined,
): Promise<string[]> {
  const found: string[] = [];
  let { versions, next } = await page({ limit });
  found.push(...versions.map(nameOf));
  while (next !== undefined) {
    await between();
    ({ versions, next } = await page({ limit, after: next }));
    found.push(...versions.map(nameOf));
  }
  return found;
}

/** A write of `type`/`id` at a moment of its own, later than the ones before. */
let moment = nowMs;
function write(type: string, id: string, expectedVersion = 0) {
  moment += 1;
  return resourceWrite(id, expectedVersion, { type, lastUpdatedMs: moment });
}

test('what commits between two pages is in no page of the walk, wherever it belongs in the order', async () => {
  for (const id of ['a', 'b', 'c', 'd']) await store.write(maple, write('Account', id));
  await store.write(maple, { ...write('Account', 'b', 1), content: null });
  const expected = ['Account/b/2', 'Account/d/1', 'Account/c/1', 'Account/b/1', 'Account/a/1'];
  let count = 0;
  const between = async () => {
    count += 1;
    await store.write(maple, resourceWrite(`early-${count}`, 0, { type: 'Account', lastUpdatedMs: nowMs + 2 }));
    await store.write(maple, write('Account', 'a', count));
  };
  for (const limit of [1, 2, 4]) {
    const before = await walk(ofType('Account'), 100);
    assert.deepEqual(await walk(ofType('Account'), limit, between), before, `by ${limit}`);
    if (limit === 1) assert.deepEqual(before, expected);
  }
  assert.deepEqual((await walk(ofType('Account'), 3)).length, expected.length + 2 * count);
});

test('a transaction that began before the walk and ends during it is in the next walk', async () => {
  await store.write(maple, write('Basic', 'one'));
  await store.write(maple, write('Basic', 'two'));
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
  const { promise: hasWritten, resolve: wrote } = Promise.withResolvers<void>();
  const slow = store.transaction(maple, async (inside) => {
    await inside.write(maple, resourceWrite('slow', 0, { type: 'Basic', lastUpdatedMs: nowMs }));
    wrote();
    await mayEnd;
  });
  await hasWritten;
  // Committed while the slow one is open, and shown at once: what a caller has just written it finds.
  await store.write(maple, write('Basic', 'three'));
  const during = await walk(ofType('Basic'), 1, async () => {
    end();
    await slow;
  });
  assert.deepEqual(during, ['Basic/three/1', 'Basic/two/1', 'Basic/one/1']);
  assert.deepEqual(await walk(ofType('Basic'), 2), [...during, 'Basic/slow/1']);
});

test('a transaction with an older id that writes later comes later, so versions of a resource are in their order', async () => {
  await store.write(maple, write('Flag', 'one'));
  await store.transaction(maple, async (inside) => {
    await inside.write(maple, write('Flag', 'other')); // takes the transaction id
    await store.write(maple, write('Flag', 'one', 1));
    await inside.write(maple, write('Flag', 'one', 2));
  });
  assert.deepEqual(await walk(ofType('Flag'), 1), ['Flag/one/3', 'Flag/one/2', 'Flag/other/1', 'Flag/one/1']);
});

test('versions of one moment are in the order in which they were written', async () => {
  const ids = Array.from({ length: 20 }, (_, index) => `same-${index}`);
  await store.writeMany(
    maple,
    ids.map((id) => resourceWrite(id, 0, { type: 'Goal' })),
  );
  assert.deepEqual(await walk(ofType('Goal'), 3), ids.map((id) => `Goal/${id}/1`).toReversed());
});

test('a walk begun inside a transaction has what that transaction wrote, also after it has ended', async () => {
  await store.write(maple, write('Group', 'before'));
  const first = await store.transaction(maple, async (inside) => {
    for (const id of ['x', 'y', 'z']) await inside.write(maple, write('Group', id));
    return await inside.typeHistory(maple, 'Group', { limit: 1 });
  });
  await store.write(maple, write('Group', 'after'));
  assert.ok(first.next);
  const rest = await store.typeHistory(maple, 'Group', { limit: 10, after: first.next });
  assert.deepEqual(
    [...first.versions, ...rest.versions].map(nameOf),
    ['z', 'y', 'x', 'before'].map((id) => `Group/${id}/1`),
  );
});

test('a walk goes on after the order epoch was raised, without what came later', async () => {
  for (const id of ['a', 'b', 'c']) await store.write(maple, write('List', id));
  const found = await walk(ofType('List'), 1, async () => {
    await raiseOrderEpoch(owner);
    await store.write(maple, write('List', `late-${moment}`));
  });
  assert.deepEqual(found, ['List/c/1', 'List/b/1', 'List/a/1']);
  assert.equal((await walk(ofType('List'), 2)).length, 5);
});

/** Writes resources of its own and a shared one until told to stop; says what is durable. */
async function busyWriter(writer: number, done: Set<string>, stopped: () => boolean): Promise<void> {
  for (let round = 0; !stopped(); round++) {
    const own = write('Slot', `w${writer}`, round);
    const note = write('Slot', `w${writer}-${round}`);
    const written =
      round % 3 === 0
        ? await store.writeMany(maple, [own, note])
        : await store.transaction(maple, async (inside) => [
            await inside.write(maple, note),
            await inside.write(maple, own),
          ]);
    assert.ok(written.every(({ outcome }) => outcome === 'written'));
    done.add(`Slot/w${writer}/${round + 1}`).add(`Slot/w${writer}-${round}/1`);
  }
}

test('while eight write, every walk has all that was durable before it, once, and each resource without a gap', async () => {
  const done = new Set<string>();
  let isOver = false;
  const busy = Array.from({ length: writers }, (_, writer) => busyWriter(writer, done, () => isOver));
  try {
    for (const limit of [1, 7, 50, 7, 20]) {
      while (done.size < 40) await new Promise((resolve) => setImmediate(resolve));
      const before = [...done];
      const found = await walk(limit === 50 ? system : ofType('Slot'), limit === 1 ? 5 : limit);
      const slots = found.filter((name) => name.startsWith('Slot/'));
      assert.equal(new Set(found).size, found.length, 'nothing is repeated');
      assert.deepEqual(
        before.filter((name) => !slots.includes(name)),
        [],
        'nothing is lost',
      );
      for (let writer = 0; writer < writers; writer++) {
        const versions = slots.filter((name) => name.startsWith(`Slot/w${writer}/`));
        assert.deepEqual(
          versions,
          versions.map((_, index) => `Slot/w${writer}/${versions.length - index}`),
        );
      }
    }
  } finally {
    isOver = true;
    await Promise.all(busy);
  }
});

test('another firm has none of it', async () => {
  assert.deepEqual(await store.systemHistory(cedar, { limit: 10 }), { versions: [], next: undefined });
  const { next } = await system({ limit: 1 });
  assert.ok(next);
  assert.deepEqual(await store.systemHistory(cedar, { limit: 10, after: next }), { versions: [], next: undefined });
});
