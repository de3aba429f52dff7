/**
 * Quantities in equal units: https://hl7.org/fhir/R4/search.html#quantity ("any value where the units can be converted").
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { findCanonicalUnit } from '../../src/search/kinds/ucum.ts';
import { checkGolden, type Golden } from './golden.ts';
import { openSearchWorld } from './world.ts';

const ucum = 'http://unitsofmeasure.org';

function observation(id: string, value: number, code: string, more: object = {}): object {
  const valueQuantity = { value, system: ucum, code, unit: `${code} as text`, ...more };
  return { resourceType: 'Observation', id, status: 'final', code: { text: 'x' }, valueQuantity };
}

const observations = [
  observation('mg-5', 5, 'mg'),
  observation('g-0.0052', 0.0052, 'g'),
  observation('g-5', 5, 'g'),
  observation('mg-4.5', 4.5, 'mg'),
  observation('mg-5.5', 5.5, 'mg'),
  observation('mg-less', 5, 'mg', { comparator: '<' }),
  observation('degF', 98.6, '[degF]'),
  observation('Cel', 38.5, 'Cel'),
  observation('K', 310.2, 'K'),
  observation('per-min', 60, '/min'),
  observation('beats', 72, '{beats}/min'),
  observation('Hz', 1, 'Hz'),
  observation('mmol', 5, 'mmol/L'),
  observation('mol', 0.005, 'mol/m3'),
  observation('amount', 7, 'mol'),
  observation('times', 7, '1'),
  observation('count', 4.5, '10*9/L'),
  observation('count-uL', 4500, '/uL'),
  observation('IU', 5, '[iU]'),
  observation('kIU', 0.005, 'k[iU]'),
  observation('pH', 7.4, '[pH]'),
  observation('odd', 5, 'spoonful'),
  observation('other', 5, 'mg', { system: 'http://acme.org/units' }),
];

const table: Golden = [
  // The unit of the search only says in which unit its number is; the precision is that of its digits.
  [`value-quantity=0.005|${ucum}|g`, ['g-0.0052', 'mg-4.5', 'mg-5']],
  [`value-quantity=0.0050|${ucum}|g`, ['mg-5']],
  [`value-quantity=5|${ucum}|mg`, ['g-0.0052', 'mg-4.5', 'mg-5']],
  [`value-quantity=5000|${ucum}|ug`, ['mg-5']],
  [`value-quantity=gt0.005|${ucum}|g`, ['g-0.0052', 'g-5', 'mg-5.5']],
  [`value-quantity=ge0.005|${ucum}|g`, ['g-0.0052', 'g-5', 'mg-5', 'mg-5.5', 'mg-less']],
  [`value-quantity=lt0.0045|${ucum}|g`, ['mg-less']],
  [`value-quantity=le0.0045|${ucum}|g`, ['mg-4.5', 'mg-less']],
  [`value-quantity=sa0.0052|${ucum}|g`, ['g-5', 'mg-5.5']],
  [`value-quantity=eb0.0045|${ucum}|g`, []],
  [`value-quantity=ap5|${ucum}|mg`, ['g-0.0052', 'mg-4.5', 'mg-5', 'mg-5.5', 'mg-less']],
  [`value-quantity=ne5|${ucum}|mg`, ['g-5', 'mg-5.5', 'mg-less']],
  // 98.6 °F is 37 °C: scales with different zeros.
  [`value-quantity=37.0|${ucum}|Cel`, ['degF']],
  [`value-quantity=37|${ucum}|Cel`, ['K', 'degF']],
  [`value-quantity=gt100|${ucum}|[degF]`, ['Cel']],
  [`value-quantity=310.15|${ucum}|K`, ['degF']],
  [`value-quantity=1|${ucum}|Hz`, ['Hz', 'beats', 'per-min']],
  [`value-quantity=gt1|${ucum}|Hz`, ['beats']],
  [`value-quantity=1.0|${ucum}|/s`, ['Hz', 'per-min']],
  [`value-quantity=5|${ucum}|mmol/L`, ['mmol']],
  [`value-quantity=5|${ucum}|umol/mL`, ['mmol']],
  [`value-quantity=0.0050|${ucum}|mmol/L`, ['mol']],
  // Moles are no plain number.
  [`value-quantity=7|${ucum}|mol`, ['amount']],
  [`value-quantity=7|${ucum}|1`, ['times']],
  [`value-quantity=4.5|${ucum}|10*9/L`, ['count', 'count-uL']],
  [`value-quantity=4.5|${ucum}|10*3/uL`, ['count', 'count-uL']],
  [`value-quantity=4500|${ucum}|/uL`, ['count', 'count-uL']],
  [`value-quantity=4500|${ucum}|10*6/L`, ['count', 'count-uL']],
  // Arbitrary units are comparable with nothing, other special ones are taken as written.
  [`value-quantity=5|${ucum}|[iU]`, ['IU']],
  [`value-quantity=0.005|${ucum}|k[iU]`, ['kIU']],
  [`value-quantity=7.4|${ucum}|[pH]`, ['pH']],
  // What is no unit of UCUM is a code like any other.
  [`value-quantity=5|${ucum}|spoonful`, ['odd']],
  ['value-quantity=5|http://acme.org/units|mg', ['other']],
  // Without a system, the code and the text are compared as they are, and without a unit the number is.
  ['value-quantity=0.005||g', ['g-0.0052']],
  ['value-quantity=0.0050||g', []],
  ['value-quantity=5||mg', ['mg-4.5', 'mg-5', 'other']],
  ['value-quantity=0.0050', ['kIU', 'mol']],
  ['value-quantity=310', ['K']],
  [`value-quantity=0.0050|${ucum}|g,38.5|${ucum}|Cel`, ['Cel', 'mg-5']],
];

test('quantities are found in every unit that is equal', async (t) => {
  const world = await openSearchWorld(t);
  await world.load(observations);
  await checkGolden(t, world, 'Observation', table);
  await t.test('and sorted by their numbers as written', async () => {
    const found = await world.ids('Observation', '_sort=value-quantity&_count=4');
    assert.equal(found.length, observations.length);
    assert.deepEqual(found.slice(0, 5), ['mg-less', 'mol', 'kIU', 'g-0.0052', 'Hz']);
  });
});

test('units are those of UCUM in its own spelling, and nothing is taken for one', () => {
  for (const code of [
    '',
    'mgs',
    'meter',
    'degF',
    'mg mg',
    ' mg',
    '2mg',
    'constructor',
    '[iU]',
    '[pH]',
    'm'.repeat(81),
  ]) {
    assert.equal(findCanonicalUnit(code), undefined, code);
  }
  assert.deepEqual(findCanonicalUnit('mg/dL'), { base: 'm-3.g', factor: 10, offset: 0 });
  assert.deepEqual(findCanonicalUnit('mL/min/{1.73_m2}')?.base, 'm3.s-1');
  assert.deepEqual(findCanonicalUnit('Cel'), { base: 'K', factor: 1, offset: 273.15 });
});
