/**
 * From the wall clock of an IANA time zone to UTC and back (https://www.iana.org/time-zones). Dates and times that FHIR
 * gives without an offset are read in the time zone of the firm; calendars are kept in that of their location.
 */
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Step in which a year is searched for changes of the offset; two changes are never closer than this. */
const stepMs = 20 * dayMs;

interface Change {
  /** Milliseconds since 1970 in UTC from which the offset holds. */
  readonly fromMs: number;
  readonly offsetMs: number;
}

/** Offsets of one zone, found year by year. */
interface Zone {
  readonly offsetAt: (utcMs: number) => number;
  readonly changesOf: Map<number, readonly Change[]>;
}

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
  if (zones.has(name)) return true;
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
export function utcFromLocal(timeZone: string, localMs: number): number {
  if (timeZone === 'UTC') return localMs;
  let offsetMs = 0;
  for (const change of changesAround(zoneOf(timeZone), localMs)) {
    if (localMs - offsetMs < change.fromMs) return localMs - offsetMs;
    if (localMs - change.offsetMs < change.fromMs) return change.fromMs; // the clocks jumped over this reading
    offsetMs = change.offsetMs;
  }
  return localMs - offsetMs;
}

/** Year, month (1 to 12) and day that the calendar of the zone shows at a moment in milliseconds since 1970. */
export function localDate(timeZone: string, utcMs: number): readonly [year: number, month: number, day: number] {
  const local = new Date(utcMs + zoneOf(timeZone).offsetAt(utcMs));
  return [local.getUTCFullYear(), local.getUTCMonth() + 1, local.getUTCDate()];
}

/** What the clocks of the zone show less UTC, in milliseconds, at a moment in milliseconds since 1970. */
export function offsetAt(timeZone: string, utcMs: number): number {
  if (timeZone === 'UTC') return 0;
  return changesAround(zoneOf(timeZone), utcMs).findLast(({ fromMs }) => fromMs <= utcMs)?.offsetMs ?? 0;
}

/** The periods of one offset each that [fromMs, toMs) consists of, in order and without gaps; none for an empty range. */
export function offsetPeriods(timeZone: string, fromMs: number, toMs: number): readonly OffsetPeriod[] {
  if (fromMs >= toMs) return [];
  const periods: OffsetPeriod[] = [];
  let open = { fromMs, offsetMs: offsetAt(timeZone, fromMs) };
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
    yield* changesAround(zoneOf(timeZone), startOfYear(year));
}

function zoneOf(timeZone: string): Zone {
  const known = zones.get(timeZone);
  if (known) return known;
  const zone: Zone = { offsetAt: offsetReader(timeZone), changesOf: new Map() };
  zones.set(timeZone, zone);
  return zone;
}

/** The offset at the start of the reading's year, and the changes of that year in order; cached per year. */
function changesAround(zone: Zone, localMs: number): readonly Change[] {
  const year = new Date(localMs).getUTCFullYear();
  const known = zone.changesOf.get(year);
  if (known) return known;
  const changes = findChanges(zone, startOfYear(year) - dayMs, startOfYear(year + 1) + dayMs);
  zone.changesOf.set(year, changes);
  return changes;
}

function startOfYear(year: number): number {
  return new Date(0).setUTCFullYear(year, 0, 1);
}

function findChanges(zone: Zone, startMs: number, endMs: number): readonly Change[] {
  let offsetMs = zone.offsetAt(startMs);
  const changes: Change[] = [{ fromMs: Number.NEGATIVE_INFINITY, offsetMs }];
  for (let fromMs = startMs; fromMs < endMs; fromMs += stepMs) {
    const toMs = Math.min(fromMs + stepMs, endMs);
    const later = zone.offsetAt(toMs);
    if (later === offsetMs) continue;
    changes.push({ fromMs: momentOfChange(zone, fromMs, toMs, later), offsetMs: later });
    offsetMs = later;
  }
  return changes;
}

/** The first second, between two moments with different offsets, at which the later one holds. */
function momentOfChange(zone: Zone, beforeMs: number, afterMs: number, offsetMs: number): number {
  let low = Math.floor(beforeMs / 1000);
  let high = Math.ceil(afterMs / 1000);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (zone.offsetAt(middle * 1000) === offsetMs) high = middle;
    else low = middle;
  }
  return high * 1000;
}

function offsetReader(timeZone: string): (utcMs: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (utcMs) => {
    const part = new Map(format.formatToParts(utcMs).map(({ type, value }) => [type, value]));
    const number = (name: Intl.DateTimeFormatPartTypes): number => Number(part.get(name));
    const year = part.get('era') === 'BC' ? 1 - number('year') : number('year');
    const local = new Date(0);
    local.setUTCFullYear(year, number('month') - 1, number('day'));
    local.setUTCHours(number('hour'), number('minute'), number('second'));
    return local.getTime() - Math.floor(utcMs / 1000) * 1000;
  };
}
