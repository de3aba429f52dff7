/** The grammar of access entries and of scopes: refusals first. */
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  type Entry,
  type EntryRefusal,
  listEntryRefusals,
  parseEntry,
  parseScope,
  scopeCharactersMax,
  scopeEntriesMax,
} from '../../src/access/grammar.ts';

const refusals: readonly (readonly [string, EntryRefusal['rule'], string])[] = [
  ['', 'prefix', '"" is not an access entry: an access entry begins with "acl/" or "system/"'],
  ['pat_r', 'prefix', '"pat_r" is not an access entry: an access entry begins with "acl/" or "system/"'],
  ['ACL/pat_r', 'prefix', '"ACL/pat_r" is not an access entry: an access entry begins with "acl/" or "system/"'],
  [
    'acl/',
    'code',
    '"acl/" is not an access entry: no access code begins like this; docs/integrate/access-entries.md lists them',
  ],
  [
    'acl/**',
    'code',
    '"acl/**" is not an access entry: no access code begins like this; docs/integrate/access-entries.md lists them',
  ],
  [
    'acl/patient_r',
    'code',
    '"acl/patient_r" is not an access entry: no access code begins like this; docs/integrate/access-entries.md lists them',
  ],
  [
    'acl/PAT_r',
    'code',
    '"acl/PAT_r" is not an access entry: no access code begins like this; docs/integrate/access-entries.md lists them',
  ],
  [
    'acl/constructor_r',
    'code',
    '"acl/constructor_r" is not an access entry: no access code begins like this; docs/integrate/access-entries.md lists them',
  ],
  ['acl/pat', 'letter', '"acl/pat" is not an access entry: pat takes r, s, c, u'],
  ['acl/pat_', 'letter', '"acl/pat_" is not an access entry: pat takes r, s, c, u'],
  ['acl/pat_R', 'letter', '"acl/pat_R" is not an access entry: pat takes r, s, c, u'],
  ['acl/pat_d', 'letter', '"acl/pat_d" is not an access entry: pat takes r, s, c, u'],
  ['acl/pat_rs', 'letter', '"acl/pat_rs" is not an access entry: pat takes r, s, c, u'],
  ['acl/enc_c', 'letter', '"acl/enc_c" is not an access entry: enc takes r, s'],
  ['acl/fmly_his_ef_r', 'letter', '"acl/fmly_his_ef_r" is not an access entry: fmly_his_ef takes c, u'],
  ['acl/org_pay_c', 'letter', '"acl/org_pay_c" is not an access entry: org_pay takes r, s'],
  ['acl/pat_ef_r', 'letter', '"acl/pat_ef_r" is not an access entry: pat_ef takes m'],
  ['acl/bnry_c', 'letter', '"acl/bnry_c" is not an access entry: bnry takes c, and only followed by url'],
  ['acl/pat_c_name', 'letter', '"acl/pat_c_name" is not an access entry: fields of pat follow r, s'],
  ['acl/pat_rs_name', 'letter', '"acl/pat_rs_name" is not an access entry: fields of pat follow r, s'],
  ['acl/pat__name', 'letter', '"acl/pat__name" is not an access entry: fields of pat follow r, s'],
  ['acl/bnry_s_url', 'letter', '"acl/bnry_s_url" is not an access entry: fields of bnry follow c'],
  ['acl/pat_s_phone', 'field', '"acl/pat_s_phone" is not an access entry: the fields of pat are id, name, dob, gen'],
  ['acl/pat_s_', 'field', '"acl/pat_s_" is not an access entry: the fields of pat are id, name, dob, gen'],
  [
    'acl/pat_s_constructor',
    'field',
    '"acl/pat_s_constructor" is not an access entry: the fields of pat are id, name, dob, gen',
  ],
  ['acl/pat_s_id_id', 'field', '"acl/pat_s_id_id" is not an access entry: a field is named twice'],
  ['acl/enc_s_id', 'field', '"acl/enc_s_id" is not an access entry: enc takes a letter and no fields'],
  [
    'acl/lab_type_pathology',
    'filter',
    '"acl/lab_type_pathology" is not an access entry: the order types are path, radio, surg, ther, clinic',
  ],
  [
    'acl/trans_bndl_',
    'bundle',
    '"acl/trans_bndl_" is not an access entry: the kinds of Bundle are post, diag_rprt_labs, diag_rprt_urin, diag_rprt_opto, algy_intol_other, med_stmt_other, appmt_remind',
  ],
  [
    `acl/${'a'.repeat(97)}`,
    'too-long',
    `"acl/${'a'.repeat(96)}…" is not an access entry: an access entry has 100 characters at most`,
  ],
  ['acl/pat_r\n', 'letter', '"acl/pat_r\\n" is not an access entry: pat takes r, s, c, u'],
];

for (const [text, rule, diagnostics] of refusals) {
  test(`${JSON.stringify(text)} is refused`, () => {
    assert.deepEqual(parseEntry(text), { kind: 'refused', text, rule, diagnostics });
  });
}

test('of several entries the refused ones are listed, for whoever is about to store them', () => {
  assert.deepEqual(
    listEntryRefusals(['acl/pat_r', 'acl/pat_x', 'acl/*', 'nothing']).map((entry) => entry.text),
    ['acl/pat_x', 'nothing'],
  );
});

/** An entry without its registry row. */
function shape(entry: Entry | EntryRefusal): object {
  const { row: _row, ...rest } = { row: undefined, ...entry };
  return rest;
}

const understood: readonly (readonly [string, object])[] = [
  ['acl/*', { kind: 'all' }],
  ['acl/appmt_c', { kind: 'crud', code: 'appmt', letter: 'c' }],
  ['acl/org_pay_s', { kind: 'crud', code: 'org_pay', subtype: 'pay', letter: 's' }],
  ['acl/org_s', { kind: 'crud', code: 'org', letter: 's' }],
  ['acl/tsk_pmrecall_r', { kind: 'crud', code: 'tsk_pmrecall', subtype: 'pmrecall', letter: 'r' }],
  ['acl/obsv_ef_s', { kind: 'crud', code: 'obsv_ef', subtype: 'ef', letter: 's' }],
  ['acl/pmc_ocu_ef_s', { kind: 'crud', code: 'pmc_ocu_ef', subtype: 'ocu_ef', letter: 's' }],
  ['acl/fmly_his_ef_c', { kind: 'crud', code: 'fmly_his_ef', subtype: 'ef', letter: 'c' }],
  ['acl/fmly_his_c', { kind: 'crud', code: 'fmly_his', letter: 'c' }],
  ['acl/prac_role_r', { kind: 'crud', code: 'prac_role', letter: 'r' }],
  ['acl/pat_ef_m', { kind: 'crud', code: 'pat_ef', subtype: 'ef', letter: 'm' }],
  ['acl/pat_s_id', { kind: 'restricted', code: 'pat', letter: 's', fields: ['id'] }],
  ['acl/pat_s_name_dob_gen', { kind: 'restricted', code: 'pat', letter: 's', fields: ['name', 'dob', 'gen'] }],
  ['acl/pat_r_dob', { kind: 'restricted', code: 'pat', letter: 'r', fields: ['dob'] }],
  ['acl/bnry_c_url', { kind: 'restricted', code: 'bnry', letter: 'c', fields: ['url'] }],
  ['acl/trans_bndl_diag_rprt_labs', { kind: 'bundle' }],
  ['acl/lab_type_radio', { kind: 'filter' }],
  ['acl/t_s', { kind: 'opaque' }],
];

for (const [text, expected] of understood) {
  test(`${text} is understood`, () => {
    assert.deepEqual(shape(parseEntry(text)), { text, ...expected });
  });
}

const badScopes: readonly (readonly [string, string, string])[] = [
  ['a leading space', ' acl/pat_r', 'scope is a list of entries separated by single spaces (RFC 6749, section 3.3)'],
  [
    'two spaces',
    'acl/pat_r  acl/pat_s',
    'scope is a list of entries separated by single spaces (RFC 6749, section 3.3)',
  ],
  [
    'a line end',
    'acl/pat_r\nacl/pat_s',
    'scope is a list of entries separated by single spaces (RFC 6749, section 3.3)',
  ],
  ['a quotation mark', 'acl/"pat_r"', 'scope is a list of entries separated by single spaces (RFC 6749, section 3.3)'],
  [
    'letters beyond ASCII',
    'acl/pät_r',
    'scope is a list of entries separated by single spaces (RFC 6749, section 3.3)',
  ],
  ['too many characters', 'a'.repeat(scopeCharactersMax + 1), 'scope has 20000 characters at most'],
  [
    'too many entries',
    Array.from({ length: scopeEntriesMax + 1 }, () => 'a').join(' '),
    'scope has 500 entries at most',
  ],
];

for (const [what, scope, diagnostics] of badScopes) {
  test(`a scope with ${what} is refused`, () => {
    assert.deepEqual(parseScope(scope), { diagnostics });
  });
}

test('a scope is its entries, each once, in order', () => {
  assert.deepEqual(parseScope(''), []);
  assert.deepEqual(parseScope('acl/pat_s acl/enc_s acl/pat_s'), ['acl/pat_s', 'acl/enc_s']);
});
