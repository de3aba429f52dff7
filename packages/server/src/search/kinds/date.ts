/**
 * date: dates, times, periods and timings, all of them ranges of time. https://hl7.org/fhir/R4/search.html#date and
 * #prefix. "The range above the search value" begins where the value's own range ends, and the one below ends where it
 * begins, so `gt2013-01-14` is about the 15th and later (docs/decisions/0033).
 */

import type { JsonValue } from '@praxis/fhir';
import { buildManyValuesSearch } from '../../base/worst-case.ts';
import { type Sql, sql } from '../../database/sql.ts';
import { findObject, findText, listTexts } from '../json-values.ts';
import { refuseValue, unescapeValue } from '../query/search-values.ts';
import {
  beginningOfTime,
  compareMoments,
  type DateRange,
  endOfTime,
  type Microseconds,
  microsecondsBetween,
  parseDate,
  shiftMoment,
  toDatePoint,
  toDateRange,
} from './date-range.ts';
import { readBy, type SearchKind, type Selectivity, selectivities, type Test, type ValueContext } from './kind.ts';
import { type Prefix, prefixes, splitPrefix } from './prefixes.ts';

const hourMicros = 3_600_000_000;
const dayMicros = 24 * hourMicros;
const microsPerMs = 1000;

/**
 * Ranges up to this width (the longest day) are found through the index on `lo`; the few wider ones apart from them.
 * The number also stands in the SQL below, where the planner must see it.
 */
const narrowMicros = 25 * hourMicros;

/** Spans up to which a range of time is taken to hold few, or some, of the rows. */
const fewMicros = 3 * dayMicros;
const someMicros = 32 * dayMicros;

export const date: SearchKind = {
  worstCase: {
    because: 'as many wide ranges as one parameter takes',
    request: () => buildManyValuesSearch('Observation', 'date', (n) => `ne${1900 + (n % 200)}`),
  },
  ...readBy('date', { '': parseDateTest }),
  index({ type, value }, { number }, { timeZone }, rows) {
    const range = rangeOfValue(type, value, timeZone);
    if (range !== undefined) rows.date(number, range);
  },
};

function parseDateTest(text: string, context: ValueContext): Test {
  const { prefix, range } = parseDateValue(text, context);
  const { dataTypes } = context.parameter.facts;
  // Instants have no width, so one comparison says all.
  const points = dataTypes.size === 1 && dataTypes.has('instant');
  return { ...buildDateCondition(prefix, range, points), order: 'value', ...judged(prefix, range) };
}

/**
 * The prefix and the range of a date of a query; for `ap` widened by a tenth of its distance from now.
 * @throws PraxisError `search-invalid`
 */
export function parseDateValue(text: string, context: ValueContext) {
  const { prefix, rest } = splitPrefix(unescapeValue(text, context.name), context.name);
  // A + that was not percent-encoded arrives as a space.
  const parts = parseDate(rest.replace(/ (?=\d\d:\d\d$)/, '+'));
  if (parts === undefined) {
    refuseValue(
      context.name,
      `takes a date such as 2013, 2013-01, 2013-01-14 or 2013-01-14T10:00:00Z (also with an offset, +02:00), after one of ${prefixes.join(', ')} or none`,
    );
  }
  const range = toDateRange(parts, context.timeZone);
  return { prefix, range: prefix === 'ap' ? widened(range, context.nowMs) : range };
}

function widened(range: DateRange, nowMs: number): DateRange {
  const gap = microsecondsBetween(range.lo, nowMs * microsPerMs);
  const tenth = Math.round(Math.abs(gap) / 10);
  return { lo: shiftMoment(range.lo, -tenth), hi: shiftMoment(range.hi, tenth) };
}

type Condition = Pick<Test, 'where' | 'branches'>;

/** The condition on `lo` and `hi` of a row, by prefix; [from, to) is the range of the search value. */
export function buildDateCondition(prefix: Prefix, { lo: from, hi: to }: DateRange, points: boolean): Condition {
  switch (prefix) {
    case 'eq':
      return { where: sql`lo >= ${from} AND lo < ${to} AND hi <= ${to}` };
    case 'ne':
      return { where: sql`NOT (lo >= ${from} AND hi <= ${to})` };
    case 'lt':
      return { where: sql`lo < ${from}` };
    case 'le':
      return { where: sql`lo < ${to} AND (lo < ${from} OR hi <= ${to})` };
    case 'sa':
      return { where: sql`lo >= ${to}` };
    case 'eb':
      return { where: sql`lo < ${from} AND hi <= ${from}` };
    case 'gt':
      return points ? { where: sql`lo >= ${to}` } : endingAfter(to, sql`hi > ${to}`);
    case 'ge':
      return points ? { where: sql`lo >= ${from}` } : endingAfter(from, sql`(lo >= ${from} OR hi > ${to})`);
    case 'ap':
      return endingAfter(from, sql`lo < ${to} AND hi > ${from}`);
  }
}

/** A condition that implies `hi > moment`, told so that the index on `lo` bounds it: narrow ranges begin shortly before. */
function endingAfter(moment: Microseconds, where: Sql): Condition {
  const narrow = sql`lo >= ${shiftMoment(moment, 1 - narrowMicros)} AND lo >= hi - 90000000000 AND ${where}`;
  const wide = sql`lo < hi - 90000000000 AND hi > ${moment} AND ${where}`;
  return { where, branches: [narrow, wide] };
}

function judged(prefix: Prefix, { lo, hi }: DateRange): Pick<Test, 'selectivity' | 'span'> {
  switch (prefix) {
    case 'eq':
    case 'ap':
      return { selectivity: estimateSpanSelectivity(lo, hi), span: { from: lo, to: hi } };
    case 'gt':
    case 'sa':
    case 'ge':
      return { selectivity: selectivities.most, span: { from: lo } };
    case 'lt':
    case 'eb':
    case 'le':
      return { selectivity: selectivities.most, span: { to: hi } };
    case 'ne':
      return { selectivity: selectivities.most };
  }
}

/** The share of rows that begin in a span of time. */
export function estimateSpanSelectivity(from: Microseconds, to: Microseconds): Selectivity {
  const width = microsecondsBetween(from, to);
  if (width <= fewMicros) return selectivities.few;
  return width <= someMicros ? selectivities.some : selectivities.most;
}

/** Of dates, periods and timings; other alternatives of a choice have none. */
function rangeOfValue(type: string, value: JsonValue, timeZone: string): DateRange | undefined {
  if (type === 'Period') return rangeOfPeriod(value, timeZone);
  if (type === 'Timing') return rangeOfTiming(value, timeZone);
  if (typeof value !== 'string' || (type !== 'date' && type !== 'dateTime' && type !== 'instant')) return undefined;
  const parts = parseDate(value);
  if (parts === undefined) return undefined;
  return type === 'instant' ? toDatePoint(parts, timeZone) : toDateRange(parts, timeZone);
}

/** R4: a missing lower boundary is before any date, a missing upper boundary after any date. */
function rangeOfPeriod(period: JsonValue | undefined, timeZone: string): DateRange | undefined {
  const start = parseDate(findText(period, 'start') ?? '');
  const end = parseDate(findText(period, 'end') ?? '');
  if (start === undefined && end === undefined) return undefined;
  const lo = start === undefined ? beginningOfTime : toDateRange(start, timeZone).lo;
  const hi = end === undefined ? endOfTime : toDateRange(end, timeZone).hi;
  return { lo, hi: compareMoments(lo, hi) < 0 ? hi : shiftMoment(lo, 1) };
}

/** R4: "only the outer limits matter"; a timing that names none is open at both ends. */
function rangeOfTiming(timing: JsonValue, timeZone: string): DateRange {
  const ranges = listTexts(timing, 'event')
    .flatMap((event) => parseDate(event) ?? [])
    .map((parts) => toDateRange(parts, timeZone));
  const bounds = rangeOfPeriod(findObject(findObject(timing, 'repeat'), 'boundsPeriod'), timeZone);
  if (bounds !== undefined) ranges.push(bounds);
  const [first, ...more] = ranges;
  if (first === undefined) return { lo: beginningOfTime, hi: endOfTime };
  return more.reduce(
    (outer, range) => ({
      lo: compareMoments(range.lo, outer.lo) < 0 ? range.lo : outer.lo,
      hi: compareMoments(range.hi, outer.hi) > 0 ? range.hi : outer.hi,
    }),
    first,
  );
}
