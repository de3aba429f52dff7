/**
 * `_id` and `_lastUpdated`, whose values stand in the `resource` table itself.
 * https://hl7.org/fhir/R4/search.html#all
 */
import { buildManyValuesSearch } from '../../base/worst-case.ts';
import { sql } from '../../database/sql.ts';
import { refuseValue, unescapeValue } from '../query/search-values.ts';
import { estimateSpanSelectivity, parseDateValue } from './date.ts';
import { compareMoments, type DateRange, type Microseconds } from './date-range.ts';
import { readBy, type SearchKind, type Selectivity, selectivities, type Test, type ValueContext } from './kind.ts';
import type { Prefix } from './prefixes.ts';

const microsPerMs = 1000n;

/** Storage writes the columns with the resource. */
export const resourceId: SearchKind = {
  worstCase: {
    because: 'as many ids as one parameter takes',
    request: () => buildManyValuesSearch('Patient', '_id', (n) => `${'x'.repeat(50)}${n}`),
  },
  ...readBy('resource', { '': parseId }),
  index: () => undefined,
};

export const lastUpdated: SearchKind = {
  worstCase: {
    because: 'as many ranges as one parameter takes',
    request: () => buildManyValuesSearch('Observation', '_lastUpdated', (n) => `ne${1900 + (n % 200)}`),
  },
  ...readBy('resource', { '': parseLastUpdated }),
  index: () => undefined,
};

function parseId(text: string, { name }: ValueContext): Test {
  const id = unescapeValue(text, name);
  if (id === '') refuseValue(name, 'has no value: it takes the id of a resource');
  return { where: sql`id = ${id}`, order: 'rid', selectivity: selectivities.one };
}

function parseLastUpdated(text: string, context: ValueContext): Test {
  const { prefix, range } = parseDateValue(text, context);
  const condition = conditionOf(prefix, range);
  return { ...condition, order: 'value', selectivity: selectivityOf(condition, context.nowMs) };
}

/**
 * Nothing has been changed later than now, so what has changed since a moment lies in a span as well; but it is never taken
 * to be few, since an import changes very much in a short time.
 */
function selectivityOf({ span }: Pick<Test, 'span'>, nowMs: number): Selectivity {
  if (span?.from === undefined) return selectivities.most;
  if (span.to !== undefined) return estimateSpanSelectivity(span.from, span.to);
  return estimateSpanSelectivity(span.from, String(BigInt(nowMs) * microsPerMs)) === selectivities.most
    ? selectivities.most
    : selectivities.some;
}

/** `lu` is a moment in whole milliseconds: the first one that is not before a bound stands for the bound. */
function conditionOf(prefix: Prefix, range: DateRange): Pick<Test, 'where' | 'span'> {
  const from = firstMillisecond(range.lo);
  const to = firstMillisecond(range.hi);
  switch (prefix) {
    case 'eq':
    case 'ap':
      return { where: sql`lu >= ${from} AND lu < ${to}`, span: { from: range.lo, to: range.hi } };
    case 'ne':
      return { where: sql`NOT (lu >= ${from} AND lu < ${to})` };
    case 'gt':
    case 'sa':
      return { where: sql`lu >= ${to}`, span: { from: range.hi } };
    case 'ge':
      return { where: sql`lu >= ${from}`, span: { from: range.lo } };
    case 'lt':
    case 'eb':
      return { where: sql`lu < ${from}`, span: { to: range.lo } };
    case 'le':
      return { where: sql`lu < ${to}`, span: { to: range.hi } };
  }
}

function firstMillisecond(moment: Microseconds): string {
  const micros = BigInt(moment);
  const whole = micros / microsPerMs;
  return String(compareMoments(String(whole * microsPerMs), moment) < 0 ? whole + 1n : whole);
}
