/**
 * Reference and uri search: https://hl7.org/fhir/R4/search.html#reference and #uri. The tables state what the
 * specification's text says.
 */
import test from 'node:test';
import { checkGolden, type Golden } from './golden.ts';
import { baseUrl, openSearchWorld } from './world.ts';

const observation = (id: string, subject: object) => ({
  resourceType: 'Observation',
  id,
  status: 'final',
  code: { text: 'x' },
  subject,
});

const observations = [
  observation('relative', { reference: 'Patient/123' }),
  observation('absolute', { reference: `${baseUrl}/Patient/123` }),
  observation('versioned', { reference: 'Patient/123/_history/2' }),
  observation('group', { reference: 'Group/123' }),
  observation('elsewhere', { reference: 'https://other.example.com/fhir/Patient/123' }),
  observation('logical', { identifier: { system: 'http://acme.org/mrn', value: '123456' }, display: 'Somebody' }),
  observation('both', { reference: 'Patient/9', identifier: { system: 'http://acme.org/mrn', value: '77' } }),
  observation('cased', { identifier: { system: 'http://acme.org/mrn', value: 'MRN-7a' } }),
  observation('uuid', { reference: 'urn:uuid:53fefa32-fcbb-4ff8-8a92-55ee120877b7' }),
  observation('contained', { reference: '#p1' }),
  { resourceType: 'Observation', id: 'nobody', status: 'final', code: { text: 'x' } },
];

const table: Golden = [
  ['subject=Patient/123', ['relative', 'absolute', 'versioned']],
  // "a relative reference resolving to the same value as a specified absolute URL, or vice versa, qualifies as a match"
  [`subject=${baseUrl}/Patient/123`, ['relative', 'absolute', 'versioned']],
  ['subject=123', ['relative', 'absolute', 'versioned', 'group']],
  ['subject:Patient=123', ['relative', 'absolute', 'versioned']],
  ['subject:Patient=Patient/123', ['relative', 'absolute', 'versioned']],
  ['subject:Group=123', ['group']],
  ['subject=Group/123', ['group']],
  // "the patient search parameter … is limited to only include references of type Patient"
  ['patient=123', ['relative', 'absolute', 'versioned']],
  ['patient=Patient/123', ['relative', 'absolute', 'versioned']],
  ['subject=Patient/123/_history/2', ['versioned']],
  ['subject=Patient/123/_history/3', []],
  ['subject=https://other.example.com/fhir/Patient/123', ['elsewhere']],
  ['subject=http://other.example.com/fhir/Patient/123', []],
  ['subject=urn:uuid:53fefa32-fcbb-4ff8-8a92-55ee120877b7', ['uuid']],
  ['subject=#p1', ['contained']],
  ['subject=Patient/124', []],
  ['subject=Patient/123,Patient/9', ['relative', 'absolute', 'versioned', 'both']],
  ['subject=9,123', ['relative', 'absolute', 'versioned', 'group', 'both']],
  ['subject:identifier=http://acme.org/mrn|123456', ['logical']],
  ['subject:identifier=123456,77', ['logical', 'both']],
  ['subject:identifier=|123456', []],
  // As of any identifier, the case does not count.
  ['subject:identifier=mrn-7A', ['cased']],
  ['subject:identifier=http://acme.org/mrn|', ['logical', 'both', 'cased']],
  ['subject:missing=true', ['nobody']],
  ['subject:missing=false&subject:identifier=77', ['both']],
];

test('references by id, type, URL, version and identifier', async (t) => {
  const world = await openSearchWorld(t);
  await world.load(observations);
  await checkGolden(t, world, 'Observation', table);
});

const responses = [
  { id: 'v1', questionnaire: 'http://acme.org/Questionnaire/intake|1.0' },
  { id: 'v2', questionnaire: 'http://acme.org/Questionnaire/intake|2.0' },
  { id: 'any', questionnaire: 'http://acme.org/Questionnaire/intake' },
  { id: 'local', questionnaire: `${baseUrl}/Questionnaire/9` },
  { id: 'name', questionnaire: 'intake' },
].map((response) => ({ resourceType: 'QuestionnaireResponse', status: 'completed', ...response }));

const canonicalTable: Golden = [
  ['questionnaire=http://acme.org/Questionnaire/intake', ['v1', 'v2', 'any']],
  // "interpreting that portion as a search on the business version"
  ['questionnaire=http://acme.org/Questionnaire/intake\\|1.0', ['v1']],
  ['questionnaire=http://acme.org/Questionnaire/intake|1.0', ['v1']],
  ['questionnaire=http://acme.org/Questionnaire/intake|3.0', []],
  ['questionnaire=Questionnaire/9', ['local']],
  ['questionnaire=9', ['local']],
  ['questionnaire=intake', ['name']],
];

test('canonicals with and without version', async (t) => {
  const world = await openSearchWorld(t);
  await world.load(responses);
  await checkGolden(t, world, 'QuestionnaireResponse', canonicalTable);
});

const valueSets = [
  { id: '123', url: 'http://acme.org/fhir/ValueSet/123' },
  { id: '124', url: 'http://acme.org/fhir/ValueSet/123/_history/5' },
  { id: 'oid', url: 'urn:oid:1.2.3.4.5' },
  { id: 'comma', url: 'http://acme.org/a,b' },
  { id: 'secure', url: 'https://www.hl7.org/ValueSet/x' },
  { id: 'none' },
].map((valueSet) => ({ resourceType: 'ValueSet', status: 'active', ...valueSet }));

const uriTable: Golden = [
  // "matches are precise (e.g. case, accent, and escape) sensitive, and the entire URI must match"
  ['url=http://acme.org/fhir/ValueSet/123', ['123']],
  ['url=http://acme.org/fhir/valueset/123', []],
  ['url=http://acme.org/fhir/ValueSet', []],
  ['url=urn:oid:1.2.3.4.5', ['oid']],
  ['url=http://acme.org/a\\,b', ['comma']],
  ['url=http://acme.org/fhir/ValueSet/123,urn:oid:1.2.3.4.5', ['123', 'oid']],
  ['url=http://www.hl7.org/ValueSet/x', []],
  ['url=https://www.hl7.org/ValueSet/x', ['secure']],
  ['url:missing=true', ['none']],
];

test('URIs as they are', async (t) => {
  const world = await openSearchWorld(t);
  await world.load(valueSets);
  await checkGolden(t, world, 'ValueSet', uriTable);
});

const bundles = [
  {
    resourceType: 'Bundle',
    id: 'document',
    type: 'document',
    entry: [
      {
        fullUrl: 'urn:uuid:1',
        resource: {
          resourceType: 'Composition',
          id: 'c1',
          status: 'final',
          title: 'x',
          date: '2020',
          type: { text: 'x' },
          author: [],
        },
      },
    ],
  },
];

test('a resource nested in an element is its own target', async (t) => {
  const world = await openSearchWorld(t);
  await world.load(bundles);
  await checkGolden(t, world, 'Bundle', [
    ['composition=Composition/c1', ['document']],
    ['composition=c1', ['document']],
    ['composition=c2', []],
    ['message:missing=true', ['document']],
  ]);
});
