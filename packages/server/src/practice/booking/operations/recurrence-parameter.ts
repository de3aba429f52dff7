/** The part `recurrence` of $book, declared and read. */

import { readIntegerInput, readTextInput, readTextInputs } from '../../../operations/input.ts';
import { declareInput, type OperationInput, type OperationParameter } from '../../../operations/operation.ts';
import { refuseParameter } from '../../../operations/parameter-problem.ts';
import { dayNames } from '../../calendars/calendar-rules.ts';
import { type Day, dayMs, formatDate, toLocalDay, toWeekday } from '../../calendars/zone.ts';
import {
  computeOccurrences,
  type Frequency,
  frequencies,
  type Occurrence,
  type Recurrence,
  seriesDaysMax,
} from '../recurrence.ts';

/** Appointments of one series, at most. */
export const occurrencesMax = 104;

/** Days, weeks or months from one to the next, at most. */
const intervalMax = 99;

/** What happens to all when one of them cannot be booked. */
const onTaken = ['refuse', 'skip'] as const;

export const recurrenceParameter: OperationParameter = {
  name: 'recurrence',
  use: 'in',
  min: 0,
  max: 1,
  documentation: `Makes a series: the slot is the first of up to ${occurrencesMax}, the others are at the same time by the clock of the location.`,
  parts: [
    declareInput('frequency', 'code', `${frequencies.join(', ')}.`, { min: 1 }),
    declareInput(
      'interval',
      'positiveInt',
      'The number of days, weeks or months between appointments. The default is 1.',
    ),
    declareInput(
      'weekday',
      'code',
      `Of a weekly series: ${dayNames.join(', ')}. That of the slot if absent, else it is one of them.`,
      { max: '*' },
    ),
    declareInput('count', 'positiveInt', 'The number of appointments, including omitted ones. Use count or until.'),
    declareInput('until', 'date', 'The last possible day.'),
    declareInput('except', 'date', 'Days to omit.', { max: '*' }),
    declareInput(
      'taken',
      'code',
      'What to do if one cannot be booked: refuse all (the default), or skip it. The response lists skipped ones.',
    ),
  ],
};

export interface SeriesParameters {
  readonly recurrence: Recurrence;
  /** Whether the others are booked where one cannot be. */
  readonly skips: boolean;
}

/** undefined: no series is wanted. @throws PraxisError `operation-parameter-invalid` */
export function readRecurrence(input: OperationInput): SeriesParameters | undefined {
  const [value] = input.get('recurrence') ?? [];
  if (value === undefined) return undefined;
  const { parts } = value;
  const frequency = oneOf<Frequency>('frequency', readTextInput(parts, 'frequency') ?? '', frequencies);
  const interval = readIntegerInput(parts, 'interval') ?? 1;
  if (interval > intervalMax) refuse('interval', `takes an integer from 1 to ${intervalMax}`);
  const weekdays = new Set(readTextInputs(parts, 'weekday').map(weekdayNumber));
  if (weekdays.size > 0 && frequency !== 'weekly') refuse('weekday', 'is for a weekly series: leave it out');
  const except = new Set(readTextInputs(parts, 'except').map((text) => dayOf('except', text)));
  const taken = oneOf('taken', readTextInput(parts, 'taken') ?? 'refuse', onTaken);
  return { recurrence: { frequency, interval, weekdays, end: endOf(parts), except }, skips: taken === 'skip' };
}

/**
 * The occurrences of the series that begins at `firstMs`.
 * @throws PraxisError `operation-parameter-invalid`
 */
export function requireOccurrences(
  timeZone: string,
  firstMs: number,
  { recurrence }: SeriesParameters,
): readonly Occurrence[] {
  const first = toLocalDay(timeZone, firstMs);
  const { weekdays, except, end } = recurrence;
  if (weekdays.size > 0 && !weekdays.has(toWeekday(first)))
    refuse('weekday', `leaves out that of the slot, which is the first: add ${dayNames[toWeekday(first)]}`);
  if (except.has(first))
    refuse('except', `leaves out ${formatDate(first)}, the day of the slot: begin with another slot`);
  if ('until' in end && end.until < first) refuse('until', `is before ${formatDate(first)}, the day of the slot`);
  const found = computeOccurrences(timeZone, firstMs, recurrence);
  if (found === undefined)
    return refuse(
      'count' in end ? 'count' : 'until',
      `ends more than ${seriesDaysMax} days after the first: begin another series then`,
    );
  if (found.length > occurrencesMax)
    refuse('until', `makes ${found.length} appointments: a series has ${occurrencesMax} at most`);
  return found;
}

function endOf(parts: OperationInput): Recurrence['end'] {
  const count = readIntegerInput(parts, 'count');
  const until = readTextInput(parts, 'until');
  if ((count === undefined) === (until === undefined))
    return refuse('count', 'or recurrence.until says how long it goes on: give one of both');
  if (until !== undefined) return { until: dayOf('until', until) };
  if (count !== undefined && count <= occurrencesMax) return { count };
  return refuse('count', `takes an integer from 1 to ${occurrencesMax}`);
}

function dayOf(name: string, text: string): Day {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) refuse(name, 'takes a whole day, such as 2026-12-24');
  return Date.parse(`${text}T00:00:00Z`) / dayMs;
}

function weekdayNumber(text: string): number {
  return dayNames.indexOf(oneOf('weekday', text, dayNames));
}

function oneOf<T extends string>(name: string, text: string, allowed: readonly T[]): T {
  return allowed.find((each) => each === text) ?? refuse(name, `takes ${allowed.join(', ')}`);
}

function refuse(name: string, problem: string): never {
  return refuseParameter(`recurrence.${name}`, problem);
}
