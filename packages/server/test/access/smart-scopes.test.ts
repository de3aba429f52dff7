/** SMART v2 scopes of systems as access entries: refusals first, then what they grant, then what holds for all of them. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { getSearchParameters, resourceTypesWithEndpoint } from '@praxis/fhir';
import fc from 'fast-check';
import { parseEntry, parseScope } from '../../src/access/grammar.ts';
import { type AccessPolicy, compilePolicy, type Permission } from '../../src/access/policy.ts';
import type { RefusalRule } from '../../src/access/refusal.ts';
import { knownEntries } from '../../src/access/registry.ts';
import { formatRowQuery } from '../../src/access/row-query.ts';
import { findFirstNotHeld, selectEntries } from '../../src/access/select-entries.ts';
import { type SmartScope, splitScope } from '../../src/access/smart-scopes.ts';
import { listCriterionProblems } from '../../src/access/verify-entries.ts';
import { requireTokenParameter } from '../../src/search/index/match.ts';

fc.configureGlobal({ seed: 20261121 });

const letters: readonly Permission[] = ['r', 's', 'c', 'u'];

function allowed(policy: AccessPolicy): string[] {
  return resourceTypesWithEndpoint.flatMap((type) =>
    letters.filter((letter) => policy.allows(type, letter)).map((letter) => `${type}.${letter}`),
  );
}

const person = 'it is about a person who logs in; no person does here';
const shape = 'after the type come a dot and some of the letters cruds, in this order';
const type = 'after system/ comes a resource type of R4 that has an endpoint, or *';
const tooLong = `system/Patient.rs?gender=${'a'.repeat(376)}`;

const refusals: readonly (readonly [text: string, rule: RefusalRule, problem: string])[] = [
  [
    'patient/Patient.rs',
    'context',
    'patient/ is about the patient of a launch; applications act for a practice here: use system/',
  ],
  [
    'user/*.cruds',
    'context',
    'user/ is about what a person who logged in may do; applications act for a practice here: use system/',
  ],
  ['launch', 'context', person],
  ['launch/patient', 'context', person],
  ['openid', 'context', person],
  ['fhirUser', 'context', person],
  ['offline_access', 'context', person],
  ['system/', 'type', type],
  ['system/Patience.rs', 'type', type],
  ['system/patient.rs', 'type', type],
  ['system/Parameters.rs', 'type', type],
  ['system/DomainResource.rs', 'type', type],
  ['system/**.rs', 'type', type],
  ['system/constructor.r', 'type', type],
  ['system/Patient', 'letter', shape],
  ['system/Patient.', 'letter', shape],
  ['system/Patient.sr', 'letter', shape],
  ['system/Patient.rr', 'letter', shape],
  ['system/Patient.RS', 'letter', shape],
  ['system/Patient.rx', 'letter', shape],
  ['system/Patient.rs/', 'letter', shape],
  [
    'system/Patient.read',
    'letter',
    '.read is of SMART v1; v2 writes letters: .rs reads and searches, .cu creates and updates',
  ],
  ['system/*.*', 'letter', '.* is of SMART v1; v2 writes letters: .rs reads and searches, .cu creates and updates'],
  ['system/Patient.cruds', 'letter', 'd is not offered: deleting needs acl/*, which operators hold'],
  ['system/*.d', 'letter', 'd is not offered: deleting needs acl/*, which operators hold'],
  ['system/Patient.rs?', 'query', 'a query consists of name=value, parted by &'],
  ['system/Patient.rs?gender', 'query', 'a query consists of name=value, parted by &'],
  ['system/Patient.rs?=female', 'query', 'a query consists of name=value, parted by &'],
  ['system/Patient.rs?gender=female&', 'query', 'a query consists of name=value, parted by &'],
  ['system/Patient.rs?gender=', 'query', 'gender needs values such as code or system|code'],
  ['system/Patient.rs?gender=female,', 'query', 'gender needs values such as code or system|code'],
  ['system/Patient.rs?gender=%2', 'query', 'gender has a broken percent-encoding'],
  ['system/Patient.rs?gender=a%2Cb', 'query', 'gender needs values such as code or system|code'],
  ['system/Patient.rs?sex=female', 'query', 'Patient has no search parameter sex'],
  ['system/Patient.rs?birthdate=1970', 'query', 'birthdate is a date parameter; row criteria are tokens'],
  ['system/Patient.rs?name=Ann', 'query', 'name is a string parameter; row criteria are tokens'],
  ['system/Patient.rs?_id=one', 'query', '_id does not limit rows: use another parameter'],
  [
    'system/Patient.rs?gender:not=male',
    'query',
    'gender:not has a modifier or a chain, which limits on rows do not take',
  ],
  [
    'system/Encounter.rs?patient.gender=male',
    'query',
    'patient.gender has a modifier or a chain, which limits on rows do not take',
  ],
  ['system/*.rs?gender=female', 'query', 'Account has no search parameter gender'],
  [tooLong, 'too-long', 'a SMART scope has 400 characters at most'],
];

for (const [text, rule, problem] of refusals) {
  test(`${text.slice(0, 60)} is refused, and grants nothing on either side`, () => {
    const shown = JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
    const diagnostics = `${shown} is not an access entry: ${problem}`;
    assert.deepEqual(parseEntry(text), { kind: 'refused', text, rule, diagnostics });
    assert.deepEqual(allowed(compilePolicy([text], ['acl/*'])), []);
    assert.deepEqual(allowed(compilePolicy(['acl/*'], [text])), []);
    assert.deepEqual(selectEntries([text], ['acl/*']), { diagnostics: diagnostics.replaceAll('"', '') });
  });
}

test('a scope that is not understood takes nothing away from the others', () => {
  const policy = compilePolicy(['system/Patient.rs?sex=female', 'acl/serv_req_r', 'system/Encounter.r'], ['acl/*']);
  assert.deepEqual(allowed(policy), ['Encounter.r', 'ServiceRequest.r']);
});

test('letters, a query of alternatives and of what must hold together', () => {
  const policy = compilePolicy(['system/Patient.crus?gender=female,other&active=true'], ['acl/*']);
  assert.deepEqual(allowed(policy), ['Patient.r', 'Patient.s', 'Patient.c', 'Patient.u']);
  for (const letter of letters) {
    assert.deepEqual(policy.grants('Patient', letter), [
      {
        elements: 'all',
        criteria: [
          { parameter: 'active', values: ['true'] },
          { parameter: 'gender', values: ['female', 'other'] },
        ],
        entries: [`system/Patient.${letter}?gender=female,other&active=true`],
      },
    ]);
  }
});

test('the example of the specification, its colons and slashes as they stand', () => {
  const laboratory = 'http://terminology.hl7.org/CodeSystem/observation-category|laboratory';
  const policy = compilePolicy([`system/Observation.rs?category=${laboratory}`], ['acl/*']);
  assert.deepEqual(policy.grants('Observation', 's')[0]?.criteria, [{ parameter: 'category', values: [laboratory] }]);
});

test('every type by *, without what only operators may', () => {
  const policy = compilePolicy(['system/*.crus'], ['acl/*']);
  assert.equal(allowed(policy).length, resourceTypesWithEndpoint.length * 4);
  const { unrestricted, mayDelete, mayUpdateAsCreate, mayTypeHistory, mayRequestUploadUrl, bundles } = policy;
  assert.deepEqual(
    { unrestricted, mayDelete, mayUpdateAsCreate, mayTypeHistory, mayRequestUploadUrl, bundles },
    {
      unrestricted: false,
      mayDelete: false,
      mayUpdateAsCreate: false,
      mayTypeHistory: false,
      mayRequestUploadUrl: false,
      bundles: new Set(),
    },
  );
});

test('order-type filters narrow scopes too, and one that is unknown closes what filters narrow', () => {
  const pathology = [{ parameter: 'category', values: ['PATHOLOGY'] }];
  assert.deepEqual(
    compilePolicy(['system/*.r', 'acl/lab_type_path'], ['acl/*']).grants('ServiceRequest', 'r')[0]?.criteria,
    pathology,
  );
  assert.deepEqual(
    allowed(compilePolicy(['system/ServiceRequest.r', 'system/Task.r', 'acl/lab_type_new'], ['acl/*'])),
    ['Task.r'],
  );
});

const meetings: readonly (readonly [token: string, firm: string, entries: readonly string[]])[] = [
  ['system/Patient.rs', 'system/Patient.cr', ['system/Patient.r']],
  ['system/*.rs', 'acl/pat_s_name_dob_gen', ['acl/pat_s_name_dob_gen']],
  ['system/*.r', 'acl/pat_s_name_dob_gen', []],
  ['system/Patient.rs', 'acl/pat_r', ['acl/pat_r']],
  ['system/Patient.rs?gender=female', 'acl/pat_s', ['system/Patient.s?gender=female']],
  ['system/Patient.s?gender=female', 'system/Patient.s?gender=male', []],
  ['system/Task.s', 'acl/tsk_pmrecall_s', ['acl/tsk_pmrecall_s']],
  ['system/Task.s?code=PMRECALL', 'acl/tsk_pmrecall_s', ['acl/tsk_pmrecall_s']],
  ['system/*.rs', 'acl/bnry_c_url', []],
  ['system/*.crus', 'acl/trans_bndl_post', []],
];

for (const [token, firm, entries] of meetings) {
  test(`${token} meets ${firm} in ${entries.join(' ') || 'nothing'}, whoever holds which`, () => {
    assert.deepEqual(compilePolicy([token], [firm]).entries, entries);
    assert.deepEqual(compilePolicy([firm], [token]).entries, entries);
  });
}

const selections: readonly (readonly [
  asked: readonly string[],
  held: readonly string[],
  given: readonly string[] | string,
])[] = [
  [['system/Patient.rs'], ['acl/pat_r'], 'system/Patient.rs is not held by the application'],
  [['system/Patient.rs'], ['acl/pat_r', 'acl/pat_s_id'], 'system/Patient.rs is not held by the application'],
  [['system/Patient.rs'], ['system/Patient.rs?gender=male'], 'system/Patient.rs is not held by the application'],
  [['system/*.rs'], ['acl/pat_c'], 'system/*.rs is not held by the application'],
  [['acl/pat_u', 'system/*.r'], ['acl/pat_r'], 'acl/pat_u is not held by the application'],
  [['system/Patient.rs'], ['acl/pat_r', 'acl/pat_s'], ['acl/pat_r', 'acl/pat_s']],
  [['system/Patient.rs'], ['system/*.crus'], ['system/Patient.rs']],
  [['system/*.rs'], ['acl/*'], ['system/*.rs']],
  [['system/*.rs'], ['acl/enc_r', 'acl/pat_c', 'acl/pat_s_id'], ['acl/enc_r', 'acl/pat_s_id']],
  [['system/*.rs'], ['system/*.r', 'acl/lab_type_path'], ['acl/lab_type_path', 'system/*.r']],
  [['acl/pat_r'], ['system/*.rs'], ['acl/pat_r']],
];

for (const [asked, held, given] of selections) {
  test(`asked for ${asked.join(' ')}, holders of ${held.join(' ')} give ${given}`, () => {
    const selected = selectEntries(asked, held);
    assert.deepEqual(selected, typeof given === 'string' ? { diagnostics: given } : { entries: given });
  });
}

const holdings: readonly (readonly [asked: readonly string[], held: readonly string[], missing: string | undefined])[] =
  [
    [['acl/pat_s'], [], 'acl/pat_s'],
    [['acl/pat_s'], ['system/*.r'], 'acl/pat_s'],
    [['acl/pat_s'], ['acl/pat_s_name_dob_gen', 'acl/pat_s_id'], 'acl/pat_s'],
    [['acl/pat_s'], ['system/*.rs?_security=R'], 'acl/pat_s'],
    [['acl/*'], ['system/*.crus'], 'acl/*'],
    [['acl/obsv_ef_s'], ['system/*.rs'], 'acl/obsv_ef_s'],
    [['acl/trans_bndl_post'], ['system/*.crus'], 'acl/trans_bndl_post'],
    [['system/*.rs'], ['system/Patient.rs'], 'system/*.rs'],
    [['system/Patient.rs', 'system/Patient.cr'], ['system/Patient.rs'], 'system/Patient.cr'],
    [['no entry'], ['acl/*', 'no entry'], 'no entry'],
    [['acl/pat_s', 'acl/enc_r'], ['system/*.rs'], undefined],
    [['acl/pat_s_name_dob_gen', 'system/Patient.s?gender=male'], ['acl/pat_s'], undefined],
    [['system/Patient.rs'], ['acl/pat_r', 'acl/pat_s'], undefined],
    [['acl/obsv_ef_s', 'acl/mynwscp'], ['acl/mynwscp', 'acl/obsv_ef_s'], undefined],
    [['acl/*', 'system/*.crus', 'acl/mynwscp'], ['acl/*'], undefined],
    [['acl/lab_type_path', 'acl/pat_r'], ['acl/pat_r'], undefined],
  ];

for (const [asked, held, missing] of holdings) {
  test(`holders of ${held.join(' ') || 'nothing'} ${missing === undefined ? 'hold' : 'do not hold'} ${asked.join(' ')}`, () => {
    assert.equal(findFirstNotHeld(asked, held), missing);
  });
}

test('who authorises what is held opens nothing that was not', () => {
  const some = fc.uniqueArray(fc.constantFrom(...knownEntries, 'system/*.rs', 'system/Patient.crus'), { maxLength: 6 });
  fc.assert(
    fc.property(some, some, (asked, held) => {
      if (findFirstNotHeld(asked, held) !== undefined) return;
      const open = new Set(allowed(compilePolicy(held, held)));
      assert.deepEqual(
        allowed(compilePolicy(asked, asked)).filter((right) => !open.has(right)),
        [],
      );
    }),
    { numRuns: 300 },
  );
});

test('rows are limited by those token parameters that search can match, on every type', () => {
  let usable = 0;
  for (const each of resourceTypesWithEndpoint) {
    for (const code of getSearchParameters(each).keys()) {
      if (listCriterionProblems(each, { parameter: code, values: ['one'] }).length > 0) continue;
      assert.equal(requireTokenParameter(each, code).kind.table, 'token', `${each}.${code}`);
      usable += 1;
    }
  }
  assert.ok(usable > 900, String(usable));
});

const value = fc.stringMatching(/^([a-zA-Z0-9:/.é%&=+#"-]{1,12}\|)?[a-zA-Z0-9:/.é%&=+#"-]{1,12}$/);
const parameters = ['_tag', '_security'];
/** Objects like those of literals. */
const plain = { noNullPrototype: true } as const;
const criterion = fc.record(
  {
    parameter: fc.constantFrom('identifier', 'active', ...parameters),
    values: fc.array(value, { minLength: 1, maxLength: 3 }),
  },
  plain,
);
const scope = fc
  .record({
    type: fc.constantFrom('Patient', 'Organization', 'Practitioner'),
    letters: fc.subarray(['c', 'r', 'u', 's'] as const, { minLength: 1 }),
    criteria: fc.array(criterion, { maxLength: 2 }),
  })
  .map(({ criteria, ...rest }) => {
    const query = criteria.length === 0 ? '' : `?${formatRowQuery(criteria)}`;
    return { ...rest, criteria, text: `system/${rest.type}.${rest.letters.join('')}${query}` };
  })
  .filter(({ text }) => text.length <= 400);

test('what is written is read the same, and is a scope of RFC 6749', () => {
  fc.assert(
    fc.property(scope, ({ text, ...said }) => {
      assert.deepEqual(parseEntry(text), { kind: 'smart', text, ...said });
      assert.deepEqual(parseScope(text), [text]);
    }),
  );
});

test('letter by letter nothing is lost and nothing comes in', () => {
  fc.assert(
    fc.property(scope, ({ text }) => {
      const whole = compilePolicy([text], ['acl/*']);
      const parts = splitScope(parseEntry(text) as SmartScope).map((part) => part.text);
      assert.equal(compilePolicy(parts, ['acl/*']).fingerprint, whole.fingerprint);
    }),
  );
});

const entry = fc.oneof(
  fc.constantFrom(...knownEntries),
  scope.map(({ text }) => text),
  fc.constantFrom('system/*.rs', 'system/*.c', 'system/Patient.s', 'acl/*'),
);

test('the meet is the same from both sides, and no wider than either', () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 4 }), fc.array(entry, { maxLength: 4 }), (token, firm) => {
      const met = compilePolicy(token, firm);
      assert.equal(compilePolicy(firm, token).fingerprint, met.fingerprint);
      for (const side of [token, firm]) {
        const alone = new Set(allowed(compilePolicy(side, ['acl/*'])));
        assert.ok(allowed(met).every((right) => alone.has(right)));
      }
    }),
  );
});

test('what is selected is no wider than what is held', () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 3 }), fc.array(entry, { maxLength: 4 }), (asked, held) => {
      const selection = selectEntries(asked, held);
      if ('diagnostics' in selection) return;
      const whole = new Set(allowed(compilePolicy(held, ['acl/*'])));
      assert.ok(allowed(compilePolicy(selection.entries, ['acl/*'])).every((right) => whole.has(right)));
    }),
  );
});

test('any text whatever is read or refused', () => {
  const words = fc.constantFrom(
    'system/',
    'patient/',
    '*',
    '.',
    'Patient',
    'rs',
    'cruds',
    '?',
    'gender',
    '=',
    '%',
    '&',
    ',',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(words, fc.string({ maxLength: 4 })), { maxLength: 8 }), (parts) => {
      const text = parts.join('');
      const parsed = parseEntry(text);
      if (parsed.kind !== 'smart') return assert.ok(parsed.kind === 'refused' || text.startsWith('acl/'));
      assert.ok(parsed.letters.length > 0 && text.startsWith('system/'));
    }),
  );
});
