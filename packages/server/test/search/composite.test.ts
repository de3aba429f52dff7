/** Composite parameters: https://hl7.org/fhir/R4/search.html#composite */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import {
  compileCompositeExtractor,
  formatDecimal,
  getSearchParameters,
  isRawDecimal,
  type JsonObject,
  type JsonValue,
  type TypedValue,
} from '@praxis/fhir';
import { PraxisError } from '../../src/base/errors.ts';
import { openOperatorBudget } from '../../src/limits/budgets.ts';
import { parseSearch } from '../../src/search/query/query.ts';
import { officialExamples } from './official-examples.ts';
import { context, openSearchWorld } from './world.ts';

const world = await openSearchWorld({ after });
const loinc = 'http://loinc.org';
const ucum = 'http://unitsofmeasure.org';
const mmHg = (value: number) => ({ value, unit: 'mm Hg', system: ucum, code: 'mm[Hg]' });
const coded = (code: string, value: object) => ({ code: { coding: [{ system: loinc, code }] }, ...value });
const pressure = (id: string, systolic: number, diastolic: number) => ({
  resourceType: 'Observation',
  id,
  status: 'final',
  code: { coding: [{ system: loinc, code: '85354-9' }] },
  component: [coded('8480-6', { valueQuantity: mmHg(systolic) }), coded('8462-4', { valueQuantity: mmHg(diastolic) })],
});
const single = (id: string, value: object) => ({
  resourceType: 'Observation',
  id,
  status: 'final',
  ...coded('1234-5', value),
});
const practice = [
  pressure('p-high', 180, 90),
  pressure('p-low', 110, 100),
  single('s-quantity', { valueQuantity: { value: 5, unit: 'mg', system: ucum, code: 'mg' } }),
  single('s-string', { valueString: 'Very well, thanks' }),
  // Codes that no key holds: longer than any in practice, and with the character that stands between columns.
  ...['x'.repeat(1500), '1234-5\u001f7'].map((code, at) => ({
    ...single(`s-unfit-${at}`, { valueQuantity: { value: 5 } }),
    code: { coding: [{ system: loinc, code }] },
  })),
  single('s-date', { valueDateTime: '2024-03-05' }),
  single('s-concept', { valueCodeableConcept: { coding: [{ system: loinc, code: 'LA1' }, { code: 'Local' }] } }),
  {
    resourceType: 'DocumentReference',
    id: 'newer',
    status: 'current',
    content: [{ attachment: { url: 'http://example.org/x' } }],
    relatesTo: [
      { code: 'replaces', target: { reference: 'DocumentReference/older' } },
      { code: 'appends', target: { reference: 'DocumentReference/other' } },
    ],
  },
  {
    resourceType: 'Group',
    id: 'pregnant',
    type: 'person',
    actual: false,
    characteristic: [
      {
        code: { text: 'gender', coding: [{ code: 'gender' }] },
        valueCodeableConcept: { coding: [{ code: 'female' }] },
        exclude: false,
      },
      { code: { coding: [{ code: 'smoker' }] }, valueBoolean: false, exclude: false },
    ],
  },
];
const examples = officialExamples();
await world.load([...examples, ...practice], { bare: true });

for (const [type, query, expected] of [
  ['Observation', 'component-code-value-quantity=8480-6$gt170', ['p-high']],
  ['Observation', 'component-code-value-quantity=8462-4$gt170', []],
  ['Observation', `component-code-value-quantity=${loinc}|8462-4$ge95|${ucum}|mm[Hg]`, ['p-low']],
  ['Observation', 'component-code-value-quantity=http://example.org|8462-4$ge95', []],
  ['Observation', 'component-code-value-quantity=8480-6$gt170,8462-4$gt95', ['p-high', 'p-low']],
  ['Observation', 'component-code-value-quantity=8480-6$gt170&component-code-value-quantity=8462-4$lt95', ['p-high']],
  ['Observation', 'combo-code-value-quantity=1234-5$5', ['s-quantity']],
  ['Observation', `code-value-quantity=1234-5$0.005|${ucum}|g`, ['s-quantity']],
  ['Observation', 'code-value-quantity=1234-5$5||mg', ['s-quantity']],
  ['Observation', 'code-value-quantity=1234-5$ne5', []],
  ['Observation', `code-value-quantity=${loinc}|$5`, ['s-quantity']],
  ['Observation', 'code-value-string=1234-5$very', ['s-string']],
  ['Observation', 'code-value-string=1234-5$well', []],
  ['Observation', 'code-value-date=1234-5$2024-03', ['s-date']],
  ['Observation', 'code-value-date=1234-5$gt2024-03-05', []],
  ['Observation', 'code-value-concept=1234-5$LA1', ['s-concept']],
  ['Observation', `code-value-concept=1234-5$${loinc}|LA1`, ['s-concept']],
  ['Observation', 'code-value-concept=1234-5$local', ['s-concept']],
  ['Observation', `code-value-concept=1234-5$${loinc}|Local`, []],
  ['DocumentReference', 'relationship=older$replaces', ['newer']],
  ['DocumentReference', 'relationship=DocumentReference/older$replaces', ['newer']],
  ['DocumentReference', 'relationship=older$appends', []],
  ['Group', 'characteristic-value=gender$female', ['pregnant']],
  ['Group', 'characteristic-value=smoker$false', ['pregnant']],
  ['Group', 'characteristic-value=smoker$female', []],
] as const) {
  test(`${type}?${query}`, async () => {
    const ids = practice.map(({ id }) => id);
    const encoded = query.replaceAll('[', '%5B').replaceAll(']', '%5D');
    assert.deepEqual((await world.ids(type, encoded)).filter((id) => ids.includes(id)).toSorted(), expected);
    assert.deepEqual(
      (await world.ids(type, `${encoded}&_count=1`)).filter((id) => ids.includes(id)).toSorted(),
      expected,
    );
    assert.equal(await world.count(type, encoded), (await world.ids(type, encoded)).length);
  });
}

test('every tuple of an official example is found by its values', async (t) => {
  const questions = examples.flatMap(questionsOf);
  t.diagnostic(`${questions.length} tuples of ${new Set(questions.map(({ code }) => code)).size} composites`);
  assert.ok(questions.length > 100, `${questions.length}`);
  for (const { type, id, code, query } of questions) {
    const ids = await world.ids(type, `${code}=${encodeURIComponent(query)}&_id=${id}`);
    assert.deepEqual(ids, [id], `${type}?${code}=${query}`);
    assert.equal(await world.count(type, `${code}:missing=false&_id=${id}`), 1);
  }
});

function questionsOf(example: JsonObject) {
  const type = String(example['resourceType']);
  return [...getSearchParameters(type).values()]
    .filter((definition) => definition.type === 'composite')
    .flatMap((definition) =>
      compileCompositeExtractor(type, definition)(example, openOperatorBudget(), {
        what: 'A test',
        cheaper: 'test less',
      }).flatMap((tuple) => {
        const values = tuple.map(([first]) => (first === undefined ? undefined : textOf(first)));
        if (values.includes(undefined)) return [];
        return [{ type, id: String(example['id']), code: definition.code, query: values.join('$') }];
      }),
    );
}

/** The value as a search writes it; undefined for what cannot be searched. */
function textOf({ type, value }: TypedValue): string | undefined {
  const at = (holder: JsonValue | undefined, name: string): JsonValue | undefined =>
    typeof holder === 'object' && holder !== null && !Array.isArray(holder) && name in holder
      ? Reflect.get(holder, name)
      : undefined;
  if (type === 'CodeableConcept') {
    const codings = at(value, 'coding');
    const code = Array.isArray(codings) ? at(codings[0], 'code') : undefined;
    return code === undefined ? undefined : escaped(String(code));
  }
  if (type === 'Coding') return at(value, 'code') === undefined ? undefined : escaped(String(at(value, 'code')));
  // With a comparator (> 60) it is a range, which no single number equals.
  if (type === 'Quantity') return at(value, 'comparator') === undefined ? numberText(at(value, 'value')) : undefined;
  if (isRawDecimal(value)) return formatDecimal(value);
  if (type === 'Reference') return at(value, 'reference') === undefined ? undefined : String(at(value, 'reference'));
  return typeof value === 'object' ? undefined : escaped(String(value));
}

function numberText(value: JsonValue | undefined): string | undefined {
  if (value === undefined) return undefined;
  return isRawDecimal(value) ? formatDecimal(value) : String(value);
}

function escaped(text: string): string {
  return text.replace(/[\\,$|]/g, '\\$&');
}

for (const [query, problem] of [
  [
    'code-value-quantity=1234-5',
    'takes 2 values separated by $: code$value-quantity (write \\$ for a $ inside a value)',
  ],
  [
    'code-value-quantity=1234-5$',
    'takes 2 values separated by $: code$value-quantity (write \\$ for a $ inside a value)',
  ],
  [
    'code-value-quantity=a$1$2',
    'takes 2 values separated by $: code$value-quantity (write \\$ for a $ inside a value)',
  ],
  [
    'code-value-quantity=1234-5$five',
    'takes a number such as 100, 5.40 or 5.4e-3, after one of eq, ne, gt, lt, ge, le, sa, eb, ap or none',
  ],
  [
    'code-value-quantity:exact=1$2',
    'has a modifier that code-value-quantity of Observation does not take; it takes :missing',
  ],
] as const) {
  test(`refused: Observation?${query}`, () => {
    const [name = '', value = ''] = query.split('=');
    assert.throws(
      () => parseSearch('Observation', [[name, value]], context),
      new PraxisError('search-invalid', { diagnostics: `${name} ${problem}`, expression: [name] }),
    );
  });
}

test('no sort by a composite', () => {
  assert.throws(() => parseSearch('Observation', [['_sort', 'code-value-quantity']], context), {
    code: 'search-invalid',
  });
});
