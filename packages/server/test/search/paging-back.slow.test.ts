/**
 * Pages backward: `previous` leads from any page over the same rows as `next`, in the same order, also while others write;
 * `last` begins at the end. https://hl7.org/fhir/R4/http.html#paging
 * Slow: walks over all pages of many searches while others write.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { JsonObject } from '@praxis/fhir';
import fc from 'fast-check';
import type { SearchPage } from '../../src/search/sql/plan.ts';
import type { PageRow } from '../../src/storage/store.ts';
import { observation, searches, sorts } from './paged-observations.ts';
import { createOf, openSearchWorld, type SearchWorld } from './world.ts';

test('pages backward concatenate to the unpaged result, for every search and order', {
  timeout: 120_000,
}, async (t) => {
  const world = await openSearchWorld(t);
  await world.load(Array.from({ length: 45 }, (_, index) => observation(index)));
  for (const search of searches) {
    for (const sort of sorts) {
      const query = queryOf([search], sort);
      const whole = await world.ids('Observation', query);
      assert.deepEqual(idsBack(await world.pagesBack('Observation', `${query}&_count=7`)), whole, query);
    }
  }
});

test('previous of a page is the page before, for arbitrary searches, orders and sizes', {
  timeout: 120_000,
}, async (t) => {
  const world = await openSearchWorld(t);
  await world.load(Array.from({ length: 60 }, (_, index) => observation(index)));
  const some = searches.filter((search) => search !== '');
  const property = fc.asyncProperty(
    fc.subarray(some, { maxLength: 3 }),
    fc.constantFrom(...sorts),
    fc.constantFrom(1, 2, 3, 7, 20, 50),
    async (parts, sort, size) => {
      const query = queryOf(parts, sort, size);
      const forward = await pagesOn(world, query);
      for (const [index, page] of forward.entries()) {
        const { previous } = page;
        assert.equal(previous === undefined, index === 0, query);
        if (previous === undefined) continue;
        const before = await world.page('Observation', `${query}&page=${previous.page}&_cursor=${previous.cursor}`);
        assert.deepEqual(stated(before), stated(forward[index - 1] ?? assert.fail()), query);
        const again = await world.page('Observation', `${query}&_cursor=${before.next?.cursor}`);
        assert.deepEqual(stated(again), stated(page), query);
      }
      assert.deepEqual((await world.pagesBack('Observation', query)).map(stated), forward.map(stated).toReversed());
    },
  );
  await fc.assert(property, { numRuns: 25, seed: 20_260_115 });
});

test('more matches than are sorted at once', { timeout: 120_000 }, async (t) => {
  const world = await openSearchWorld(t);
  await world.load(
    Array.from({ length: 2400 }, (_, index) => observation(index)),
    { bare: true },
  );
  for (const query of [
    'performer=Practitioner/one&_sort=-date',
    'performer=one&subject=p3&_sort=code',
    'status=final,amended,preliminary&_sort=-date',
    'status=final,amended&_sort=status,-date',
    'performer=one&_sort=-value-quantity,date',
    '_sort=-date',
  ]) {
    const whole = await world.ids('Observation', query);
    assert.deepEqual(idsBack(await world.pagesBack('Observation', query)), whole, query);
  }
});

test('nothing is lost or repeated on the way back while others create, update and delete', {
  timeout: 60_000,
}, async (t) => {
  const world = await openSearchWorld(t);
  const steady = Array.from({ length: 60 }, (_, index) => observation(index));
  const busy = Array.from({ length: 30 }, (_, index) => ({ ...observation(1000 + index), id: `busy-${index}` }));
  await world.load([...steady, ...busy]);
  let turn = 0;
  for (const query of [
    '',
    'performer=one',
    'date:missing=false',
    '_sort=date',
    '_sort=-date',
    'performer=one&_sort=code,-date',
  ]) {
    const expected = (await world.ids('Observation', query)).filter((id) => id.startsWith('o'));
    const ids: string[] = [];
    let page = (await pagesOn(world, `${query}&_count=4`)).at(-1) ?? assert.fail();
    for (;;) {
      ids.unshift(...page.rows.map(({ id }) => id));
      if (page.previous === undefined) break;
      turn += 1;
      await disturb(world, busy[turn % busy.length] ?? {}, turn);
      page = await world.page('Observation', `${query}&_count=4&_cursor=${page.previous.cursor}`);
    }
    assert.deepEqual(
      ids.filter((id) => id.startsWith('o')),
      expected,
      query,
    );
  }
});

test('where everything before or after a page is gone, its links lead to what is left', async (t) => {
  const world = await openSearchWorld(t);
  await world.load(Array.from({ length: 6 }, (_, index) => ({ ...observation(index), id: `o${index}` })));
  const at = (start: { readonly cursor: string } | undefined): Promise<SearchPage<PageRow>> =>
    world.page('Observation', `_count=2&_cursor=${start?.cursor}`);
  const first = await world.page('Observation', '_count=2');
  const second = await at(first.next);
  const third = await at(second.next);
  assert.deepEqual(
    [ids(first), ids(second), ids(third)],
    [
      ['o0', 'o1'],
      ['o2', 'o3'],
      ['o4', 'o5'],
    ],
  );
  for (const id of ['o0', 'o1']) await remove(world, id);
  const none = await at(second.previous);
  assert.deepEqual([ids(none), none.page, none.previous], [[], 1, undefined]);
  assert.deepEqual(ids(await at(none.next)), ['o2', 'o3']);
  for (const id of ['o4', 'o5']) await remove(world, id);
  const beyond = await at(second.next);
  assert.deepEqual([ids(beyond), beyond.page, beyond.next], [[], 3, undefined]);
  assert.deepEqual(ids(await at(beyond.previous)), ['o2', 'o3']);
  const deep = await world.page('Observation', '_count=2&page=4');
  assert.deepEqual([ids(deep), deep.page, deep.next, deep.previous?.page], [[], 4, undefined, 3]);
  assert.deepEqual(ids(await at(deep.previous)), ['o2', 'o3']);
});

function queryOf(parts: readonly string[], sort: string, size?: number): string {
  const all = [...parts, sort === '' ? '' : `_sort=${sort}`, size === undefined ? '' : `_count=${size}`];
  return all.filter((part) => part !== '').join('&');
}

async function pagesOn(world: SearchWorld, query: string): Promise<SearchPage<PageRow>[]> {
  const pages = [await world.page('Observation', query)];
  for (let next = pages[0]?.next; next !== undefined; next = pages.at(-1)?.next)
    pages.push(await world.page('Observation', `${query}&_cursor=${next.cursor}`));
  return pages;
}

function stated(page: SearchPage<PageRow>): unknown {
  return { ids: ids(page), page: page.page, previous: page.previous?.page, next: page.next?.page };
}

function idsBack(pages: readonly SearchPage<PageRow>[]): string[] {
  return pages.toReversed().flatMap(ids);
}

function ids({ rows }: SearchPage<PageRow>): string[] {
  return rows.map(({ id }) => id);
}

/** Creates one resource and, in turn, updates or deletes another. */
async function disturb(world: SearchWorld, busy: JsonObject, turn: number): Promise<void> {
  await world.load([{ ...observation(5000 + turn), id: `new-${turn}` }]);
  const id = String(busy['id']);
  const current = await world.store.read(world.scope, 'Observation', id);
  if (turn % 3 === 0 && current?.deleted === false) return await remove(world, id);
  const change = await createOf({ ...observation(9000 + turn), id });
  await world.store.write(world.scope, { ...change, expectedVersion: current?.versionId ?? 0 });
}

async function remove(world: SearchWorld, id: string): Promise<void> {
  const current = await world.store.read(world.scope, 'Observation', id);
  await world.store.write(world.scope, {
    ...(await createOf({ ...observation(0), id })),
    expectedVersion: current?.versionId ?? 0,
    content: null,
    index: (await createOf({ resourceType: 'Basic', id: 'x' })).index,
  });
}
