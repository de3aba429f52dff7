/** The invariants of R4's base definitions: their errata, and that they are evaluated where they are declared. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { loadDefinedRules, parseJson } from '@praxis/fhir';
import { parse } from 'fhirpath';
import { examine } from '../../src/validation/examine.ts';
import { invariantErrata } from '../../src/validation/invariant-errata.ts';
import { plainOf } from '../../src/validation/plain.ts';
import { objectOf } from './plain-resource.ts';

const rules = await loadDefinedRules();
const nothing = { profiles: new Map(), problems: new Map(), definitions: new Map() };

test('each erratum quotes what R4 publishes and says what is wrong with it', () => {
  for (const { key, path, from, to, reason } of invariantErrata) {
    const published = rules.invariantsAt(path).find((invariant) => invariant.key === key);
    assert.equal(published?.expression, from, key);
    assert.notEqual(from, to);
    assert.ok(reason.length > 20);
  }
});

test('every published expression can be parsed', () => {
  const invariants = rules.invariantPaths.flatMap((path) => rules.invariantsAt(path));
  assert.equal(invariants.length, 239);
  for (const { expression, human } of invariants) {
    assert.ok(human.length > 0);
    if (expression !== '') parse(expression);
  }
});

/** Resource → the invariants that it breaks, with the path of the element. */
const broken: readonly (readonly [resource: object, found: readonly string[]])[] = [
  [{ resourceType: 'Patient', contact: [{ gender: 'male' }] }, ['pat-1 Patient.contact[0]']],
  [
    { resourceType: 'Patient', name: [{ period: { start: '2020-02-01', end: '2020-01-01' } }] },
    ['per-1 Patient.name[0].period'],
  ],
  [{ resourceType: 'Patient', name: [{ period: { start: '2020', end: '2020-01-01' } }] }, []],
  [
    {
      resourceType: 'Observation',
      status: 'final',
      code: { text: 'x' },
      valueQuantity: { value: 1, code: 'mg' },
      dataAbsentReason: { text: 'none' },
      referenceRange: [{ age: { low: { value: 1 } } }],
    },
    ['obs-6 Observation', 'qty-3 Observation.value', 'obs-3 Observation.referenceRange[0]'],
  ],
  [
    {
      resourceType: 'Questionnaire',
      status: 'draft',
      item: [{ linkId: '1', type: 'group', item: [{ linkId: '1', type: 'display', code: [{ code: 'x' }] }] }],
    },
    ['que-2 Questionnaire', 'que-3 Questionnaire.item[0].item[0]'],
  ],
  [
    {
      resourceType: 'Bundle',
      type: 'batch',
      total: 1,
      entry: [{ resource: { resourceType: 'Patient', contact: [{ gender: 'male' }] } }],
    },
    ['bdl-1 Bundle', 'bdl-3 Bundle', 'pat-1 Bundle.entry[0].resource.contact[0]'],
  ],
  [
    {
      resourceType: 'CareTeam',
      contained: [
        { resourceType: 'Practitioner', id: 'p' },
        { resourceType: 'Patient', id: 'q' },
      ],
      participant: [
        { member: { reference: '#p' }, onBehalfOf: { reference: 'Organization/1' } },
        { member: { reference: '#q' }, onBehalfOf: { reference: 'Organization/1' } },
        { member: { reference: 'Patient/1' }, onBehalfOf: { reference: 'Organization/1' } },
        { member: { display: 'someone' }, onBehalfOf: { reference: 'Organization/1' } },
      ],
    },
    ['ctm-1 CareTeam.participant[1]', 'ctm-1 CareTeam.participant[2]'],
  ],
];

test('a broken invariant is found at its element, and none elsewhere', () => {
  for (const [resource, expected] of broken) {
    const plain = plainOf(objectOf(parseJson(JSON.stringify(resource))));
    const found = examine(rules, plain, [], nothing, 100).findings.filter(({ severity }) => severity === 'error');
    assert.deepEqual(
      found.map(({ rule, path }) => `${rule} ${path}`),
      expected,
    );
    for (const { code } of found) assert.equal(code, 'invariant');
  }
});
