/** Rules of one calendar that cannot all hold: each is told by its element, with what would work. */
import type { AppointmentTypeRule, CalendarContent, LocalPeriod, Opening, WeeklyRule } from './calendar.ts';
import { dayNames } from './calendar-rules.ts';
import { type DocumentReading, formatTimeOfDay, note } from './document.ts';
import { computeTypeDigits } from './slot-id.ts';
import { isValid } from './windows.ts';
import { type Day, formatDate } from './zone.ts';

export function findContradictions(
  reading: DocumentReading,
  { appointmentTypes, weekly, exceptions }: CalendarContent,
): void {
  findEqualTypes(reading, appointmentTypes);
  weekly.forEach((rule, index) => {
    findMisfits(reading, `weekly[${index}]`, rule, appointmentTypes);
    const earlier = weekly.findIndex((other, at) => at < index && commonDay(other, rule) !== undefined);
    const other = weekly[earlier];
    if (other !== undefined) noteOverlap(reading, index, earlier, other, rule);
  });
  for (const [day, { openings }] of exceptions) {
    openings.forEach((opening, index) => {
      const path = `exceptions on ${formatDate(day)} from ${formatTimeOfDay(opening.fromMinutes)}`;
      findMisfits(reading, path, opening, appointmentTypes);
      if (openings.slice(0, index).some((other) => overlap(other, opening)))
        note({ reading }, path, 'overlaps another opening of that day: make one of them, or move one');
    });
  }
}

function findEqualTypes(reading: DocumentReading, types: readonly AppointmentTypeRule[]): void {
  types.forEach(({ code }, index) => {
    const other = types.findIndex((each, at) => at < index && computeTypeDigits(each.code) === computeTypeDigits(code));
    if (other < 0) return;
    const rule =
      types[other]?.code === code
        ? `is that of appointmentTypes[${other}]: a calendar has each type once`
        : `cannot stand beside that of appointmentTypes[${other}], since ids of slots would be equal: choose another code`;
    note({ reading }, `appointmentTypes[${index}].code`, rule);
  });
}

/** Types that are unknown, named twice, or take longer than the window. */
function findMisfits(
  reading: DocumentReading,
  path: string,
  opening: Opening,
  types: readonly AppointmentTypeRule[],
): void {
  const codes = opening.appointmentTypes ?? types.map(({ code }) => code);
  const known = types.map(({ code }) => code);
  codes.forEach((code, index) => {
    const named = opening.appointmentTypes === undefined ? `${path}` : `${path}.appointmentTypes[${index}]`;
    const type = types.find((each) => each.code === code);
    if (type === undefined)
      note({ reading }, named, `is no appointment type of the calendar; they are ${known.join(', ')}`);
    else if (codes.indexOf(code) < index && opening.appointmentTypes !== undefined)
      note({ reading }, named, 'is named twice');
    else if (type.minutes > opening.toMinutes - opening.fromMinutes) noteTooLong(reading, named, opening, type);
  });
}

function noteTooLong(
  reading: DocumentReading,
  path: string,
  { fromMinutes, toMinutes }: LocalPeriod,
  type: AppointmentTypeRule,
): void {
  const window = `${formatTimeOfDay(fromMinutes)}-${formatTimeOfDay(toMinutes)}`;
  const rule = `has no room for ${type.code}: ${type.minutes} minutes do not fit into ${window}; name the appointmentTypes that fit, or open longer`;
  note({ reading }, path, rule);
}

function noteOverlap(
  reading: DocumentReading,
  index: number,
  earlier: number,
  other: WeeklyRule,
  rule: WeeklyRule,
): void {
  const day = commonDay(other, rule);
  const name = day === undefined ? '' : dayNames[day];
  const window = `${formatTimeOfDay(Math.max(other.fromMinutes, rule.fromMinutes))}-${formatTimeOfDay(Math.min(other.toMinutes, rule.toMinutes))}`;
  const cure = 'let one end where the other begins, or give them days or periods apart';
  note({ reading }, `weekly[${index}]`, `overlaps weekly[${earlier}] on ${name} ${window}: ${cure}`);
}

/** The first day of the week on which both rules are open at once; undefined: they never are. */
function commonDay(one: WeeklyRule, other: WeeklyRule): number | undefined {
  if (!overlap(one, other)) return undefined;
  return one.days.find((day) => other.days.includes(day) && bothHold(one, other, day));
}

function overlap(one: LocalPeriod, other: LocalPeriod): boolean {
  return one.fromMinutes < other.toMinutes && other.fromMinutes < one.toMinutes;
}

/** Whether there is such a day of the week in the time in which both are valid. */
function bothHold(one: WeeklyRule, other: WeeklyRule, weekday: number): boolean {
  const first: Day = Math.max(one.validFrom ?? Number.NEGATIVE_INFINITY, other.validFrom ?? Number.NEGATIVE_INFINITY);
  const last: Day = Math.min(one.validTo ?? Number.POSITIVE_INFINITY, other.validTo ?? Number.POSITIVE_INFINITY);
  if (last - first >= 6) return true;
  for (let day = first; day <= last; day += 1) if (isValid({ ...one, days: [weekday] }, day)) return true;
  return false;
}
