/** The practice that the steps are taken at: calendars as the model has them, made at the service as well. */
import type { Platform } from '../../../../src/app.ts';
import type { Random } from '../../../../src/synthetic/random.ts';
import type { Firm } from '../../../../src/tenancy/firms.ts';
import { keepCalendar } from '../../calendars/world.ts';
import type { ModelCalendar, ModelType, ModelWindow } from './model.ts';

export const practitioners = ['1', '2', '3'] as const;
export const rooms = ['Location/31', 'Location/32'] as const;

const types: readonly ModelType[] = [
  { code: 'SHORT', minutes: 15, before: 0, after: 0, rooms: [] },
  { code: 'LONG', minutes: 40, before: 5, after: 10, rooms: [] },
  { code: 'ROOM', minutes: 30, before: 0, after: 5, rooms },
];

const dayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** Windows of a random week; none overlap. */
export function randomWindows(random: Random): ModelWindow[] {
  return [1, 2, 3].flatMap((weekday) => {
    const openings: ModelWindow[] = [];
    for (let from = 8 * 60; from < 12 * 60; ) {
      const length = random.pick([90, 120, 180]);
      const toMinutes = Math.min(from + length, 13 * 60);
      const isOpen = random.chance(0.75);
      if (isOpen)
        openings.push({
          weekday,
          fromMinutes: from,
          toMinutes,
          capacity: random.pick([1, 1, 2, 3]),
          stepMinutes: random.pick([0, 15, 30]) || undefined,
        });
      from = toMinutes + random.pick([0, 0, 30]);
    }
    return openings;
  });
}

export function calendarOf(number: number, practitioner: string, windows: readonly ModelWindow[]): ModelCalendar {
  return { number, practitioner, location: '9', types, windows };
}

/** Stores the calendar as its version after `seen`. */
export async function storeCalendar(platform: Platform, firm: Firm, calendar: ModelCalendar, seen?: number) {
  const document = {
    practitioner: calendar.practitioner,
    location: calendar.location,
    appointmentTypes: calendar.types.map(({ code, minutes, before, after, rooms: anyOf }) => ({
      code,
      minutes,
      bufferBeforeMinutes: before,
      bufferAfterMinutes: after,
      ...(anyOf.length === 0 ? {} : { needs: [{ anyOf }] }),
    })),
    weekly: calendar.windows.map(({ weekday, fromMinutes, toMinutes, capacity, stepMinutes }) => ({
      days: [dayNames[weekday]],
      from: clock(fromMinutes),
      to: clock(toMinutes),
      capacity,
      ...(stepMinutes === undefined ? {} : { stepMinutes }),
    })),
  };
  return await keepCalendar(platform, firm, document, seen);
}

function clock(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
}
