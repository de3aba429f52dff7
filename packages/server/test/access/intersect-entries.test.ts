/** What a token may do at a firm: its entries met with those the firm authorised, pair by pair and in general. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import fc from 'fast-check';
import { type AccessPolicy, compilePolicy, type Grant, type Permission } from '../../src/access/policy.ts';
import { publishedEntries, publishedFilters } from './published-entries.ts';

fc.configureGlobal({ seed: 20261121 });

const letters: readonly Permission[] = ['r', 's', 'c', 'u'];
const vocabulary = [
  ...publishedEntries,
  'acl/*',
  'acl/pat_s_name',
  'acl/pat_s_name_dob',
  'acl/pat_s_id_name',
  'acl/pat_r_dob',
  'acl/nonsense',
];
const types = [
  ...new Set([
    'Patient',
    'Organization',
    'Task',
    'ServiceRequest',
    'Observation',
    'Procedure',
    'Condition',
    'Binary',
    'Encounter',
    'AuditEvent',
  ]),
];

const sideBySide: readonly (readonly [token: string[], firm: string[], effective: string[]])[] = [
  [['acl/pat_r'], ['acl/pat_s'], []],
  [['acl/pat_r'], ['acl/enc_r'], []],
  [['acl/pat_s_id'], ['acl/pat_s_name_dob_gen'], []],
  [['acl/pat_s_id_name'], ['acl/pat_s_name_dob'], []],
  [['acl/pat_r'], ['acl/pat_s_id'], []],
  [['acl/fmly_his_c'], ['acl/fmly_his_ef_c'], []],
  [['acl/pat_s'], ['acl/pat_ef_m'], []],
  [['acl/trans_bndl_diag_rprt_labs'], ['acl/trans_bndl_diag_rprt_urin'], []],
  [['acl/org_pay_s'], ['acl/org_pay_r'], []],
  [['acl/m_t'], ['acl/t_s'], []],
  [['acl/pat_s'], ['acl/pat_s_id'], ['acl/pat_s_id']],
  [['acl/pat_s_name_dob_gen'], ['acl/pat_s'], ['acl/pat_s_name_dob_gen']],
  [['acl/pat_s_name_dob_gen'], ['acl/pat_s_name'], ['acl/pat_s_name']],
  [['acl/org_s'], ['acl/org_pay_s'], ['acl/org_pay_s']],
  [['acl/tsk_pmrecall_r'], ['acl/tsk_r'], ['acl/tsk_pmrecall_r']],
  [['acl/trans_bndl_post'], ['acl/trans_bndl_diag_rprt_labs'], ['acl/trans_bndl_diag_rprt_labs']],
  [['acl/pat_r', 'acl/pat_s'], ['acl/*'], ['acl/pat_r', 'acl/pat_s']],
  [['acl/*'], ['acl/pat_s_id', 'acl/enc_s'], ['acl/enc_s', 'acl/pat_s_id']],
  [['acl/*'], ['acl/*'], ['acl/*']],
  [['acl/m_t'], ['acl/*'], ['acl/m_t']],
  [['acl/pat_s_dob_name'], ['acl/pat_s_name_dob'], ['acl/pat_s_dob_name']],
  [['acl/serv_req_s', 'acl/lab_type_path'], ['acl/serv_req_s'], ['acl/lab_type_path', 'acl/serv_req_s']],
  [['acl/serv_req_s'], ['acl/*', 'acl/lab_type_radio'], ['acl/lab_type_radio', 'acl/serv_req_s']],
];

for (const [token, firm, effective] of sideBySide) {
  test(`token ${token.join(' ')} at a firm with ${firm.join(' ')}: ${effective.join(' ') || 'nothing'}`, () => {
    assert.deepEqual(compilePolicy(token, firm).entries, effective);
    assert.deepEqual(compilePolicy(firm, token).entries, effective);
  });
}

test('every pair of entries meets in one of the two, or in nothing', () => {
  for (const a of vocabulary) {
    for (const b of vocabulary) {
      const { entries } = compilePolicy([a], [b]);
      const filters = [a, b].filter((entry) => publishedFilters.includes(entry));
      const rest = entries.filter((entry) => !filters.includes(entry));
      assert.ok(rest.length <= 1, `${a} × ${b}: ${entries}`);
      assert.ok(
        rest.every((entry) => entry === a || entry === b),
        `${a} × ${b}: ${entries}`,
      );
      if (a === b && a !== 'acl/nonsense') assert.deepEqual(entries, [a]);
    }
  }
});

/** Whether `narrow` allows nothing that `wide` does not: every grant lies in one with as many elements on as many rows. */
function isWithin(narrow: AccessPolicy, wide: AccessPolicy): boolean {
  return (
    types.every((type) =>
      letters.every((letter) =>
        narrow.grants(type, letter).every((grant) => wide.grants(type, letter).some((other) => liesIn(grant, other))),
      ),
    ) &&
    narrow.bundles.isSubsetOf(wide.bundles) &&
    (wide.mayDelete || !narrow.mayDelete) &&
    (wide.mayUpdateAsCreate || !narrow.mayUpdateAsCreate) &&
    (wide.mayTypeHistory || !narrow.mayTypeHistory) &&
    (wide.mayRequestUploadUrl || !narrow.mayRequestUploadUrl) &&
    (wide.unrestricted || !narrow.unrestricted)
  );
}

function liesIn(grant: Grant, other: Grant): boolean {
  const rows = new Set(grant.criteria.map((criterion) => JSON.stringify(criterion)));
  const elements = other.elements === 'all' || (grant.elements !== 'all' && grant.elements.isSubsetOf(other.elements));
  return elements && other.criteria.every((criterion) => rows.has(JSON.stringify(criterion)));
}

const entrySet = fc.uniqueArray(fc.constantFrom(...vocabulary), { maxLength: 12 });
const notFilter = fc.constantFrom(...vocabulary.filter((entry) => !publishedFilters.includes(entry)));

test('the meet is commutative and depends on neither order nor repetition', () => {
  fc.assert(
    fc.property(entrySet, entrySet, (token, firm) => {
      const policy = compilePolicy(token, firm);
      for (const same of [compilePolicy(firm, token), compilePolicy([...token].reverse(), [...firm, ...firm])]) {
        assert.deepEqual(same.entries, policy.entries);
        assert.equal(same.fingerprint, policy.fingerprint);
        for (const type of types)
          for (const letter of letters) assert.deepEqual(same.grants(type, letter), policy.grants(type, letter));
      }
    }),
    { numRuns: 200 },
  );
});

test('the meet is never wider than either side', () => {
  fc.assert(
    fc.property(entrySet, entrySet, (token, firm) => {
      const policy = compilePolicy(token, firm);
      assert.ok(isWithin(policy, compilePolicy(token, token)), 'wider than the token');
      assert.ok(isWithin(policy, compilePolicy(firm, firm)), 'wider than the firm');
    }),
    { numRuns: 300 },
  );
});

test('an entry more, on either side, never takes rights away', () => {
  fc.assert(
    fc.property(entrySet, entrySet, notFilter, (token, firm, more) => {
      const policy = compilePolicy(token, firm);
      assert.ok(isWithin(policy, compilePolicy([...token, more], firm)));
      assert.ok(isWithin(policy, compilePolicy(token, [...firm, more])));
    }),
    { numRuns: 300 },
  );
});

test('a filter more, on either side, never gives rights', () => {
  fc.assert(
    fc.property(entrySet, entrySet, fc.constantFrom(...publishedFilters), (token, firm, filter) => {
      const policy = compilePolicy(token, firm);
      assert.ok(isWithin(compilePolicy([...token, filter], firm), policy));
      assert.ok(isWithin(compilePolicy(token, [...firm, filter]), policy));
    }),
    { numRuns: 200 },
  );
});

test('acl/* is the neutral element, the empty set the absorbing one', () => {
  fc.assert(
    fc.property(entrySet, (entries) => {
      assert.equal(compilePolicy(entries, ['acl/*']).fingerprint, compilePolicy(entries, entries).fingerprint);
      assert.equal(compilePolicy(entries, []).fingerprint, compilePolicy([], []).fingerprint);
    }),
    { numRuns: 200 },
  );
});

test('policies that allow something else have another fingerprint', () => {
  const single = vocabulary.map((entry) => compilePolicy([entry], ['acl/*']));
  const allowing = single.filter(
    (policy) =>
      policy.bundles.size > 0 ||
      policy.mayRequestUploadUrl ||
      resourceTypesWithEndpoint.some((type) => letters.some((letter) => policy.allows(type, letter))),
  );
  assert.equal(new Set(allowing.map((policy) => policy.fingerprint)).size, allowing.length);
  assert.match(allowing[0]?.fingerprint ?? '', /^[A-Za-z0-9_-]{22}$/);
});
