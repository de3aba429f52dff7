/**
 * When a calendar is open on one day, by the wall clock: what the weekly rules say, less holidays and closures, and the
 * extra openings, which win over both. No two windows of a day overlap.
 */
import type { Calendar, DayExceptions, Holiday, LocalPeriod, Opening, WeeklyRule } from './calendar.ts';
import { type Day, dayMs, toWeekday } from './zone.ts';

export interface Window extends Opening {
  /** Slots start at this minute of the day and every step after it, also where the window was cut since. */
  readonly gridMinutes: number;
}

/** The windows of the day, in order. `holidays`: of the calendar's location. */
export function computeWindows(calendar: Calendar, holidays: readonly Holiday[], day: Day): readonly Window[] {
  const { closures, openings } = calendar.exceptions.get(day) ?? noExceptions;
  const shut = [...holidays.filter((holiday) => isOn(holiday, day)), ...closures, ...openings];
  const weekly = calendar.weekly.filter((rule) => isValid(rule, day)).map(windowOf);
  const left = shut.reduce<readonly Window[]>(
    (windows, period) => windows.flatMap((window) => without(window, period)),
    weekly,
  );
  return [...left, ...openings.map(windowOf)].sort((a, b) => a.fromMinutes - b.fromMinutes);
}

/** Whether the rule holds on the day. */
export function isValid({ days, validFrom, validTo }: WeeklyRule, day: Day): boolean {
  if (validFrom !== undefined && day < validFrom) return false;
  if (validTo !== undefined && day > validTo) return false;
  return days.includes(toWeekday(day));
}

const noExceptions: DayExceptions = { closures: [], openings: [] };

function isOn({ on }: Holiday, day: Day): boolean {
  if ('day' in on) return on.day === day;
  const date = new Date(day * dayMs);
  return date.getUTCMonth() + 1 === on.month && date.getUTCDate() === on.dayOfMonth;
}

function windowOf(opening: Opening): Window {
  return { ...opening, gridMinutes: opening.fromMinutes };
}

/** What is left of the window outside of the period: none, one or two windows. */
function without(window: Window, period: LocalPeriod): readonly Window[] {
  if (period.toMinutes <= window.fromMinutes || period.fromMinutes >= window.toMinutes) return [window];
  const before = { ...window, toMinutes: period.fromMinutes };
  const after = { ...window, fromMinutes: period.toMinutes };
  return [before, after].filter(({ fromMinutes, toMinutes }) => fromMinutes < toMinutes);
}
