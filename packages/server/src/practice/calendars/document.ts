/**
 * Reading a JSON document of rules: each reader gives the value, or notes the element and what it should have been. All that
 * is wrong is told at once.
 */
import { type ErrorCode, type ErrorIssue, fail } from '../../base/errors.ts';
import { type Day, dayMs, formatDate } from './zone.ts';

/** An element of a document, by its path, e.g. `weekly[2].from`. */
export interface DocumentPlace {
  /** What is wrong with the document so far. */
  readonly problems: ErrorIssue[];
  readonly path: string;
  readonly value: unknown;
}

/** How many problems an error names. */
const problemsMax = 10;

/** First and last day that a document may name: those of the slots' ids. */
const days = { first: Date.UTC(2000, 0, 1) / dayMs, last: Date.UTC(2499, 11, 31) / dayMs } as const;

/** What `read` makes of a parsed document. @throws PraxisError `input-invalid` with one issue for each problem */
export function readDocument<T>(document: unknown, read: (place: DocumentPlace) => T): T {
  const problems: ErrorIssue[] = [];
  const made = read({ problems, path: '', value: document });
  requireNoProblems(problems, 'input-invalid');
  return made;
}

/** @throws PraxisError `code` with one issue for each problem, if there are any */
export function requireNoProblems(problems: readonly ErrorIssue[], code: ErrorCode): void {
  const [first, ...more] = problems.slice(0, problemsMax);
  if (first !== undefined) fail(code, { ...first, more });
}

export function note({ problems, path }: Omit<DocumentPlace, 'value'>, rule: string): undefined {
  problems.push({ diagnostics: `${path === '' ? 'The document' : path} ${rule}`, expression: [path] });
}

/** Whether it is an object. Notes that it is none, and each member that is none of `names`. */
export function checkObject(place: DocumentPlace, names: readonly string[]): boolean {
  if (!isObject(place.value)) {
    note(place, 'must be a JSON object');
    return false;
  }
  for (const name of Object.keys(place.value).filter((each) => !names.includes(each))) {
    const shown = /^[A-Za-z]{1,40}$/.test(name) ? name : 'a member';
    note(place, `has ${shown}, which is none of ${names.join(', ')}`);
  }
  return true;
}

/** A member of an object, or of what should be one. */
export function getMemberPlace({ problems, path, value }: DocumentPlace, name: string): DocumentPlace {
  const member = isObject(value) ? value[name] : undefined;
  return { problems, path: path === '' ? name : `${path}.${name}`, value: member };
}

/** What `read` makes of a member; undefined where there is none. */
export function readGiven<T>(place: DocumentPlace, name: string, read: (member: DocumentPlace) => T): T | undefined {
  const member = getMemberPlace(place, name);
  return member.value === undefined ? undefined : read(member);
}

export interface Lengths {
  readonly min: number;
  readonly max: number;
}

/** What `read` makes of each item of a list; items that are wrong are left out, and noted by `read`. */
export function readListAt<T>(
  place: DocumentPlace,
  { min, max }: Lengths,
  read: (item: DocumentPlace) => T | undefined,
): readonly T[] {
  const { problems, path, value } = place;
  if (!Array.isArray(value) || value.length < min || value.length > max) {
    note(place, `must be a list of ${min} to ${max} items`);
    return [];
  }
  return value.flatMap((item: unknown, index) => read({ problems, path: `${path}[${index}]`, value: item }) ?? []);
}

export function readTextAt(place: DocumentPlace, lengthMax: number): string | undefined {
  const { value } = place;
  if (typeof value === 'string' && value !== '' && [...value].length <= lengthMax && !/[\p{Cc}\p{Cs}]/u.test(value))
    return value;
  return note(place, `must be a text of 1 to ${lengthMax} characters without control characters`);
}

export function readMatchAt(place: DocumentPlace, pattern: RegExp, rule: string): string | undefined {
  const { value } = place;
  return typeof value === 'string' && pattern.test(value) ? value : note(place, `must be ${rule}`);
}

export function readIntegerAt(place: DocumentPlace, { min, max }: Lengths): number | undefined {
  const { value } = place;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return value;
  return note(place, `must be a whole number from ${min} to ${max}`);
}

export function readFlagAt(place: DocumentPlace): boolean | undefined {
  return typeof place.value === 'boolean' ? place.value : note(place, 'must be true or false');
}

/** Minutes after midnight of `HH:MM`; 24:00 only where it ends something. */
export function readMinutesAt(place: DocumentPlace, end: 'from' | 'to'): number | undefined {
  const { value } = place;
  const [, hours, minutes] = typeof value === 'string' ? (/^([01]\d|2[0-3]):([0-5]\d)$/.exec(value) ?? []) : [];
  if (hours !== undefined) return Number(hours) * 60 + Number(minutes);
  if (end === 'to' && value === '24:00') return 24 * 60;
  return note(place, `must be a time of day HH:MM from 00:00 to ${end === 'to' ? '24:00' : '23:59'}`);
}

/** The day of `YYYY-MM-DD`. */
export function readDayAt(place: DocumentPlace): Day | undefined {
  const { value } = place;
  const ms = typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) ? Date.parse(value) : Number.NaN;
  const day = ms / dayMs;
  if (day >= days.first && day <= days.last && formatDate(day) === value) return day;
  const [first, last] = [days.first, days.last].map(formatDate);
  return note(place, `must be a date YYYY-MM-DD that exists, from ${first} to ${last}`);
}

/** `08:00`, `24:00` */
export function formatTimeOfDay(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
