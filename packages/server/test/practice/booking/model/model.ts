/**
 * A practice's calendars in memory, as simple as can be: every question is answered by looking at each five minutes. It
 * knows nothing of the service but its rules (decisions 0180, 0188, 0189), so what both say is right or both are wrong.
 */

export const minute = 60_000;
const tick = 5 * minute;
const day = 24 * 60 * minute;

export interface ModelType {
  readonly code: string;
  readonly minutes: number;
  readonly before: number;
  readonly after: number;
  /** Rooms, one of which has to be free; none: no room is needed. */
  readonly rooms: readonly string[];
}

export interface ModelWindow {
  /** 0 = Sunday … 6 = Saturday. */
  readonly weekday: number;
  readonly fromMinutes: number;
  readonly toMinutes: number;
  readonly capacity: number;
  readonly stepMinutes: number | undefined;
}

export interface ModelCalendar {
  readonly number: number;
  readonly practitioner: string;
  readonly location: string;
  readonly types: readonly ModelType[];
  readonly windows: readonly ModelWindow[];
}

export interface ModelSlot {
  readonly calendar: ModelCalendar;
  readonly type: ModelType;
  readonly startMs: number;
  readonly endMs: number;
  readonly capacity: number;
}

export interface Taken {
  readonly actor: string;
  readonly owner: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** Of a hold. */
  readonly expiresMs?: number;
}

/** Times are read in UTC: the zones of locations are tried elsewhere. */
export interface Model {
  nowMs: number;
  calendars: ModelCalendar[];
  taken: Taken[];
}

/** Slots of the day that begins at `midnight`, in the order of $find. */
export function slotsOfDay({ calendars }: Model, midnight: number): ModelSlot[] {
  const slots = calendars.flatMap((calendar) =>
    calendar.windows
      .filter(({ weekday }) => weekday === new Date(midnight).getUTCDay())
      .flatMap((window) =>
        calendar.types.flatMap((type) => {
          const found: ModelSlot[] = [];
          for (
            let at = window.fromMinutes;
            at + type.minutes <= window.toMinutes;
            at += window.stepMinutes ?? type.minutes
          ) {
            const startMs = midnight + at * minute;
            found.push({ calendar, type, startMs, endMs: startMs + type.minutes * minute, capacity: window.capacity });
          }
          return found;
        }),
      ),
  );
  return slots.sort(
    (one, other) =>
      one.startMs - other.startMs ||
      one.calendar.number - other.calendar.number ||
      (one.type.code < other.type.code ? -1 : 1),
  );
}

export function slotOf(model: Model, practitioner: string, code: string, startMs: number): ModelSlot | undefined {
  return slotsOfDay(model, midnightOf(startMs)).find(
    ({ calendar, type, startMs: start }) =>
      calendar.practitioner === practitioner && type.code === code && start === startMs,
  );
}

export function midnightOf(ms: number): number {
  return Math.floor(ms / day) * day;
}

/** Places for the slot, in the order practitioner, room; undefined: there are none. `without`: owners who give theirs up. */
export function placesFor(
  model: Model,
  slot: ModelSlot,
  without: readonly string[],
  namedRoom?: string,
): { readonly actor: string; readonly fromMs: number; readonly toMs: number }[] | undefined {
  const fromMs = slot.startMs - slot.type.before * minute;
  const toMs = slot.endMs + slot.type.after * minute;
  const rest = live(model).filter(({ owner }) => !without.includes(owner));
  const practitioner = `Practitioner/${slot.calendar.practitioner}`;
  if (isFull(rest, practitioner, fromMs, toMs, slot.capacity)) return undefined;
  const places = [{ actor: practitioner, fromMs, toMs }];
  if (slot.type.rooms.length === 0) return places;
  const wanted = namedRoom !== undefined && slot.type.rooms.includes(namedRoom) ? [namedRoom] : slot.type.rooms;
  const room = wanted.find((each) => !isFull(rest, each, fromMs, toMs, 1));
  return room === undefined ? undefined : [...places, { actor: room, fromMs, toMs }];
}

/** What is taken now: holds that have ended are not. */
export function live({ taken, nowMs }: Model): Taken[] {
  return taken.filter(({ expiresMs }) => expiresMs === undefined || expiresMs > nowMs);
}

function isFull(taken: readonly Taken[], actor: string, fromMs: number, toMs: number, capacity: number): boolean {
  for (let at = fromMs; at < toMs; at += tick) {
    const there = taken.filter((each) => each.actor === actor && each.fromMs <= at && each.toMs > at);
    if (there.length >= capacity) return true;
  }
  return false;
}

export function isFree(model: Model, slot: ModelSlot, namedRoom?: string): boolean {
  return slot.startMs > model.nowMs && placesFor(model, slot, [], namedRoom) !== undefined;
}

/** The next five free slots like this one, from its own start on. */
export function equivalents(model: Model, { calendar, type, startMs }: ModelSlot, namedRoom?: string): ModelSlot[] {
  const found: ModelSlot[] = [];
  const fromMs = Math.max(startMs, model.nowMs);
  for (let midnight = midnightOf(fromMs); midnight < fromMs + 90 * day && found.length < 5; midnight += day) {
    for (const slot of slotsOfDay(model, midnight)) {
      if (slot.calendar.number !== calendar.number || slot.type.code !== type.code) continue;
      if (slot.startMs < fromMs || slot.startMs >= fromMs + 90 * day || found.length === 5) continue;
      if (placesFor(model, slot, [], namedRoom) !== undefined) found.push(slot);
    }
  }
  return found;
}
