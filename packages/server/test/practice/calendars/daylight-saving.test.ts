/**
 * Rules and slots around every change of the clocks of 2026 and 2027, in five zones and one without: the engine and
 * PostgreSQL both say what stands in daylight-saving-golden.ts.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { listOffsetPeriods } from '../../../src/base/time-zone.ts';
import type { Calendar } from '../../../src/practice/calendars/calendar.ts';
import { parseCalendar } from '../../../src/practice/calendars/parse-calendar.ts';
import { deriveSlot, deriveSlots, type OfferedSlot } from '../../../src/practice/calendars/slots/slots.ts';
import { formatInstant, listInstants } from '../../../src/practice/calendars/zone.ts';
import { openTestDatabase } from '../../support/database.ts';
import { openRequestBudget } from '../../support/request-budget.ts';
import { type GoldenRow, golden } from './daylight-saving-golden.ts';
import {
  changesByDefinition,
  type DailyRule,
  hoursAfter,
  hoursBefore,
  type RuleName,
  rules,
  startsByDefinition,
} from './daylight-saving-rules.ts';

const { owner } = await openTestDatabase({ after });
const hourMs = 3_600_000;
const ruleNames: readonly RuleName[] = ['A', 'B', 'C', 'D', 'E'];
const zones = [...new Set(golden.map(({ zone }) => zone))];
const withoutChanges = 'Asia/Kolkata';

function calendarOf({ from, to, minutes, step }: DailyRule): Calendar {
  const content = parseCalendar({
    practitioner: '12',
    location: '3',
    appointmentTypes: [{ code: 'VISIT', minutes, bufferBeforeMinutes: 5, bufferAfterMinutes: 10 }],
    weekly: [{ days: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'], from, to, stepMinutes: step }],
  });
  return { ...content, firm: 1, number: 7, version: 1 };
}

function slotsAround({ zone, at }: Pick<GoldenRow, 'zone' | 'at'>, rule: DailyRule): readonly OfferedSlot[] {
  const range = { fromMs: Date.parse(at) - hoursBefore * hourMs, toMs: Date.parse(at) + hoursAfter * hourMs };
  return [...deriveSlots(calendarOf(rule), zone, [], range, openRequestBudget())];
}

function startsText(slots: readonly OfferedSlot[]): string {
  return slots.map(({ startMs }) => new Date(startMs).toISOString().slice(11, 16)).join(' ');
}

test('the rows are about all changes there are, of five zones and none', async () => {
  assert.equal(zones.length, 6);
  for (const zone of zones) {
    const rows = golden.filter((row) => row.zone === zone).map(({ at }) => at);
    const changes = zone === withoutChanges ? [] : rows;
    assert.deepEqual(await changesByDefinition(owner, zone), changes, zone);
    const periods = listOffsetPeriods(zone, Date.UTC(2026, 0, 1), Date.UTC(2028, 0, 1));
    assert.deepEqual(
      periods.slice(1).map(({ fromMs }) => `${new Date(fromMs).toISOString().slice(0, 16)}Z`),
      changes,
      zone,
    );
    assert.equal(changes.length, zone === withoutChanges ? 0 : 4, zone);
  }
});

for (const row of golden) {
  test(`${row.zone} around ${row.at}`, async () => {
    for (const name of ruleNames) {
      assert.equal(startsText(slotsAround(row, rules[name])), row[name], `engine, rule ${name}`);
      assert.equal(await startsByDefinition(owner, row.zone, row.at, rules[name]), row[name], `database, rule ${name}`);
    }
  });
}

test('each slot lasts as long as it says, is told in the offset of its moment, and is found by its id', () => {
  for (const row of golden) {
    for (const name of ruleNames) {
      const rule = rules[name];
      for (const slot of slotsAround(row, rule)) {
        assert.equal(slot.endMs - slot.startMs, rule.minutes * 60_000);
        assert.deepEqual(slot.occupied, { startMs: slot.startMs - 300_000, endMs: slot.endMs + 600_000 });
        assert.equal(Date.parse(formatInstant(row.zone, slot.startMs)), slot.startMs);
        assert.equal(Date.parse(formatInstant(row.zone, slot.endMs)), slot.endMs);
        const calendar = calendarOf(rule);
        assert.equal(deriveSlot(calendar, row.zone, [], slot.id)?.startMs, slot.startMs);
        assert.equal(deriveSlot(calendar, row.zone, [], { type: 'VISIT', startMs: slot.startMs })?.id, slot.id);
      }
    }
  }
});

/** Readings of the wall clock in the hour that is missing, in the one that is doubled, and at their ends. */
const readings: readonly (readonly [zone: string, reading: string, instants: readonly string[]])[] = [
  ['Europe/Berlin', '2026-03-29T01:59', ['2026-03-29T00:59']],
  ['Europe/Berlin', '2026-03-29T02:00', []],
  ['Europe/Berlin', '2026-03-29T02:30', []],
  ['Europe/Berlin', '2026-03-29T03:00', ['2026-03-29T01:00']],
  ['Europe/Berlin', '2026-10-25T01:59', ['2026-10-24T23:59']],
  ['Europe/Berlin', '2026-10-25T02:00', ['2026-10-25T00:00', '2026-10-25T01:00']],
  ['Europe/Berlin', '2026-10-25T02:59', ['2026-10-25T00:59', '2026-10-25T01:59']],
  ['Europe/Berlin', '2026-10-25T03:00', ['2026-10-25T02:00']],
  ['America/New_York', '2027-03-14T02:30', []],
  ['America/New_York', '2027-11-07T01:30', ['2027-11-07T05:30', '2027-11-07T06:30']],
  ['America/Santiago', '2026-09-06T00:30', []],
  ['America/Santiago', '2026-04-04T23:30', ['2026-04-05T02:30', '2026-04-05T03:30']],
  ['America/Santiago', '2026-04-05T00:00', ['2026-04-05T04:00']],
  ['Australia/Lord_Howe', '2026-10-04T02:15', []],
  ['Australia/Lord_Howe', '2026-04-05T01:45', ['2026-04-04T14:45', '2026-04-04T15:15']],
  ['Australia/Lord_Howe', '2026-04-05T01:29', ['2026-04-04T14:29']],
  ['Pacific/Chatham', '2026-04-05T03:00', ['2026-04-04T13:15', '2026-04-04T14:15']],
  ['Pacific/Chatham', '2026-09-27T03:00', []],
  ['Pacific/Chatham', '2026-09-27T03:45', ['2026-09-26T14:00']],
  ['Asia/Kolkata', '2026-03-29T02:30', ['2026-03-28T21:00']],
  ['UTC', '2026-03-29T02:30', ['2026-03-29T02:30']],
];

for (const [zone, reading, instants] of readings) {
  test(`${zone} shows ${reading} ${instants.length} times`, () => {
    const found = listInstants(zone, Date.parse(`${reading}Z`));
    assert.deepEqual(
      found.map((ms) => new Date(ms).toISOString().slice(0, 16)),
      instants,
    );
  });
}

test('a location that changes its zone: the same rules derive the slots of the other zone, under other ids', () => {
  const [berlin, york] = ['Europe/Berlin', 'America/New_York'].map((zone) => golden.find((row) => row.zone === zone));
  assert.ok(berlin !== undefined && york !== undefined);
  const calendar = calendarOf(rules.A);
  const within = ({ at }: GoldenRow) => ({
    fromMs: Date.parse(at) - hoursBefore * hourMs,
    toMs: Date.parse(at) + hoursAfter * hourMs,
  });
  const before = [...deriveSlots(calendar, berlin.zone, [], within(york), openRequestBudget())];
  const moved = [...deriveSlots(calendar, york.zone, [], within(york), openRequestBudget())];
  assert.equal(startsText(moved), york.A);
  assert.notEqual(startsText(before), york.A);
  for (const slot of before) {
    // At instants at which both zones are open the slot is the same one; at others it is none any more.
    const still = deriveSlot(calendar, york.zone, [], slot.id);
    assert.equal(still?.startMs, moved.find(({ startMs }) => startMs === slot.startMs)?.startMs);
  }
  assert.equal(startsText([...deriveSlots(calendar, berlin.zone, [], within(berlin), openRequestBudget())]), berlin.A);
});
