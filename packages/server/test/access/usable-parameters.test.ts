/** A search parameter is usable only if every element that its expression touches is readable. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { getSearchParameters, resourceTypesWithEndpoint, type SearchParameter } from '@praxis/fhir';
import { type AccessPolicy, compilePolicy, searchGrants } from '../../src/access/policy.ts';

function parameter(type: string, code: string): SearchParameter {
  const found = getSearchParameters(type).get(code);
  assert.ok(found, `${type}.${code}`);
  return found;
}

function usable(policy: AccessPolicy, type: string): string[] {
  return [...getSearchParameters(type).values()]
    .filter((candidate) => searchGrants(policy, type, [candidate]).length > 0)
    .map(({ code }) => code)
    .toSorted();
}

const always = ['_id', '_lastUpdated', '_profile', '_security', '_source', '_tag'];
const names = ['family', 'given', 'name', 'phonetic'];

const tables: readonly (readonly [entries: string[], usable: string[]])[] = [
  [[], []],
  [['acl/pat_r'], []],
  [['acl/enc_s'], []],
  [['acl/pat_ef_m'], []],
  [['acl/pat_s_id'], ['identifier']],
  [['acl/pat_s_name'], names],
  [['acl/pat_s_dob'], ['birthdate']],
  [['acl/pat_s_gen'], ['gender']],
  [['acl/pat_s_name_dob_gen'], ['birthdate', 'gender', ...names]],
  [
    ['acl/pat_s_id', 'acl/pat_s_name_dob_gen'],
    ['birthdate', 'gender', 'identifier', ...names],
  ],
];

for (const [entries, expected] of tables) {
  test(`Patient parameters under ${entries.join(' ') || 'nothing'}: ${expected.join(' ') || 'none'}, of all`, () => {
    const everybody = expected.length > 0 ? always : [];
    assert.deepEqual(usable(compilePolicy(entries, ['acl/*']), 'Patient'), [...everybody, ...expected].toSorted());
  });
}

test('restricted grants never use a parameter that reads extensions, telecom, address or the whole text', () => {
  const policy = compilePolicy(['acl/pat_s_id', 'acl/pat_s_name_dob_gen'], ['acl/*']);
  for (const code of [
    '_content',
    '_text',
    '_query',
    '_filter',
    'phone',
    'email',
    'address',
    'deceased',
    'us-core-race',
    'referral-source',
    'mothersMaidenName',
    'age',
  ]) {
    assert.deepEqual(searchGrants(policy, 'Patient', [parameter('Patient', code)]), [], code);
  }
});

test('one parameter that is not usable refuses the whole search', () => {
  const policy = compilePolicy(['acl/pat_s_name_dob_gen'], ['acl/*']);
  assert.deepEqual(searchGrants(policy, 'Patient', [parameter('Patient', 'name'), parameter('Patient', 'phone')]), []);
  assert.deepEqual(searchGrants(policy, 'Patient', [parameter('Patient', 'phone'), parameter('Patient', 'name')]), []);
});

test('parameters that touch the elements of two restricted entries can be used together', () => {
  const policy = compilePolicy(['acl/pat_s_id', 'acl/pat_s_name'], ['acl/*']);
  assert.equal(
    searchGrants(policy, 'Patient', [parameter('Patient', 'identifier'), parameter('Patient', 'family')]).length,
    1,
  );
});

test('a search uses only the rows of those grants under which all its parameters are usable', () => {
  const policy = compilePolicy(['acl/tsk_s', 'acl/tsk_pmrecall_s'], ['acl/*'], {
    operatorRows: new Map([['tsk', { elements: ['status'] }]]),
  });
  const recallRows = [[{ parameter: 'code', values: ['PMRECALL'] }]];
  assert.deepEqual(
    searchGrants(policy, 'Task', [parameter('Task', 'patient')]).map((grant) => grant.criteria),
    recallRows,
  );
  assert.deepEqual(
    searchGrants(policy, 'Task', [parameter('Task', 'status')]).map((grant) => grant.criteria),
    [...recallRows, []],
  );
});

test('a composite needs the elements of all its components', () => {
  const operatorRows = new Map([['obsv_ef', { elements: ['code', 'valueless'] }]]);
  const wrong = compilePolicy(['acl/obsv_ef_s'], ['acl/*'], { operatorRows });
  assert.deepEqual(searchGrants(wrong, 'Observation', [parameter('Observation', 'code')]), []);
  const code = compilePolicy(['acl/obsv_ef_s'], ['acl/*'], {
    operatorRows: new Map([['obsv_ef', { elements: ['code'] }]]),
  });
  assert.equal(searchGrants(code, 'Observation', [parameter('Observation', 'code')]).length, 1);
  assert.deepEqual(searchGrants(code, 'Observation', [parameter('Observation', 'code-value-quantity')]), []);
  const both = compilePolicy(['acl/obsv_ef_s'], ['acl/*'], {
    operatorRows: new Map([['obsv_ef', { elements: ['code', 'value'] }]]),
  });
  assert.equal(searchGrants(both, 'Observation', [parameter('Observation', 'code-value-quantity')]).length, 1);
  assert.deepEqual(searchGrants(both, 'Observation', [parameter('Observation', 'combo-code-value-quantity')]), []);
});

test('acl/* uses every parameter of every type', () => {
  const policy = compilePolicy(['acl/*'], ['acl/*']);
  for (const type of resourceTypesWithEndpoint)
    assert.equal(usable(policy, type).length, getSearchParameters(type).size, type);
});
