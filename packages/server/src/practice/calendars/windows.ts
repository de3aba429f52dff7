/**
 * When a calendar is open on one day, by the wall clock: what the weekly rules say, less holidays and closures, and the
 * extra openings, which win over both. No two windows of a day overlap.
 */
import type { Calendar, DayExceptions, Holiday, LocalPeriod, WeeklyRule } from './calendar.ts';
import { type Day, dayMs, toWeekday } from './zone.ts';

export interface Window extends LocalPeriod {
  /** Slots start at this minute of the day and every step after it, also where the window was cut since. */
  readonly gridMinutes: number;
  /** Codes of the appointment types that the window is for; undefined: all of the calendar. */
  readonly appointmentTypes: readonly string[] | undefined;
  /** How many appointments may be under way at once. */
  readonly capacity: number;
  /** Undefined: as long as the appointment type takes. */
  readonly stepMinutes: number | undefined;
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

function windowOf(rule: Omit<Window, 'gridMinutes'>): Window {
  const { fromMinutes, toMinutes, appointmentTypes, capacity, stepMinutes } = rule;
  return { fromMinutes, toMinutes, gridMinutes: fromMinutes, appointmentTypes, capacity, stepMinutes };
}

/** What is left of the window outside of the period: none, one or two windows. */
function without(window: Window, period: LocalPeriod): readonly Window[] {
  if (period.toMinutes <= window.fromMinutes || period.fromMinutes >= window.toMinutes) return [window];
  const before = { ...window, toMinutes: period.fromMinutes };
  const after = { ...window, fromMinutes: period.toMinutes };
  return [before, after].filter(({ fromMinutes, toMinutes }) => fromMinutes < toMinutes);
}
