/**
 * Token search: https://hl7.org/fhir/R4/search.html#token. The tables state what the specification's text says.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { openOperatorBudget } from '../../src/limits/budgets.ts';
import { type IndexRows, indexResource } from '../../src/search/index/index-rows.ts';
import { matchesToken } from '../../src/search/index/match.ts';
import { checkGolden, type Golden } from './golden.ts';
import { openSearchWorld, timeZone } from './world.ts';

const loinc = 'http://loinc.org';
const patients = [
  {
    resourceType: 'Patient',
    id: 'anna',
    active: true,
    gender: 'female',
    identifier: [
      { system: 'http://acme.org/patient', value: '2345' },
      { system: 'http://www.hl7.org/fhir/v2/0203/index.html#v2-0203-MR', value: 'MM0000000059' },
    ],
    telecom: [
      { system: 'phone', value: '(555) 123-4567' },
      { system: 'email', value: 'Anna@Example.org' },
    ],
  },
  {
    resourceType: 'Patient',
    id: 'bert',
    active: false,
    gender: 'male',
    identifier: [{ system: 'PMS', value: '2345' }],
    deceasedBoolean: true,
  },
  {
    resourceType: 'Patient',
    id: 'carl',
    gender: 'male',
    identifier: [{ value: '2345' }],
    deceasedDateTime: '2020-01-01',
  },
  { resourceType: 'Patient', id: 'dora', identifier: [{ system: 'http://acme.org/patient' }] },
];

const patientTable: Golden = [
  ['identifier=2345', ['anna', 'bert', 'carl']],
  ['identifier=http://acme.org/patient|2345', ['anna']],
  ['identifier=|2345', ['carl']],
  ['identifier=http://acme.org/patient|', ['anna', 'dora']],
  ['identifier=PMS|2345', ['bert']],
  ['identifier=http://acme.org/patient|999', []],
  ['identifier=PMS|2345,http://acme.org/patient|2345', ['anna', 'bert']],
  // http and https spellings of systems of hl7.org are one system; of others they are not.
  ['identifier=http://www.hl7.org/fhir/v2/0203/index.html#v2-0203-MR|MM0000000059', ['anna']],
  ['identifier=https://www.hl7.org/fhir/v2/0203/index.html#v2-0203-MR|MM0000000059', ['anna']],
  ['identifier=https://acme.org/patient|2345', []],
  // Case of identifiers is in doubt, so it does not count.
  ['identifier=mm0000000059', ['anna']],
  ['gender=male', ['bert', 'carl']],
  ['gender=Male', []],
  ['gender=http://hl7.org/fhir/administrative-gender|male', ['bert', 'carl']],
  ['gender=http://hl7.org/fhir/administrative-gender|', ['anna', 'bert', 'carl']],
  ['gender=|male', ['bert', 'carl']],
  ['gender=http://acme.org|male', []],
  // "including patients that do not have a gender at all"
  ['gender:not=male', ['anna', 'dora']],
  ['gender:not=male,female', ['dora']],
  ['gender:not=male&gender:not=female', ['dora']],
  ['gender:missing=true', ['dora']],
  ['gender:missing=false', ['anna', 'bert', 'carl']],
  ['gender=male&gender:missing=true', []],
  ['active=true', ['anna']],
  ['active=false', ['bert']],
  ['active:missing=true', ['carl', 'dora']],
  ['deceased=true', ['bert', 'carl']],
  // "token searches on ContactPoint may use special handling, such as ignoring punctuation"
  ['phone=5551234567', ['anna']],
  ['phone=(555) 123-4567', ['anna']],
  ['telecom=555.123.4567', ['anna']],
  ['email=anna@example.org', ['anna']],
  ['email=5551234567', []],
  ['_id=anna', ['anna']],
  ['_id=Anna', []],
  ['_id=anna,bert,nobody', ['anna', 'bert']],
  ['_id:missing=true', []],
  ['identifier=2345&gender=male&active=false', ['bert']],
];

const observations = [
  {
    resourceType: 'Observation',
    id: 'glucose',
    status: 'final',
    code: {
      coding: [
        { system: loinc, code: '15074-8' },
        { system: 'urn:local', code: 'GLU' },
      ],
    },
  },
  {
    resourceType: 'Observation',
    id: 'lower',
    status: 'final',
    code: { coding: [{ system: 'urn:local', code: 'glu' }] },
  },
  { resourceType: 'Observation', id: 'plain', status: 'amended', code: { coding: [{ code: '15074-8' }] } },
  { resourceType: 'Observation', id: 'words', status: 'final', code: { text: 'headache' } },
  {
    resourceType: 'Observation',
    id: 'comma',
    status: 'final',
    code: { coding: [{ system: 'urn:local', code: 'a,b' }, { code: 'c|d' }, { code: 'e\\f' }] },
  },
  {
    resourceType: 'Observation',
    id: 'hl7',
    status: 'final',
    code: { coding: [{ code: 'x' }] },
    category: [
      { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'vital-signs' }] },
    ],
  },
];

const observationTable: Golden = [
  ['code=15074-8', ['glucose', 'plain']],
  [`code=${loinc}|15074-8`, ['glucose']],
  ['code=|15074-8', ['plain']],
  [`code=${loinc}|`, ['glucose']],
  [`code=${loinc}|15074-8,urn:local|GLU`, ['glucose', 'lower']],
  // Case counts where the system is known to be case-sensitive, and only there.
  ['code=glu', ['glucose', 'lower']],
  ['code=urn:local|Glu', ['glucose', 'lower']],
  ['category=vital-signs', ['hl7']],
  ['category=Vital-Signs', ['hl7']],
  ['category=http://terminology.hl7.org/CodeSystem/observation-category|vital-signs', ['hl7']],
  ['category=http://terminology.hl7.org/CodeSystem/observation-category|Vital-Signs', []],
  ['category=https://terminology.hl7.org/CodeSystem/observation-category|vital-signs', ['hl7']],
  // "the negation applies to the set and not each individual entry"
  ['code:not=urn:local|GLU', ['comma', 'hl7', 'plain', 'words']],
  // A concept with text alone is a value, though no token names it.
  ['code:missing=true', []],
  ['code:missing=false', ['comma', 'glucose', 'hl7', 'lower', 'plain', 'words']],
  ['code=a\\,b', ['comma']],
  ['code=a,b', []],
  ['code=c\\|d', ['comma']],
  ['code=e\\\\f', ['comma']],
  ['status=final&code=x', ['hl7']],
  ['status=final,amended&category:missing=false', ['hl7']],
];

test('token search of identifiers, codes, booleans and contacts', async (t) => {
  const world = await openSearchWorld(t);
  await world.load(patients);
  await world.load(observations);
  await checkGolden(t, world, 'Patient', patientTable);
  await checkGolden(t, world, 'Observation', observationTable);
});

test('a token criterion decides on a resource in memory as it does in a search', async () => {
  const rows = new Map<string, IndexRows>();
  for (const observation of observations) {
    const context = { timeZone, searchParameters: [], characters: 0 };
    rows.set(observation.id, await indexResource('Observation', observation, context, openOperatorBudget()));
  }
  for (const [query, ids] of observationTable) {
    const [name = '', value = '', ...more] = query.split('=');
    if (name.includes(':') || value.includes('&') || more.length > 0) continue;
    const matching = [...rows]
      .filter(([, indexed]) => matchesToken(indexed, 'Observation', name, [value]))
      .map(([id]) => id);
    assert.deepEqual(matching.toSorted(), [...ids].toSorted(), query);
  }
});

test('a criterion in memory needs a token parameter of the type', async () => {
  const rows = await indexResource(
    'Patient',
    { resourceType: 'Patient' },
    { timeZone, searchParameters: [], characters: 0 },
    openOperatorBudget(),
  );
  assert.throws(
    () => matchesToken(rows, 'Patient', 'birthdate', ['1970']),
    new TypeError('birthdate is not a token search parameter of Patient'),
  );
  assert.equal(matchesToken(rows, 'Patient', 'gender', ['male']), false);
});
