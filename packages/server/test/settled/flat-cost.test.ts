/** docs/integrate/contract.md#fhir: only cursors promise flat cost; counted in pages that the database reads, not in time. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { planPage } from '../../src/search/sql/plan.ts';
import { explained, pagesOf, vacuumed } from '../search/explained.ts';
import { openSearchWorld, parametersOfQuery, type SearchWorld, targetOf } from '../search/world.ts';

const rows = 5200;
const pageRows = 5;
const deepPage = 1000;

const appointments = Array.from({ length: rows }, (_, index) => ({
  resourceType: 'Appointment',
  id: `a${index}`,
  status: index % 40 === 0 ? 'cancelled' : 'booked',
  start: new Date(Date.UTC(2025, 0, 1) + ((index * 7919) % rows) * 1_800_000).toISOString(),
  participant: [{ actor: { reference: `Patient/p${index % 50}` }, status: 'accepted' }],
}));

/** Pages of the database that are read for the page of the search which begins at the cursor. */
async function cost(world: SearchWorld, query: string): Promise<number> {
  const statement = planPage(targetOf(world.scope, 'Appointment', parametersOfQuery(query))).buildStatement();
  return pagesOf(await explained(world, statement));
}

test('settled flat-cost: page 1,000 by cursor reads as many pages of the database as page 2', {
  timeout: 60_000,
}, async (t) => {
  const world = await openSearchWorld(t);
  await world.load(appointments, { bare: true });
  await vacuumed(world);
  for (const query of ['', '_sort=-date', 'status=booked&_sort=date']) {
    const sized = [query, `_count=${pageRows}`].filter((part) => part !== '').join('&');
    let { next, rows: shown } = await world.page('Appointment', sized);
    const second = await cost(world, `${sized}&_cursor=${next?.cursor}`);
    const seen = new Set(shown.map(({ id }) => id));
    for (let page = 2; page < deepPage; page += 1) {
      ({ next, rows: shown } = await world.page('Appointment', `${sized}&_cursor=${next?.cursor}`));
      for (const { id } of shown) seen.add(id);
    }
    assert.equal(seen.size, (deepPage - 1) * pageRows, `${query}: no row twice`);
    const deep = await cost(world, `${sized}&_cursor=${next?.cursor}`);
    t.diagnostic(`${query}: page 2 reads ${second} pages of the database, page ${deepPage} ${deep}`);
    // The deeper page may lie across one more leaf of the index.
    assert.ok(deep <= second + 10, `${query}: ${second}, then ${deep}`);
  }
});
