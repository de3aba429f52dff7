/**
 * Dates and times as ranges of time: https://hl7.org/fhir/R4/search.html#date. Every value of date, dateTime and
 * instant means all the time that its precision leaves open, as microseconds since 1970 in UTC, half-open: [lo, hi).
 */
import { toUtc } from '../../base/time-zone.ts';

/** Microseconds; a number where it is exact (years 1685 to 2255), else decimal text. */
export type Microseconds = number | string;

export interface DateRange {
  readonly lo: Microseconds;
  readonly hi: Microseconds;
}

/** Ends of ranges that are open: before and after every date. */
export const beginningOfTime = '-4611686018427387904';
export const endOfTime = '4611686018427387904';

/** By the first part that a text lacks. */
const precisions = ['year', 'month', 'day', 'minute', 'second'] as const;

/** A date text taken apart; months count from 0. */
export interface DateParts {
  readonly precision: (typeof precisions)[number] | 'fraction';
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** Microseconds within the second, and how many of them the written digits leave open. */
  readonly microsecond: number;
  readonly openMicroseconds: number;
  /** Minutes east of UTC; absent where the text has none. */
  readonly offsetMinutes: number | undefined;
}

const datePattern = /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(Z|[+-]\d\d:\d\d)?)?)?)?$/;
const microsPerMs = 1000;
const fractionDigits = 6;

/** The parts of a date, dateTime or instant of any precision; undefined when the text is none or names no real day. */
export function parseDate(text: string): DateParts | undefined {
  const match = datePattern.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour, minute, second, fraction, offset] = match;
  const parts: DateParts = {
    precision: precisions[[month, day, hour, second, fraction].indexOf(undefined)] ?? 'fraction',
    year: Number(year),
    month: Number(month ?? 1) - 1,
    day: Number(day ?? 1),
    hour: Number(hour ?? 0),
    minute: Number(minute ?? 0),
    second: Number(second ?? 0),
    microsecond: Number((fraction ?? '').slice(0, fractionDigits).padEnd(fractionDigits, '0')),
    openMicroseconds: fraction === undefined ? 1_000_000 : 10 ** Math.max(0, fractionDigits - fraction.length),
    offsetMinutes: offset === undefined ? undefined : offsetMinutes(offset),
  };
  return isReal(parts) ? parts : undefined;
}

function offsetMinutes(text: string): number {
  if (text === 'Z') return 0;
  const minutes = Number(text.slice(1, 3)) * 60 + Number(text.slice(4, 6));
  return text.startsWith('-') ? -minutes : minutes;
}

/** R4 allows a leap second (60) and offsets up to 14 hours. A month or day that is none leads into another month. */
function isReal(parts: DateParts): boolean {
  const { year, month, day, hour, minute, second, offsetMinutes: offset } = parts;
  if (year === 0) return false;
  if (hour > 23 || minute > 59 || second > 60 || Math.abs(offset ?? 0) > 14 * 60) return false;
  return new Date(wallClock(year, month, day)).getUTCMonth() === month;
}

/** The wall-clock reading, counted in milliseconds as if it were UTC. */
function wallClock(year: number, month: number, day: number): number {
  return year >= 100 ? Date.UTC(year, month, day) : new Date(0).setUTCFullYear(year, month, day);
}

/**
 * All the time that the value leaves open.
 * @param timeZone IANA time zone in which parts without an offset are read
 */
export function toDateRange(parts: DateParts, timeZone: string): DateRange {
  const { precision, year, month, day } = parts;
  const local = (atYear: number, atMonth: number, atDay: number): Microseconds =>
    toMicroseconds(toUtc(timeZone, wallClock(atYear, atMonth, atDay)), 0);
  if (precision === 'year') return { lo: local(year, 0, 1), hi: local(year + 1, 0, 1) };
  if (precision === 'month') return { lo: local(year, month, 1), hi: local(year, month + 1, 1) };
  if (precision === 'day') return { lo: local(year, month, day), hi: local(year, month, day + 1) };
  const startMs = startOf(parts, timeZone);
  if (precision === 'minute') return { lo: toMicroseconds(startMs, 0), hi: toMicroseconds(startMs + 60_000, 0) };
  const { microsecond, openMicroseconds } = parts;
  return { lo: toMicroseconds(startMs, microsecond), hi: toMicroseconds(startMs, microsecond + openMicroseconds) };
}

/** The point in time of an instant, which has no width: https://hl7.org/fhir/R4/search.html#date. */
export function toDatePoint(parts: DateParts, timeZone: string): DateRange {
  const startMs = startOf(parts, timeZone);
  return { lo: toMicroseconds(startMs, parts.microsecond), hi: toMicroseconds(startMs, parts.microsecond + 1) };
}

/** Start of the value's minute or second, in milliseconds. */
function startOf(parts: DateParts, timeZone: string): number {
  const { year, month, day, hour, minute, second, offsetMinutes: offset } = parts;
  const localMs = wallClock(year, month, day) + ((hour * 60 + minute) * 60 + second) * 1000;
  return offset === undefined ? toUtc(timeZone, localMs) : localMs - offset * 60_000;
}

/** Microseconds of a moment in milliseconds plus `micros`. */
export function toMicroseconds(ms: number, micros: number): Microseconds {
  const exact = ms * microsPerMs + micros;
  return Number.isSafeInteger(exact) ? exact : String(BigInt(ms) * BigInt(microsPerMs) + BigInt(micros));
}

/** The moment `micros` microseconds later, or earlier when negative. */
export function shiftMoment(moment: Microseconds, micros: number): Microseconds {
  if (typeof moment === 'number' && Number.isSafeInteger(moment + micros)) return moment + micros;
  return String(BigInt(moment) + BigInt(micros));
}

/** The difference b - a in microseconds, exact up to 285 years. */
export function microsecondsBetween(a: Microseconds, b: Microseconds): number {
  return Number(BigInt(b) - BigInt(a));
}

/** -1, 0 or 1: which of two moments is the earlier one. */
export function compareMoments(a: Microseconds, b: Microseconds): number {
  if (typeof a === 'number' && typeof b === 'number') return Math.sign(a - b);
  const difference = BigInt(a) - BigInt(b);
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
}
