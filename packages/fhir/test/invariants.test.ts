// R4's invariants as writes check them. The verdicts of the library `fhirpath` on the same: packages/server/test/validation.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  checkInvariants,
  checkInvariantsInSlices,
  errata,
  invariantPaths,
  type JsonObject,
  listInvariantsAt,
  openBudget,
  parseJson,
  sliceMs,
} from '../src/index.ts';
import { compileInvariant } from '../src/invariants/compile.ts';
import { isJsonObject } from '../src/json.ts';
import { examples } from './examples.ts';
import { brokenByHand } from './invariants-broken.ts';
import { enoughSteps, openTestBudget } from './test-budget.ts';

const kilogram = { base: 'g', factor: 1000, offset: 0 };
const units: Readonly<Record<string, typeof kilogram>> = {
  kg: kilogram,
  g: { ...kilogram, factor: 1 },
  m: { ...kilogram, base: 'm' },
};

function found(resource: JsonObject, breachesMax = 100): readonly string[] {
  const budget = openTestBudget();
  const breaches = checkInvariants(resource, {
    severity: 'error',
    breachesMax,
    budget,
    findUnit: (code) => units[code],
  });
  return breaches.map(({ key, path }) => `${key} ${path}`);
}

test('every invariant of R4 is compiled, but for two that stand for a check of the narrative', () => {
  const all = invariantPaths.flatMap((path) => listInvariantsAt(path));
  assert.equal(all.length, 239);
  const refused = all.filter(({ expression }) => expression !== '' && !isCompiled(expression)).map(({ key }) => key);
  assert.deepEqual(refused, ['txt-1', 'txt-2']);
});

function isCompiled(expression: string): boolean {
  try {
    compileInvariant(expression);
    return true;
  } catch {
    return false;
  }
}

test('a broken invariant is told with its element, and none elsewhere', () => {
  for (const [resource, expected] of brokenByHand)
    assert.deepEqual([...found(objectOf(resource))].sort(), [...expected].sort(), JSON.stringify(resource));
});

/** Larger ones are Bundles and guides of definitions. */
const bytesMax = 1_500_000;

test('no official example breaks one', () => {
  let count = 0;
  for (const { file, resource } of examples(bytesMax)) {
    assert.deepEqual(found(resource), [], file);
    count += 1;
  }
  assert.ok(count > 700);
});

test('an erratum is what the table holds, and what R4 publishes is not', () => {
  const changes = errata.flatMap(({ change }) => (change.kind === 'invariant' ? [change] : []));
  assert.equal(changes.length, 6);
  for (const { path, key, from, to } of changes) {
    const expressions = listInvariantsAt(path).map(({ expression }) => expression);
    assert.deepEqual([expressions.includes(to), expressions.includes(from)], [true, false], key);
  }
});

/** Start and end of a Period → whether per-1 is broken. Where the day or the zone is not known, nothing is. */
const periods: readonly (readonly [start: string, end: string, isBroken: boolean])[] = [
  ['2020', '2019', true],
  ['2020', '2020-01-01', false],
  ['2020-02', '2020-01-31', true],
  ['2020-01-02', '2020-01-02', false],
  ['2020-01-01T10:00:00Z', '2020-01-01T09:59:59.999Z', true],
  ['2020-01-01T10:00:00Z', '2020-01-01T11:00:00+02:00', true],
  ['2020-01-01T10:00:00Z', '2020-01-01T10:00:00.000Z', false],
  ['2020-01-01T10:00:00.0001Z', '2020-01-01T10:00:00.00005Z', true],
  ['2020-01-01T23:59:60Z', '2020-01-01T23:59:59Z', true],
  ['2020-01-01T23:59:60Z', '2020-01-02T00:00:00Z', false],
  // The day of the end in UTC+14:00 begins before it does elsewhere.
  ['2020-01-02', '2020-01-01T10:00:00Z', false],
  ['2020-01-02', '2020-01-01T09:59:59Z', true],
  ['2020-01-02T12:00:00Z', '2020-01-01', true],
  ['2020-01-02T11:59:59Z', '2020-01-01', false],
  ['2020-02-01T12:00:00Z', '2020-01', true],
  ['2021-01-01T12:00:00Z', '2020', true],
  ['0099-01-03T00:00:00Z', '0099-01-01', true],
];

for (const [start, end, isBroken] of periods) {
  test(`per-1: from ${start} to ${end} ${isBroken ? 'breaks it' : 'holds'}`, () => {
    const resource = { resourceType: 'Patient', name: [{ period: { start, end } }] };
    assert.deepEqual(found(resource), isBroken ? ['per-1 Patient.name[0].period'] : []);
  });
}

/** Low and high of a Range, as JSON → whether rng-2 is broken. */
const ranges: readonly (readonly [low: string, high: string, isBroken: boolean])[] = [
  ['{"value":2}', '{"value":1}', true],
  ['{"value":1.00}', '{"value":1}', false],
  [
    '{"value":0.10000000000000000000000000000000000000002}',
    '{"value":0.10000000000000000000000000000000000000001}',
    true,
  ],
  ['{"value":-1E+400}', '{"value":-2E+400}', true],
  ['{"value":1e-400}', '{"value":0}', true],
  ['{"value":-0.5}', '{"value":-0.50}', false],
  ['{"value":2,"unit":"mg"}', '{"value":1,"unit":"mg"}', true],
  ['{"value":2,"unit":"mg"}', '{"value":1,"unit":"g"}', false],
  ['{"value":2,"code":"g","system":"S"}', '{"value":1,"code":"g","system":"T"}', false],
  ['{"value":2,"comparator":">","unit":"mg"}', '{"value":1,"unit":"mg"}', false],
  ['{"value":2,"code":"kg","system":"U"}', '{"value":1999,"code":"g","system":"U"}', true],
  ['{"value":2,"code":"kg","system":"U"}', '{"value":2000,"code":"g","system":"U"}', false],
  ['{"value":2,"code":"kg","system":"U"}', '{"value":1,"code":"m","system":"U"}', false],
  ['{"value":2,"code":"kg","system":"U"}', '{"value":1,"code":"stone","system":"U"}', false],
  ['{"value":2}', '{"unit":"mg"}', false],
];

for (const [low, high, isBroken] of ranges) {
  test(`rng-2: from ${low} to ${high} ${isBroken ? 'breaks it' : 'holds'}`, () => {
    const ucum = (text: string) => text.replace('"U"', '"http://unitsofmeasure.org"');
    const text = `{"resourceType":"Observation","valueRange":{"low":${ucum(low)},"high":${ucum(high)}}}`;
    const broken = found(read(text)).filter((each) => each.startsWith('rng-2'));
    assert.deepEqual(broken, isBroken ? ['rng-2 Observation.value'] : []);
  });
}

test('a count is judged by the digits as they were sent', () => {
  const counted = (value: string) =>
    found(read(`{"resourceType":"Basic","extension":[{"url":"urn:x:y","valueCount":{"value":${value},"code":"1"}}]}`));
  assert.deepEqual(counted('3'), ['qty-3 Basic.extension[0].value']);
  assert.deepEqual(counted('3.0'), ['qty-3 Basic.extension[0].value', 'cnt-3 Basic.extension[0].value'].sort());
});

test('con-3, corrected, asks problem list items only', () => {
  const withCategory = (code: string) => ({
    resourceType: 'Condition',
    text: { status: 'empty', div: '<div>x</div>' },
    category: [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-category', code }] }],
  });
  const told = (code: string) =>
    checkInvariants(objectOf(withCategory(code)), { severity: 'all', breachesMax: 9, budget: openTestBudget() }).map(
      ({ key, severity }) => `${severity} ${key}`,
    );
  assert.deepEqual(told('problem-list-item'), ['warning con-3']);
  assert.deepEqual(told('encounter-diagnosis'), []);
});

test('warnings are told when they are asked for, and what cannot be evaluated is one', () => {
  const resource = objectOf({
    resourceType: 'Questionnaire',
    name: 'not a name',
    text: { status: 'empty', div: '<div>x</div>' },
    item: [{ linkId: '1', type: ['a', 'b'] }],
  });
  const all = checkInvariants(resource, { severity: 'all', breachesMax: 100, budget: openTestBudget() });
  assert.deepEqual(
    all.filter(({ unevaluated }) => unevaluated === undefined).map(({ key, severity }) => [key, severity]),
    [['que-0', 'warning']],
  );
  const [told] = all.filter(({ unevaluated }) => unevaluated !== undefined);
  assert.deepEqual([told?.key, told?.severity, told?.path], ['que-10', 'warning', 'Questionnaire.item[0]']);
  assert.match(told?.unevaluated ?? '', /^One value is expected, there are several/);
  assert.deepEqual(found(resource), []);
});

test('the check ends with the last breach that is told', () => {
  const contact = Array.from({ length: 50 }, () => ({ gender: 'male' }));
  assert.equal(found(objectOf({ resourceType: 'Patient', contact }), 7).length, 7);
});

test('what does not fit the definitions is left out, whatever it is', () => {
  const odd = ['x', 1, true, null, [], [[]], [null], {}, { start: {} }, [{ start: [1] }, 'x']];
  for (const value of odd) {
    const resource = { period: value, name: value, contact: value, contained: value, text: value, _birthDate: value };
    assert.doesNotThrow(() => found(objectOf({ resourceType: 'Patient', ...resource })));
    assert.doesNotThrow(() => found(objectOf({ resourceType: 'Bundle', type: value, entry: value, total: value })));
  }
  assert.deepEqual(found({ resourceType: 'Nothing' }), []);
  assert.deepEqual(found({}), []);
});

test('steps grow with the resource, not with its square', () => {
  const stepsFor = (count: number, makeResource: (count: number) => object): number => {
    const budget = openTestBudget();
    checkInvariants(objectOf(makeResource(count)), { severity: 'all', breachesMax: 100, budget });
    return enoughSteps - budget.stepsLeft;
  };
  const large: Readonly<Record<string, (count: number) => object>> = {
    names: (count) => ({
      resourceType: 'Patient',
      name: times(count, () => ({ period: { start: '2020', end: '2021' } })),
    }),
    'elements of a snapshot': (count) => ({
      resourceType: 'StructureDefinition',
      type: 'Patient',
      snapshot: {
        element: times(count, (index) => ({ id: `${index}`, path: index === 0 ? 'Patient' : `Patient.e${index}` })),
      },
      differential: { element: times(count, (index) => ({ id: `${index}`, path: `Patient.e${index}` })) },
    }),
    entries: (count) => ({
      resourceType: 'Bundle',
      type: 'collection',
      entry: times(count, (index) => ({ fullUrl: `urn:${index}`, resource: { resourceType: 'Patient' } })),
    }),
    components: (count) => ({
      resourceType: 'Observation',
      code: { coding: [{ code: 'x' }] },
      valueString: 'x',
      component: times(count, (index) => ({ code: { coding: [{ code: `${index}` }] } })),
    }),
    items: (count) => ({
      resourceType: 'Questionnaire',
      item: times(count, (index) => ({ linkId: `${index}`, type: 'string' })),
    }),
  };
  for (const [what, make] of Object.entries(large)) {
    const ratio = stepsFor(2_000, make) / stepsFor(200, make);
    assert.ok(ratio < 12, `${what}: ${ratio}`);
  }
});

test('a resource that costs more than the budget is refused', () => {
  const name = times(1_000, () => ({ period: { start: '2020' } }));
  const budget = openTestBudget(2_000);
  assert.throws(
    () => checkInvariants(objectOf({ resourceType: 'Patient', name }), { severity: 'error', breachesMax: 1, budget }),
    /^Error: Checking R4's invariants on the resource: more than 2000 steps$/,
  );
});

test('others go on while a large resource is judged, and what is found is the same', async () => {
  const answerOption = [{ valueString: 'a' }];
  const item = times(500, (at) => ({ linkId: `${at}`, type: at % 100 === 0 ? 'display' : 'string', answerOption }));
  const resource = objectOf({ resourceType: 'Questionnaire', status: 'draft', item });
  let [nowMs, slices] = [0, 0];
  const budget = openBudget(
    { steps: 1_000_000, bytes: 0, ms: 1_000_000 },
    {
      now() {
        nowMs += sliceMs;
        return nowMs;
      },
      async nextSlice() {
        slices += 1;
      },
      errorOf: ({ what }) => new Error(what),
    },
  );
  const options = { severity: 'error', breachesMax: 100, budget } as const;
  const breaches = await checkInvariantsInSlices(resource, options);
  assert.deepEqual(breaches, checkInvariants(resource, options));
  assert.ok(breaches.length > 0);
  assert.ok(slices > 5, `${slices} slices`);
});

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

function objectOf(resource: object): JsonObject {
  return read(JSON.stringify(resource));
}

function read(text: string): JsonObject {
  const value = parseJson(text);
  if (!isJsonObject(value)) throw new Error('not a JSON object');
  return value;
}
