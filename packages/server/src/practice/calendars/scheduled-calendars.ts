/**
 * The calendars of a firm as they are now, read from their documents. A document is parsed once: the same text says the same,
 * so nothing that is remembered can be out of date.
 */
import { parseJson } from '@praxis/fhir';
import { LRUCache } from 'lru-cache';
import { isTimeZone } from '../../base/time-zone.ts';
import type { StatementRunner } from '../../storage/statement-runner.ts';
import type { TenantScope } from '../../tenancy/scope.ts';
import type { Calendar, CalendarContent, Holiday } from './calendar.ts';
import { parseHolidays } from './holidays.ts';
import { parseCalendar } from './parse-calendar.ts';
import type { ScheduledCalendar } from './slots/free-slots.ts';
import { readCalendars, type StoredCalendars } from './store.ts';

/** Documents remembered by one process, of each kind. */
const documentsMax = 2_000;

/** @param practitioners as Practitioner/id; absent: all. In the order of their numbers, also those that are not active. */
export async function readScheduledCalendars(
  store: StatementRunner,
  scope: TenantScope,
  practitioners?: readonly string[],
): Promise<readonly ScheduledCalendar[]> {
  const ids = practitioners?.map((reference) => reference.slice(reference.indexOf('/') + 1));
  return toScheduledCalendars(scope, await readCalendars(store, scope, ids && { practitioners: ids }));
}

/** The calendars that the documents describe. */
export function toScheduledCalendars(scope: TenantScope, documents: StoredCalendars): readonly ScheduledCalendar[] {
  const holidays = new Map(documents.holidays.map(({ location, content }) => [location, holidaysOf(content)]));
  return documents.calendars.map(({ number, version, active, location, content }) => {
    const calendar: Calendar = { ...contentOf(content), active, firm: scope.firm, number, version };
    // The zone that the location names, else that of the firm: also where what it names is none.
    const named = documents.timeZones.get(location);
    const timeZone = named !== undefined && isTimeZone(named) ? named : scope.timeZone;
    return { calendar, timeZone, holidays: [...(holidays.get('') ?? []), ...(holidays.get(location) ?? [])] };
  });
}

const contentOf = remembering<CalendarContent>((text) => parseCalendar(parseJson(text)));
const holidaysOf = remembering<readonly Holiday[]>((text) => parseHolidays(parseJson(text)));

function remembering<T extends object>(parse: (text: string) => T): (text: string) => T {
  const known = new LRUCache<string, T>({ max: documentsMax, memoMethod: (text) => parse(text) });
  return (text) => known.memo(text);
}
