/** https://hl7.org/fhir/R4/search.html#reference: references, versions, chains. */
import assert from 'node:assert/strict';
import { patient } from '../../support/records.ts';
import { type Clause, should } from '../clause.ts';
import { observation, tagged, tagSystem } from '../records.ts';
import type { World } from '../world.ts';
import { matches } from './asking.ts';

/** An observation that refers to the first of two versions of another one, whose codes are told. */
async function referringToVersion({ create, send, unique }: World): Promise<{ tag: string; base: string; id: string }> {
  const tag = unique();
  const base = await create(observation('Patient/one', 'first-code'));
  await send('PUT', `Observation/${base.id}`, { ...observation('Patient/one', 'second-code'), id: base.id });
  const derivedFrom = [{ reference: `Observation/${base.id}/_history/${base.meta.versionId}` }];
  const { id } = await create(observation('Patient/one', '1234-5', { derivedFrom, ...tagged(tag) }));
  return { tag, base: base.id, id };
}

/** A Patient and a Group of one id, and an observation of each. */
async function sharedId({ create, send, unique }: World): Promise<{ id: string; ofPatient: string; ofGroup: string }> {
  const id = `own-${unique()}`;
  await send('PUT', `Patient/${id}`, { ...patient('Stone'), id });
  const group = { resourceType: 'Group', id, type: 'person', actual: true };
  assert.equal((await send('PUT', `Group/${id}`, group)).status, 201);
  const ofPatient = await create(observation(`Patient/${id}`, '1234-5'));
  const ofGroup = await create(observation(`Group/${id}`, '1234-5'));
  return { id, ofPatient: ofPatient.id, ofGroup: ofGroup.id };
}

export const references: readonly Clause[] = [
  should('search-reference-1', 'reference', 'A bare id that is that of resources of several types is refused', {
    departs:
      'a refusal would tell of resources that the caller may not see; references to all types with that id are found, and a type in the value or as a modifier chooses one',
    case: async (world) => {
      const { id, ofPatient, ofGroup } = await sharedId(world);
      const ask = async (query: string) => matches(await world.get(`Observation?${query}`)).sort();
      assert.deepEqual(await ask(`subject=${id}`), [ofPatient, ofGroup].sort());
      assert.deepEqual(await ask(`subject=Patient/${id}`), [ofPatient]);
      assert.deepEqual(await ask(`subject:Group=${id}`), [ofGroup]);
    },
  }),
  should('search-versions-1', 'versions', 'A chain that looks at another version than the one referred to says so', {
    departs: 'chains look at current versions only, whatever version a reference names',
    case: async (world) => {
      const { tag, id } = await referringToVersion(world);
      const ask = async (code: string) =>
        matches(await world.get(`Observation?_tag=${tagSystem}|${tag}&derived-from.code=${code}`));
      assert.deepEqual([await ask('first-code'), await ask('second-code')], [[], [id]]);
    },
  }),
  should('search-versions-2', 'versions', '_include gives the version that is referred to', {
    departs: 'includes are current versions, which the access entries of the caller are about',
    case: async (world) => {
      const { tag, base } = await referringToVersion(world);
      const answer = await world.get(`Observation?_tag=${tagSystem}|${tag}&_include=Observation:derived-from`);
      assert.equal(answer.status, 200, answer.text);
      const included = answer.json.entry.find(({ search }: { search: { mode: string } }) => search.mode === 'include');
      assert.deepEqual([included?.resource.id, included?.resource.code.coding[0].code], [base, 'second-code']);
    },
  }),
  should('search-versions-3', 'versions', 'Canonical references are found by URL', async ({ create, get, unique }) => {
    const { id, url } = await referringToCanonical({ create, unique });
    assert.deepEqual(matches(await get(`QuestionnaireResponse?questionnaire=${url}`)), [id]);
  }),
  should(
    'search-versions-4',
    'versions',
    '|version after a canonical URL asks for that version of the target',
    async ({ create, get, unique }) => {
      const { id, url } = await referringToCanonical({ create, unique });
      assert.deepEqual(matches(await get(`QuestionnaireResponse?questionnaire=${url}|1.0`)), [id]);
      assert.deepEqual(matches(await get(`QuestionnaireResponse?questionnaire=${url}|2.0`)), []);
    },
  ),
  should(
    'search-chaining-1',
    'chaining',
    'A chain by a bare id that is that of resources of several types is refused',
    {
      departs: 'as search-reference-1: a type in the value or as a modifier chooses one',
      case: async (world) => {
        const { id, ofPatient, ofGroup } = await sharedId(world);
        const report = async (seen: string) =>
          (
            await world.create({
              resourceType: 'DiagnosticReport',
              status: 'final',
              code: { text: 'report' },
              result: [{ reference: `Observation/${seen}` }],
            })
          ).id;
        const reports = [await report(ofPatient), await report(ofGroup)];
        const ask = async (query: string) => matches(await world.get(`DiagnosticReport?${query}`)).sort();
        assert.deepEqual(await ask(`result.subject=${id}`), reports.toSorted());
        assert.deepEqual(await ask(`result.subject=Patient/${id}`), reports.slice(0, 1));
        assert.deepEqual(await ask(`result.subject:Group=${id}`), reports.slice(1));
      },
    },
  ),
];

async function referringToCanonical({
  create,
  unique,
}: Pick<World, 'create' | 'unique'>): Promise<{ id: string; url: string }> {
  const url = `http://example.org/fhir/Questionnaire/${unique()}`;
  const response = { resourceType: 'QuestionnaireResponse', status: 'completed', questionnaire: `${url}|1.0` };
  return { id: (await create(response)).id, url };
}
