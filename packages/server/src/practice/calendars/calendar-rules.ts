/** The weekly rules and the exceptions of a calendar's document. */
import {
  type CalendarContent,
  type DayExceptions,
  type LocalPeriod,
  type Opening,
  type WeeklyRule,
  wholeDay,
} from './calendar.ts';
import { readCode } from './calendar-types.ts';
import {
  checkObject,
  type DocumentPlace,
  formatTimeOfDay,
  getMemberPlace,
  note,
  readDayAt,
  readGiven,
  readIntegerAt,
  readListAt,
  readMinutesAt,
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

export function readRules(place: DocumentPlace): Pick<CalendarContent, 'weekly' | 'exceptions'> {
  return {
    weekly: readGiven(place, 'weekly', (at) => readListAt(at, { min: 0, max: weeklyMax }, readWeekly)) ?? [],
    exceptions: readGiven(place, 'exceptions', readExceptions) ?? new Map(),
  };
}

/** `from` and `to` of what is closed; all day without them. */
export function readClosedPeriod(place: DocumentPlace): LocalPeriod | undefined {
  const isPart = ['from', 'to'].some((name) => getMemberPlace(place, name).value !== undefined);
  return isPart ? readPeriod(place) : wholeDay;
}

function readPeriod(place: DocumentPlace): LocalPeriod | undefined {
  const fromMinutes = readMinutesAt(getMemberPlace(place, 'from'), 'from');
  const to = getMemberPlace(place, 'to');
  const toMinutes = readMinutesAt(to, 'to');
  if (fromMinutes === undefined || toMinutes === undefined) return undefined;
  if (fromMinutes < toMinutes) return { fromMinutes, toMinutes };
  const rule = `must be after from (${formatTimeOfDay(fromMinutes)}); what is open past midnight is one rule up to 24:00 and one from 00:00`;
  return note(to, rule);
}

function readWeekly(place: DocumentPlace): WeeklyRule | undefined {
  if (!checkObject(place, weeklyNames)) return undefined;
  const opening = readOpening(place);
  const days = readDays(getMemberPlace(place, 'days'));
  const validFrom = readGiven(place, 'validFrom', readDayAt);
  const validTo = readGiven(place, 'validTo', readDayAt);
  if (validFrom !== undefined && validTo !== undefined && validFrom > validTo)
    note(getMemberPlace(place, 'validTo'), 'must not be before validFrom');
  return opening && { ...opening, days, validFrom, validTo };
}

function readDays(place: DocumentPlace): readonly number[] {
  const days = readListAt(place, { min: 1, max: 7 }, (item) => {
    const index = typeof item.value === 'string' ? dayNames.indexOf(item.value) : -1;
    return index < 0 ? note(item, `must be one of ${dayNames.join(', ')}`) : index;
  });
  if (new Set(days).size < days.length) note(place, 'names a day twice');
  return days;
}

function readOpening(place: DocumentPlace): Opening | undefined {
  const period = readPeriod(place);
  const opening = {
    appointmentTypes: readGiven(place, 'appointmentTypes', (at) => readListAt(at, { min: 1, max: codesMax }, readCode)),
    capacity: readGiven(place, 'capacity', (at) => readIntegerAt(at, capacity)) ?? 1,
    stepMinutes: readGiven(place, 'stepMinutes', (at) => readIntegerAt(at, step)),
  };
  return period && { ...period, ...opening };
}

function readExceptions(place: DocumentPlace): ReadonlyMap<Day, DayExceptions> {
  const days = new Map<Day, { closures: LocalPeriod[]; openings: Opening[] }>();
  readListAt(place, { min: 0, max: exceptionsMax }, (item) => {
    if (!checkObject(item, exceptionNames)) return undefined;
    const day = readDayAt(getMemberPlace(item, 'date'));
    if (day === undefined) return undefined;
    const on = days.get(day) ?? { closures: [], openings: [] };
    days.set(day, on);
    if (getMemberPlace(item, 'closed').value === undefined) on.openings.push(...[readOpening(item) ?? []].flat());
    else on.closures.push(...[readClosure(item) ?? []].flat());
    return day;
  });
  return days;
}

function readClosure(place: DocumentPlace): LocalPeriod | undefined {
  const closed = getMemberPlace(place, 'closed');
  if (closed.value !== true) return note(closed, 'must be true; leave it out of what is open');
  for (const name of ['appointmentTypes', 'capacity', 'stepMinutes'])
    readGiven(place, name, (at) => note(at, 'has no meaning where it is closed'));
  return readClosedPeriod(place);
}
