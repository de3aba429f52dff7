/** https://hl7.org/fhir/R4/search.html: names of parameters, contexts, errors, modifiers. */
import assert from 'node:assert/strict';
import { patient } from '../../support/records.ts';
import type { Answer } from '../../support/service.ts';
import { type Clause, forClients, shall, shallNot, should } from '../clause.ts';
import { linkOf, someTagged } from '../http/searching.ts';
import { observation, tagged, tagSystem } from '../records.ts';

/** The search is refused with an OperationOutcome that names the parameter. */
export function assertRefused({ status, json, text }: Answer, parameter: string): void {
  assert.deepEqual([status, json.resourceType], [400, 'OperationOutcome'], text);
  assert.ok(json.issue[0].diagnostics.includes(parameter), json.issue[0].diagnostics);
}

/** Ids of all resources of a searchset that matched. */
export function matches({ json, status, text }: Answer): string[] {
  assert.equal(status, 200, text);
  const entries: readonly { resource: { id: string }; search: { mode: string } }[] = json.entry ?? [];
  return entries.filter(({ search }) => search.mode === 'match').map(({ resource }) => resource.id);
}

export const asking: readonly Clause[] = [
  should('search-summary-table-1', 'Summary', 'Clients write the names of parameters in their case', forClients),
  shallNot('search-summary-table-2', 'Summary', 'No two parameters of a type differ in case alone', async ({ get }) => {
    const { json } = await get('metadata');
    for (const { type, searchParam } of json.rest[0].resource) {
      const names = searchParam.map(({ name }: { name: string }) => name.toLowerCase());
      assert.equal(new Set(names).size, names.length, type);
    }
  }),
  shall(
    'search-introduction-1',
    'Introduction',
    'With _type, all other parameters are common to those types',
    async (world) => {
      const tag = world.unique();
      const { id } = await world.create({ ...patient('Stone'), ...tagged(tag) });
      const seen = await world.create(observation(`Patient/${id}`, '1234-5', tagged(tag)));
      const found = await world.get(`?_type=Patient,Observation&_tag=${tagSystem}|${tag}`);
      assert.deepEqual(matches(found).sort(), [id, seen.id].sort());
      assertRefused(await world.get('?_type=Patient,Observation&birthdate=2000-01-01'), 'birthdate');
    },
  ),
  shall(
    'search-introduction-2',
    'Introduction',
    'Without _type, all parameters are common to all types',
    async (world) => {
      const { criterion, made } = await someTagged(world, 1);
      assert.deepEqual(matches(await world.get(`?${criterion}`)), made);
      assertRefused(await world.get('?birthdate=2000-01-01'), 'birthdate');
    },
  ),
  should('search-errors-1', 'errors', 'A search that fails says why in an OperationOutcome', async ({ get }) => {
    assertRefused(await get('Patient?birthdate=yesterday'), 'birthdate');
    assertRefused(await get('Patient?nonsense=1'), 'nonsense');
  }),
  should('search-errors-2', 'errors', 'Parameters of wrong syntax are errors', async ({ get }) => {
    for (const [path, parameter] of [
      ['Condition?onset-date=23%20May%202009', 'onset-date'],
      ['RiskAssessment?probability=high', 'probability'],
      ['Observation?value-quantity=much', 'value-quantity'],
      ['Patient?_lastUpdated=gt', '_lastUpdated'],
      ['Patient?_count=few', '_count'],
      ['Patient?_sort=nonsense', '_sort'],
    ]) {
      assertRefused(await get(path ?? ''), parameter ?? '');
    }
  }),
  should('search-errors-3', 'errors', 'What cannot be met by anything finds nothing', async ({ get }) => {
    for (const path of [
      'Observation?subject=Patient/nobody',
      'Observation?subject=nobody',
      'Observation?patient.identifier=http://example.org/mrn|nobody',
      'Observation?code=http://loinc.org|0000-unknown',
      'Condition?onset-date=le1799',
      'Patient?_id=nobody',
    ]) {
      const answer = await get(path);
      assert.deepEqual([matches(answer), answer.json.total ?? 0], [[], 0], path);
    }
  }),
  should('search-errors-4', 'errors', 'Unknown parameters are ignored', {
    departs:
      'a filter that is not applied shows more than was asked for, so it is refused unless Prefer: handling=lenient or a setting of the application says otherwise',
    case: async (world) => {
      const { criterion, made } = await someTagged(world, 1);
      assertRefused(await world.get(`Patient?${criterion}&nonsense=1`), 'nonsense');
      const lenient = await world.get(`Patient?${criterion}&nonsense=1`, { prefer: 'handling=lenient' });
      assert.deepEqual(matches(lenient), made);
    },
  }),
  should('search-errors-5', 'errors', 'Prefer: handling=strict and handling=lenient are honoured', async (world) => {
    const { criterion, made } = await someTagged(world, 1);
    const ask = (handling: string) => world.get(`Patient?${criterion}&nonsense=1`, { prefer: `handling=${handling}` });
    assertRefused(await ask('strict'), 'nonsense');
    const lenient = await ask('lenient');
    assert.deepEqual(matches(lenient), made);
    assert.equal(linkOf(lenient, 'self')?.includes('nonsense'), false);
  }),
  shall('search-all-1', 'id', '_id matches exactly, in its case', async ({ get, send, unique }) => {
    const id = `Own-${unique()}`;
    await send('PUT', `Patient/${id}`, { ...patient('Stone'), id });
    assert.deepEqual(matches(await get(`Patient?_id=${id}`)), [id]);
    for (const other of [id.toLowerCase(), id.toUpperCase(), id.slice(0, -1), `${id}0`]) {
      assert.deepEqual(matches(await get(`Patient?_id=${other}`)), [], other);
    }
  }),
  shall(
    'search-modifiers-1',
    'modifiers',
    'A modifier that is not supported for the parameter is 400',
    async ({ get }) => {
      for (const name of [
        'birthdate:text',
        'birthdate:exact',
        'gender:exact',
        'family:below',
        'name:nonsense',
        '_id:Patient',
      ]) {
        assertRefused(await get(`Patient?${name}=x`), name);
      }
      assertRefused(await get('Observation?value-quantity:contains=5'), 'value-quantity:contains');
    },
  ),
  should(
    'search-content-1',
    'content',
    '_text and _content search by words, with AND and OR',
    async ({ create, get, unique }) => {
      const tag = unique();
      const condition = async (words: string) => {
        const div = `<div xmlns="http://www.w3.org/1999/xhtml"><p>${words}</p></div>`;
        const subject = { reference: 'Patient/one' };
        return (
          await create({ resourceType: 'Condition', subject, text: { status: 'generated', div }, ...tagged(tag) })
        ).id;
      };
      const bone = await condition('Metastases in the bone');
      const liver = await condition('Liver with many metastases');
      const none = await condition('A broken bone');
      for (const parameter of ['_text', '_content']) {
        const ask = async (words: string) =>
          matches(await get(`Condition?_tag=${tagSystem}|${tag}&${parameter}=${encodeURIComponent(words)}`)).sort();
        assert.deepEqual(await ask('(bone OR liver) and metastases'), [bone, liver].sort(), parameter);
        assert.deepEqual(await ask('bone'), [bone, none].sort(), parameter);
        assert.deepEqual(await ask('broken metastases'), [], parameter);
      }
    },
  ),
  shall('search-query-1', 'query', 'A search with a _query that is not known is refused', async ({ get }) => {
    assertRefused(await get('Patient?_query=nonsense&family=Stone'), '_query');
    const lenient = await get('Patient?_query=nonsense&family=Stone', { prefer: 'handling=lenient' });
    assertRefused(lenient, '_query');
  }),
];
