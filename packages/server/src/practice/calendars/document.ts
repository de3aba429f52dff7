/**
 * Reading a JSON document of rules: each reader gives the value, or notes the element and what it should have been. All that
 * is wrong is told at once.
 */
import { type ErrorCode, type ErrorIssue, fail } from '../../base/errors.ts';
import { type Day, dayMs, formatDate } from './zone.ts';

/** Where one document is read: what is wrong with it so far. */
export interface DocumentReading {
  readonly problems: ErrorIssue[];
}

/** An element of a document, by its path, e.g. `weekly[2].from`. */
export interface DocumentPlace {
  readonly reading: DocumentReading;
  readonly path: string;
  readonly value: unknown;
}

export type Members = Readonly<Record<string, unknown>>;

/** How many problems an error names. */
const problemsMax = 10;

/** First and last day that a document may name: those of the slots' ids. */
const days = { first: Date.UTC(2000, 0, 1) / dayMs, last: Date.UTC(2499, 11, 31) / dayMs } as const;

/** @throws PraxisError `code` with one issue for each problem, if there are any */
export function requireNoProblems({ problems }: DocumentReading, code: ErrorCode): void {
  const [first, ...more] = problems.slice(0, problemsMax);
  if (first !== undefined) fail(code, { ...first, more });
}

export function note({ reading }: Pick<DocumentPlace, 'reading'>, path: string, rule: string): undefined {
  reading.problems.push({ diagnostics: `${path === '' ? 'The document' : path} ${rule}`, expression: [path] });
  return undefined;
}

/** The members of an object that has no others than `names`. */
export function readObject({ reading, path, value }: DocumentPlace, names: readonly string[]): Members | undefined {
  if (!isObject(value)) return note({ reading }, path, 'must be a JSON object');
  for (const name of Object.keys(value).filter((each) => !names.includes(each))) {
    const shown = /^[A-Za-z]{1,40}$/.test(name) ? name : 'a member';
    note({ reading }, path, `has ${shown}, which is none of ${names.join(', ')}`);
  }
  return value;
}

/** The member of an object as a place. */
export function getMemberPlace({ reading, path }: DocumentPlace, members: Members, name: string): DocumentPlace {
  return { reading, path: path === '' ? name : `${path}.${name}`, value: members[name] };
}

export interface Lengths {
  readonly min: number;
  readonly max: number;
}

/** What `read` makes of each item of a list; items that are wrong are left out, and noted by `read`. */
export function readListAt<T>(
  place: DocumentPlace,
  lengths: Lengths,
  read: (item: DocumentPlace) => T | undefined,
): readonly T[] {
  const { reading, path, value } = place;
  if (!Array.isArray(value) || value.length < lengths.min || value.length > lengths.max) {
    note(place, path, `must be a list of ${lengths.min} to ${lengths.max} items`);
    return [];
  }
  return value.flatMap((item: unknown, index) => {
    const made = read({ reading, path: `${path}[${index}]`, value: item });
    return made === undefined ? [] : [made];
  });
}

export function readTextAt(place: DocumentPlace, lengthMax: number): string | undefined {
  const { path, value } = place;
  if (typeof value === 'string' && value !== '' && [...value].length <= lengthMax && !/[\p{Cc}\p{Cs}]/u.test(value))
    return value;
  return note(place, path, `must be a text of 1 to ${lengthMax} characters without control characters`);
}

export function readMatchAt(place: DocumentPlace, pattern: RegExp, rule: string): string | undefined {
  const { path, value } = place;
  return typeof value === 'string' && pattern.test(value) ? value : note(place, path, `must be ${rule}`);
}

export function readIntegerAt(place: DocumentPlace, { min, max }: Lengths): number | undefined {
  const { path, value } = place;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return value;
  return note(place, path, `must be a whole number from ${min} to ${max}`);
}

export function readFlagAt(place: DocumentPlace): boolean | undefined {
  const { path, value } = place;
  return typeof value === 'boolean' ? value : note(place, path, 'must be true or false');
}

/** Minutes after midnight of `HH:MM`; 24:00 only where it ends something. */
export function readMinutesAt(place: DocumentPlace, end: 'from' | 'to'): number | undefined {
  const { path, value } = place;
  const [, hours, minutes] = typeof value === 'string' ? (/^([01]\d|2[0-3]):([0-5]\d)$/.exec(value) ?? []) : [];
  if (hours !== undefined) return Number(hours) * 60 + Number(minutes);
  if (end === 'to' && value === '24:00') return 24 * 60;
  return note(place, path, `must be a time of day HH:MM from 00:00 to ${end === 'to' ? '24:00' : '23:59'}`);
}

/** The day of `YYYY-MM-DD`. */
export function readDayAt(place: DocumentPlace): Day | undefined {
  const { path, value } = place;
  const ms = typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) ? Date.parse(value) : Number.NaN;
  const day = ms / dayMs;
  if (day >= days.first && day <= days.last && formatDate(day) === value) return day;
  return note(
    place,
    path,
    `must be a date YYYY-MM-DD that exists, from ${formatDate(days.first)} to ${formatDate(days.last)}`,
  );
}

/** `08:00`, `24:00` */
export function formatTimeOfDay(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
