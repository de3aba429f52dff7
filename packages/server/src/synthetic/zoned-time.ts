/**
 * Wall-clock times of a practice as FHIR instants with the zone's offset.
 */
import { Temporal } from 'temporal-polyfill';

/** A calendar day as days since 1970-01-01. */
export type Day = number;

const dayMs = 86_400_000;

export function toDay(ms: number): Day {
  return Math.floor(ms / dayMs);
}

/** `YYYY-MM-DD` */
export function formatDate(day: Day): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}

/** 0 = Sunday … 6 = Saturday. */
export function toWeekday(day: Day): number {
  return (day + 4) % 7;
}

export interface Zone {
  /** The instant of `minutes` after local midnight of `day`, in ms. */
  toMs(day: Day, minutes: number): number;
  /** The same as a FHIR instant with the zone's offset, `2026-03-02T09:30:00-05:00`. */
  toText(day: Day, minutes: number): string;
}

/** Times in an IANA zone. */
export function openZone(timeZone: string): Zone {
  const zoned = (day: Day, minutes: number): Temporal.ZonedDateTime =>
    Temporal.PlainDateTime.from(new Date(day * dayMs + minutes * 60_000).toISOString().slice(0, 19)).toZonedDateTime(
      timeZone,
    );
  return {
    toMs: (day, minutes) => zoned(day, minutes).epochMilliseconds,
    toText: (day, minutes) => zoned(day, minutes).toString({ timeZoneName: 'never', smallestUnit: 'second' }),
  };
}

/** The UTC midnight before `ms`: the "today" of a practice, the same all day. */
export function toDayStart(ms: number): number {
  return toDay(ms) * dayMs;
}
