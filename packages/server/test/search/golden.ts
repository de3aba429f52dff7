/**
 * Tables of searches and what they find, written from the specification's text.
 */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { SearchWorld } from './world.ts';

/** A query string as a person reads it (`+`, `|` and spaces as themselves), and the ids it finds, sorted. */
export type Golden = readonly (readonly [query: string, ids: readonly string[]])[];

/** Runs every row as a test of its own: the search finds exactly the ids, by page, by count, and by contents alone where these tell. */
export async function checkGolden(t: TestContext, world: SearchWorld, type: string, table: Golden): Promise<void> {
  for (const [query, ids] of table) {
    await t.test(`${type}?${query}`, async () => {
      const encoded = encodeQuery(query);
      assert.deepEqual((await world.ids(type, encoded)).toSorted(), ids.toSorted());
      assert.equal(await world.count(type, encoded), ids.length);
      const matched = await world.match(type, encoded);
      if (matched !== undefined) assert.deepEqual(matched.toSorted(), ids.toSorted());
    });
  }
}

/** Percent-encodes all but the `&` and the first `=` of each parameter. */
export function encodeQuery(query: string): string {
  return query
    .split('&')
    .map((pair) => {
      const at = pair.indexOf('=');
      return `${encodeURIComponent(pair.slice(0, at))}=${encodeURIComponent(pair.slice(at + 1))}`;
    })
    .join('&');
}
