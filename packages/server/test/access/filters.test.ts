/** Filters narrow what other entries grant; they intersect; a filter that is not understood closes what filters narrow. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { type AccessPolicy, type Criterion, compilePolicy, type Permission } from '../../src/access/policy.ts';
import { publishedFilters } from './published-entries.ts';

const letters: readonly Permission[] = ['r', 's', 'c', 'u'];

function categories(...values: string[]): Criterion[] {
  return values.map((value) => ({ parameter: 'category', values: [value] }));
}

function rowsOf(policy: AccessPolicy, letter: Permission): readonly (readonly Criterion[])[] {
  return policy.grants('ServiceRequest', letter).map((grant) => grant.criteria);
}

const unknownFilter = 'acl/lab_type_vet';

for (const [token, firm] of [
  [['acl/serv_req_s', unknownFilter], ['acl/*']],
  [['acl/*'], ['acl/*', unknownFilter]],
  [['acl/*', unknownFilter], ['acl/serv_req_r']],
] as const) {
  test(`an unknown filter closes ServiceRequest: token ${token.join(' ')}, firm ${firm.join(' ')}`, () => {
    const policy = compilePolicy(token, firm);
    for (const letter of letters) assert.deepEqual(policy.grants('ServiceRequest', letter), []);
    assert.equal(policy.unrestricted, false);
    assert.notEqual(
      policy.fingerprint,
      compilePolicy(
        token.filter((entry) => entry !== unknownFilter),
        firm.filter((entry) => entry !== unknownFilter),
      ).fingerprint,
    );
  });
}

test('an unknown filter leaves other types alone', () => {
  assert.equal(compilePolicy(['acl/pat_r', unknownFilter], ['acl/*']).allows('Patient', 'r'), true);
});

test('a filter alone grants nothing', () => {
  for (const filter of publishedFilters) {
    for (const letter of letters)
      assert.equal(compilePolicy([filter], ['acl/*']).allows('ServiceRequest', letter), false, filter);
  }
});

test('each filter narrows orders to its category, under every letter', () => {
  const expected = ['PATHOLOGY', 'RADIOLOGY', 'SURGICAL', 'THERAPIES', 'CLINICAL_LAB'];
  for (const [at, filter] of publishedFilters.entries()) {
    const policy = compilePolicy(
      ['acl/serv_req_r', 'acl/serv_req_s', 'acl/serv_req_c', 'acl/serv_req_u', filter],
      ['acl/*'],
    );
    for (const letter of letters)
      assert.deepEqual(rowsOf(policy, letter), [categories(expected[at] ?? '')], `${filter} ${letter}`);
  }
});

test('two filters intersect, wherever they stand', () => {
  const both = [categories('PATHOLOGY', 'RADIOLOGY')];
  assert.deepEqual(
    rowsOf(compilePolicy(['acl/serv_req_s', 'acl/lab_type_path', 'acl/lab_type_radio'], ['acl/*']), 's'),
    both,
  );
  assert.deepEqual(
    rowsOf(compilePolicy(['acl/serv_req_s', 'acl/lab_type_path'], ['acl/*', 'acl/lab_type_radio']), 's'),
    both,
  );
});

test('a filter narrows acl/* too: no delete, no update-as-create, no type history', () => {
  const policy = compilePolicy(['acl/*'], ['acl/*', 'acl/lab_type_surg']);
  const { unrestricted, mayDelete, mayUpdateAsCreate, mayTypeHistory } = policy;
  assert.deepEqual([unrestricted, mayDelete, mayUpdateAsCreate, mayTypeHistory], [false, false, false, false]);
  assert.deepEqual(rowsOf(policy, 'r'), [categories('SURGICAL')]);
  assert.deepEqual(policy.grants('Patient', 'r'), [{ elements: 'all', criteria: [], entries: ['acl/*'] }]);
});

test('a filter says nothing about other types, DiagnosticReport and RequestGroup included', () => {
  const policy = compilePolicy(['acl/diag_rprt_s', 'acl/req_grp_s', 'acl/lab_type_path'], ['acl/*']);
  for (const type of ['DiagnosticReport', 'RequestGroup'])
    assert.deepEqual(
      policy.grants(type, 's').map((grant) => grant.criteria),
      [[]],
    );
});
