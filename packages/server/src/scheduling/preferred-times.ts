/** Times of the week that somebody prefers, by the wall clock of the slot's location. */
import { offsetAt } from '../base/time-zone.ts';
import type { LocalPeriod } from './calendar.ts';
import type { OfferedSlot } from './free-slots.ts';
import { dayAt, dayMs, minuteMs, weekdayOf } from './zone.ts';

export interface PreferredTimes {
  /** 0 = Sunday … 6 = Saturday; none: any. */
  readonly days: ReadonlySet<number>;
  /** The appointment begins in one of these; none: at any time. */
  readonly periods: readonly LocalPeriod[];
}

export function isPreferred({ startMs, timeZone }: OfferedSlot, { days, periods }: PreferredTimes): boolean {
  if (days.size > 0 && !days.has(weekdayOf(dayAt(timeZone, startMs)))) return false;
  const local = startMs + offsetAt(timeZone, startMs);
  const minutes = Math.floor((local - Math.floor(local / dayMs) * dayMs) / minuteMs);
  return periods.length === 0 || periods.some((each) => minutes >= each.fromMinutes && minutes < each.toMinutes);
}
