/** Denials that teach: the missing entry, the element that needs it, who grants it; and nothing about data. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { getSearchParameters, type SearchParameter } from '@praxis/fhir';
import { type Denial, explainDenial, listGrantingEntries } from '../../src/access/explain.ts';
import { compilePolicy } from '../../src/access/policy.ts';

function parameter(type: string, code: string): SearchParameter {
  const found = getSearchParameters(type).get(code);
  assert.ok(found);
  return found;
}

const denials: readonly (readonly [
  token: string[],
  firm: string[],
  type: string,
  need: 'r' | 's' | 'c' | 'u' | string,
  denial: Denial,
])[] = [
  [
    [],
    [],
    'Patient',
    'r',
    {
      missing: ['acl/pat_r'],
      elements: [],
      heldBy: 'neither',
      diagnostics: 'Patient read needs acl/pat_r; the practice grants it to the application',
    },
  ],
  [
    ['acl/pat_r'],
    [],
    'Patient',
    'r',
    {
      missing: ['acl/pat_r'],
      elements: [],
      heldBy: 'token',
      diagnostics:
        'Patient read needs acl/pat_r; the token holds it, the practice has not granted it to the application',
    },
  ],
  [
    ['acl/pat_s'],
    ['acl/*'],
    'Patient',
    'r',
    {
      missing: ['acl/pat_r'],
      elements: [],
      heldBy: 'practice',
      diagnostics:
        'Patient read needs acl/pat_r; the practice has granted it, the token does not hold it: request a token with it',
    },
  ],
  [
    [],
    [],
    'Patient',
    's',
    {
      missing: ['acl/pat_s', 'acl/pat_s_name_dob_gen', 'acl/pat_s_id'],
      elements: [],
      heldBy: 'neither',
      diagnostics:
        'Patient search needs acl/pat_s or acl/pat_s_name_dob_gen or acl/pat_s_id; the practice grants it to the application',
    },
  ],
  [
    [],
    [],
    'Organization',
    's',
    {
      missing: ['acl/org_s', 'acl/org_pay_s'],
      elements: [],
      heldBy: 'neither',
      diagnostics: 'Organization search needs acl/org_s or acl/org_pay_s; the practice grants it to the application',
    },
  ],
  [
    ['acl/obsv_ef_r'],
    ['acl/obsv_ef_r'],
    'Observation',
    'r',
    {
      missing: ['system/Observation.r', 'acl/*'],
      elements: [],
      heldBy: 'neither',
      diagnostics:
        'Observation read needs system/Observation.r or acl/*; the operator of the service grants it to the application',
    },
  ],
  [
    [],
    [],
    'Basic',
    'u',
    {
      missing: ['system/Basic.u', 'acl/*'],
      elements: [],
      heldBy: 'neither',
      diagnostics:
        'Basic update needs system/Basic.u or acl/*; the operator of the service grants it to the application',
    },
  ],
  [
    ['acl/pat_s_name_dob_gen'],
    ['acl/*'],
    'Patient',
    'phone',
    {
      missing: ['acl/pat_s'],
      elements: ['Patient.telecom'],
      heldBy: 'practice',
      diagnostics:
        'Patient search by phone, which reads Patient.telecom, needs acl/pat_s; the practice has granted it, the token does not hold it: request a token with it',
    },
  ],
  [
    ['acl/pat_s_id'],
    ['acl/pat_s_id'],
    'Patient',
    'birthdate',
    {
      missing: ['acl/pat_s', 'acl/pat_s_name_dob_gen'],
      elements: ['Patient.birthDate'],
      heldBy: 'neither',
      diagnostics:
        'Patient search by birthdate, which reads Patient.birthDate, needs acl/pat_s or acl/pat_s_name_dob_gen; the practice grants it to the application',
    },
  ],
  [
    ['acl/pat_s_id'],
    ['acl/pat_s_id'],
    'Patient',
    '_content',
    {
      missing: ['acl/pat_s'],
      elements: ['Patient (all elements)'],
      heldBy: 'neither',
      diagnostics:
        'Patient search by _content, which reads Patient (all elements), needs acl/pat_s; the practice grants it to the application',
    },
  ],
];

for (const [token, firm, type, need, denial] of denials) {
  test(`${type} ${need} with ${token.join(' ') || 'nothing'} at a firm with ${firm.join(' ') || 'nothing'}`, () => {
    const letter = need === 'r' || need === 's' || need === 'c' || need === 'u' ? need : undefined;
    assert.deepEqual(explainDenial(compilePolicy(token, firm), type, letter ?? parameter(type, need)), denial);
  });
}

test('several parameters together', () => {
  const policy = compilePolicy(['acl/pat_s_id'], ['acl/pat_s_id']);
  assert.deepEqual(
    explainDenial(policy, 'Patient', [
      parameter('Patient', 'identifier'),
      parameter('Patient', 'family'),
      parameter('Patient', 'phone'),
    ]),
    {
      missing: ['acl/pat_s'],
      elements: ['Patient.name', 'Patient.telecom'],
      heldBy: 'neither',
      diagnostics:
        'Patient search by identifier, family, phone, which reads Patient.name, Patient.telecom, needs acl/pat_s; the practice grants it to the application',
    },
  );
});

test('of what is granted no element is said to be hidden', () => {
  const policy = compilePolicy(['acl/pat_s'], ['acl/pat_s']);
  assert.deepEqual(explainDenial(policy, 'Patient', parameter('Patient', 'family')).elements, []);
});

test('entries that open as much come in the order of their texts', () => {
  const operatorRows = new Map([['m_t', { type: 'Patient', letters: 's', elements: ['identifier'] }]]);
  assert.deepEqual(listGrantingEntries(compilePolicy([], [], { operatorRows }), 'Patient', 's'), [
    'acl/pat_s',
    'acl/pat_s_name_dob_gen',
    'acl/m_t',
    'acl/pat_s_id',
  ]);
});

test('entries with an operator row are named, those without are not', () => {
  const operatorRows = new Map([['obsv_ef', { criteria: [{ parameter: 'category', values: ['exam'] }] }]]);
  assert.deepEqual(listGrantingEntries(compilePolicy([], [], { operatorRows }), 'Observation', 's'), ['acl/obsv_ef_s']);
  assert.deepEqual(listGrantingEntries(compilePolicy([], []), 'Observation', 's'), ['system/Observation.s', 'acl/*']);
});
