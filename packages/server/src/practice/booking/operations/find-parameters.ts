/** What $find is asked, read. */
import type { InteractionContext } from '../../../engine/context.ts';
import { readBooleanInput, readIntegerInput, readTextInput, readTextInputs } from '../../../operations/input.ts';
import type { OperationRequest } from '../../../operations/operation.ts';
import { refuseParameter } from '../../../operations/parameter-problem.ts';
import { parseDate, toDateRange } from '../../../search/kinds/date-range.ts';
import type { LocalPeriod } from '../../calendars/calendar.ts';
import { dayNames } from '../../calendars/calendar-rules.ts';
import type { SlotPlace } from '../../calendars/slots/free-slots.ts';
import { dayMs } from '../../calendars/zone.ts';
import type { PreferredTimes } from '../preferred-times.ts';
import { stripBaseUrl } from './parameters.ts';

/** Days that one search may span. */
export const findDaysMax = 90;

/** Slots of a page: at most, and where `_count` is not given. */
export const findCountMax = 100;
const countDefault = 20;

export interface FindParameters {
  readonly fromMs: number;
  readonly toMs: number;
  /** Codes. */
  readonly appointmentTypes: ReadonlySet<string>;
  /** Ids; none: all. */
  readonly practitioners: ReadonlySet<string>;
  readonly locations: ReadonlySet<string>;
  /** Practitioners, rooms and equipment that have to be free as well, as Type/id. */
  readonly together: readonly string[];
  readonly preferred: PreferredTimes;
  /** Whether the others follow those at preferred times. */
  readonly others: boolean;
  /** Of each calendar the first slot only. */
  readonly firstAvailable: boolean;
  readonly count: number;
  readonly after: FindPlace | undefined;
}

/** Where a page ended. */
export interface FindPlace extends SlotPlace {
  /** Whether it ended among the slots at other times than the preferred ones. */
  readonly isOther: boolean;
}

/** @throws PraxisError `operation-parameter-invalid` */
export function readFind(context: InteractionContext, { input }: OperationRequest): FindParameters {
  const nowMs = context.clock.now();
  const fromMs = momentOf(context, 'start', readTextInput(input, 'start'), 'lo') ?? nowMs;
  const toMs = momentOf(context, 'end', readTextInput(input, 'end'), 'hi') ?? fromMs + findDaysMax * dayMs;
  if (toMs <= fromMs) refuseParameter('end', 'must be after start');
  // One hour more: clocks may be set back in between.
  if (toMs - fromMs > findDaysMax * dayMs + 3_600_000)
    refuseParameter('end', `must be within ${findDaysMax} days of start`);
  const count = readIntegerInput(input, '_count') ?? countDefault;
  if (count < 1) refuseParameter('_count', `takes an integer from 1; ${findCountMax} slots at most are told on a page`);
  const cursor = readTextInput(input, '_cursor');
  return {
    fromMs: Math.max(fromMs, nowMs + 1),
    toMs,
    appointmentTypes: new Set(readTextInputs(input, 'appointment-type')),
    practitioners: idsOf(context, 'practitioner', readTextInputs(input, 'practitioner')),
    locations: idsOf(context, 'location', readTextInputs(input, 'location')),
    together: readTextInputs(input, 'with').map((text) => actorOf(context, text)),
    preferred: {
      days: new Set(readTextInputs(input, 'day').map(dayOf)),
      periods: readTextInputs(input, 'time').map(periodOf),
    },
    others: readBooleanInput(input, 'others') ?? false,
    firstAvailable: readBooleanInput(input, 'first-available') ?? false,
    count: Math.min(count, findCountMax),
    after: cursor === undefined ? undefined : readPlace(cursor),
  };
}

/** The text of a place, for links. It holds nothing but what the last slot of the page said. */
export function placeText({ startMs, calendar, type, isOther }: FindPlace): string {
  return `${isOther ? 'o' : 'p'}.${startMs}.${calendar.number}.${Buffer.from(type.code).toString('base64url')}`;
}

function readPlace(text: string): FindPlace {
  const [, kind, startMs, calendar, type] = /^([op])\.(\d{1,15})\.(\d{1,9})\.([\w-]{0,400})$/.exec(text) ?? [];
  if (type === undefined)
    return refuseParameter('_cursor', 'is not from a link of $find: follow the link next as it is');
  const code = Buffer.from(type, 'base64url').toString();
  return { isOther: kind === 'o', startMs: Number(startMs), calendar: { number: Number(calendar) }, type: { code } };
}

function momentOf(
  { scope }: InteractionContext,
  name: string,
  text: string | undefined,
  edge: 'lo' | 'hi',
): number | undefined {
  if (text === undefined) return undefined;
  // A + that was not percent-encoded arrives as a space.
  const parts = parseDate(text.replace(/ (?=\d\d:\d\d$)/, '+'));
  if (parts === undefined)
    return refuseParameter(name, 'takes a date or a time, such as 2026-03-02 or 2026-03-02T08:00:00Z');
  return Math.floor(Number(toDateRange(parts, scope.timeZone)[edge]) / 1000);
}

function idsOf(context: InteractionContext, name: string, texts: readonly string[]): ReadonlySet<string> {
  const type = name === 'practitioner' ? 'Practitioner' : 'Location';
  return new Set(texts.map((text) => stripBaseUrl(context, text).replace(new RegExp(`^${type}/`), '')));
}

function actorOf(context: InteractionContext, text: string): string {
  const local = stripBaseUrl(context, text);
  if (/^(?:Practitioner|Location|Device)\/[A-Za-z0-9\-.]{1,64}$/.test(local)) return local;
  return refuseParameter(
    'with',
    'takes references to practitioners, rooms and equipment, such as Location/31 or Device/7',
  );
}

function dayOf(text: string): number {
  const day = dayNames.indexOf(text);
  return day < 0 ? refuseParameter('day', `takes ${dayNames.join(', ')}`) : day;
}

function periodOf(text: string): LocalPeriod {
  const [, fromHour, fromMinute, toHour, toMinute] =
    /^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-4]):([0-5]\d)$/.exec(text) ?? [];
  const fromMinutes = Number(fromHour) * 60 + Number(fromMinute);
  const toMinutes = Number(toHour) * 60 + Number(toMinute);
  if (fromMinutes < toMinutes && toMinutes <= 24 * 60) return { fromMinutes, toMinutes };
  return refuseParameter('time', 'takes a period of the day by the clock of the location, such as 08:00-12:00');
}
