/** Rules of one calendar that cannot all hold: each is told by its element, with what would work. */
import type { ErrorIssue } from '../../base/errors.ts';
import type { AppointmentTypeRule, CalendarContent, LocalPeriod, Opening, WeeklyRule } from './calendar.ts';
import { dayNames } from './calendar-rules.ts';
import { type DocumentPlace, formatTimeOfDay, note, requireNoProblems } from './document.ts';
import { computeTypeDigits } from './slots/slot-id.ts';
import { isValid } from './windows.ts';
import { type Day, formatDate } from './zone.ts';

type Place = Omit<DocumentPlace, 'value'>;

/** @throws PraxisError `rule-broken` with one issue for each contradiction, by the path of its element */
export function requireNoContradictions({ appointmentTypes, weekly, exceptions }: CalendarContent): void {
  const problems: ErrorIssue[] = [];
  noteEqualTypes(problems, appointmentTypes);
  for (const [index, rule] of weekly.entries()) {
    const place = { problems, path: `weekly[${index}]` };
    noteMisfits(place, rule, appointmentTypes);
    noteOverlap(place, weekly.slice(0, index), rule);
  }
  for (const [day, { openings }] of exceptions)
    for (const [index, opening] of openings.entries()) {
      const path = `exceptions on ${formatDate(day)} from ${formatTimeOfDay(opening.fromMinutes)}`;
      noteMisfits({ problems, path }, opening, appointmentTypes);
      if (openings.slice(0, index).some((other) => overlap(other, opening)))
        note({ problems, path }, 'overlaps another opening of that day: make one of them, or move one');
    }
  requireNoProblems(problems, 'rule-broken');
}

function noteEqualTypes(problems: ErrorIssue[], types: readonly AppointmentTypeRule[]): void {
  types.forEach(({ code }, index) => {
    const other = types.findIndex((each, at) => at < index && computeTypeDigits(each.code) === computeTypeDigits(code));
    if (other < 0) return;
    const rule =
      types[other]?.code === code
        ? `is that of appointmentTypes[${other}]: a calendar has each type once`
        : `cannot stand beside that of appointmentTypes[${other}], since ids of slots would be equal: choose another code`;
    note({ problems, path: `appointmentTypes[${index}].code` }, rule);
  });
}

/** Types that are unknown, named twice, or take longer than the window. */
function noteMisfits({ problems, path }: Place, opening: Opening, types: readonly AppointmentTypeRule[]): void {
  const known = types.map(({ code }) => code);
  const codes = opening.appointmentTypes ?? known;
  codes.forEach((code, index) => {
    const isNamed = opening.appointmentTypes !== undefined;
    const place = { problems, path: isNamed ? `${path}.appointmentTypes[${index}]` : path };
    const type = types.find((each) => each.code === code);
    if (type === undefined) note(place, `is no appointment type of the calendar; they are ${known.join(', ')}`);
    else if (codes.indexOf(code) < index && isNamed) note(place, 'is named twice');
    else if (type.minutes > opening.toMinutes - opening.fromMinutes)
      note(
        place,
        `has no room for ${code}: ${type.minutes} minutes do not fit into ${formatPeriod(opening)}; name the appointmentTypes that fit, or open longer`,
      );
  });
}

/** Tells of the first of the rules before with which it overlaps. */
function noteOverlap(place: Place, before: readonly WeeklyRule[], rule: WeeklyRule): void {
  for (const [index, other] of before.entries()) {
    const day = commonDay(other, rule);
    if (day === undefined) continue;
    const window = formatPeriod({
      fromMinutes: Math.max(other.fromMinutes, rule.fromMinutes),
      toMinutes: Math.min(other.toMinutes, rule.toMinutes),
    });
    const cure = 'let one end where the other begins, or give them days or periods apart';
    return note(place, `overlaps weekly[${index}] on ${dayNames[day]} ${window}: ${cure}`);
  }
}

function formatPeriod({ fromMinutes, toMinutes }: LocalPeriod): string {
  return `${formatTimeOfDay(fromMinutes)}-${formatTimeOfDay(toMinutes)}`;
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
