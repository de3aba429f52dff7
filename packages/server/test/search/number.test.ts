/**
 * Number and quantity search: https://hl7.org/fhir/R4/search.html#number and #quantity. The tables state what the
 * specification's text says.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { type JsonObject, parseJson } from '@praxis/fhir';
import {
  computeApproximateRange,
  computeImpliedRange,
  type ExactDecimal,
  formatNumeric,
  parseDecimal,
} from '../../src/search/kinds/decimal.ts';
import { checkGolden, type Golden } from './golden.ts';
import { openSearchWorld } from './world.ts';

const risk = (id: string, probability: string) =>
  parseJson(
    `{"resourceType":"RiskAssessment","id":"${id}","status":"final","subject":{"reference":"Patient/x"},"prediction":[{"probabilityDecimal":${probability}}]}`,
  ) as JsonObject;

const risks = [
  risk('r99-4', '99.4'),
  risk('r99-5', '99.5'),
  risk('r100', '100'),
  risk('r100-00', '100.00'),
  risk('r100-01', '100.01'),
  risk('r100-5', '100.5'),
  risk('r0-8', '0.8'),
  risk('minus', '-3'),
  risk('zero', '0.0'),
];

const numberTable: Golden = [
  // "Values that equal 100, to 3 significant figures precision, … in the range [99.5 ... 100.5)"
  ['probability=100', ['r99-5', 'r100', 'r100-00', 'r100-01']],
  // "to 5 significant figures precision, … in the range [99.995 ... 100.005)"
  ['probability=100.00', ['r100', 'r100-00']],
  // "1e2 … to 1 significant figures precision, … in the range [95 ... 105)"
  ['probability=1e2', ['r99-4', 'r99-5', 'r100', 'r100-00', 'r100-01', 'r100-5']],
  // "100 and 1.00e2 both have the same number of significant digits - three"
  ['probability=1.00e2', ['r99-5', 'r100', 'r100-00', 'r100-01']],
  ['probability=lt100', ['r99-4', 'r99-5', 'r0-8', 'minus', 'zero']],
  ['probability=le100', ['r99-4', 'r99-5', 'r100', 'r100-00', 'r0-8', 'minus', 'zero']],
  ['probability=gt100', ['r100-01', 'r100-5']],
  ['probability=ge100', ['r100', 'r100-00', 'r100-01', 'r100-5']],
  ['probability=sa100', ['r100-01', 'r100-5']],
  ['probability=eb100', ['r99-4', 'r99-5', 'r0-8', 'minus', 'zero']],
  // "ne100: Values that are not equal to 100 (actually, in the range 99.5 to 100.5)"
  ['probability=ne100', ['r99-4', 'r100-5', 'r0-8', 'minus', 'zero']],
  ['probability=ap100', ['r99-4', 'r99-5', 'r100', 'r100-00', 'r100-01', 'r100-5']],
  ['probability=ap90', []],
  ['probability=gt0.8', ['r99-4', 'r99-5', 'r100', 'r100-00', 'r100-01', 'r100-5']],
  // "could also be probability=gt8e-1 using exponential form"
  ['probability=gt8e-1', ['r99-4', 'r99-5', 'r100', 'r100-00', 'r100-01', 'r100-5']],
  ['probability=0.8', ['r0-8']],
  ['probability=-3', ['minus']],
  ['probability=0', ['zero']],
  ['probability=-3,0.8', ['minus', 'r0-8']],
  ['probability=ge0&probability=le1', ['zero', 'r0-8']],
  ['probability:missing=true', []],
];

test('numbers, by the precision of the search value', async (t) => {
  const world = await openSearchWorld(t);
  await world.load(risks);
  await checkGolden(t, world, 'RiskAssessment', numberTable);
});

const ucum = 'http://unitsofmeasure.org';
const observation = (id: string, value: string) =>
  parseJson(`{"resourceType":"Observation","id":"${id}","status":"final","code":{"text":"x"},${value}}`) as JsonObject;
const mg = `"unit":"milligram","system":"${ucum}","code":"mg"`;

const observations = [
  observation('mg-5-4', `"valueQuantity":{"value":5.4,${mg}}`),
  observation('mg-5-44', `"valueQuantity":{"value":5.44,${mg}}`),
  observation('mg-5-45', `"valueQuantity":{"value":5.45,${mg}}`),
  observation('g', `"valueQuantity":{"value":0.0054,"system":"${ucum}","code":"g"}`),
  observation('unit', '"valueQuantity":{"value":5.4,"unit":"mg"}'),
  observation('bare', '"valueQuantity":{"value":5.4}'),
  observation('below', `"valueQuantity":{"value":5,"comparator":"<",${mg}}`),
  observation('above', `"valueQuantity":{"value":6,"comparator":">",${mg}}`),
  observation(
    'samples',
    `"valueSampledData":{"origin":{"value":2,"unit":"mV","system":"${ucum}","code":"mV"},"period":10,"factor":0.5,"dimensions":1,"data":"-2 0 E 4"}`,
  ),
  observation('without', '"valueQuantity":{"unit":"mg"}'),
  observation('fine', '"valueQuantity":{"value":66.899999999999991,"unit":"in"}'),
];

const quantityTable: Golden = [
  // "a value of 5.4(+/-0.05) mg where mg is understood as a UCUM unit"
  [`value-quantity=5.4|${ucum}|mg`, ['mg-5-4', 'mg-5-44', 'g']],
  // "a value of 0.0054(+/-0.000005) g"
  [`value-quantity=5.40e-3|${ucum}|g`, ['mg-5-4', 'g']],
  // "where the unit - either the code or the stated human unit are "mg""
  ['value-quantity=5.4||mg', ['mg-5-4', 'mg-5-44', 'unit']],
  ['value-quantity=5.4||milligram', ['mg-5-4', 'mg-5-44']],
  // "irrespective of the unit"
  ['value-quantity=5.4', ['mg-5-4', 'mg-5-44', 'unit', 'bare']],
  [`value-quantity=le5.4|${ucum}|mg`, ['mg-5-4', 'g', 'below']],
  [`value-quantity=lt5.4|${ucum}|mg`, ['below']],
  [`value-quantity=ge5.45|${ucum}|mg`, ['mg-5-45', 'above']],
  [`value-quantity=gt5.45|${ucum}|mg`, ['above']],
  // "typically, within 10% of the value"
  [`value-quantity=ap5|${ucum}|mg`, ['mg-5-4', 'mg-5-44', 'mg-5-45', 'g', 'below']],
  [`value-quantity=ne5.4|${ucum}|mg`, ['mg-5-45', 'below', 'above']],
  [`value-quantity=sa5.4|${ucum}|mg`, ['mg-5-44', 'mg-5-45', 'above']],
  [`value-quantity=eb5.4|${ucum}|mg`, ['below']],
  // From 2 - 2 × 0.5 to 2 + 4 × 0.5.
  ['value-quantity=ge4||mV', ['samples']],
  ['value-quantity=lt1.1||mV', ['samples']],
  ['value-quantity=gt4||mV', []],
  ['value-quantity=66.899999999999991', ['fine']],
  ['value-quantity=66.9', ['fine']],
  ['value-quantity:missing=true', ['without']],
  [`value-quantity=5.4|${ucum}|mg,5.4||mV`, ['mg-5-4', 'mg-5-44', 'g']],
];

test('quantities, with and without unit', async (t) => {
  const world = await openSearchWorld(t);
  await world.load(observations);
  await checkGolden(t, world, 'Observation', quantityTable);
});

test('a value with a comparator is all that it leaves open', async (t) => {
  const world = await openSearchWorld(t);
  await world.load(
    ['<', '<=', '>', '>='].map((comparator, at) =>
      observation(`c${at}`, `"valueQuantity":{"value":5,"comparator":"${comparator}",${mg}}`),
    ),
  );
  await checkGolden(t, world, 'Observation', [
    [`value-quantity=lt4|${ucum}|mg`, ['c0', 'c1']],
    [`value-quantity=gt6|${ucum}|mg`, ['c2', 'c3']],
  ]);
});

const conditions = [
  {
    id: 'thirties',
    onsetRange: { low: { value: 30, code: 'a', system: ucum }, high: { value: 39, code: 'a', system: ucum } },
  },
  { id: 'from-forty', onsetRange: { low: { value: 40, code: 'a', system: ucum } } },
  { id: 'age', onsetAge: { value: 35, code: 'a', system: ucum } },
].map((condition) => ({ resourceType: 'Condition', subject: { reference: 'Patient/x' }, ...condition }));

const rangeTable: Golden = [
  ['onset-age=35', ['age']],
  ['onset-age=gt35', ['thirties', 'from-forty']],
  ['onset-age=lt35', ['thirties']],
  ['onset-age=ge40', ['from-forty']],
  ['onset-age=sa35', ['from-forty']],
  ['onset-age=ap37||a', ['thirties', 'from-forty', 'age']],
];

test('ranges, with open ends', async (t) => {
  const world = await openSearchWorld(t);
  await world.load(conditions);
  await checkGolden(t, world, 'Condition', rangeTable);
});

test('ranges implied by written digits', () => {
  const rows: readonly (readonly [text: string, lo: number, hi: number])[] = [
    ['100', 99.5, 100.5],
    ['100.00', 99.995, 100.005],
    ['1e2', 95, 105],
    ['1.00e2', 99.5, 100.5],
    ['2.0', 1.95, 2.05],
    ['5.40e-3', 0.005395, 0.005405],
    ['8e-1', 0.75, 0.85],
    ['-3', -3.5, -2.5],
    ['0', -0.5, 0.5],
    ['+7', 6.5, 7.5],
  ];
  for (const [text, lo, hi] of rows) {
    const range = computeImpliedRange(parsed(text));
    assert.deepEqual([Number(range.lo), Number(range.hi)], [lo, hi], text);
  }
  assert.deepEqual(computeApproximateRange(parsed('100')), { lo: '900e-1', hi: '1100e-1' });
  assert.deepEqual(computeApproximateRange(parsed('1e2')), { lo: '90', hi: '110' });
  assert.deepEqual(computeApproximateRange(parsed('-100')), { lo: '-1100e-1', hi: '-900e-1' });
  assert.equal(formatNumeric(parsed('0.10')), '10e-2');
});

test('what is no decimal, or none that can be measured', () => {
  for (const text of ['', '.5', '5.', '1e', 'NaN', '0x10', '1,5', '1e401', '9'.repeat(65), ' 1'])
    assert.equal(parseDecimal(text), undefined, text);
});

function parsed(text: string): ExactDecimal {
  const decimal = parseDecimal(text);
  assert.ok(decimal);
  return decimal;
}
