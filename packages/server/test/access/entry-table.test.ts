/** The decision table: what each published entry alone allows, over all resource types and letters; nothing else. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import { type AccessPolicy, compilePolicy, type Permission } from '../../src/access/policy.ts';
import { grantedBy, publishedEntries, publishedOpaque, sampleToken } from './published-entries.ts';

const letters: readonly Permission[] = ['r', 's', 'c', 'u'];

/** Every `type.letter` that a policy allows. */
function allowed(policy: AccessPolicy): string[] {
  return resourceTypesWithEndpoint.flatMap((type) =>
    letters.filter((letter) => policy.allows(type, letter)).map((letter) => `${type}.${letter}`),
  );
}

test('no entry: nothing', () => {
  const policy = compilePolicy([], []);
  assert.deepEqual(allowed(policy), []);
  assert.deepEqual(privileges(policy), []);
  assert.deepEqual([...policy.bundles], []);
});

function privileges(policy: AccessPolicy): string[] {
  const { unrestricted, mayDelete, mayUpdateAsCreate, mayTypeHistory, mayRequestUploadUrl } = policy;
  const held = { unrestricted, mayDelete, mayUpdateAsCreate, mayTypeHistory, mayRequestUploadUrl };
  return Object.entries(held)
    .filter(([, value]) => value)
    .map(([name]) => name);
}

for (const entry of publishedEntries) {
  const granted = grantedBy(entry);
  test(`${entry} on one side only: nothing`, () => {
    for (const policy of [compilePolicy([entry], []), compilePolicy([], [entry])]) {
      assert.deepEqual(allowed(policy), []);
      assert.deepEqual(privileges(policy), []);
      assert.equal(policy.bundles.size, 0);
    }
  });
  test(`${entry} allows ${granted ?? 'no interaction'} and nothing else`, () => {
    const policy = compilePolicy([entry], [entry]);
    assert.deepEqual(allowed(policy), granted === undefined ? [] : [granted]);
    assert.deepEqual(privileges(policy), entry === 'acl/bnry_c_url' ? ['mayRequestUploadUrl'] : []);
    assert.equal(policy.bundles.size, bundleKinds(entry));
    assert.deepEqual(policy.entries, [entry]);
    assert.deepEqual(policy.refused, []);
  });
}

function bundleKinds(entry: string): number {
  if (entry === 'acl/trans_bndl_post') return 7;
  return entry.startsWith('acl/trans_bndl_') ? 1 : 0;
}

test('types that are none are refused, also with acl/*', () => {
  const policy = compilePolicy(['acl/*'], ['acl/*']);
  for (const type of ['', 'patient', 'Parameters', 'Resource', 'constructor', '__proto__']) {
    for (const letter of letters) assert.equal(policy.allows(type, letter), false, `${type}.${letter}`);
  }
});

test('acl/* alone allows everything, delete, update-as-create and type history included', () => {
  const policy = compilePolicy(['acl/*'], ['acl/*']);
  assert.equal(allowed(policy).length, resourceTypesWithEndpoint.length * letters.length);
  assert.deepEqual(privileges(policy), [
    'unrestricted',
    'mayDelete',
    'mayUpdateAsCreate',
    'mayTypeHistory',
    'mayRequestUploadUrl',
  ]);
  assert.equal(policy.bundles.size, 7);
  assert.deepEqual(policy.grants('Patient', 'r'), [{ elements: 'all', criteria: [], entries: ['acl/*'] }]);
});

test('all 104 entries together do not make up acl/*', () => {
  const policy = compilePolicy(publishedEntries, publishedEntries);
  assert.deepEqual(privileges(policy), ['mayRequestUploadUrl']);
  assert.deepEqual(
    allowed(policy),
    [...new Set(publishedEntries.map(grantedBy).filter((granted) => granted !== undefined))].toSorted(byTypeAndLetter),
  );
});

function byTypeAndLetter(a: string, b: string): number {
  const rank = (key: string): number => {
    const [type = '', letter = ''] = key.split('.');
    return resourceTypesWithEndpoint.indexOf(type) * 4 + 'rscu'.indexOf(letter);
  };
  return rank(a) - rank(b);
}

test('the sample token allows the union of its entries', () => {
  const policy = compilePolicy(sampleToken, ['acl/*']);
  assert.deepEqual(
    allowed(policy),
    [...new Set(sampleToken.map(grantedBy).filter((granted) => granted !== undefined))].toSorted(byTypeAndLetter),
  );
  assert.deepEqual(policy.grants('Patient', 's'), [
    { elements: 'all', criteria: [], entries: ['acl/pat_s', 'acl/pat_s_id', 'acl/pat_s_name_dob_gen'] },
  ]);
});

test('subtypes reach their rows only', () => {
  const policy = compilePolicy(['acl/org_pay_r', 'acl/tsk_pmrecall_s'], ['acl/*']);
  assert.deepEqual(policy.grants('Organization', 'r'), [
    { elements: 'all', criteria: [{ parameter: 'type', values: ['pay'] }], entries: ['acl/org_pay_r'] },
  ]);
  assert.deepEqual(policy.grants('Task', 's'), [
    { elements: 'all', criteria: [{ parameter: 'code', values: ['PMRECALL'] }], entries: ['acl/tsk_pmrecall_s'] },
  ]);
});

test('a type as a whole makes its subtype superfluous', () => {
  const policy = compilePolicy(['acl/tsk_pmrecall_s', 'acl/tsk_s'], ['acl/*']);
  assert.deepEqual(policy.grants('Task', 's'), [{ elements: 'all', criteria: [], entries: ['acl/tsk_s'] }]);
});

test('restricted searches open their elements together', () => {
  const policy = compilePolicy(['acl/pat_s_name_dob_gen', 'acl/pat_s_id'], ['acl/*']);
  assert.deepEqual(policy.grants('Patient', 's'), [
    {
      elements: new Set(['Patient.identifier', 'Patient.name', 'Patient.birthDate', 'Patient.gender']),
      criteria: [],
      entries: ['acl/pat_s_id', 'acl/pat_s_name_dob_gen'],
    },
  ]);
});

test('entries that are not understood grant nothing and are reported', () => {
  const policy = compilePolicy(['acl/pat_r', 'acl/pat_x', 'nonsense'], ['acl/*', 'acl/cond']);
  assert.deepEqual(allowed(policy), ['Patient.r']);
  assert.deepEqual(
    policy.refused.map((refusal) => refusal.text),
    ['acl/pat_x', 'nonsense', 'acl/cond'],
  );
});

test('opaque entries grant nothing even beside acl/* on the other side', () => {
  for (const entry of publishedOpaque) assert.deepEqual(allowed(compilePolicy([entry], ['acl/*'])), []);
});
