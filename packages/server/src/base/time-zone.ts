/**
 * From the wall clock of an IANA time zone to UTC and back (https://www.iana.org/time-zones). Dates and times that FHIR
 * gives without an offset are read in the time zone of the firm; calendars are kept in that of their location. Temporal
 * knows the rules of zones. What it says of a year is remembered: a slot or a date costs a look into a list of a few changes
 * (docs/decisions/0234).
 */
import { Temporal } from 'temporal-polyfill';

const dayMs = 86_400_000;

interface Change {
  /** Milliseconds since 1970 in UTC from which the offset holds. */
  readonly fromMs: number;
  readonly offsetMs: number;
}

/** Changes of one zone by year. */
type Zone = Map<number, readonly Change[]>;

/** A period in which the clocks of a zone run evenly, from a moment up to but without another, in UTC. */
export interface OffsetPeriod {
  readonly fromMs: number;
  readonly toMs: number;
  /** What the clocks show, less UTC. */
  readonly offsetMs: number;
}

const zones = new Map<string, Zone>();

/** Whether the name is one of a time zone. */
export function isTimeZone(name: string): boolean {
  try {
    zoneOf(name);
    return true;
  } catch (cause) {
    if (cause instanceof RangeError) return false;
    throw cause;
  }
}

/**
 * Milliseconds since 1970 in UTC at which the clocks of the zone show `localMs` (the wall-clock reading counted as if
 * it were UTC). Where clocks were set back and show it twice, the first time; where they were set forward and never
 * show it, the moment of the change.
 * @throws RangeError for a name that is no time zone
 */
export function toUtc(timeZone: string, localMs: number): number {
  if (timeZone === 'UTC') return localMs;
  let offsetMs = 0;
  for (const change of changesAround(timeZone, localMs)) {
    if (localMs - offsetMs < change.fromMs) return localMs - offsetMs;
    if (localMs - change.offsetMs < change.fromMs) return change.fromMs; // the clocks jumped over this reading
    offsetMs = change.offsetMs;
  }
  return localMs - offsetMs;
}

/** Year, month (1 to 12) and day that the calendar of the zone shows at a moment in milliseconds since 1970. */
export function toLocalDate(timeZone: string, utcMs: number): readonly [year: number, month: number, day: number] {
  const local = new Date(utcMs + computeOffset(timeZone, utcMs));
  return [local.getUTCFullYear(), local.getUTCMonth() + 1, local.getUTCDate()];
}

/** What the clocks of the zone show less UTC, in milliseconds, at a moment in milliseconds since 1970. */
export function computeOffset(timeZone: string, utcMs: number): number {
  if (timeZone === 'UTC') return 0;
  return changesAround(timeZone, utcMs).findLast(({ fromMs }) => fromMs <= utcMs)?.offsetMs ?? 0;
}

/** The periods of one offset each that [fromMs, toMs) consists of, in order and without gaps; none for an empty range. */
export function listOffsetPeriods(timeZone: string, fromMs: number, toMs: number): readonly OffsetPeriod[] {
  if (fromMs >= toMs) return [];
  const periods: OffsetPeriod[] = [];
  let open = { fromMs, offsetMs: computeOffset(timeZone, fromMs) };
  for (const change of changesBetween(timeZone, fromMs, toMs)) {
    if (change.fromMs <= open.fromMs || change.fromMs >= toMs) continue;
    periods.push({ ...open, toMs: change.fromMs });
    open = change;
  }
  periods.push({ ...open, toMs });
  return periods;
}

function* changesBetween(timeZone: string, fromMs: number, toMs: number): Generator<Change> {
  if (timeZone === 'UTC') return;
  const last = new Date(toMs).getUTCFullYear();
  for (let year = new Date(fromMs).getUTCFullYear(); year <= last; year += 1)
    yield* changesAround(timeZone, startOfYear(year));
}

/** @throws RangeError for a name that is no time zone */
function zoneOf(timeZone: string): Zone {
  const known = zones.get(timeZone);
  if (known) return known;
  zonedTime(timeZone, 0);
  const zone: Zone = new Map();
  zones.set(timeZone, zone);
  return zone;
}

/** The offset at the start of the reading's year, and the changes of that year in order; remembered per year. */
function changesAround(timeZone: string, localMs: number): readonly Change[] {
  const zone = zoneOf(timeZone);
  const year = new Date(localMs).getUTCFullYear();
  const known = zone.get(year);
  if (known) return known;
  const changes = [...findChanges(timeZone, startOfYear(year) - dayMs, startOfYear(year + 1) + dayMs)];
  zone.set(year, changes);
  return changes;
}

function startOfYear(year: number): number {
  return new Date(0).setUTCFullYear(year, 0, 1);
}

function* findChanges(timeZone: string, startMs: number, endMs: number): Generator<Change> {
  const start = zonedTime(timeZone, startMs);
  yield { fromMs: Number.NEGATIVE_INFINITY, offsetMs: readOffsetMs(start) };
  for (let at = start.getTimeZoneTransition('next'); at !== null; at = at.getTimeZoneTransition('next')) {
    if (at.epochMilliseconds >= endMs) return;
    yield { fromMs: at.epochMilliseconds, offsetMs: readOffsetMs(at) };
  }
}

function zonedTime(timeZone: string, utcMs: number): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(utcMs).toZonedDateTimeISO(timeZone);
}

function readOffsetMs({ offsetNanoseconds }: Temporal.ZonedDateTime): number {
  return offsetNanoseconds / 1_000_000;
}
