/**
 * The id of a slot: a UUID of version 8 (https://www.rfc-editor.org/rfc/rfc9562#section-5.8) that is computed from what the
 * slot is and can be read back without storage, so that the same slot has the same id for ever (docs/decisions/0180).
 *
 *     28 bits number of the calendar · 28 bits start in minutes since 2000-01-01T00:00Z · 20 bits of SHA-256 of the
 *     appointment type's code · 46 bits of SHA-256 of firm, calendar and code
 */
import { hash } from 'node:crypto';
import { minuteMs } from '../zone.ts';

/** What an id says by itself; whether there is such a slot only the calendar can tell. */
export interface SlotKey {
  /** Number of the calendar in its firm. */
  readonly calendar: number;
  readonly startMs: number;
}

/** Largest number of a calendar. */
export const calendarNumberMax = 2 ** 28 - 1;

const originMs = Date.UTC(2000, 0, 1);

/** Slots start from the first of these moments up to but without the second: an id holds no other start. */
export const slotStarts = { fromMs: originMs, toMs: originMs + 2 ** 28 * minuteMs } as const;

const pattern = /^([0-9a-f]{8})-([0-9a-f]{4})-8([0-9a-f]{3})-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Ids of the slots of one type in one calendar, by their start in whole minutes. */
export type SlotIds = (startMs: number) => string;

export function makeSlotIds(firm: number, calendar: number, code: string): SlotIds {
  const type = computeTypeDigits(code);
  const rest = hash('sha256', `${firm} ${calendar} ${code}`);
  const variant = (8 + (Number.parseInt(rest.slice(0, 1), 16) & 3)).toString(16);
  const number = calendar.toString(16).padStart(7, '0');
  return (startMs) => {
    const start = ((startMs - originMs) / minuteMs).toString(16).padStart(7, '0');
    const head = `${number}${start}${type}`; // 19 of the 30 digits that are neither version nor variant
    return `${head.slice(0, 8)}-${head.slice(8, 12)}-8${head.slice(12, 15)}-${variant}${head.slice(15, 18)}-${head.slice(18)}${rest.slice(1, 12)}`;
  };
}

/** Five hexadecimal digits for the code of an appointment type, different for each type of a calendar. */
export function computeTypeDigits(code: string): string {
  return hash('sha256', code).slice(0, 5);
}

/** What the id says; undefined for what is not the id of a slot of any calendar. */
export function readSlotId(id: string): SlotKey | undefined {
  const [, first, second, third] = pattern.exec(id) ?? [];
  if (first === undefined || second === undefined || third === undefined) return undefined;
  const head = `${first}${second}${third}`;
  const calendar = Number.parseInt(head.slice(0, 7), 16);
  const startMs = originMs + Number.parseInt(head.slice(7, 14), 16) * minuteMs;
  return calendar === 0 ? undefined : { calendar, startMs };
}
