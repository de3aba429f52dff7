/**
 * The wall clock of a calendar's zone. Clocks that are set forward never show some readings, and clocks that are set back
 * show some twice: each reading belongs to no, one or two instants, and what is open "from 08:00 to 12:00" is open at the
 * instants at which the clocks show a time from 08:00 up to but without 12:00 (docs/decisions/0181).
 */
import { computeOffset, listOffsetPeriods } from '../../base/time-zone.ts';

/** A calendar day as days since 1970-01-01, of whichever zone. */
export type Day = number;

export const dayMs = 86_400_000;
export const minuteMs = 60_000;

/** Further from UTC than any clock is. */
const offsetMaxMs = dayMs;

/** A stretch of time within which the clocks run evenly, from a moment up to but without another, in UTC. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
  /** What the clocks show, less UTC. */
  readonly offsetMs: number;
}

/**
 * When the clocks of the zone show a reading of [fromLocalMs, toLocalMs), which are counted as if they were UTC: in order;
 * none where the clocks jump over all of it, two or more where they change within it or show a part of it twice.
 */
export function listStretches(timeZone: string, fromLocalMs: number, toLocalMs: number): readonly Stretch[] {
  return listOffsetPeriods(timeZone, fromLocalMs - offsetMaxMs, toLocalMs + offsetMaxMs).flatMap((period) => {
    const fromMs = Math.max(period.fromMs, fromLocalMs - period.offsetMs);
    const toMs = Math.min(period.toMs, toLocalMs - period.offsetMs);
    return fromMs < toMs ? [{ fromMs, toMs, offsetMs: period.offsetMs }] : [];
  });
}

/** The instants at which the clocks show the reading, in order: none, one or two. */
export function listInstants(timeZone: string, localMs: number): readonly number[] {
  return listStretches(timeZone, localMs, localMs + 1).map(({ fromMs }) => fromMs);
}

/** The day that the calendars of the zone show at an instant. */
export function toLocalDay(timeZone: string, utcMs: number): Day {
  return Math.floor((utcMs + computeOffset(timeZone, utcMs)) / dayMs);
}

/** 0 = Sunday … 6 = Saturday. */
export function toWeekday(day: Day): number {
  return (((day + 4) % 7) + 7) % 7;
}

/** `YYYY-MM-DD` */
export function formatDate(day: Day): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}

/** A FHIR instant in the zone's own time, `2026-03-02T09:30:00-05:00` (https://hl7.org/fhir/R4/datatypes.html#instant). */
export function formatInstant(timeZone: string, utcMs: number): string {
  const offsetMs = computeOffset(timeZone, utcMs);
  const minutes = Math.round(Math.abs(offsetMs) / minuteMs);
  const two = (value: number): string => String(value).padStart(2, '0');
  const local = new Date(utcMs + offsetMs).toISOString().slice(0, 19);
  return `${local}${offsetMs < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
