/**
 * Wall-clock times of a practice as FHIR instants with the zone's offset.
 */

/** A calendar day as days since 1970-01-01. */
export type Day = number;

const dayMs = 86_400_000;

export function dayOf(ms: number): Day {
  return Math.floor(ms / dayMs);
}

/** `YYYY-MM-DD` */
export function dateText(day: Day): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}

/** 0 = Sunday … 6 = Saturday. */
export function weekday(day: Day): number {
  return (day + 4) % 7;
}

export interface Zone {
  /** The instant of `minutes` after local midnight of `day`, in ms. */
  toMs(day: Day, minutes: number): number;
  /** The same as a FHIR instant with the zone's offset, `2026-03-02T09:30:00-05:00`. */
  toText(day: Day, minutes: number): string;
}

/** Times in an IANA zone. Offsets are looked up once a day at noon: practices open after any change of clocks. */
export function openZone(timeZone: string): Zone {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  const offsets = new Map<Day, number>();
  const offsetMinutes = (day: Day): number => {
    const known = offsets.get(day);
    if (known !== undefined) return known;
    const made = readOffset(format, day);
    offsets.set(day, made);
    return made;
  };
  const toMs = (day: Day, minutes: number): number => day * dayMs + (minutes - offsetMinutes(day)) * 60_000;
  return {
    toMs,
    toText(day, minutes) {
      const local = new Date(day * dayMs + minutes * 60_000).toISOString().slice(0, 19);
      return `${local}${offsetText(offsetMinutes(day))}`;
    },
  };
}

function readOffset(format: Intl.DateTimeFormat, day: Day): number {
  const name = format.formatToParts(day * dayMs + dayMs / 2).find((part) => part.type === 'timeZoneName')?.value ?? '';
  const match = /GMT([+-])(\d\d):(\d\d)/.exec(name);
  if (!match) return 0;
  const minutes = Number(match[2]) * 60 + Number(match[3]);
  return match[1] === '-' ? -minutes : minutes;
}

function offsetText(minutes: number): string {
  const absolute = Math.abs(minutes);
  const pad = (value: number): string => String(value).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${pad(Math.floor(absolute / 60))}:${pad(absolute % 60)}`;
}

/** The UTC midnight before `ms`: the "today" of a practice, the same all day. */
export function dayStartMs(ms: number): number {
  return dayOf(ms) * dayMs;
}
