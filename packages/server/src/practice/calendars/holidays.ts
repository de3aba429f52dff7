/**
 * Holidays of a firm, or of one of its locations: a JSON document of its own, so that they are kept once for all calendars.
 *
 *     { "holidays": [ { "date": "2026-11-26", "name": "Thanksgiving" }, { "yearly": "12-24", "from": "12:00", "to": "24:00" } ] }
 */
import type { Holiday } from './calendar.ts';
import { readPeriod, wholeDay } from './calendar-rules.ts';
import {
  type DocumentPlace,
  type DocumentReading,
  getMemberPlace,
  note,
  readDayAt,
  readListAt,
  readMatchAt,
  readObject,
  readTextAt,
  requireNoProblems,
} from './document.ts';
import { dayMs, formatDate } from './zone.ts';

const holidaysMax = 500;
const nameLengthMax = 120;

/**
 * The holidays that a parsed JSON document lists.
 * @throws PraxisError `input-invalid` with one issue for each element of another form, by its path
 */
export function parseHolidays(document: unknown): readonly Holiday[] {
  const reading: DocumentReading = { problems: [] };
  const place = { reading, path: '', value: document };
  const members = readObject(place, ['holidays']) ?? {};
  const holidays = readListAt(getMemberPlace(place, members, 'holidays'), { min: 0, max: holidaysMax }, readHoliday);
  requireNoProblems(reading, 'input-invalid');
  return holidays;
}

function readHoliday(place: DocumentPlace): Holiday | undefined {
  const members = readObject(place, ['date', 'yearly', 'name', 'from', 'to']);
  if (members === undefined) return undefined;
  const member = (name: string): DocumentPlace => getMemberPlace(place, members, name);
  if ((members['date'] === undefined) === (members['yearly'] === undefined))
    return note(place, place.path, 'must have either date (YYYY-MM-DD) or yearly (MM-DD)');
  const on = members['date'] === undefined ? yearly(member('yearly')) : once(member('date'));
  const name = members['name'] === undefined ? undefined : readTextAt(member('name'), nameLengthMax);
  const isWhole = members['from'] === undefined && members['to'] === undefined;
  const period = isWhole ? wholeDay : readPeriod(place, members);
  return on === undefined || period === undefined ? undefined : { on, name, ...period };
}

function once(place: DocumentPlace): Holiday['on'] | undefined {
  const day = readDayAt(place);
  return day === undefined ? undefined : { day };
}

function yearly(place: DocumentPlace): Holiday['on'] | undefined {
  const rule = 'a day MM-DD that exists, such as 12-25';
  const text = readMatchAt(place, /^\d\d-\d\d$/, rule);
  if (text === undefined) return undefined;
  const date = `2024-${text}`; // a leap year
  const ms = Date.parse(date);
  if (Number.isNaN(ms) || formatDate(ms / dayMs) !== date) return note(place, place.path, `must be ${rule}`);
  return { month: Number(text.slice(0, 2)), dayOfMonth: Number(text.slice(3)) };
}
