/**
 * Holidays of a firm, or of one of its locations: a JSON document of its own, so that they are kept once for all calendars.
 *
 *     { "holidays": [ { "date": "2026-11-26", "name": "Thanksgiving" }, { "yearly": "12-24", "from": "12:00", "to": "24:00" } ] }
 */
import type { Holiday } from './calendar.ts';
import { readClosedPeriod } from './calendar-rules.ts';
import {
  checkObject,
  type DocumentPlace,
  getMemberPlace,
  note,
  readDayAt,
  readDocument,
  readGiven,
  readListAt,
  readMatchAt,
  readTextAt,
} from './document.ts';
import { dayMs, formatDate } from './zone.ts';

const holidaysMax = 500;
const nameLengthMax = 120;

/**
 * The holidays that a parsed JSON document lists.
 * @throws PraxisError `input-invalid` with one issue for each element of another form, by its path
 */
export function parseHolidays(document: unknown): readonly Holiday[] {
  return readDocument(document, (place) => {
    checkObject(place, ['holidays']);
    return readListAt(getMemberPlace(place, 'holidays'), { min: 0, max: holidaysMax }, readHoliday);
  });
}

function readHoliday(place: DocumentPlace): Holiday | undefined {
  if (!checkObject(place, ['date', 'yearly', 'name', 'from', 'to'])) return undefined;
  const once = getMemberPlace(place, 'date');
  const yearly = getMemberPlace(place, 'yearly');
  if ((once.value === undefined) === (yearly.value === undefined))
    return note(place, 'must have either date (YYYY-MM-DD) or yearly (MM-DD)');
  const on = once.value === undefined ? readYearly(yearly) : readOnce(once);
  const name = readGiven(place, 'name', (at) => readTextAt(at, nameLengthMax));
  const period = readClosedPeriod(place);
  return on && period && { on, name, ...period };
}

function readOnce(place: DocumentPlace): Holiday['on'] | undefined {
  const day = readDayAt(place);
  return day === undefined ? undefined : { day };
}

function readYearly(place: DocumentPlace): Holiday['on'] | undefined {
  const rule = 'a day MM-DD that exists, such as 12-25';
  const text = readMatchAt(place, /^\d\d-\d\d$/, rule);
  if (text === undefined) return undefined;
  const date = `2024-${text}`; // a leap year
  const ms = Date.parse(date);
  if (Number.isNaN(ms) || formatDate(ms / dayMs) !== date) return note(place, `must be ${rule}`);
  return { month: Number(text.slice(0, 2)), dayOfMonth: Number(text.slice(3)) };
}
