/**
 * Chains, reverse chains and lists equal the joins done by hand, over all official examples
 * (https://hl7.org/fhir/R4/search.html#chaining, #has, #list).
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import type { JsonObject } from '@praxis/fhir';
import { openOperatorBudget } from '../../src/limits/budgets.ts';
import { indexResource } from '../../src/search/index/index-rows.ts';
import { getTypeNumber } from '../../src/search/numbers.ts';
import { getStandardParameters } from '../../src/search/parameters.ts';
import { officialExamples } from './official-examples.ts';
import { baseUrl, openSearchWorld, timeZone } from './world.ts';

const world = await openSearchWorld({ after });
const patient = (id: string, family: string, organization: string) => ({
  resourceType: 'Patient',
  id,
  name: [{ family }],
  managingOrganization: { reference: `Organization/${organization}` },
  generalPractitioner: [{ reference: 'Practitioner/gp' }],
});
const visit = (id: string, subject: string, status: string) => ({
  resourceType: 'Encounter',
  id,
  status,
  class: { code: 'AMB' },
  subject: { reference: subject },
});

const practice: readonly JsonObject[] = [
  { resourceType: 'Organization', id: 'north', name: 'North' },
  { resourceType: 'Organization', id: 'south', name: 'South' },
  { resourceType: 'Practitioner', id: 'gp', name: [{ family: 'Chain' }] },
  patient('chain-a', 'Zyx', 'north'),
  patient('chain-b', 'Zyx', 'south'),
  patient('chain-c', 'Wvu', 'north'),
  { resourceType: 'Group', id: 'chain-g', type: 'person', actual: true, name: 'Zyx', member: [] },
  visit('v1', 'Patient/chain-a', 'finished'),
  visit('v2', 'Patient/chain-b', 'planned'),
  visit('v3', 'Patient/chain-c', 'finished'),
  visit('v4', 'Group/chain-g', 'finished'),
  {
    resourceType: 'List',
    id: 'chain-list',
    status: 'current',
    mode: 'working',
    entry: [{ item: { reference: 'Patient/chain-c' } }, { item: { reference: 'Encounter/v1' } }],
  },
];

const order = (resourceType: string, id: string, basedOn: string) => ({
  resourceType,
  id,
  status: 'active',
  intent: 'order',
  subject: { reference: 'Patient/chain-a' },
  code: { coding: [{ code: 'chained' }] },
  basedOn: [{ reference: basedOn }],
});
const ordered: readonly JsonObject[] = [
  order('ServiceRequest', 'order-1', 'CarePlan/none'),
  order('ServiceRequest', 'order-2', 'ServiceRequest/order-1'),
  { ...order('DiagnosticReport', 'report', 'ServiceRequest/order-2'), status: 'final' },
];

const examples = [...officialExamples(), ...practice, ...ordered];
await world.load(examples, { bare: true });

interface Link {
  readonly type: string;
  readonly id: string;
  readonly code: string;
  readonly targetType: string;
  readonly targetId: string;
}

const keys = new Set(examples.map(keyOf));
const links: readonly Link[] = (await Promise.all(examples.map(linksOf))).flat();

function keyOf(example: JsonObject): string {
  return `${example['resourceType']}/${example['id']}`;
}

/** The references of an example that lead to another example. */
async function linksOf(example: JsonObject): Promise<Link[]> {
  const type = String(example['resourceType']);
  const rows = await indexResource(
    type,
    example,
    { timeZone, baseUrl, searchParameters: [], characters: 0 },
    openOperatorBudget(),
  );
  const parameters = [...getStandardParameters(type).values()].filter(({ kind }) => kind.table === 'reference');
  return parameters.flatMap(({ code, number, definition }) =>
    definition.targets.flatMap((targetType) =>
      rows.referenceTargetId.flatMap((targetId, row) =>
        rows.referenceParam[row] === number &&
        rows.referenceTargetType[row] === getTypeNumber(targetType) &&
        keys.has(`${targetType}/${targetId}`)
          ? [{ type, id: String(example['id']), code, targetType, targetId }]
          : [],
      ),
    ),
  );
}

/** What was found already: nothing here changes what is stored. */
const known = new Map<string, Promise<string[]>>();

function idsFound(type: string, query: string): Promise<string[]> {
  const ids = known.get(`${type}?${query}`) ?? world.ids(type, query);
  known.set(`${type}?${query}`, ids);
  return ids;
}

/** Searches on a type with what they find, by ids; one selective, one broad, one by negation. */
const inner = async (type: string, id: string): Promise<ReadonlyMap<string, readonly string[]>> => {
  const queries = [`_id=${id}`, `_id=${id},unknown`, '_lastUpdated=ge2000', '_lastUpdated=lt2000', '_tag:not=x'];
  return new Map(await Promise.all(queries.map(async (query) => [query, await idsFound(type, query)] as const)));
};

/** One link of each parameter and target type. */
const samples = [...new Map(links.map((link) => [`${link.type}.${link.code}.${link.targetType}`, link])).values()];

test('a chain finds what following the references finds', async (t) => {
  t.diagnostic(`${links.length} references by ${samples.length} pairs of parameter and target type`);
  assert.ok(samples.length > 150, `${samples.length}`);
  for (const { type, code, targetType, targetId } of samples) {
    for (const [query, ids] of await inner(targetType, targetId)) {
      const expected = links
        .filter((link) => link.type === type && link.code === code && link.targetType === targetType)
        .filter((link) => ids.includes(link.targetId));
      const asked = `${code}:${targetType}.${query}`;
      assert.deepEqual(
        (await world.ids(type, asked)).toSorted(),
        unique(expected.map(({ id }) => id)),
        `${type}?${asked}`,
      );
    }
  }
});

test('a reverse chain finds what is referred to', async () => {
  for (const { type, id, code, targetType } of samples) {
    for (const [query, own] of await inner(type, id)) {
      const expected = links
        .filter((link) => link.type === type && link.code === code && link.targetType === targetType)
        .filter((link) => own.includes(link.id));
      const asked = `_has:${type}:${code}:${query}`;
      const ids = unique(expected.map(({ targetId }) => targetId));
      assert.deepEqual((await world.ids(targetType, asked)).toSorted(), ids, `${targetType}?${asked}`);
      assert.equal(await world.count(targetType, asked), ids.length);
    }
  }
});

function unique(ids: readonly string[]): string[] {
  return [...new Set(ids)].toSorted();
}

for (const [type, query, expected] of [
  ['Encounter', 'patient.organization.name=north', ['v1', 'v3']],
  ['Encounter', 'subject:Patient.organization:Organization.name:exact=North', ['v1', 'v3']],
  ['Encounter', 'patient.organization.name=north&status=finished&patient.family=zyx', ['v1']],
  ['Encounter', 'subject:Patient.family=zyx&_sort=-_id', ['v2', 'v1']],
  ['Encounter', 'subject:Group._id=chain-g', ['v4']],
  ['Encounter', 'patient.family:missing=true&_id=v1,v4', []],
  ['Encounter', 'patient.family:not-there=x', 'refused'],
  // A report can follow a plan, too, and a plan another one, but plans have no code.
  ['DiagnosticReport', 'based-on.based-on.code=chained', ['report']],
  ['Encounter', 'patient._has:List:item:_id=chain-list', ['v3']],
  ['Encounter', '_list=chain-list', ['v1']],
  ['Patient', '_list=chain-list', ['chain-c']],
  ['Patient', '_list=chain-list&family=zyx', []],
  ['Patient', '_has:Encounter:patient:status=finished&family=zyx', ['chain-a']],
  ['Patient', '_has:Encounter:patient:_has:List:item:_id=chain-list', ['chain-a']],
  ['Patient', '_has:Encounter:patient:status=planned&_has:Encounter:patient:status=finished', []],
  ['Practitioner', '_has:Patient:general-practitioner:organization.name=south', ['gp']],
  ['Organization', '_has:Patient:organization:family=zyx&_sort=-name', ['south', 'north']],
  ['Organization', '_has:Patient:organization:_has:Encounter:patient:status=planned', ['south']],
] as const) {
  test(`${type}?${query}`, async () => {
    if (expected === 'refused') return assert.rejects(world.ids(type, query), { code: 'search-invalid' });
    const found = await world.ids(type, query);
    assert.deepEqual(query.includes('_sort') ? found : found.toSorted(), expected);
    assert.equal(await world.count(type, query), expected.length);
  });
}

test('pages of a chain concatenate to the whole, with a sort and without', async () => {
  for (const query of [
    'patient._lastUpdated=ge2000',
    'patient._lastUpdated=ge2000&_sort=-date',
    'patient.organization.name=north,south',
  ]) {
    const whole = await world.ids('Encounter', query);
    assert.ok(whole.length > 2, query);
    for (const size of [1, 2, 3])
      assert.deepEqual(await world.ids('Encounter', `${query}&_count=${size}`), whole, query);
  }
});
