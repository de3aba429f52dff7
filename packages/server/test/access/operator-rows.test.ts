/** Entries of unknown meaning grant nothing until an operator says what they stand for; other entries can be narrowed. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import { listOperatorRowProblems, type OperatorRow, readOperatorRows } from '../../src/access/operator-rows.ts';
import { type AccessPolicy, compilePolicy, type Permission } from '../../src/access/policy.ts';

const letters: readonly Permission[] = ['r', 's', 'c', 'u'];

function policyOf(entries: readonly string[], rows: Record<string, OperatorRow>): AccessPolicy {
  return compilePolicy(entries, ['acl/*'], { operatorRows: new Map(Object.entries(rows)) });
}

function allowed(policy: AccessPolicy): string[] {
  return resourceTypesWithEndpoint.flatMap((type) =>
    letters.filter((letter) => policy.allows(type, letter)).map((letter) => `${type}.${letter}`),
  );
}

const exam = { parameter: 'category', values: ['exam'] };
const eye = { parameter: 'body-site', values: ['http://snomed.info/sct|81745001'] };

const wrong: readonly (readonly [code: string, row: OperatorRow, problem: string])[] = [
  ['nothing', { criteria: [exam] }, 'nothing: no access code that an operator can describe'],
  ['lab_type_path', { criteria: [exam] }, 'lab_type_path: no access code that an operator can describe'],
  ['obsv_ef', {}, 'obsv_ef: criteria or elements are needed'],
  ['obsv_ef', { criteria: [] }, 'obsv_ef: criteria or elements are needed'],
  ['obsv_ef', { type: 'Patient', elements: ['name'] }, 'obsv_ef: type is Observation and cannot be changed'],
  ['obsv_ef', { letters: 'rs', criteria: [exam] }, 'obsv_ef: letters stand in the entry and cannot be changed'],
  [
    'obsv_ef',
    { criteria: [{ parameter: 'kategory', values: ['exam'] }] },
    'obsv_ef: Observation has no search parameter kategory',
  ],
  [
    'obsv_ef',
    { criteria: [{ parameter: 'date', values: ['2020'] }] },
    'obsv_ef: date is a date parameter; row criteria are tokens',
  ],
  [
    'obsv_ef',
    { criteria: [{ parameter: 'category', values: ['a,b'] }] },
    'obsv_ef: category needs values such as code or system|code',
  ],
  ['obsv_ef', { elements: ['valueQuantity'] }, 'obsv_ef: Observation has no element valueQuantity'],
  ['obsv_ef', { elements: ['text'] }, 'obsv_ef: text cannot be opened by name: it may repeat what other elements hold'],
  ['pmc_ocu_ef', { criteria: [eye] }, 'pmc_ocu_ef: type is needed, the published entries do not name it'],
  [
    'pmc_ocu_ef',
    { type: 'Conditions', criteria: [eye] },
    'pmc_ocu_ef: Conditions is not a resource type with an endpoint: did you mean Condition?',
  ],
  ['pat_ef', { elements: ['name'] }, 'pat_ef: letters are needed, some of rs'],
  ['pat_ef', { letters: 'u', elements: ['name'] }, 'pat_ef: letters are r, s or rs'],
  ['m_t', { letters: 'r', elements: ['name'] }, 'm_t: type is needed, the published entries do not name it'],
  [
    'obsv_ef',
    { criteria: [{ parameter: '_id', values: ['one'] }] },
    'obsv_ef: _id does not limit rows: use another parameter',
  ],
  ['bnry', { elements: ['contentType'] }, 'bnry: the entry opens an operation, which has no rows'],
];

for (const [code, row, problem] of wrong) {
  test(`an operator row is refused, and opens nothing: ${problem}`, () => {
    assert.ok(listOperatorRowProblems(code, row).includes(problem), listOperatorRowProblems(code, row).join('; '));
    const entries = ['obsv_ef_r', 'obsv_ef_s', 'obsv_ef_c', 'pmc_ocu_ef_r', 'pat_ef_m', 'm_t'].map(
      (word) => `acl/${word}`,
    );
    assert.deepEqual(allowed(policyOf(entries, { [code]: row })), []);
  });
}

test('a wrong row closes the entries of a code that has a meaning', () => {
  assert.deepEqual(
    allowed(policyOf(['acl/enc_r', 'acl/pat_r'], { enc: { criteria: [{ parameter: 'klass', values: ['AMB'] }] } })),
    ['Patient.r'],
  );
});

test('rows or elements give the entries of a code their meaning', () => {
  const policy = policyOf(['acl/obsv_ef_r', 'acl/obsv_ef_c', 'acl/pmc_ocu_ef_s'], {
    obsv_ef: { criteria: [exam] },
    pmc_ocu_ef: { type: 'Condition', criteria: [eye], elements: ['code', 'onset'] },
  });
  assert.deepEqual(allowed(policy), ['Condition.s', 'Observation.r', 'Observation.c']);
  assert.deepEqual(policy.grants('Observation', 'c'), [
    { elements: 'all', criteria: [exam], entries: ['acl/obsv_ef_c'] },
  ]);
  assert.deepEqual(policy.grants('Condition', 's'), [
    { elements: new Set(['Condition.code', 'Condition.onset']), criteria: [eye], entries: ['acl/pmc_ocu_ef_s'] },
  ]);
});

test('entries without a letter of their own get it from the operator', () => {
  const policy = policyOf(['acl/pat_ef_m', 'acl/m_t'], {
    pat_ef: { letters: 's', elements: ['name'] },
    m_t: { type: 'Media', letters: 'rs', elements: ['status'] },
  });
  assert.deepEqual(allowed(policy), ['Media.r', 'Media.s', 'Patient.s']);
});

test('a row limited to elements creates and updates these elements', () => {
  const policy = policyOf(['acl/obsv_ef_r', 'acl/obsv_ef_c', 'acl/obsv_ef_u'], { obsv_ef: { elements: ['code'] } });
  assert.deepEqual(allowed(policy), ['Observation.r', 'Observation.c', 'Observation.u']);
  const code = new Set(['Observation.code']);
  assert.deepEqual(
    letters.flatMap((letter) => policy.grants('Observation', letter).map(({ elements }) => elements)),
    [code, code, code],
  );
});

test('what is stored is read as rows; what is none of the form closes the entries of its code', () => {
  assert.deepEqual(
    readOperatorRows({ obsv_ef: { criteria: [exam], elements: ['code'] } }),
    new Map([['obsv_ef', { criteria: [exam], elements: ['code'] }]]),
  );
  for (const stored of [undefined, null, 'obsv_ef', [exam]]) assert.deepEqual(readOperatorRows(stored), new Map());
  for (const row of [
    null,
    'code',
    { elements: 'code' },
    { criteria: [{ parameter: 'category' }] },
    { letters: 1, elements: ['code'] },
  ]) {
    const rows = readOperatorRows({ enc: row });
    assert.deepEqual(allowed(compilePolicy(['acl/enc_r', 'acl/pat_r'], ['acl/*'], { operatorRows: rows })), [
      'Patient.r',
    ]);
  }
});

test('a row narrows what a code means already: criteria add up, elements intersect', () => {
  const policy = policyOf(['acl/tsk_pmrecall_s', 'acl/pat_s_name_dob_gen'], {
    tsk_pmrecall: { criteria: [{ parameter: 'status', values: ['ready'] }] },
    pat: { elements: ['name', 'telecom'] },
  });
  assert.deepEqual(policy.grants('Task', 's')[0]?.criteria, [
    { parameter: 'code', values: ['PMRECALL'] },
    { parameter: 'status', values: ['ready'] },
  ]);
  assert.deepEqual(policy.grants('Patient', 's')[0]?.elements, new Set(['Patient.name']));
});

test('orders of two types: a row with both categories, where two filters would intersect', () => {
  const policy = policyOf(['acl/serv_req_s'], {
    serv_req: { criteria: [{ parameter: 'category', values: ['PATHOLOGY', 'RADIOLOGY'] }] },
  });
  assert.deepEqual(policy.grants('ServiceRequest', 's')[0]?.criteria, [
    { parameter: 'category', values: ['PATHOLOGY', 'RADIOLOGY'] },
  ]);
});

test('grants on different rows stay apart, and rows of both have the elements of both', () => {
  const policy = policyOf(['acl/tsk_s', 'acl/tsk_pmrecall_s'], { tsk: { elements: ['status'] } });
  const recall = { parameter: 'code', values: ['PMRECALL'] };
  assert.deepEqual(policy.grants('Task', 's'), [
    { elements: 'all', criteria: [recall], entries: ['acl/tsk_pmrecall_s', 'acl/tsk_s'] },
    { elements: new Set(['Task.status']), criteria: [], entries: ['acl/tsk_s'] },
  ]);
});

test('another row, another fingerprint', () => {
  const one = policyOf(['acl/obsv_ef_r'], { obsv_ef: { criteria: [exam] } });
  const other = policyOf(['acl/obsv_ef_r'], {
    obsv_ef: { criteria: [{ parameter: 'category', values: ['vital-signs'] }] },
  });
  assert.notEqual(one.fingerprint, other.fingerprint);
});
