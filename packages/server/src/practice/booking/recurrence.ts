/**
 * When a series takes place: days by a rule, each at the same time by the clock of the location. The rules are those of
 * iCalendar (https://www.rfc-editor.org/rfc/rfc5545#section-3.3.10) as far as a practice needs them; docs/decisions/0200
 * says where the clock is read otherwise.
 */
import { computeOffset, toUtc } from '../../base/time-zone.ts';
import { type Day, dayMs, toLocalDay, toWeekday } from '../calendars/zone.ts';

export const frequencies = ['daily', 'weekly', 'monthly'] as const;
export type Frequency = (typeof frequencies)[number];

export interface Recurrence {
  readonly frequency: Frequency;
  /** Every so many days, weeks or months. */
  readonly interval: number;
  /** Of a weekly series, 0 = Sunday … 6 = Saturday; empty: that of the first. */
  readonly weekdays: ReadonlySet<number>;
  /** Days by the rule, the first one and those left out among them; or the last day that there may be one. */
  readonly end: { readonly count: number } | { readonly until: Day };
  /** Days that are left out. */
  readonly except: ReadonlySet<Day>;
}

/** The last occurrence is this many days after the first, at most. */
export const seriesDaysMax = 731;

export interface Occurrence {
  readonly day: Day;
  readonly startMs: number;
}

/**
 * The occurrences in order, the first at `firstMs`. A time that the clocks do not show on a day is the first instant after the
 * gap; one that they show twice is the first.
 * @returns undefined where the rule goes on for longer than `seriesDaysMax`
 * @throws RangeError for a name that is no time zone
 */
export function computeOccurrences(
  timeZone: string,
  firstMs: number,
  recurrence: Recurrence,
): readonly Occurrence[] | undefined {
  const first = toLocalDay(timeZone, firstMs);
  const clockMs = firstMs + computeOffset(timeZone, firstMs) - first * dayMs;
  const days = daysOf(first, recurrence);
  return days
    ?.filter((day) => !recurrence.except.has(day))
    .map((day) => ({ day, startMs: day === first ? firstMs : toUtc(timeZone, day * dayMs + clockMs) }));
}

function daysOf(first: Day, recurrence: Recurrence): readonly Day[] | undefined {
  const { end } = recurrence;
  const days: Day[] = [];
  for (const day of ruleDays(first, recurrence)) {
    if ('until' in end ? day > end.until : days.length === end.count) return days;
    if (day > first + seriesDaysMax) return undefined;
    days.push(day);
  }
  return days;
}

/** The days of the rule from the first on, without an end. */
function* ruleDays(first: Day, { frequency, interval, weekdays }: Recurrence): Generator<Day> {
  for (let step = 0; ; step += interval) {
    if (frequency === 'daily') yield first + step;
    else if (frequency === 'weekly') yield* daysOfWeek(first, step, weekdays);
    else yield* dayOfMonth(first, step);
  }
}

/** Weeks begin on Monday. */
function* daysOfWeek(first: Day, weeks: number, weekdays: ReadonlySet<number>): Generator<Day> {
  const monday = first - ((toWeekday(first) + 6) % 7) + weeks * 7;
  const wanted = weekdays.size === 0 ? new Set([toWeekday(first)]) : weekdays;
  for (let day = Math.max(monday, first); day < monday + 7; day += 1) if (wanted.has(toWeekday(day))) yield day;
}

/** A month without the day is passed over. */
function* dayOfMonth(first: Day, months: number): Generator<Day> {
  const start = new Date(first * dayMs);
  const moved = Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + months, start.getUTCDate());
  if (new Date(moved).getUTCDate() === start.getUTCDate()) yield moved / dayMs;
}
