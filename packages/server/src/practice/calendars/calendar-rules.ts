/** The weekly rules and the exceptions of a calendar's document. */
import type { CalendarContent, DayExceptions, LocalPeriod, Opening, WeeklyRule } from './calendar.ts';
import { readCode } from './calendar-types.ts';
import {
  type DocumentPlace,
  formatTimeOfDay,
  getMemberPlace,
  type Members,
  note,
  readDayAt,
  readIntegerAt,
  readListAt,
  readMinutesAt,
  readObject,
} from './document.ts';
import type { Day } from './zone.ts';

/** Limits of a document. */
const weeklyMax = 100;
const exceptionsMax = 1000;
const codesMax = 50;
const capacity = { min: 1, max: 50 } as const;
const step = { min: 5, max: 1440 } as const;

export const dayNames: readonly string[] = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const openingNames = ['from', 'to', 'appointmentTypes', 'capacity', 'stepMinutes'];
const weeklyNames = ['days', 'validFrom', 'validTo', ...openingNames];
const exceptionNames = ['date', 'closed', ...openingNames];

export function readRules(
  weekly: DocumentPlace,
  exceptions: DocumentPlace,
): Pick<CalendarContent, 'weekly' | 'exceptions'> {
  return {
    weekly: weekly.value === undefined ? [] : readListAt(weekly, { min: 0, max: weeklyMax }, readWeekly),
    exceptions: exceptions.value === undefined ? new Map() : readExceptions(exceptions),
  };
}

/** `from` and `to` of a document's element. */
export function readPeriod(place: DocumentPlace, members: Members): LocalPeriod | undefined {
  const fromMinutes = readMinutesAt(getMemberPlace(place, members, 'from'), 'from');
  const toMinutes = readMinutesAt(getMemberPlace(place, members, 'to'), 'to');
  if (fromMinutes === undefined || toMinutes === undefined) return undefined;
  if (fromMinutes < toMinutes) return { fromMinutes, toMinutes };
  const rule = `must be after from (${formatTimeOfDay(fromMinutes)}); what is open past midnight is one rule up to 24:00 and one from 00:00`;
  return note(place, getMemberPlace(place, members, 'to').path, rule);
}

/** The whole day, for what is closed without `from` and `to`. */
export const wholeDay: LocalPeriod = { fromMinutes: 0, toMinutes: 24 * 60 };

function readWeekly(place: DocumentPlace): WeeklyRule | undefined {
  const members = readObject(place, weeklyNames);
  if (members === undefined) return undefined;
  const opening = readOpening(place, members);
  const days = readDays(getMemberPlace(place, members, 'days'));
  const validFrom = optionalDay(place, members, 'validFrom');
  const validTo = optionalDay(place, members, 'validTo');
  if (validFrom !== undefined && validTo !== undefined && validFrom > validTo)
    note(place, getMemberPlace(place, members, 'validTo').path, 'must not be before validFrom');
  return opening === undefined ? undefined : { ...opening, days, validFrom, validTo };
}

function readDays(place: DocumentPlace): readonly number[] {
  const days = readListAt(place, { min: 1, max: 7 }, (item) => {
    const index = typeof item.value === 'string' ? dayNames.indexOf(item.value) : -1;
    return index < 0 ? note(item, item.path, `must be one of ${dayNames.join(', ')}`) : index;
  });
  if (new Set(days).size < days.length) note(place, place.path, 'names a day twice');
  return days;
}

function optionalDay(place: DocumentPlace, members: Members, name: string): Day | undefined {
  return members[name] === undefined ? undefined : readDayAt(getMemberPlace(place, members, name));
}

function readOpening(place: DocumentPlace, members: Members): Opening | undefined {
  const period = readPeriod(place, members);
  const member = (name: string): DocumentPlace => getMemberPlace(place, members, name);
  const { appointmentTypes: types, capacity: places, stepMinutes } = members;
  const opening = {
    appointmentTypes:
      types === undefined ? undefined : readListAt(member('appointmentTypes'), { min: 1, max: codesMax }, readCode),
    capacity: places === undefined ? 1 : (readIntegerAt(member('capacity'), capacity) ?? 1),
    stepMinutes: stepMinutes === undefined ? undefined : readIntegerAt(member('stepMinutes'), step),
  };
  return period === undefined ? undefined : { ...period, ...opening };
}

function readExceptions(place: DocumentPlace): ReadonlyMap<Day, DayExceptions> {
  const days = new Map<Day, { closures: LocalPeriod[]; openings: Opening[] }>();
  readListAt(place, { min: 0, max: exceptionsMax }, (item) => {
    const members = readObject(item, exceptionNames);
    if (members === undefined) return undefined;
    const day = readDayAt(getMemberPlace(item, members, 'date'));
    if (day === undefined) return undefined;
    const on = days.get(day) ?? { closures: [], openings: [] };
    days.set(day, on);
    if (members['closed'] === undefined) on.openings.push(...present(readOpening(item, members)));
    else on.closures.push(...present(readClosure(item, members)));
    return day;
  });
  return days;
}

function present<T>(value: T | undefined): readonly T[] {
  return value === undefined ? [] : [value];
}

function readClosure(place: DocumentPlace, members: Members): LocalPeriod | undefined {
  if (members['closed'] !== true)
    return note(place, getMemberPlace(place, members, 'closed').path, 'must be true; leave it out of what is open');
  for (const name of ['appointmentTypes', 'capacity', 'stepMinutes'])
    if (members[name] !== undefined)
      note(place, getMemberPlace(place, members, name).path, 'has no meaning where it is closed');
  if (members['from'] === undefined && members['to'] === undefined) return wholeDay;
  return readPeriod(place, members);
}
