/** Times of the week that somebody prefers, by the wall clock of the slot's location. */
import { type LocalPeriod, wholeDay } from '../calendars/calendar.ts';
import type { SlotRange } from '../calendars/slots/slots.ts';

export interface PreferredTimes {
  /** 0 = Sunday … 6 = Saturday; none: any. */
  readonly days: ReadonlySet<number>;
  /** The appointment begins in one of these; none: at any time. */
  readonly periods: readonly LocalPeriod[];
}

/** When slots at preferred times start, for the search that makes no others. */
export function buildPreferredStarts({ days, periods }: PreferredTimes): NonNullable<SlotRange['startsOn']> {
  const merged = merge(periods.length === 0 ? [wholeDay] : periods);
  return (weekday) => (days.size === 0 || days.has(weekday) ? merged : []);
}

/** When slots at all other times start. */
export function buildOtherStarts(preferred: PreferredTimes): NonNullable<SlotRange['startsOn']> {
  const starts = buildPreferredStarts(preferred);
  const known = new Map<number, readonly LocalPeriod[]>();
  return (weekday) => {
    const others = known.get(weekday) ?? without(starts(weekday));
    known.set(weekday, others);
    return others;
  };
}

/** In order and without overlap. */
function merge(periods: readonly LocalPeriod[]): readonly LocalPeriod[] {
  const merged: { fromMinutes: number; toMinutes: number }[] = [];
  for (const { fromMinutes, toMinutes } of periods.toSorted((a, b) => a.fromMinutes - b.fromMinutes)) {
    const last = merged.at(-1);
    if (last !== undefined && fromMinutes <= last.toMinutes) last.toMinutes = Math.max(last.toMinutes, toMinutes);
    else merged.push({ fromMinutes, toMinutes });
  }
  return merged;
}

/** The rest of the day. @param periods in order and without overlap */
function without(periods: readonly LocalPeriod[]): readonly LocalPeriod[] {
  const ends = [0, ...periods.map(({ toMinutes }) => toMinutes)];
  const begins = [...periods.map(({ fromMinutes }) => fromMinutes), wholeDay.toMinutes];
  return ends
    .map((fromMinutes, at) => ({ fromMinutes, toMinutes: begins[at] ?? fromMinutes }))
    .filter(({ fromMinutes, toMinutes }) => fromMinutes < toMinutes);
}
