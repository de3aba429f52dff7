/** https://hl7.org/fhir/R4/http.html#search, #capabilities, #paging */
import assert from 'node:assert/strict';
import { patient } from '../../support/records.ts';
import type { Answer } from '../../support/service.ts';
import { type Clause, shall, shallNot, should } from '../clause.ts';
import { tagged, tagSystem } from '../records.ts';
import type { World } from '../world.ts';

const form = { 'content-type': 'application/x-www-form-urlencoded' };

/** Ids of a searchset's matches. */
const ids = ({ json }: Answer): string[] =>
  (json.entry ?? []).map(({ resource }: { resource: { id: string } }) => resource.id);

/** URL of a Bundle's link. */
export function linkOf({ json }: Answer, relation: string): string | undefined {
  return json.link?.find((link: { relation: string }) => link.relation === relation)?.url;
}

/** Patients of one case, and the criterion that finds them. */
export async function someTagged(
  { create, unique }: World,
  count: number,
): Promise<{ criterion: string; made: string[] }> {
  const tag = unique();
  const made: string[] = [];
  for (let number = 0; number < count; number += 1) {
    made.push((await create({ ...patient(`Family${number}`), ...tagged(tag) })).id);
  }
  return { criterion: `_tag=${tagSystem}|${tag}`, made };
}

/** All matches by following `next`, with the number of entries of each page. */
export async function walk({ get }: World, path: string): Promise<{ found: string[]; pages: number[] }> {
  const [found, pages]: [string[], number[]] = [[], []];
  for (let next: string | undefined = path; next !== undefined; ) {
    const page: Answer = await get(next);
    assert.equal(page.status, 200, page.text);
    found.push(...ids(page));
    pages.push(ids(page).length);
    next = linkOf(page, 'next');
  }
  return { found, pages };
}

export const searching: readonly Clause[] = [
  shall(
    'http-search-1',
    'search',
    'Searches work by POST as by GET, parameters in URL and body together',
    async (world) => {
      const { criterion, made } = await someTagged(world, 2);
      for (const [query, body] of [
        ['', criterion],
        [`?${criterion}`, ''],
        [`?${criterion}`, 'family=Family1'],
      ]) {
        const answer = await world.send('POST', `Patient/_search${query}`, body, form);
        assert.equal(answer.status, 200, answer.text);
        assert.deepEqual(ids(answer).sort(), body === 'family=Family1' ? made.slice(1) : made.toSorted());
      }
    },
  ),
  shall('http-search-2', 'search', 'A search that succeeds is 200 with a Bundle of type searchset', async (world) => {
    const { criterion, made } = await someTagged(world, 1);
    for (const [query, found] of [
      [criterion, made],
      ['_id=nobody', []],
    ] as const) {
      const answer = await world.get(`Patient?${query}`);
      assert.deepEqual([answer.status, answer.json.resourceType, answer.json.type], [200, 'Bundle', 'searchset']);
      assert.deepEqual(ids(answer), found);
    }
  }),
  shall('http-search-3', 'search', 'Pages are told by links as the page says', async (world) => {
    const { criterion, made } = await someTagged(world, 5);
    const { found, pages } = await walk(world, `Patient?${criterion}&_count=2`);
    assert.deepEqual(pages, [2, 2, 1]);
    assert.deepEqual(found.toSorted(), made.toSorted());
  }),
  shallNot('http-search-4', 'search', 'An OperationOutcome in a searchset has no errors', async ({ get }) => {
    const { json } = await get('Patient?_count=1&nonsense=1', { prefer: 'handling=lenient' });
    for (const { resource, search } of json.entry ?? []) {
      if (resource.resourceType !== 'OperationOutcome') continue;
      assert.equal(search.mode, 'outcome');
      for (const { severity } of resource.issue) assert.match(severity, /^(?:warning|information)$/);
    }
    assert.equal(json.type, 'searchset');
  }),
  shall(
    'http-search-5',
    'search',
    'An OperationOutcome in a searchset has the search mode outcome',
    async ({ get }) => {
      const { json } = await get('Patient?_count=1&nonsense=1', { prefer: 'handling=lenient' });
      for (const { resource, search } of json.entry ?? []) {
        assert.equal(search.mode === 'outcome', resource.resourceType === 'OperationOutcome');
      }
    },
  ),
  shall(
    'http-search-6',
    'search',
    'A search that fails is 4xx or 5xx with an OperationOutcome',
    async ({ get, send }) => {
      for (const answer of [
        await get('Patient?birthdate=yesterday'),
        await get('Patient?nonsense=1'),
        await get('Nonsense?_id=1'),
        await send('POST', 'Patient/_search', 'birthdate=yesterday', form),
      ]) {
        assert.ok(answer.status >= 400 && answer.status < 600);
        assert.equal(answer.json.resourceType, 'OperationOutcome');
      }
    },
  ),
  should(
    'http-vsearch-1',
    'vsearch',
    'A search over several types is 400 when a parameter is not one of all of them',
    async (world) => {
      const { criterion, made } = await someTagged(world, 1);
      const all = await world.get(`?_type=Patient,Condition&${criterion}`);
      assert.deepEqual([all.status, ids(all)], [200, made], all.text);
      const refused = await world.get('?_type=Patient,Condition&birthdate=2000-01-01');
      assert.equal(refused.status, 400, refused.text);
    },
  ),
  shall('http-capabilities-1', 'capabilities', 'metadata describes what the end-point does', async ({ get, firm }) => {
    for (const mode of ['', '?mode=full', '?mode=normative', '?mode=terminology']) {
      const { status, json } = await get(`metadata${mode}`);
      assert.equal(status, 200, mode);
      assert.match(json.resourceType, /^(?:Capability|TerminologyCapabilities)/);
      if (json.resourceType === 'CapabilityStatement') assert.equal(json.implementation.url, firm.base);
    }
  }),
  should('http-capabilities-2', 'capabilities', 'metadata answers with an ETag', async ({ get }) => {
    const { headers } = await get('metadata');
    assert.match(headers.get('etag') ?? '', /^(?:W\/)?"[^"]+"$/);
    assert.equal((await get('metadata')).headers.get('etag'), headers.get('etag'));
  }),
  shall(
    'http-capabilities-3',
    'capabilities',
    'The ETag of metadata changes with the statement',
    async ({ firm, get }) => {
      const other = firm.base.replace('/maple/', '/cedar/');
      const [one, two] = [await get('metadata'), await get(`${other}/metadata`)];
      assert.notEqual(one.text, two.text);
      assert.notEqual(one.headers.get('etag'), two.headers.get('etag'));
    },
  ),
  should('http-capabilities-4', 'capabilities', 'metadata heeds the fhirVersion of Accept', async ({ get }) => {
    const asked = (version: string) => get('metadata', { accept: `application/fhir+json; fhirVersion=${version}` });
    assert.deepEqual([(await asked('4.0')).status, (await asked('4.0')).json.fhirVersion], [200, '4.0.1']);
    assert.equal((await asked('3.0')).status, 406);
  }),
  should('http-paging-1', 'paging', 'Searches and histories come in pages', async (world) => {
    const { criterion, made } = await someTagged(world, 3);
    const page = await world.get(`Patient?${criterion}&_count=2`);
    assert.deepEqual([ids(page).length, typeof linkOf(page, 'next')], [2, 'string']);
    const path = `Patient/${made[0]}`;
    for (const family of ['Second', 'Third']) await world.send('PUT', path, { ...patient(family), id: made[0] });
    const history = await world.get(`${path}/_history?_count=2`);
    assert.deepEqual([history.json.entry.length, typeof linkOf(history, 'next')], [2, 'string']);
  }),
  shall(
    'http-paging-2',
    'paging',
    'Continuations are links of the Bundle that lead to all of it, once',
    async (world) => {
      const { criterion, made } = await someTagged(world, 5);
      for (const order of ['', '&_sort=family', '&_sort=-_lastUpdated']) {
        const { found } = await walk(world, `Patient?${criterion}&_count=2${order}`);
        assert.deepEqual(found.toSorted(), made.toSorted(), order);
      }
    },
  ),
  shall('http-paging-3', 'paging', 'Every searchset has a self link', async (world) => {
    const { criterion } = await someTagged(world, 3);
    const first = await world.get(`Patient?${criterion}&_count=2`);
    assert.ok(linkOf(first, 'self'));
    assert.ok(linkOf(await world.get(linkOf(first, 'next') ?? ''), 'self'));
    assert.ok(linkOf(await world.get('Patient?_id=nobody'), 'self'));
  }),
  should('http-paging-4', 'paging', 'The requests for further pages work by POST, too', async (world) => {
    const { criterion, made } = await someTagged(world, 3);
    const first = await world.send('POST', 'Patient/_search', `${criterion}&_count=2`, form);
    const next = new URL(linkOf(first, 'next') ?? '');
    const path = next.pathname.endsWith('/_search') ? next.pathname : `${next.pathname}/_search`;
    const second = await world.send('POST', `${next.origin}${path}`, next.search.slice(1), form);
    assert.equal(second.status, 200, second.text);
    assert.deepEqual([...ids(first), ...ids(second)].sort(), made.toSorted());
  }),
];
