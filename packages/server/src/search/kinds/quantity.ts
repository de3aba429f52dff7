/**
 * quantity: numbers with a unit, and ranges of them. https://hl7.org/fhir/R4/search.html#quantity
 *
 * A value leaves one row under its system and code, and one more under its unit text where that differs: `5.4||mg` asks
 * for either, `5.4|http://unitsofmeasure.org|mg` for the code alone. A value with a unit of UCUM leaves another row in
 * base units, and that is the one which a search with a unit of UCUM compares with (docs/decisions/0120).
 */

import type { JsonValue, StepBudget } from '@praxis/fhir';
import { buildManyValuesSearch } from '../../base/worst-case.ts';
import { type Sql, sql } from '../../database/sql.ts';
import { boundKey } from '../index/bounded-key.ts';
import type { IndexRowBuilder } from '../index/index-row-builder.ts';
import { findObject, findProperty, findText } from '../json-values.ts';
import { computeSystemNumber, noSystem } from '../numbers.ts';
import { refuseValue, splitUnescaped, unescapeValue } from '../query/search-values.ts';
import type { DecimalRange } from './decimal.ts';
import { readBy, type SearchKind, type Test, type ValueContext } from './kind.ts';
import {
  computeBounds,
  estimatePrefixSelectivity,
  type NumberBounds,
  numberCondition,
  parseNumberValue,
  toNumberPoint,
} from './number.ts';
import type { Prefix } from './prefixes.ts';
import { type CanonicalUnit, findCanonicalUnit, toBaseUnit, ucumSystem } from './ucum.ts';

const currencies = 'urn:iso:std:iso:4217';

export const quantity: SearchKind = {
  worstCase: {
    because: 'as many different units as one parameter takes, each to be read by UCUM',
    request: () =>
      buildManyValuesSearch(
        'Observation',
        'value-quantity',
        (n) => `${n}|http://unitsofmeasure.org|(10*${n}.m2/s3)4.(kg.[lb_av]/mol)${(n % 8) + 1}`,
      ),
  },
  ...readBy('number', { '': parseQuantityTest }),
  index({ type, value }, { number }, { budget }, rows) {
    if (type === 'Range') return addRange(value, number, budget, rows);
    if (type === 'SampledData') return addSamples(value, number, budget, rows);
    const point = toNumberPoint(findProperty(value, 'value'));
    if (point === undefined) return;
    if (type === 'Money')
      return rows.number(number, point, computeSystemNumber(currencies), findText(value, 'currency') ?? '');
    addMeasure(compared(point, findText(value, 'comparator')), value, number, budget, rows);
  },
};

/**
 * `number`, `number|system|code` or `number||code`, after a prefix or none.
 * @throws PraxisError `search-invalid`
 */
function parseQuantityTest(text: string, { name }: ValueContext): Test {
  const parts = splitUnescaped(text, '|').map((part) => unescapeValue(part, name));
  const [amount = '', system = '', code = ''] = parts;
  if (parts.length === 2 || parts.length > 3 || (parts.length === 3 && code === '')) {
    refuseValue(
      name,
      'takes number, number|system|code or number||code, for instance 5.4|http://unitsofmeasure.org|mg',
    );
  }
  const { prefix, decimal } = parseNumberValue(amount, name);
  const where = conditionOf(prefix, computeBounds(prefix, decimal), system, code);
  return { where, order: 'value', selectivity: estimatePrefixSelectivity(prefix) };
}

function conditionOf(prefix: Prefix, bounds: NumberBounds, system: string, code: string): Sql {
  const unit = ucumUnit(system, code);
  const converted = unit && inBaseUnits(bounds, unit);
  if (unit !== undefined && converted !== undefined) {
    return sql`${numberCondition(prefix, converted)} AND code = ${unit.base} AND system = ${baseUnits}::bigint`;
  }
  const amount = numberCondition(prefix, bounds);
  if (code === '') return sql`${amount} AND ${asWritten}`;
  const key = boundKey(code);
  if (system === '') return sql`${amount} AND code = ${key} AND ${asWritten}`;
  return sql`${amount} AND code = ${key} AND system = ${computeSystemNumber(system)}::bigint`;
}

/** Number of the system of rows in base units. */
const baseUnits = computeSystemNumber(`${ucumSystem}#base`);

/** Rows of values as they are written, which alone are found without a unit of UCUM, and sorted by. */
export const asWritten: Sql = sql`system <> ${baseUnits}::bigint`;

function ucumUnit(system: string, code: string, budget?: StepBudget): CanonicalUnit | undefined {
  return system === ucumSystem ? findCanonicalUnit(code, budget) : undefined;
}

/** The bounds in base units; undefined where one of them is beyond a double. */
function inBaseUnits({ point, lo, hi }: NumberBounds, unit: CanonicalUnit): NumberBounds | undefined {
  const [valueThere, loThere, hiThere] = [point, lo, hi].map((text) => toBaseUnit(text, unit));
  if (valueThere === undefined || loThere === undefined || hiThere === undefined) return undefined;
  return { point: valueThere, lo: loThere, hi: hiThere };
}

/** The range that a comparator leaves open: https://hl7.org/fhir/R4/valueset-quantity-comparator.html */
function compared(point: DecimalRange, comparator: string | undefined): DecimalRange {
  if (comparator === '<' || comparator === '<=') return { lo: '-Infinity', hi: point.hi };
  if (comparator === '>' || comparator === '>=') return { lo: point.lo, hi: 'Infinity' };
  return point;
}

function addMeasure(
  range: DecimalRange,
  unitBearer: JsonValue | undefined,
  number: number,
  budget: StepBudget,
  rows: IndexRowBuilder,
): void {
  const code = findText(unitBearer, 'code') ?? '';
  const unit = findText(unitBearer, 'unit') ?? '';
  const system = findText(unitBearer, 'system') ?? '';
  if (code !== '' || unit === '') rows.number(number, range, computeSystemNumber(system), code);
  if (unit !== '' && unit !== code) rows.number(number, range, noSystem, unit);
  const canonical = ucumUnit(system, code, budget);
  const lo = canonical && toBaseUnit(range.lo, canonical);
  const hi = canonical && toBaseUnit(range.hi, canonical);
  if (canonical && lo !== undefined && hi !== undefined) rows.number(number, { lo, hi }, baseUnits, canonical.base);
}

/** A side that is missing is open: https://hl7.org/fhir/R4/datatypes.html#Range */
function addRange(value: JsonValue, number: number, budget: StepBudget, rows: IndexRowBuilder): void {
  const low = findObject(value, 'low');
  const high = findObject(value, 'high');
  const lo = toNumberPoint(low?.['value'])?.lo;
  const hi = toNumberPoint(high?.['value'])?.hi;
  if (lo === undefined && hi === undefined) return;
  addMeasure({ lo: lo ?? '-Infinity', hi: hi ?? 'Infinity' }, low ?? high, number, budget, rows);
}

/** From the smallest to the largest sample: https://hl7.org/fhir/R4/datatypes.html#SampledData */
function addSamples(value: JsonValue, number: number, budget: StepBudget, rows: IndexRowBuilder): void {
  const origin = findObject(value, 'origin');
  const samples = (findText(value, 'data') ?? '').split(' ').map(Number).filter(Number.isFinite);
  const [first] = samples;
  if (first === undefined) return;
  const smallest = samples.reduce((least, sample) => Math.min(least, sample), first);
  const largest = samples.reduce((most, sample) => Math.max(most, sample), first);
  const base = toNumberPoint(origin?.['value'])?.lo;
  const times = toNumberPoint(findProperty(value, 'factor') ?? 1)?.lo;
  if (base === undefined || times === undefined) return;
  const ends = [smallest, largest].map((sample) => Number(base) + Number(times) * sample);
  addMeasure({ lo: String(Math.min(...ends)), hi: String(Math.max(...ends)) }, origin, number, budget, rows);
}
