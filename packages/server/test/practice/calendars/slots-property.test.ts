/**
 * Whatever the rules: slots lie inside a window of their day by the wall clock, no two windows of a day overlap, ids lead back
 * to their slot and to no other, and what a range shows is what a wider one shows of it.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { PraxisError } from '../../../src/base/errors.ts';
import type { Calendar, Holiday } from '../../../src/practice/calendars/calendar.ts';
import { parseHolidays } from '../../../src/practice/calendars/holidays.ts';
import { parseCalendar } from '../../../src/practice/calendars/parse-calendar.ts';
import { deriveSlot, deriveSlots } from '../../../src/practice/calendars/slots/slots.ts';
import { computeWindows } from '../../../src/practice/calendars/windows.ts';
import { dayMs, toLocalDay } from '../../../src/practice/calendars/zone.ts';
import { openRequestBudget } from '../../support/request-budget.ts';

const hourMs = 3_600_000;
const dayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const codes = ['A', 'B', 'C'];

function clockText(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
}

/** Mostly long enough for any appointment. */
const period = fc
  .tuple(fc.integer({ min: 0, max: 138 }), fc.integer({ min: 3, max: 36 }))
  .map(([from, length]) => ({ from: clockText(from * 10), to: clockText(Math.min(from + length, 144) * 10) }));

const details = fc.record({
  capacity: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
  stepMinutes: fc.option(fc.integer({ min: 5, max: 90 }), { nil: undefined }),
  appointmentTypes: fc.option(fc.uniqueArray(fc.constantFrom(...codes), { minLength: 1 }), { nil: undefined }),
});

const joined = (...parts: readonly fc.Arbitrary<object>[]): fc.Arbitrary<object> =>
  fc.tuple(...parts).map((all) => Object.assign({}, ...all));

/** Days around the changes of clocks in the zones below. */
const date = fc.constantFrom('2026-03-08', '2026-03-29', '2026-04-04', '2026-04-05', '2026-10-25', '2026-11-01');

const documents = fc.record({
  practitioner: fc.constant('12'),
  location: fc.constant('3'),
  appointmentTypes: fc.constant(
    codes.map((code, index) => ({ code, minutes: 10 + 15 * index, bufferBeforeMinutes: 5 * index })),
  ),
  weekly: fc.array(
    joined(
      fc.record({
        days: fc.uniqueArray(fc.constantFrom(...dayNames), { minLength: 1 }),
        validFrom: fc.option(date, { nil: undefined }),
      }),
      period,
      details,
    ),
    { maxLength: 3 },
  ),
  exceptions: fc.array(
    fc.oneof(
      fc.record({ date, closed: fc.constant(true) }),
      joined(fc.record({ date, closed: fc.constant(true) }), period),
      joined(fc.record({ date }), period, details),
    ),
    { maxLength: 3 },
  ),
});

const holidayLists = fc.array(joined(fc.record({ date }), period), { maxLength: 2 });
const zones = fc.constantFrom('America/New_York', 'Europe/Berlin', 'America/Santiago', 'Australia/Lord_Howe', 'UTC');

/** Undefined: the document is refused, as most that contradict themselves are. */
function accepted<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof PraxisError) return undefined;
    throw error;
  }
}

interface Rules {
  readonly calendar: Calendar;
  readonly holidays: readonly Holiday[];
}

function rulesOf(document: object, list: readonly object[]): Rules | undefined {
  return accepted(() => ({
    calendar: { ...parseCalendar(JSON.parse(JSON.stringify(document))), firm: 5, number: 77, version: 1 },
    holidays: parseHolidays({ holidays: list }),
  }));
}

let derived = 0;

test('slots are inside the windows of their day, and are found again', () => {
  fc.assert(
    fc.property(documents, holidayLists, zones, date, (document, list, zone, at) => {
      const rules = rulesOf(document, list);
      if (rules === undefined) return;
      const { calendar, holidays } = rules;
      const range = { fromMs: Date.parse(at) - 12 * hourMs, toMs: Date.parse(at) + 36 * hourMs };
      const slots = [...deriveSlots(calendar, zone, holidays, range, openRequestBudget())];
      assert.equal(new Set(slots.map(({ id }) => id)).size, slots.length);
      for (const slot of slots) {
        derived += 1;
        requireInside(rules, zone, slot);
        assert.equal(deriveSlot(calendar, zone, holidays, slot.id)?.startMs, slot.startMs);
        assert.equal(
          deriveSlot(calendar, zone, holidays, { type: slot.type.code, startMs: slot.startMs })?.id,
          slot.id,
        );
        assert.equal(deriveSlot({ ...calendar, number: 78 }, zone, holidays, slot.id), undefined);
        assert.equal(deriveSlot({ ...calendar, firm: 6 }, zone, holidays, slot.id), undefined);
      }
      const narrow = { fromMs: range.fromMs + 7 * hourMs, toMs: range.toMs - 11 * hourMs };
      const within = slots.filter(({ startMs }) => startMs >= narrow.fromMs && startMs < narrow.toMs);
      const found = [...deriveSlots(calendar, zone, holidays, narrow, openRequestBudget())];
      assert.deepEqual(
        found.map(({ id }) => id),
        within.map(({ id }) => id),
      );
    }),
    { numRuns: 400, seed: 20_261_121 },
  );
  assert.ok(derived > 5_000, `${derived} slots`);
});

/** At every fifth minute of the slot its own window is open by the wall clock. */
function requireInside({ calendar, holidays }: Rules, zone: string, slot: ReturnType<typeof deriveSlot>): void {
  assert.ok(slot !== undefined);
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const day = toLocalDay(zone, slot.startMs);
  const clockAt = (ms: number): number => {
    const [hours = '', minutes = ''] = format.format(ms).split(':');
    return Number(hours) * 60 + Number(minutes);
  };
  const start = clockAt(slot.startMs);
  const window = computeWindows(calendar, holidays, day).find(
    ({ fromMinutes, toMinutes }) => start >= fromMinutes && start < toMinutes,
  );
  assert.ok(window !== undefined);
  assert.ok(window.appointmentTypes?.includes(slot.type.code) ?? true);
  assert.equal(window.capacity, slot.capacity);
  for (let ms = slot.startMs; ms < slot.endMs; ms += 5 * 60_000) {
    const shown = clockAt(ms);
    assert.ok(shown >= window.fromMinutes && shown < window.toMinutes, `${zone} ${new Date(ms).toISOString()}`);
  }
}

test('no two windows of a day overlap, and what is closed is in none, unless it is opened', () => {
  fc.assert(
    fc.property(documents, holidayLists, date, (document, list, at) => {
      const rules = rulesOf(document, list);
      if (rules === undefined) return;
      const day = Date.parse(at) / dayMs;
      const windows = computeWindows(rules.calendar, rules.holidays, day);
      for (const [index, window] of windows.entries()) {
        assert.ok(window.fromMinutes < window.toMinutes);
        assert.ok(window.fromMinutes >= (windows[index - 1]?.toMinutes ?? 0));
      }
      const { closures = [], openings = [] } = rules.calendar.exceptions.get(day) ?? {};
      for (const shut of closures) {
        for (const window of windows.filter((one) => !openings.some((each) => each.fromMinutes === one.fromMinutes)))
          assert.ok(window.toMinutes <= shut.fromMinutes || window.fromMinutes >= shut.toMinutes);
      }
    }),
    { numRuns: 2_000, seed: 20_261_122 },
  );
});
