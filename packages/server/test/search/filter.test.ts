/** `_filter`: https://hl7.org/fhir/R4/search_filter.html */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { PraxisError } from '../../src/base/errors.ts';
import { parseSearch } from '../../src/search/query/query.ts';
import { context, openSearchWorld } from './world.ts';

const world = await openSearchWorld({ after });
await world.load(
  [
    { resourceType: 'Organization', id: 'north', name: 'North' },
    {
      resourceType: 'Patient',
      id: 'a',
      name: [{ family: 'Stone', given: ['Peter'] }],
      gender: 'male',
      birthDate: '1970-05-01',
      managingOrganization: { reference: 'Organization/north' },
    },
    { resourceType: 'Patient', id: 'b', name: [{ family: 'Stone-Smith', given: ['Ann'] }], gender: 'female' },
    { resourceType: 'Patient', id: 'c', name: [{ family: 'Smith' }], birthDate: '1980-05-01' },
    {
      resourceType: 'Patient',
      id: 'd',
      identifier: [{ system: 'http://example.org/mrn', value: '1,2' }, { value: 'x|y' }],
    },
    {
      resourceType: 'Encounter',
      id: 'v',
      status: 'finished',
      class: { code: 'AMB' },
      period: { start: '2024-01-01', end: '2024-02-01' },
      subject: { reference: 'Patient/a' },
    },
    {
      resourceType: 'Encounter',
      id: 'w',
      status: 'planned',
      class: { code: 'AMB' },
      period: { start: '2024-03-01' },
      subject: { reference: 'Patient/c' },
    },
    { resourceType: 'RiskAssessment', id: 'r', status: 'final', prediction: [{ probabilityDecimal: 0.8 }] },
    { resourceType: 'ValueSet', id: 'colours', status: 'active', url: 'urn:colours', name: 'a|b' },
  ],
  { bare: true },
);

for (const [type, filter, expected] of [
  ['Patient', 'family eq stone', ['a']],
  ['Patient', 'family eq "Stone-Smith"', ['b']],
  ['Patient', 'family sw sto', ['a', 'b']],
  ['Patient', 'family co mit', ['b', 'c']],
  ['Patient', 'family ew ith', ['b', 'c']],
  ['Patient', 'family ne stone', ['b', 'c']],
  ['Patient', 'family pr true', ['a', 'b', 'c']],
  ['Patient', 'family pr false', ['d']],
  ['Patient', 'gender eq male or gender eq female', ['a', 'b']],
  ['Patient', 'gender ne male', ['b']],
  ['Patient', 'not (gender eq male)', ['b', 'c', 'd']],
  ['Patient', 'gender pr true and family co smith', ['b']],
  ['Patient', 'family co smith or gender eq male and birthdate pr true', ['a', 'c']],
  ['Patient', 'family co smith or (gender eq male and birthdate pr true)', ['a', 'b', 'c']],
  ['Patient', 'identifier eq http://example.org/mrn|1,2', ['d']],
  ['Patient', 'identifier eq "x|y"', ['d']],
  ['Patient', 'identifier eq x|y', []],
  ['Patient', 'birthdate lt 1975', ['a']],
  ['Patient', 'birthdate ge 1970-05 and birthdate le 1980-05-01', ['a', 'c']],
  ['Patient', 'birthdate ne 1970-05-01', ['c']],
  ['Patient', 'organization eq north', ['a']],
  ['Patient', 'organization re Organization/north', ['a']],
  ['Patient', 'organization.name eq north', ['a']],
  ['Encounter', 'date po 2024-01-15', ['v']],
  ['Encounter', 'date po 2024', ['v', 'w']],
  ['Encounter', '_lastUpdated po 1999', []],
  ['Encounter', 'not (_lastUpdated po 1999)', ['v', 'w']],
  ['Encounter', '_lastUpdated pr true', ['v', 'w']],
  ['Encounter', '_id ne v', ['w']],
  ['Encounter', 'date sa 2024-02-15', ['w']],
  ['Encounter', 'patient[birthdate lt 1975].family eq stone', ['v']],
  ['Encounter', 'patient[birthdate gt 1975].family eq stone', []],
  ['Encounter', 'patient.organization.name eq north and status eq finished', ['v']],
  ['Encounter', 'not (patient.family eq stone) and status eq planned', ['w']],
  ['ValueSet', 'url eq "urn:colours" and name eq "a|b"', ['colours']],
  ['ValueSet', 'url eq "urn:colours" and name eq "a|c"', []],
  ['RiskAssessment', 'probability gt 0.5', ['r']],
  ['RiskAssessment', 'probability gt 0.85', []],
] as const) {
  test(`${type}?_filter=${filter}`, async () => {
    const query = `_filter=${encodeURIComponent(filter)}`;
    assert.deepEqual((await world.ids(type, query)).toSorted(), expected);
    assert.equal(await world.count(type, query), expected.length);
    assert.deepEqual((await world.ids(type, `${query}&_sort=-_id&_count=1`)).toReversed(), expected);
  });
}

test('a filter and parameters beside it hold together', async () => {
  assert.deepEqual(await world.ids('Patient', `_filter=${encodeURIComponent('family co smith')}&gender=female`), ['b']);
});

for (const [type, filter, problem] of [
  ['Patient', '', 'needs the name of a search parameter at the beginning of each comparison'],
  ['Patient', 'family', 'takes comparisons of three parts: parameter, operator and value, as in given eq "peter"'],
  ['Patient', 'family eq', 'takes comparisons of three parts: parameter, operator and value, as in given eq "peter"'],
  ['Patient', 'family eq "x', 'has a quote without its end'],
  ['Patient', 'family eq "\\x"', 'has a quoted value that is not written as a JSON string'],
  ['Patient', '(family eq x', 'lacks a )'],
  ['Patient', 'family eq x)', 'has something after its end: parentheses and and/or join comparisons'],
  ['Patient', 'not family eq x', 'needs parentheses after not'],
  ['Patient', 'hobby eq x', 'names hobby, which is not a search parameter of Patient'],
  [
    'Patient',
    'family gt x',
    'compares family of Patient by an operator it does not take; it takes eq, ne, co, sw, ew, pr',
  ],
  [
    'Patient',
    'gender like male',
    'compares gender of Patient by an operator it does not take; it takes eq, ne, pr, ss, sb',
  ],
  ['Patient', 'family pr maybe', 'takes true or false after pr'],
  ['Patient', 'family:exact eq x', 'takes search parameters without modifiers'],
  ['Patient', 'family co "-"', 'needs a value with at least one letter or digit: punctuation is not searched'],
  ['Patient', 'family[gender eq male].name eq x', undefined],
  ['Patient', `${'('.repeat(30)}family eq x${')'.repeat(30)}`, 'has more than 20 parentheses inside each other'],
  ['Patient', Array.from({ length: 51 }, () => 'family eq x').join(' and '), 'has more than 50 comparisons'],
] as const) {
  test(`refused: ${type}?_filter=${filter.slice(0, 60)}`, () => {
    assert.throws(
      () => parseSearch(type, [['_filter', filter]], context),
      problem === undefined
        ? { code: 'search-invalid' }
        : new PraxisError('search-invalid', { diagnostics: `_filter ${problem}`, expression: ['_filter'] }),
    );
  });
}
