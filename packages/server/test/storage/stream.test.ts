/**
 * The walk over all live resources of a firm, for exports.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { boxStored } from '../../src/access/disclosure.ts';
import type { Database, QueryOptions } from '../../src/database/database.ts';
import type { Sql } from '../../src/database/sql.ts';
import { pageBytesMax } from '../../src/search/sql/page-bytes.ts';
import { openStore, type StoredResource } from '../../src/storage/store.ts';
import { openTestDatabase } from '../support/database.ts';
import { makeFirms, opened, resourceDelete, resourceWrite } from './fixture.ts';

const { owner, runtime } = await openTestDatabase({ after });
const { maple, cedar } = await makeFirms(owner);
const store = openStore(runtime);

/** Enough for several pages of the walk. */
const patients = 950;

const ids = Array.from({ length: patients }, (_, index) => `p-${index}`);
await store.writeMany(
  maple,
  ids.map((id) => resourceWrite(id)),
);
await store.writeMany(
  maple,
  ids.slice(100, 500).map((id) => resourceDelete(id, 1)),
);
await store.writeMany(
  maple,
  ['o-1', 'o-2', 'o-3'].map((id) => resourceWrite(id, 0, { type: 'Observation' })),
);
await store.write(cedar, resourceWrite('elsewhere'));

const live = [...ids.slice(0, 100), ...ids.slice(500)];

async function idsOf(resources: AsyncIterable<StoredResource>): Promise<string[]> {
  const found: string[] = [];
  for await (const { id } of resources) found.push(id);
  return found;
}

test('an unknown type is refused, an empty list of types finds nothing', async () => {
  await assert.rejects(idsOf(store.stream(maple, { types: ['Patients'] })), TypeError);
  assert.deepEqual(await idsOf(store.stream(maple, { types: [] })), []);
});

test('every live resource once, in the order of creation, deleted ones left out', async () => {
  assert.deepEqual(await idsOf(store.stream(maple)), [...live, 'o-1', 'o-2', 'o-3']);
  assert.deepEqual(await idsOf(store.stream(cedar)), ['elsewhere']);
});

test('only the types asked for, with all that a read gives', async () => {
  assert.deepEqual(await idsOf(store.stream(maple, { types: ['Observation', 'Encounter'] })), ['o-1', 'o-2', 'o-3']);
  for await (const resource of store.stream(maple, { types: ['Observation'] })) {
    assert.deepEqual(opened(resource), opened(await store.read(maple, 'Observation', resource.id)));
  }
});

test('what is updated during the walk comes once, what is deleted before its turn does not come', async () => {
  const seen: string[] = [];
  for await (const { id } of store.stream(maple, { types: ['Patient'] })) {
    seen.push(id);
    if (id !== 'p-0') continue;
    await store.writeMany(
      maple,
      ['p-0', 'p-1', 'p-949'].map((each) => resourceWrite(each, 1)),
    );
    await store.write(maple, resourceDelete('p-948', 1));
    await store.write(maple, resourceWrite('p-950'));
  }
  assert.deepEqual(seen, [...live.filter((id) => id !== 'p-948'), 'p-950']);
});

test('pages are fetched as the consumer goes, and no more after it stops', async () => {
  let statements = 0;
  const counting: Database = {
    ...runtime,
    forFirm: (firm) => ({
      query(statement, options) {
        statements += 1;
        return runtime.forFirm(firm).query(statement, options);
      },
    }),
  };
  let seen = 0;
  for await (const _resource of openStore(counting).stream(maple)) {
    seen += 1;
    if (seen === 101) break;
  }
  assert.equal(statements, 3, 'pages of 200 rows: one with 100 live rows, one without, and one more for the next');
});

test('a page of large resources ends at the limit of bytes, and the walk misses none', async () => {
  const large = ['l-0', 'l-1', 'l-2', 'l-3', 'l-4'];
  const content = boxStored(JSON.stringify({ resourceType: 'Basic', text: 'x'.repeat(pageBytesMax / 2) }));
  for (const id of large) await store.write(cedar, { ...resourceWrite(id, 0, { type: 'Basic' }), content });
  await store.write(cedar, resourceWrite('behind'));
  const pages: number[] = [];
  const counting: Database = {
    ...runtime,
    forFirm: (firm) => ({
      async query<Row>(statement: Sql, options: QueryOptions) {
        const rows = await runtime.forFirm(firm).query<Row>(statement, options);
        pages.push(rows.filter((row) => (row as { readonly content: string | null }).content !== null).length);
        return rows;
      },
    }),
  };
  assert.deepEqual(await idsOf(openStore(counting).stream(cedar)), ['elsewhere', ...large, 'behind']);
  assert.deepEqual(pages, [3, 2, 2]);
});
