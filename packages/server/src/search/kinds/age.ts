/**
 * `age` of Patient: whole years from the birth date to today in the firm's time zone; who has died has none.
 * https://hl7.org/fhir/R4/patient.html#search
 */

import { toLocalDate } from '../../base/time-zone.ts';
import { buildManyValuesSearch } from '../../base/worst-case.ts';
import { type Sql, sql } from '../../database/sql.ts';
import { computeParameterNumber } from '../numbers.ts';
import { refuseValue, unescapeValue } from '../query/search-values.ts';
import { buildDateCondition } from './date.ts';
import { type Microseconds, parseDate, toDateRange } from './date-range.ts';
import { type SearchKind, selectivities, type Test, type ValueContext } from './kind.ts';
import { type Prefix, prefixes, splitPrefix } from './prefixes.ts';

export const age: SearchKind = {
  worstCase: {
    because: 'as many ranges as one parameter takes, none of which is narrow',
    request: () => buildManyValuesSearch('Patient', 'age', (n) => `ne${n % 120}`),
  },
  table: 'date',
  whole: true,
  modifiers: () => [],
  reading: ({ type }, modifier) =>
    modifier === '' ? { table: 'date', number: computeParameterNumber(type, 'birthdate'), parse: parseAge } : undefined,
  index: () => undefined,
};

/** The older, the earlier born. */
const ofBirth: Readonly<Record<Prefix, Prefix>> = {
  eq: 'eq',
  ne: 'ne',
  gt: 'eb',
  sa: 'eb',
  lt: 'sa',
  eb: 'sa',
  ge: 'le',
  le: 'ge',
  ap: 'ap',
};

function parseAge(text: string, context: ValueContext): Test {
  const { prefix, rest } = splitPrefix(unescapeValue(text, context.name), context.name);
  if (!/^\d{1,3}$/.test(rest)) {
    refuseValue(context.name, `takes an age in whole years, after one of ${prefixes.join(', ')} or none`);
  }
  const years = Number(rest);
  const tenth = prefix === 'ap' ? Math.round(years / 10) : 0;
  const youngest = Math.max(0, years - tenth);
  const born = { lo: endDayYearsAgo(years + tenth + 1, context), hi: endDayYearsAgo(youngest, context) };
  const condition = buildDateCondition(ofBirth[prefix], born, false);
  return {
    where: living(condition.where, context),
    ...(condition.branches && { branches: condition.branches.map((branch) => living(branch, context)) }),
    order: 'value',
    selectivity: selectivities.most,
  };
}

/** When the day ended that was so many years before today. */
function endDayYearsAgo(years: number, { nowMs, timeZone }: ValueContext): Microseconds {
  const [year = 0, month = 1, day = 1] = toLocalDate(timeZone, nowMs);
  const text = (ofMonth: number): string =>
    [String(year - years).padStart(4, '0'), String(month).padStart(2, '0'), String(ofMonth).padStart(2, '0')].join('-');
  // On the 29th of February the same day of other years is the 28th.
  const parts = parseDate(text(day)) ?? parseDate(text(day - 1));
  if (parts === undefined) throw new TypeError('a day before a day of this era is one too');
  return toDateRange(parts, timeZone).hi;
}

/** Renamed columns of the inner rows leave the plain names to the row outside. */
function living(where: Sql, { parameter }: ValueContext): Sql {
  const deceased = computeParameterNumber(parameter.type, 'deceased');
  return sql`${where} AND NOT EXISTS (SELECT 1 FROM (
    SELECT firm AS dead_firm, param AS dead_param, rid AS dead_rid, code AS dead FROM index_token) x
    WHERE dead_firm = firm AND dead_param = ${deceased} AND dead_rid = rid AND dead = 'true')`;
}
