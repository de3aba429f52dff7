/** https://hl7.org/fhir/R4/search.html#return: order, pages, parts of resources, links. */
import assert from 'node:assert/strict';
import { patient } from '../../support/records.ts';
import type { Answer } from '../../support/service.ts';
import { type Clause, forClients, shall, shallNot, should } from '../clause.ts';
import { assertSubsetted } from '../http/reading.ts';
import { linkOf, someTagged } from '../http/searching.ts';
import { observation, tagged, tagSystem } from '../records.ts';
import type { World } from '../world.ts';
import { matches } from './asking.ts';

/** Patients of these families, and the criterion that finds them. */
async function families({ create, unique }: World, names: readonly string[]): Promise<string> {
  const tag = unique();
  for (const name of names) await create({ ...patient(name), ...tagged(tag) });
  return `_tag=${tagSystem}|${tag}`;
}

const familiesOf = ({ json }: Answer): string[] =>
  json.entry.map(({ resource }: Answer['json']) => resource.name[0].family);

const whole = {
  active: true,
  gender: 'female',
  photo: [{ title: 'Large' }],
  contact: [{ name: { family: 'Next' } }],
  text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">Stone</div>' },
};

export const results: readonly Clause[] = [
  should('search-sort-1', 'sort', 'Strings are sorted whatever their case', async (world) => {
    const criterion = await families(world, ['beta', 'Alpha', 'GAMMA', 'alpine', 'Delta']);
    const up = ['Alpha', 'alpine', 'beta', 'Delta', 'GAMMA'];
    assert.deepEqual(familiesOf(await world.get(`Patient?${criterion}&_sort=family`)), up);
    assert.deepEqual(familiesOf(await world.get(`Patient?${criterion}&_sort=-family`)), up.toReversed());
  }),
  shallNot('search-count-1', 'count', 'No page has more matches than _count', async (world) => {
    const { criterion } = await someTagged(world, 4);
    for (const count of [1, 3, 4, 9]) {
      const answer = await world.get(`Patient?${criterion}&_count=${count}`);
      assert.equal(matches(answer).length, Math.min(count, 4));
    }
    const none = await world.get(`Patient?${criterion}&_count=0`);
    assert.deepEqual([none.json.total, none.json.entry, linkOf(none, 'next')], [4, undefined, undefined]);
  }),
  shall('search-contained-1', 'contained', 'Entries tell by search.mode why they are there', async (world) => {
    const tag = world.unique();
    const { id } = await world.create(patient('Stone'));
    const contained = [{ resourceType: 'Practitioner', id: 'p', name: [{ family: 'Inside' }] }];
    const performer = [{ reference: '#p' }];
    await world.create(observation(`Patient/${id}`, '1234-5', { contained, performer, ...tagged(tag) }));
    const answer = await world.get(`Observation?_tag=${tagSystem}|${tag}&_include=Observation:subject`);
    assert.equal(answer.status, 200, answer.text);
    const modes = answer.json.entry.map(({ resource, search }: Answer['json']) => [resource.resourceType, search.mode]);
    assert.deepEqual(modes, [
      ['Observation', 'match'],
      ['Patient', 'include'],
    ]);
  }),
  should(
    'search-paging-1',
    'Paging',
    'Each page has all that its matches include, also what earlier pages had',
    async (world) => {
      const tag = world.unique();
      const { id } = await world.create(patient('Stone'));
      for (const code of ['one', 'two', 'three']) await world.create(observation(`Patient/${id}`, code, tagged(tag)));
      const path = `Observation?_tag=${tagSystem}|${tag}&_include=Observation:subject&_count=1`;
      for (let next: string | undefined = path, pages = 0; next !== undefined || pages !== 3; pages += 1) {
        assert.ok(next !== undefined && pages < 3);
        const page = await world.get(next);
        assert.equal(matches(page).length, 1);
        const included = page.json.entry.filter(({ search }: Answer['json']) => search.mode === 'include');
        assert.deepEqual(
          included.map(({ resource }: Answer['json']) => resource.id),
          [id],
        );
        next = linkOf(page, 'next');
      }
    },
  ),
  should('search-summary-1', 'summary', '_summary=true gives the elements that R4 marks as summary', async (world) => {
    const tag = world.unique();
    await world.create({ ...patient('Stone'), ...whole, ...tagged(tag) });
    const { json } = await world.get(`Patient?_tag=${tagSystem}|${tag}&_summary=true`);
    const elements = Object.keys(json.entry[0].resource).sort();
    assert.deepEqual(elements, ['active', 'gender', 'id', 'meta', 'name', 'resourceType']);
  }),
  should('search-summary-2', 'summary', 'What _summary leaves incomplete carries the tag SUBSETTED', async (world) => {
    const tag = world.unique();
    await world.create({ ...patient('Stone'), ...whole, ...tagged(tag) });
    for (const summary of ['true', 'text', 'data']) {
      const { json } = await world.get(`Patient?_tag=${tagSystem}|${tag}&_summary=${summary}`);
      assertSubsetted(json.entry[0].resource);
    }
  }),
  should('search-elements-1', 'elements', 'Clients list mandatory and modifier elements', forClients),
  should(
    'search-elements-2',
    'elements',
    'Mandatory elements are returned whether they are listed or not',
    async (world) => {
      const tag = world.unique();
      await world.create(observation('Patient/one', '1234-5', { issued: '2026-11-20T10:00:00Z', ...tagged(tag) }));
      const { json } = await world.get(`Observation?_tag=${tagSystem}|${tag}&_elements=subject`);
      const elements = Object.keys(json.entry[0].resource).sort();
      assert.deepEqual(elements, ['code', 'id', 'meta', 'resourceType', 'status', 'subject']);
    },
  ),
  should(
    'search-elements-3',
    'elements',
    'What _elements leaves incomplete carries the tag SUBSETTED',
    async (world) => {
      const tag = world.unique();
      await world.create({ ...patient('Stone'), ...whole, ...tagged(tag) });
      const { json } = await world.get(`Patient?_tag=${tagSystem}|${tag}&_elements=name`);
      assertSubsetted(json.entry[0].resource);
    },
  ),
  shall('search-conformance-1', 'conformance', 'The self link tells the parameters that were used', async (world) => {
    const { criterion } = await someTagged(world, 1);
    const query = `${criterion}&family=Family0&birthdate:missing=true&_sort=-family&_count=5`;
    for (const answer of [
      await world.get(`Patient?${query}&nonsense=1`, { prefer: 'handling=lenient' }),
      await world.send('POST', 'Patient/_search', query, { 'content-type': 'application/x-www-form-urlencoded' }),
    ]) {
      const self = new URL(linkOf(answer, 'self') ?? '').searchParams;
      for (const [name, value] of new URLSearchParams(query)) assert.equal(self.get(name), value, name);
      assert.equal(self.has('nonsense'), false);
    }
  }),
  shall(
    'search-conformance-2',
    'conformance',
    'Who reads the results checks the parameters that were used',
    forClients,
  ),
  should('search-conformance-3', 'conformance', '_sort is honoured', async (world) => {
    const criterion = await families(world, ['C', 'A', 'B']);
    assert.deepEqual(familiesOf(await world.get(`Patient?${criterion}&_sort=family`)), ['A', 'B', 'C']);
    assert.deepEqual(familiesOf(await world.get(`Patient?${criterion}&_sort=-family&_count=2`)), ['C', 'B']);
  }),
];
