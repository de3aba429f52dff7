/**
 * Pages of every size concatenate to the whole result, in the asked order, with ties and missing values, also while others
 * write. https://hl7.org/fhir/R4/search.html#sort, #count
 * Slow: walks over all pages of many searches while others write.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { JsonObject } from '@praxis/fhir';
import fc from 'fast-check';
import { observation, searches, sorts } from './paged-observations.ts';
import { contentText, createOf, openSearchWorld, type SearchWorld } from './world.ts';

const pageSizes = [1, 2, 3, 7, 20, 100];
test('pages of every size concatenate to the unpaged result, for every search and order', {
  timeout: 60_000,
}, async (t) => {
  const world = await openSearchWorld(t);
  const resources = Array.from({ length: 45 }, (_, index) => observation(index));
  await world.load(resources);
  const byId = new Map(resources.map((resource) => [String(resource['id']), resource]));
  for (const search of searches) {
    const found = (await world.ids('Observation', search)).toSorted();
    for (const sort of sorts) {
      const query = [search, sort === '' ? '' : `_sort=${sort}`].filter((part) => part !== '').join('&');
      const whole = await world.ids('Observation', query);
      assert.deepEqual(whole.toSorted(), found, query);
      requireOrder(
        whole.map((id) => byId.get(id) ?? {}),
        sort,
        query,
      );
      for (const size of sort === '' || sort === '-date' ? [1, 4] : [4]) {
        assert.deepEqual(
          await world.ids('Observation', `${query}${query === '' ? '' : '&'}_count=${size}`),
          whole,
          `${query} by ${size}`,
        );
      }
    }
  }
});

test('pages of arbitrary searches, orders and sizes', { timeout: 60_000 }, async (t) => {
  const world = await openSearchWorld(t);
  await world.load(Array.from({ length: 60 }, (_, index) => observation(index)));
  const property = fc.asyncProperty(
    fc.subarray(
      searches.filter((search) => search !== ''),
      { maxLength: 3 },
    ),
    fc.constantFrom(...sorts),
    fc.constantFrom(...pageSizes),
    async (parts, sort, size) => {
      const query = [...parts, ...(sort === '' ? [] : [`_sort=${sort}`])].join('&');
      const whole = await world.ids('Observation', query);
      assert.equal(new Set(whole).size, whole.length);
      assert.equal(await world.count('Observation', query), whole.length);
      const sized = [query, `_count=${size}`].filter((part) => part !== '').join('&');
      assert.deepEqual(await world.ids('Observation', sized), whole);
      assert.deepEqual(await byNumber(world, sized), whole);
    },
  );
  await fc.assert(property, { numRuns: 60, seed: 20_260_115 });
});

/** As clients do that count pages themselves: until a page is empty. */
async function byNumber(world: SearchWorld, query: string): Promise<string[]> {
  const ids: string[] = [];
  for (let number = 1; ; number += 1) {
    const page = await world.page('Observation', `${query}&page=${number}`);
    if (page.rows.length === 0) return ids;
    ids.push(...page.rows.map(({ id }) => id));
  }
}

/** The values that a sort key takes in a resource, as the specification's text has it; an empty list: it lacks the key. */
function valuesOf(resource: JsonObject, key: string): (string | number)[] {
  const text = JSON.stringify(resource);
  const all = (pattern: RegExp): string[] => [...text.matchAll(pattern)].map((match) => match[1] ?? '');
  switch (key) {
    case 'date':
      return all(/"effective(?:DateTime":|Period":\{"start":)"([^"]+)"/g).map((date) => Date.parse(date));
    case 'code':
      return all(/"code":"(c\d)"/g);
    case 'value-quantity':
      return all(/"value":(\d+)/g).map(Number);
    case 'subject':
      return all(/"reference":"(Patient\/[^"]+)"/g);
    case 'status':
      return all(/"status":"([^"]+)"/g);
    case '_id':
      return [String(resource['id'])];
    default:
      return all(/"lastUpdated":"([^"]+)"/g);
  }
}

/** Each key by its earliest value in the direction, resources without one last. */
function requireOrder(resources: readonly JsonObject[], sort: string, query: string): void {
  if (sort === '') return;
  const keys = sort
    .split(',')
    .map((word) => ({ code: word.replace(/^-/, ''), direction: word.startsWith('-') ? -1 : 1 }));
  const ranks = resources.map((resource) =>
    keys.map(({ code, direction }) => valuesOf(resource, code).sort((a, b) => direction * compare(a, b))[0]),
  );
  for (const [index, rank] of ranks.entries()) {
    const before = ranks[index - 1];
    if (before === undefined) continue;
    const decisive = keys.findIndex((_key, place) => before[place] !== rank[place]);
    if (decisive < 0) continue;
    const a = before[decisive];
    const b = rank[decisive];
    const ordered = b === undefined || (a !== undefined && (keys[decisive]?.direction ?? 1) * compare(a, b) < 0);
    assert.ok(ordered, `${query}: ${String(a)} before ${String(b)} in ${keys[decisive]?.code}`);
  }
}

function compare(a: string | number, b: string | number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

test('more matches than are sorted at once', { timeout: 60_000 }, async (t) => {
  const world = await openSearchWorld(t);
  const resources = Array.from({ length: 2400 }, (_, index) => observation(index));
  await world.load(resources, { bare: true });
  const byId = new Map(resources.map((resource) => [String(resource['id']), resource]));
  for (const search of ['performer=Practitioner/one', 'performer=one&subject=p3', 'status=final,amended,preliminary']) {
    const found = (await world.ids('Observation', search)).toSorted();
    assert.equal(found.length, await world.count('Observation', search));
    for (const sort of ['-date', 'code', 'status,-date']) {
      const query = `${search}&_sort=${sort}`;
      const whole = await world.ids('Observation', query);
      assert.deepEqual(whole.toSorted(), found, query);
      requireOrder(
        whole.map((id) => byId.get(id) ?? {}),
        sort,
        query,
      );
    }
  }
});

test('nothing is lost or repeated while others create, update and delete', async (t) => {
  const world = await openSearchWorld(t);
  const steady = Array.from({ length: 60 }, (_, index) => observation(index));
  const busy = Array.from({ length: 30 }, (_, index) => ({ ...observation(1000 + index), id: `busy-${index}` }));
  await world.load([...steady, ...busy]);
  const expected = steady.map(({ id }) => String(id)).toSorted();
  let created = 0;
  for (const query of [
    '',
    'performer=one',
    'date:missing=false',
    '_sort=date',
    '_sort=-date',
    '_sort=-_lastUpdated',
    'performer=one&_sort=code,-date',
  ]) {
    const ids: string[] = [];
    for (let next: string | undefined = `${query}&_count=4`; next !== undefined; ) {
      const page = await world.page('Observation', next);
      ids.push(...page.rows.map(({ id }) => id));
      next = page.next && `${query}&_count=4&_cursor=${page.next.cursor}`;
      created += 1;
      await disturb(world, busy[created % busy.length] ?? {}, created);
    }
    const seen = ids.filter((id) => id.startsWith('o'));
    const wanted = query.includes('missing=false') ? expected.filter((id) => seen.includes(id)) : expected;
    assert.deepEqual(seen.toSorted(), wanted, query);
    assert.equal(new Set(seen).size, seen.length, query);
  }
});

/** Creates one resource and, in turn, updates or deletes another. */
async function disturb(world: SearchWorld, busy: JsonObject, turn: number): Promise<void> {
  await world.load([{ ...observation(5000 + turn), id: `new-${turn}` }]);
  const current = await world.store.read(world.scope, 'Observation', String(busy['id']));
  const change = await createOf({ ...observation(9000 + turn), id: busy['id'] ?? '' });
  const expectedVersion = current?.versionId ?? 0;
  if (turn % 3 === 0 && current?.deleted === false) {
    await world.store.write(world.scope, {
      ...change,
      expectedVersion,
      content: null,
      index: (await createOf({ resourceType: 'Basic', id: 'x' })).index,
    });
  } else {
    await world.store.write(world.scope, { ...change, expectedVersion });
  }
}

test('a page says where it stands and whether more follows', async (t) => {
  const world = await openSearchWorld(t);
  await world.load(Array.from({ length: 5 }, (_, index) => observation(index)));
  const first = await world.page('Observation', '_count=2');
  assert.deepEqual([first.page, first.rows.length, first.total, first.next?.page], [1, 2, undefined, 2]);
  const second = await world.page('Observation', `_count=2&page=2&_cursor=${first.next?.cursor}`);
  assert.deepEqual([second.page, second.rows.length, second.total, second.next?.page], [2, 2, undefined, 3]);
  const third = await world.page('Observation', `_count=2&_cursor=${second.next?.cursor}`);
  assert.deepEqual([third.page, third.rows.length, third.total, third.next], [3, 1, undefined, undefined]);
  const whole = await world.page('Observation', '_count=5');
  assert.deepEqual([whole.page, whole.rows.length, whole.total, whole.next], [1, 5, 5, undefined]);
  const beyond = await world.page('Observation', '_count=5&page=2');
  assert.deepEqual([beyond.page, beyond.rows.length, beyond.total, beyond.next], [2, 0, undefined, undefined]);
  const last = await world.page('Observation', '_count=3&page=2');
  assert.deepEqual([last.page, last.rows.length, last.total, last.next], [2, 2, 5, undefined]);
  const none = await world.page('Observation', 'status=unknown');
  assert.deepEqual([none.page, none.rows.length, none.total, none.next], [1, 0, 0, undefined]);
  assert.deepEqual(JSON.parse(contentText(whole.rows[0] ?? assert.fail())).resourceType, 'Observation');
});

test('a sort leaves out nothing that lacks the value, though R4 requires its element', async (t) => {
  const world = await openSearchWorld(t);
  const immunization = (id: string, more: object) => ({
    resourceType: 'Immunization',
    id,
    vaccineCode: { text: 'x' },
    patient: { reference: 'Patient/x' },
    ...more,
  });
  const reason = {
    extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' }],
  };
  await world.load([
    immunization('b', { status: 'completed', occurrenceString: 'last winter' }),
    immunization('a', { status: 'completed', occurrenceDateTime: '2020-01-01' }),
    immunization('c', { _status: reason, occurrenceDateTime: '2019' }),
  ]);
  for (const [sort, ids] of [
    ['date', ['c', 'a', 'b']],
    ['-date', ['a', 'c', 'b']],
    ['status,_id', ['a', 'b', 'c']],
  ] as const) {
    assert.deepEqual(await world.ids('Immunization', `_sort=${sort}`), ids);
    assert.deepEqual(await world.ids('Immunization', `_sort=${sort}&_count=1`), ids);
  }
});
