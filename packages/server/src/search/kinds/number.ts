/**
 * number: integers and decimals, compared by the precision of the search value.
 * https://hl7.org/fhir/R4/search.html#number
 */

import { formatDecimal, isRawDecimal, type JsonValue } from '@praxis/fhir';
import { buildManyValuesSearch } from '../../base/worst-case.ts';
import { type Sql, sql } from '../../database/sql.ts';
import { noSystem } from '../numbers.ts';
import { refuseValue, unescapeValue } from '../query/search-values.ts';
import {
  computeApproximateRange,
  computeImpliedRange,
  type DecimalRange,
  type ExactDecimal,
  formatNumeric,
  parseDecimal,
} from './decimal.ts';
import { readBy, type SearchKind, type Selectivity, selectivities, type Test, type ValueContext } from './kind.ts';
import { type Prefix, prefixes, splitPrefix } from './prefixes.ts';

export const number: SearchKind = {
  worstCase: {
    because: 'as many approximate numbers as one parameter takes',
    request: () => buildManyValuesSearch('RiskAssessment', 'probability', (n) => `ap${n}e-3`),
  },
  ...readBy('number', { '': parseNumberTest }),
  index({ value }, parameter, _context, rows) {
    const point = toNumberPoint(value);
    if (point !== undefined) rows.number(parameter.number, point, noSystem, '');
  },
};

function parseNumberTest(text: string, { name }: ValueContext): Test {
  const { prefix, decimal } = parseNumberValue(unescapeValue(text, name), name);
  const where = numberCondition(prefix, computeBounds(prefix, decimal));
  return { where, order: 'value', selectivity: estimatePrefixSelectivity(prefix) };
}

/**
 * The prefix and the number of a query.
 * @throws PraxisError `search-invalid`
 */
export function parseNumberValue(text: string, name: string) {
  const { prefix, rest } = splitPrefix(text, name);
  const decimal = parseDecimal(rest);
  if (decimal === undefined) {
    refuseValue(name, `takes a number such as 100, 5.40 or 5.4e-3, after one of ${prefixes.join(', ')} or none`);
  }
  return { prefix, decimal };
}

/** A search value as texts of numbers: itself, and the range that its precision or `ap` gives it. */
export interface NumberBounds extends DecimalRange {
  readonly point: string;
}

export function computeBounds(prefix: Prefix, decimal: ExactDecimal): NumberBounds {
  const range = prefix === 'ap' ? computeApproximateRange(decimal) : computeImpliedRange(decimal);
  return { point: formatNumeric(decimal), ...range };
}

/** The condition on `lo` and `hi` of a row, closed at both ends. Only eq, ne and ap look at the value's precision. */
export function numberCondition(prefix: Prefix, { point, lo, hi }: NumberBounds): Sql {
  switch (prefix) {
    case 'eq':
      return sql`lo >= ${lo}::float8 AND ${below(sql`lo`, point, hi)} AND ${below(sql`hi`, point, hi)}`;
    case 'ne':
      return sql`NOT (lo >= ${lo}::float8 AND ${below(sql`hi`, point, hi)})`;
    case 'gt':
      return sql`hi > ${point}::float8`;
    case 'ge':
      return sql`hi >= ${point}::float8`;
    case 'lt':
      return sql`lo < ${point}::float8`;
    case 'le':
      return sql`lo <= ${point}::float8`;
    case 'sa':
      return sql`lo > ${point}::float8`;
    case 'eb':
      return sql`lo < ${point}::float8 AND hi < ${point}::float8`;
    case 'ap':
      return sql`lo <= ${hi}::float8 AND hi >= ${lo}::float8`;
  }
}

/** Below an end that does not belong to the range; unless it is so near that as a double it is the value itself. */
function below(column: Sql, point: string, end: string): Sql {
  return Number(point) < Number(end) ? sql`${column} < ${end}::float8` : sql`${column} <= ${point}::float8`;
}

export function estimatePrefixSelectivity(prefix: Prefix): Selectivity {
  return prefix === 'eq' || prefix === 'ap' ? selectivities.part : selectivities.most;
}

/** The number of a JSON value as a point, or undefined when it is none or beyond any measurement. */
export function toNumberPoint(value: JsonValue | undefined): DecimalRange | undefined {
  if (typeof value !== 'number' && !isRawDecimal(value)) return undefined;
  const decimal = parseDecimal(formatDecimal(value));
  if (decimal === undefined) return undefined;
  const text = formatNumeric(decimal);
  return { lo: text, hi: text };
}
