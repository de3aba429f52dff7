/**
 * Value sets of a firm: composition (https://hl7.org/fhir/R4/valueset.html#compositions), filters
 * (https://hl7.org/fhir/R4/valueset-filter-operator.html), hierarchy, limits.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '@praxis/fhir';
import { PraxisError } from '../../src/base/errors.ts';
import { openTerminology, type Terminology } from '../../src/terminology/terminology.ts';
import { openRequestBudget } from '../support/request-budget.ts';

const system = 'http://example.com/colours';

const colours: JsonObject = {
  resourceType: 'CodeSystem',
  url: system,
  version: '2',
  content: 'complete',
  caseSensitive: true,
  concept: [
    {
      code: 'warm',
      display: 'Warm colours',
      property: [{ code: 'notSelectable', valueBoolean: true }],
      concept: [
        { code: 'red', display: 'Red', concept: [{ code: 'ruby', display: 'Ruby red' }] },
        { code: 'orange', display: 'Orange', property: [{ code: 'wavelength', valueInteger: 600 }] },
      ],
    },
    { code: 'blue', display: 'Blue', property: [{ code: 'wavelength', valueInteger: 470 }] },
    {
      code: 'mauve',
      display: 'Mauve',
      property: [
        { code: 'status', valueCode: 'retired' },
        { code: 'parent', valueCode: 'blue' },
      ],
    },
  ],
};

function valueSet(name: string, include: JsonValue[], rest: JsonObject = {}): JsonObject {
  return { resourceType: 'ValueSet', url: urlOf(name), status: 'active', compose: { include, ...rest } };
}

function urlOf(name: string): string {
  return `http://example.com/vs/${name}`;
}

function terminologyOf(...resources: JsonObject[]): Terminology {
  const all = [colours, ...resources];
  return openTerminology(openRequestBudget(), async (kind, url, version) =>
    all.find(
      (each) =>
        each['resourceType'] === kind && each['url'] === url && (version === undefined || each['version'] === version),
    ),
  );
}

async function codes(terminology: Terminology, set: string | JsonObject): Promise<string> {
  const { codings } = await terminology.expand(set);
  return codings.map(({ code }) => code).join(' ');
}

function filtered(property: string, op: string, value: string): JsonObject {
  return valueSet('filtered', [{ system, filter: [{ property, op, value }] }]);
}

async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    return `no refusal: ${JSON.stringify(await work)}`;
  } catch (error) {
    if (!(error instanceof PraxisError)) throw error;
    return `${error.code} ${error.details.expression?.join() ?? '-'} ${error.details.diagnostics}`;
  }
}

test('filters choose by their operator', async () => {
  const expected: readonly (readonly [property: string, op: string, value: string, codes: string])[] = [
    ['concept', 'is-a', 'red', 'red ruby'],
    ['concept', 'is-a', 'blue', 'blue mauve'],
    ['concept', 'descendent-of', 'warm', 'red ruby orange'],
    ['concept', 'is-not-a', 'warm', 'blue mauve'],
    ['concept', 'generalizes', 'ruby', 'warm red ruby'],
    ['concept', 'in', 'red, blue', 'red blue'],
    ['concept', 'not-in', 'red,blue', 'warm ruby orange mauve'],
    ['code', 'regex', '[a-z]{4}', 'warm ruby blue'],
    ['display', 'regex', '(R|B).*', 'red ruby blue'],
    ['display', '=', 'Blue', 'blue'],
    ['parent', '=', 'warm', 'red orange'],
    ['wavelength', '=', '470', 'blue'],
    ['wavelength', 'exists', 'true', 'orange blue'],
    ['status', 'exists', 'false', 'warm red ruby orange blue'],
  ];
  const terminology = terminologyOf();
  for (const [property, op, value, found] of expected) {
    const set = filtered(property, op, value);
    assert.equal(await codes(terminology, set), found, `${property} ${op} ${value}`);
    for (const code of ['warm', 'red', 'ruby', 'orange', 'blue', 'mauve']) {
      const { is } = await terminology.contains(set, { system, code });
      assert.equal(
        is,
        found.split(' ').includes(code) ? 'member' : 'not-member',
        `${code}: ${property} ${op} ${value}`,
      );
    }
  }
});

test('a filter that cannot be evaluated is refused with its place', async () => {
  const expected: readonly (readonly [property: string, op: string, value: string, problem: RegExp])[] = [
    ['concept', 'like', 'red', /operator that is none of =, is-a/],
    ['concept', 'constructor', 'red', /operator that is none of/],
    ['weight', '=', '1', /a property that no code of/],
    ['concept', 'is-a', 'green', /a code that http:\/\/example.com\/colours does not hold/],
    ['code', 'regex', '(a', /whose regular expression is not understood: missing closing \)/],
    ['code', 'regex', '(?i)red', /a group \(\?…\) of another kind than \(\?:…\)/],
    ['code', 'regex', '\\Q(\\E', /has \\Q, which is not understood/],
    ['code', 'regex', 'a'.repeat(4_001), /has more than 4000 characters/],
    ['code', 'regex', 'a{1001}', /is not understood: invalid repeat count/],
    ['code', 'regex', 'a{2}{2}', /is not understood: invalid nested repetition operator/],
    ['status', 'exists', 'maybe', /neither true nor false/],
  ];
  for (const [property, op, value, problem] of expected) {
    const told = await refusal(terminologyOf().expand(filtered(property, op, value)));
    assert.match(told, /^value-set-invalid ValueSet\.compose\.include\[0\]\.filter\[0\] /);
    assert.match(told, problem);
  }
});

test('a regular expression that JavaScript would take years for is answered at once', async () => {
  const long = { ...colours, concept: [{ code: `${'a'.repeat(5000)}!` }] };
  const terminology = openTerminology(openRequestBudget(), async (kind) => (kind === 'CodeSystem' ? long : undefined));
  assert.equal(await codes(terminology, filtered('code', 'regex', '(a|a|aa)*')), '');
  assert.equal(await codes(terminology, filtered('code', 'regex', '((a+)+)+!')), `${'a'.repeat(5000)}!`);
});

test('what an include names is intersected, includes are united, excludes taken away', async () => {
  const warm = filtered('concept', 'is-a', 'warm');
  const terminology = terminologyOf({ ...warm, url: urlOf('warm') }, valueSet('all', [{ system }]));
  const both = valueSet('both', [
    { system, concept: [{ code: 'red', display: 'Rot' }, { code: 'blue' }], valueSet: [urlOf('warm')] },
    { system, concept: [{ code: 'mauve' }] },
  ]);
  assert.deepEqual(
    (await terminology.expand(both)).codings.map(({ code, display }) => [code, display]),
    [
      ['red', 'Rot'],
      ['mauve', 'Mauve'],
    ],
  );
  assert.equal((await terminology.contains(both, { system, code: 'blue' })).is, 'not-member');
  const cold = valueSet('cold', [{ valueSet: [urlOf('all')] }], { exclude: [{ valueSet: [urlOf('warm')] }] });
  assert.equal(await codes(terminology, cold), 'blue mauve');
  assert.equal((await terminology.contains(cold, { code: 'ruby' })).is, 'not-member');
  assert.equal((await terminology.contains(cold, { code: 'blue' })).is, 'member');
});

test('inactive codes are left out where the definition or the caller says so', async () => {
  const terminology = terminologyOf();
  const active = valueSet('active', [{ system }], { inactive: false });
  assert.equal(await codes(terminology, active), 'warm red ruby orange blue');
  assert.equal((await terminology.contains(active, { system, code: 'mauve' })).is, 'not-member');
  const { codings } = await terminology.expand(valueSet('any', [{ system }]), { activeOnly: true });
  assert.equal(codings.map(({ code }) => code).join(' '), 'warm red ruby orange blue');
});

test('value sets that import each other are refused', async () => {
  const terminology = terminologyOf(
    valueSet('a', [{ valueSet: [urlOf('b')] }]),
    valueSet('b', [{ system }, { valueSet: [urlOf('a')] }]),
  );
  const told =
    'value-set-invalid ValueSet.compose.include[1] The value set http://example.com/vs/b imports http://example.com/vs/a, which imports it: a cycle';
  assert.equal(await refusal(terminology.expand(urlOf('a'))), told);
  assert.equal(await refusal(terminology.contains(urlOf('a'), { system, code: 'green' })), told);
  const alone = terminologyOf(valueSet('self', [{ valueSet: [urlOf('self')] }]));
  assert.match(await refusal(alone.expand(urlOf('self'))), /a cycle$/);
});

test('what is unknown is named', async () => {
  const terminology = terminologyOf(valueSet('other', [{ system: 'http://example.com/other' }]));
  assert.equal(
    await refusal(terminology.expand(urlOf('none'))),
    'value-set-unknown - There is no value set http://example.com/vs/none here: neither in R4 nor among those you can see',
  );
  assert.equal(
    await refusal(terminology.expand(urlOf('other'))),
    'code-system-unknown ValueSet.compose.include[0] The value set http://example.com/vs/other takes codes from http://example.com/other, a code system that is not loaded here',
  );
  assert.deepEqual(await terminology.contains(urlOf('other'), { system: 'http://example.com/other', code: 'x' }), {
    is: 'undecided',
    system: 'http://example.com/other',
  });
  assert.match(await refusal(terminology.expand(`${urlOf('other')}|9`)), /^value-set-unknown/);
  assert.match(await refusal(terminology.descendants('http://example.com/other', 'x')), /^code-system-unknown/);
  assert.match(await refusal(terminology.descendants(system, 'x')), /^code-unknown/);
});

test('a value set that lists more codes than the limit is refused, yet asked about', async () => {
  const concept = Array.from({ length: 20_001 }, (_, index) => ({ code: `c${index}` }));
  const huge = { ...colours, concept };
  const terminology = openTerminology(openRequestBudget(), async (kind) => (kind === 'CodeSystem' ? huge : undefined));
  const set = valueSet('huge', [{ system }]);
  assert.match(await refusal(terminology.expand(set)), /^expansion-too-costly .*more than 20000 codes/);
  assert.equal((await terminology.contains(set, { system, code: 'c20000' })).is, 'member');
});

test('above and below follow the hierarchy, also over further parents', async () => {
  const terminology = terminologyOf();
  assert.deepEqual(await terminology.descendants(system, 'warm'), ['warm', 'red', 'orange', 'ruby']);
  assert.deepEqual(await terminology.ancestors(system, 'ruby'), ['ruby', 'red', 'warm']);
  assert.deepEqual(await terminology.ancestors(system, 'mauve'), ['mauve', 'blue']);
  const nullFlavor = 'http://terminology.hl7.org/CodeSystem/v3-NullFlavor';
  assert.deepEqual(await terminology.ancestors(nullFlavor, 'NAV'), ['NAV', 'ASKU', 'NAVU', 'UNK', 'NI']);
});

test('nesting that is not is-a says nothing about subsumption', async () => {
  const parts = { ...colours, hierarchyMeaning: 'part-of' };
  const terminology = openTerminology(openRequestBudget(), async (kind) => (kind === 'CodeSystem' ? parts : undefined));
  assert.deepEqual(await terminology.descendants(system, 'warm'), ['warm']);
});

test("R4's own definitions cannot be replaced, and its examples of systems can be completed", async () => {
  const gender = 'http://hl7.org/fhir/administrative-gender';
  const serviceType = 'http://terminology.hl7.org/CodeSystem/service-type';
  const own = (url: string) => ({ ...colours, url });
  const terminology = terminologyOf(own(gender), own(serviceType), {
    ...valueSet('x', [{ system }]),
    url: 'http://hl7.org/fhir/ValueSet/administrative-gender',
  });
  assert.equal(
    await codes(terminology, 'http://hl7.org/fhir/ValueSet/administrative-gender'),
    'male female other unknown',
  );
  assert.equal(await terminology.display(gender, 'red'), undefined);
  assert.equal(await terminology.display(serviceType, 'red'), 'Red');
});

test('a value set without definition stands for what its expansion lists', async () => {
  const contains = [{ system, code: 'x', contains: [{ system, code: 'y', display: 'Why' }] }];
  const set = { resourceType: 'ValueSet', url: urlOf('listed'), expansion: { timestamp: '2020', contains } };
  assert.equal(await codes(terminologyOf(), set), 'x y');
  const empty = { resourceType: 'ValueSet', url: urlOf('empty') };
  assert.match(await refusal(terminologyOf().expand(empty)), /^value-set-invalid ValueSet.compose .*has no definition/);
});

test('definitions that are small to write and endless to evaluate are refused', async () => {
  const parts = Array.from({ length: 500 }, () => ({
    system: 'http://dicom.nema.org/resources/ontology/DCM',
    filter: [{ property: 'display', op: 'regex', value: '(([a-z]|[a-z ])*){30}!' }],
  }));
  assert.match(
    await refusal(openTerminology(openRequestBudget()).expand(valueSet('costly', parts))),
    /^too-costly - The evaluation of the value set http:\/\/example.com\/vs\/costly costs more than one request may/,
  );
  const many = Array.from({ length: 501 }, () => ({ system }));
  assert.match(await refusal(terminologyOf().expand(valueSet('many', many))), /^value-set-invalid .*more than 500/);
});
