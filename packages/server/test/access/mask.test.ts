/** The field mask: what is not readable does not leave, and nothing tells that it is there. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { boxStored, getStoredText, unwrapDisclosed } from '../../src/access/disclosure.ts';
import { coversRow, disclose, type ElementFilter } from '../../src/access/mask.ts';
import { type AccessPolicy, type Criterion, canReadAll, compilePolicy } from '../../src/access/policy.ts';
import { PraxisError } from '../../src/base/errors.ts';
import { examplesOf } from './official-examples.ts';

const never = (criterion: Criterion): never => assert.fail(`asked for ${criterion.parameter}`);
const subsetted = { system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue', code: 'SUBSETTED' };

function policyOf(...entries: string[]): AccessPolicy {
  return compilePolicy(entries, ['acl/*']);
}

function disclosed(
  policy: AccessPolicy,
  letter: 'r' | 's' | 'c' | 'u',
  text: string,
  filter?: ElementFilter,
): string | undefined {
  const type: unknown = JSON.parse(text).resourceType;
  assert.ok(typeof type === 'string');
  const box = disclose(policy, letter, type, boxStored(text), never, filter);
  return box && unwrapDisclosed(box);
}

const patient = JSON.stringify({
  resourceType: 'Patient',
  id: 'p1',
  meta: {
    versionId: '3',
    lastUpdated: '2026-01-02T03:04:05.000Z',
    extension: [{ url: 'http://example.org/secret', valueString: 'hidden' }],
    _versionId: { id: 'hidden' },
    tag: [{ code: 'x' }],
  },
  implicitRules: 'http://example.org/hidden',
  language: 'en',
  text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">hidden</div>' },
  contained: [{ resourceType: 'Organization', id: 'o', name: 'hidden' }],
  extension: [{ url: 'http://example.org/e', valueDecimal: 1 }],
  modifierExtension: [{ url: 'http://example.org/hidden', valueBoolean: true }],
  identifier: [{ system: 'urn:x', value: 'A-1' }],
  _active: { id: 'hidden' },
  name: [{ family: 'Smith "}] \\ \u{1f600}', given: ['Ann', null], _given: [null, { id: 'g' }] }],
  telecom: [{ system: 'phone', value: 'hidden' }],
  gender: 'female',
  _gender: { extension: [{ url: 'http://example.org/g', valueString: 'shown with gender' }] },
  birthDate: '1970-01-01',
  _birthDate: {
    extension: [
      { url: 'http://hl7.org/fhir/StructureDefinition/patient-birthTime', valueDateTime: '1970-01-01T01:02:03Z' },
    ],
  },
  deceasedBoolean: false,
});

for (const entries of [[], ['acl/pat_s'], ['acl/pat_c'], ['acl/enc_r'], ['acl/pat_ef_m'], ['acl/pat_s_id']]) {
  test(`reading a Patient with ${entries.join(' ') || 'no entry'}: nothing`, () => {
    assert.equal(disclosed(policyOf(...entries), 'r', patient), undefined);
  });
}

test('a row outside the criteria: nothing', () => {
  const policy = policyOf('acl/tsk_pmrecall_r');
  const asked: Criterion[] = [];
  const answer =
    (value: boolean) =>
    (criterion: Criterion): boolean => {
      asked.push(criterion);
      return value;
    };
  const task = boxStored('{"resourceType":"Task","id":"1","status":"ready","intent":"unknown"}');
  assert.equal(disclose(policy, 'r', 'Task', task, answer(false)), undefined);
  assert.equal(coversRow(policy, 'r', 'Task', answer(false)), false);
  assert.equal(disclose(policy, 'r', 'Task', task, answer(true)), getStoredText(task));
  assert.equal(coversRow(policy, 'r', 'Task', answer(true)), true);
  assert.equal(coversRow(policy, 's', 'Task', answer(true)), false);
  assert.deepEqual(new Set(asked), new Set([{ parameter: 'code', values: ['PMRECALL'] }]));
});

test('content of another type than asked for is never disclosed', () => {
  const refused = (error: unknown): boolean => error instanceof PraxisError && error.code === 'internal';
  for (const entry of ['acl/pat_s', 'acl/pat_s_id']) {
    assert.throws(
      () => disclose(policyOf(entry), 's', 'Patient', boxStored('{"resourceType":"PatientX","id":"1"}'), never),
      refused,
    );
    assert.throws(
      () =>
        disclose(
          policyOf(entry),
          's',
          'Patient',
          boxStored('{"id":"1","contained":[{"resourceType":"Patient"}]}'),
          never,
        ),
      refused,
    );
  }
});

test('stored text that is broken is an error, never a guess', () => {
  const broken = [
    '',
    '[]',
    '{"resourceType":"Patient"',
    '{"resourceType":"Patient","id"}',
    '{"resourceType":"Patient","id":"1","name":[{]}',
    '{"resourceType":"Patient","name":"abc}',
    '{"resourceType":"Patient","name":[{"family":"abc}]}',
    '{"resourceType":"Patient" "id":"1"}',
    '{"resourceType":"Patient";"id":"1"}',
    '{"resourceType":"Patient","id":}',
  ];
  for (const text of broken) {
    assert.throws(
      () => disclose(policyOf('acl/pat_s_id'), 's', 'Patient', boxStored(text), never),
      (error) => error instanceof PraxisError && error.code === 'internal',
      text,
    );
  }
});

test('pat_s_name_dob_gen shows name, birth date and gender with their siblings, id and plain meta, and is tagged', () => {
  const text = disclosed(policyOf('acl/pat_s_name_dob_gen'), 's', patient);
  assert.deepEqual(JSON.parse(text ?? ''), {
    resourceType: 'Patient',
    id: 'p1',
    meta: { versionId: '3', lastUpdated: '2026-01-02T03:04:05.000Z', tag: [{ code: 'x' }, subsetted] },
    name: [{ family: 'Smith "}] \\ \u{1f600}', given: ['Ann', null], _given: [null, { id: 'g' }] }],
    gender: 'female',
    _gender: { extension: [{ url: 'http://example.org/g', valueString: 'shown with gender' }] },
    birthDate: '1970-01-01',
    _birthDate: {
      extension: [
        { url: 'http://hl7.org/fhir/StructureDefinition/patient-birthTime', valueDateTime: '1970-01-01T01:02:03Z' },
      ],
    },
  });
  assert.doesNotMatch(text ?? '', /hidden/);
});

test('of meta all stays but extensions', () => {
  const meta = {
    versionId: '1',
    lastUpdated: '2026-01-02T03:04:05.000Z',
    source: 'urn:x',
    profile: ['http://example.org/p'],
    security: [{ code: 'R' }],
  };
  const text = JSON.stringify({ resourceType: 'Patient', id: 'p', meta: { ...meta, _source: { id: 'hidden' } } });
  assert.deepEqual(JSON.parse(disclosed(policyOf('acl/pat_s_gen'), 's', text) ?? '').meta, {
    ...meta,
    tag: [subsetted],
  });
});

test('a row under two grants shows the elements of both, under one of them its own', () => {
  const operatorRows = new Map([
    ['obsv_ef', { criteria: [{ parameter: 'category', values: ['exam'] }], elements: ['status'] }],
    ['pmc_ocu_ef', { type: 'Observation', criteria: [{ parameter: 'code', values: ['a'] }], elements: ['code'] }],
  ]);
  const policy = compilePolicy(['acl/obsv_ef_r', 'acl/pmc_ocu_ef_r'], ['acl/*'], { operatorRows });
  const row = boxStored(
    '{"resourceType":"Observation","id":"1","status":"final","code":{"text":"a"},"issued":"hidden"}',
  );
  const meta = { tag: [subsetted] };
  const shownUnder = (...parameters: string[]): unknown => {
    const box = disclose(policy, 'r', 'Observation', row, ({ parameter }) => parameters.includes(parameter));
    return box && JSON.parse(unwrapDisclosed(box));
  };
  assert.equal(shownUnder(), undefined);
  assert.deepEqual(shownUnder('category'), { resourceType: 'Observation', id: '1', status: 'final', meta });
  assert.deepEqual(shownUnder('code'), { resourceType: 'Observation', id: '1', code: { text: 'a' }, meta });
  assert.deepEqual(shownUnder('category', 'code'), {
    resourceType: 'Observation',
    id: '1',
    status: 'final',
    code: { text: 'a' },
    meta,
  });
});

test('nothing tells whether hidden elements exist: with and without them the text is the same', () => {
  const bare = '{"resourceType":"Patient","id":"p2","meta":{"versionId":"1"},"gender":"male"}';
  const full =
    '{"resourceType":"Patient","id":"p2","meta":{"versionId":"1","extension":[{"url":"u"}]},"text":{"status":"empty"},"active":true,"gender":"male","deceasedBoolean":false,"contact":[]}';
  const policy = policyOf('acl/pat_s_gen');
  assert.equal(disclosed(policy, 's', full), disclosed(policy, 's', bare));
  assert.equal(
    disclosed(policy, 's', bare),
    `{"resourceType":"Patient","id":"p2","meta":{"versionId":"1","tag":[${JSON.stringify(subsetted)}]},"gender":"male"}`,
  );
});

test('the tag is set once, also without meta, and a tag of another system is not taken for it', () => {
  const policy = policyOf('acl/pat_s_gen');
  const tagOf = (meta: string): unknown =>
    JSON.parse(disclosed(policy, 's', `{"resourceType":"Patient","id":"1"${meta}}`) ?? '').meta;
  assert.deepEqual(tagOf(''), { tag: [subsetted] });
  assert.deepEqual(tagOf(',"meta":{}'), { tag: [subsetted] });
  assert.deepEqual(tagOf(',"meta":{"tag":[]}'), { tag: [subsetted] });
  assert.deepEqual(tagOf(`,"meta":{"tag":[${JSON.stringify(subsetted)}]}`), { tag: [subsetted] });
  assert.deepEqual(tagOf(',"meta":{"tag":[{"code":"SUBSETTED"}]}'), { tag: [{ code: 'SUBSETTED' }, subsetted] });
});

test('a name written with escapes is read as what it means', () => {
  const text = '{"resourceType":"Patient","id":"1","g\\u0065nder":"male","te\\u0078t":{"div":"hidden"}}';
  assert.deepEqual(JSON.parse(disclosed(policyOf('acl/pat_s_gen'), 's', text) ?? ''), {
    resourceType: 'Patient',
    id: '1',
    gender: 'male',
    meta: { tag: [subsetted] },
  });
});

test('text with white space between its parts is read, too', () => {
  const text = JSON.stringify(JSON.parse(patient), null, 2);
  const compact = disclosed(policyOf('acl/pat_s_name_dob_gen'), 's', patient) ?? '';
  assert.deepEqual(JSON.parse(disclosed(policyOf('acl/pat_s_name_dob_gen'), 's', text) ?? ''), JSON.parse(compact));
});

test('masked Patient examples hold the readable elements as they are, and no others', () => {
  const policy = policyOf('acl/pat_s_id', 'acl/pat_s_name_dob_gen');
  const readable = new Set([
    'resourceType',
    'id',
    'meta',
    'identifier',
    'name',
    'birthDate',
    '_birthDate',
    'gender',
    '_gender',
    '_identifier',
    '_name',
  ]);
  const examples = examplesOf('Patient');
  assert.ok(examples.length >= 20);
  for (const { file, text } of examples) {
    const { meta, ...shown } = JSON.parse(disclosed(policy, 's', text) ?? '');
    const { meta: _meta, ...expected } = Object.fromEntries(
      Object.entries(JSON.parse(text)).filter(([key]) => readable.has(key)),
    );
    assert.deepEqual(shown, expected, file);
    assert.deepEqual(meta.tag.at(-1), subsetted, file);
  }
});

test('a full grant passes the stored text as it is, contained resources included', () => {
  const text =
    '{ "resourceType" : "Observation", "id": "1", "contained":[{"resourceType":"Patient"}], "valueQuantity": {"value": 1.00} }';
  assert.equal(disclosed(policyOf('acl/*'), 'r', text), text);
  assert.equal(disclosed(policyOf('acl/pat_r'), 'r', patient), patient);
});

test('the answer to a create shows what was sent, also without the right to read', () => {
  assert.equal(disclosed(policyOf('acl/pat_c'), 'c', patient), patient);
});

test('a PUT needs every element of all rows it may update to be readable', () => {
  const table: readonly (readonly [string[], string, boolean])[] = [
    [['acl/pat_u'], 'Patient', false],
    [['acl/pat_u', 'acl/pat_s_name_dob_gen'], 'Patient', false],
    [['acl/pat_u', 'acl/pat_s_id', 'acl/pat_s_name_dob_gen'], 'Patient', false],
    [['acl/pat_r', 'acl/pat_s'], 'Patient', false],
    [['acl/pat_u', 'acl/enc_r'], 'Patient', false],
    [['acl/pat_u', 'acl/pat_r'], 'Patient', true],
    [['acl/pat_u', 'acl/pat_s'], 'Patient', true],
    [['acl/serv_req_u', 'acl/serv_req_r', 'acl/lab_type_path'], 'ServiceRequest', true],
    [['acl/*'], 'Account', true],
  ];
  for (const [entries, type, expected] of table)
    assert.equal(canReadAll(policyOf(...entries), type), expected, entries.join(' '));
});

test('a PUT on rows that only some of can be read in full is refused', () => {
  const operatorRows = new Map([['obsv_ef', { criteria: [{ parameter: 'category', values: ['exam'] }] }]]);
  const policy = compilePolicy(['acl/obsv_ef_r', 'acl/obsv_ef_u'], ['acl/*'], { operatorRows });
  assert.equal(canReadAll(policy, 'Observation'), true);
  assert.equal(canReadAll(compilePolicy(['acl/obsv_ef_u'], ['acl/*'], { operatorRows }), 'Observation'), false);
});
