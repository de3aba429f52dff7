/**
 * Over the official examples and a synthetic practice: pages of every size, forward and backward, are the unpaged result,
 * while others write at the same time. Rows that nobody writes to appear exactly once and in their order.
 * Slow: walks over the pages of all official examples while others write.
 */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { JsonObject } from '@praxis/fhir';
import type { SearchPage } from '../../src/search/sql/plan.ts';
import type { PageRow } from '../../src/storage/store.ts';
import { generatePractice } from '../../src/synthetic/practice.ts';
import { officialExamples } from './official-examples.ts';
import { createOf, nowMs, openSearchWorld, type SearchWorld, timeZone } from './world.ts';

const sizes = [1, 2, 3, 7, 50];
/** Copies that there are at once. */
const copiesMax = 30;
/** What a deletion writes. */
const nothing = { content: null, index: (await createOf({ resourceType: 'Basic', id: 'x' })).index };

test('the official examples of every type, by every order that all types have, under writers', {
  timeout: 120_000,
}, async (t) => {
  const world = await openSearchWorld(t);
  const examples = officialExamples();
  await world.load(examples, { bare: true });
  const large = [...Map.groupBy(examples, ({ resourceType }) => String(resourceType))].filter(
    ([, resources]) => resources.length > 7,
  );
  assert.ok(large.length > 10, `${large.length} types`);
  const { idle, busy } = divided(large.flatMap(([, resources]) => resources));
  const orders = ['', '_sort=-_id', '_sort=_lastUpdated'];
  const cases = large.flatMap(([type]) => orders.map((query) => ({ type, query, sizes: [3, 7] })));
  await comparePages(t, world, cases, idle, busy);
});

const searches: readonly (readonly [type: string, query: string])[] = [
  ['Appointment', ''],
  ['Appointment', 'status=booked,fulfilled'],
  ['Appointment', '_sort=-date'],
  ['Appointment', 'status:not=cancelled&_sort=date'],
  ['Appointment', '_sort=status,-date'],
  ['Patient', '_sort=family,birthdate'],
  ['Patient', '_sort=-email'],
  ['Patient', 'gender=female&_sort=-birthdate'],
];

test('a synthetic practice, both ways, under writers', { timeout: 120_000 }, async (t) => {
  const world = await openSearchWorld(t);
  const practice: JsonObject[] = [
    ...generatePractice({ seed: 'pages', firm: 'maple', name: 'Maple', timeZone, patients: 40, todayMs: nowMs }),
  ].filter(({ resourceType }) => resourceType === 'Appointment' || resourceType === 'Patient');
  await world.load(practice, { bare: true });
  const { idle, busy } = divided(practice);
  const cases = searches.map(([type, query], place) => ({ type, query, sizes: [sizes[place % 3] ?? 1, 7, 50] }));
  await comparePages(t, world, cases, idle, busy);
});

interface Case {
  readonly type: string;
  readonly query: string;
  /** Rows of a page. */
  readonly sizes: readonly number[];
}

/** Four of five that nobody writes to, and the fifth. */
function divided(resources: readonly JsonObject[]): { readonly idle: JsonObject[]; readonly busy: JsonObject[] } {
  const { idle = [], busy = [] } = Object.groupBy(resources, (_, index) => (index % 5 === 0 ? 'busy' : 'idle'));
  return { idle, busy };
}

/** Compares pages of each size, both ways, with the whole result before the writers began, as to the idle resources. */
async function comparePages(
  t: TestContext,
  world: SearchWorld,
  cases: readonly Case[],
  idle: readonly JsonObject[],
  busy: readonly JsonObject[],
): Promise<void> {
  const steady = new Set(idle.map(({ resourceType, id }) => `${resourceType}/${id}`));
  const ofIdle = (type: string, ids: readonly string[]): string[] => ids.filter((id) => steady.has(`${type}/${id}`));
  const before = new Map<Case, string[]>();
  for (const each of cases) before.set(each, ofIdle(each.type, await world.ids(each.type, each.query)));
  const writers = openWriters(world, busy);
  try {
    for (const [{ type, query, sizes }, expected] of before) {
      const all = idle.filter(({ resourceType }) => resourceType === type).length;
      const isAll = query === '' || query.startsWith('_sort');
      assert.ok(isAll ? expected.length === all : expected.length > 10 && expected.length < all, `${type}?${query}`);
      for (const size of sizes) {
        const sized = [query, `_count=${size}`].filter((part) => part !== '').join('&');
        assert.deepEqual(ofIdle(type, await world.ids(type, sized)), expected, `${type}?${sized}`);
        assert.deepEqual(ofIdle(type, forward(await world.pagesBack(type, sized))), expected, `${type}?${sized} back`);
      }
    }
  } finally {
    const written = await writers.stop();
    t.diagnostic(`${written} writes meanwhile`);
    assert.ok(written > 50, `${written} writes`);
  }
}

/** Two writers that update, delete and revive the resources, make copies of them and take those away, until they are stopped. */
function openWriters(world: SearchWorld, resources: readonly JsonObject[]): { stop(): Promise<number> } {
  let stopped = false;
  let written = 0;
  const copies: JsonObject[] = [];
  const write = async (half: number): Promise<void> => {
    for (let turn = half; !stopped; turn += 2) {
      const resource = resources[turn % resources.length];
      const other = resources[(turn * 7 + 3) % resources.length];
      if (resource === undefined || other === undefined) return;
      if (turn % 4 === 0) await copy(world, copies, { ...resource, id: `new-${turn}` });
      else await change(world, resource, other, turn);
      written += 1;
    }
  };
  const running = Promise.all([write(0), write(1)]);
  return {
    async stop() {
      stopped = true;
      await running;
      return written;
    },
  };
}

/** A new one is made; the oldest goes, so that a slow machine has no more pages to read than a fast one. */
async function copy(world: SearchWorld, copies: JsonObject[], resource: JsonObject): Promise<void> {
  copies.push(resource);
  await world.load([resource], { bare: true });
  const [oldest] = copies.length > copiesMax ? copies.splice(0, 1) : [];
  if (oldest === undefined) return;
  await world.store.write(world.scope, { ...(await createOf(oldest, true)), expectedVersion: 1, ...nothing });
}

/** A resource takes the content of another of its type, or is deleted. */
async function change(world: SearchWorld, resource: JsonObject, other: JsonObject, turn: number): Promise<void> {
  const type = String(resource['resourceType']);
  const id = String(resource['id']);
  const current = await world.store.read(world.scope, type, id);
  const content = other['resourceType'] === type ? other : resource;
  const write = { ...(await createOf({ ...content, id }, true)), expectedVersion: current?.versionId ?? 0 };
  const gone = turn % 4 === 1 && current?.deleted === false;
  await world.store.write(world.scope, gone ? { ...write, ...nothing } : write);
}

function forward(pages: readonly SearchPage<PageRow>[]): string[] {
  return pages.toReversed().flatMap(({ rows }) => rows.map(({ id }) => id));
}
