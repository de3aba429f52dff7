/**
 * Series over every change of the clocks of 2026 and 2027, in five zones and one without: the engine and PostgreSQL both say
 * what stands in daylight-saving-series-golden.ts (decision 0200).
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { toUtc } from '../../../src/base/time-zone.ts';
import { sql } from '../../../src/database/sql.ts';
import {
  computeOccurrences,
  type Frequency,
  type Recurrence,
  seriesDaysMax,
} from '../../../src/practice/booking/recurrence.ts';
import type { Calendar } from '../../../src/practice/calendars/calendar.ts';
import { parseCalendar } from '../../../src/practice/calendars/parse-calendar.ts';
import { deriveSlot } from '../../../src/practice/calendars/slots/slots.ts';
import { formatDate, listInstants } from '../../../src/practice/calendars/zone.ts';
import { openTestDatabase } from '../../support/database.ts';
import { golden } from './daylight-saving-golden.ts';
import { type SeriesRow, seriesGolden } from './daylight-saving-series-golden.ts';

const { owner } = await openTestDatabase({ after });

const localMs = (text: string): number => Date.parse(`${text}Z`);
const textOf = (ms: number): string => new Date(ms).toISOString().slice(0, 16);

function rule(frequency: Frequency, more: Partial<Recurrence> = {}): Recurrence {
  return { frequency, interval: 1, weekdays: new Set(), end: { count: 3 }, except: new Set(), ...more };
}

function byEngine([zone, frequency, first]: SeriesRow): readonly number[] {
  const found = computeOccurrences(zone, toUtc(zone, localMs(first)), rule(frequency));
  return (found ?? []).map(({ startMs }) => startMs);
}

/** From the definition alone: on each day the first minute at which the clocks show the time or a later one. */
async function byDatabase([zone, frequency, first]: SeriesRow): Promise<string> {
  const unit = { daily: '1 day', weekly: '7 days', monthly: '1 month' }[frequency];
  const [row] = await owner.query<{ starts: string }>(sql`
    SELECT string_agg(to_char(s.t AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI'), ' ' ORDER BY s.t) AS starts FROM (
      SELECT (SELECT min(t) FROM generate_series((d.local - interval '26 hours') AT TIME ZONE 'UTC',
          (d.local + interval '26 hours') AT TIME ZONE 'UTC', '1 minute') t WHERE t AT TIME ZONE ${zone} >= d.local) AS t
      FROM (SELECT ${first}::timestamp + n * ${unit}::interval AS local FROM generate_series(0, 12) n) d
      WHERE ${frequency} <> 'monthly' OR extract(day FROM d.local) = extract(day FROM ${first}::timestamp)
      ORDER BY d.local LIMIT 3) s`);
  return row?.starts ?? '';
}

test('the rows are about all changes there are', () => {
  for (const { zone, at } of golden) {
    const atMs = Date.parse(at);
    const near = seriesGolden
      .filter((row) => row[0] === zone && row[1] === 'daily')
      .filter((row) => {
        const [before = 0, , later = 0] = byEngine(row);
        return before < atMs && atMs < later;
      });
    assert.equal(near.length, 3, `${zone} ${at}`);
  }
});

for (const row of seriesGolden) {
  const [zone, frequency, first, starts] = row;
  test(`${zone}, ${frequency} from ${first}`, async () => {
    assert.equal(byEngine(row).map(textOf).join(' '), starts, 'engine');
    assert.equal(await byDatabase(row), starts, 'database');
  });
}

test('the hour that does not exist and the one that comes twice are among them', () => {
  const shown = seriesGolden.flatMap(([zone, frequency, first]) =>
    frequency === 'daily' ? [listInstants(zone, localMs(first) + 86_400_000).length] : [],
  );
  const times = Object.groupBy(shown, String);
  assert.deepEqual([times['0']?.length, times['2']?.length], [10, 10]);
});

test('each occurrence stands on a slot where a calendar is open all day', () => {
  const content = parseCalendar({
    practitioner: '12',
    location: '3',
    appointmentTypes: [{ code: 'VISIT', minutes: 5 }],
    weekly: [{ days: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'], from: '00:00', to: '24:00' }],
  });
  const calendar: Calendar = { ...content, firm: 1, number: 7, version: 1 };
  for (const row of seriesGolden)
    for (const startMs of byEngine(row))
      assert.ok(deriveSlot(calendar, row[0], [], { type: 'VISIT', startMs }), row.join(' '));
});

const days = (recurrence: Recurrence, first: string): readonly string[] | undefined =>
  computeOccurrences('Europe/Berlin', toUtc('Europe/Berlin', localMs(first)), recurrence)?.map(({ day }) =>
    formatDate(day),
  );
const dayOf = (text: string): number => localMs(`${text}T00:00`) / 86_400_000;

test('the days of a rule', () => {
  const monday = '2026-11-23T09:00';
  assert.deepEqual(days(rule('daily', { interval: 3 }), monday), ['2026-11-23', '2026-11-26', '2026-11-29']);
  assert.deepEqual(days(rule('weekly', { interval: 2, weekdays: new Set([1, 5, 0]), end: { count: 5 } }), monday), [
    '2026-11-23',
    '2026-11-27',
    '2026-11-29',
    '2026-12-07',
    '2026-12-11',
  ]);
  assert.deepEqual(days(rule('weekly', { end: { until: dayOf('2026-12-07') } }), monday), [
    '2026-11-23',
    '2026-11-30',
    '2026-12-07',
  ]);
  assert.deepEqual(days(rule('monthly', { end: { count: 4 } }), '2026-12-31T09:00'), [
    '2026-12-31',
    '2027-01-31',
    '2027-03-31',
    '2027-05-31',
  ]);
  assert.deepEqual(days(rule('monthly', { interval: 12, end: { count: 2 } }), '2027-02-28T09:00'), [
    '2027-02-28',
    '2028-02-28',
  ]);
  const except = new Set([dayOf('2026-11-24'), dayOf('2026-12-24')]);
  assert.deepEqual(days(rule('daily', { except }), monday), ['2026-11-23', '2026-11-25']);
  assert.deepEqual(days(rule('weekly', { weekdays: new Set([0, 3]) }), '2026-11-29T09:00'), [
    '2026-11-29',
    '2026-12-02',
    '2026-12-06',
  ]);
});

test('a rule that goes on for too long has no days', () => {
  const last = seriesDaysMax;
  assert.equal(days(rule('daily', { interval: last, end: { count: 2 } }), '2026-11-23T09:00')?.length, 2);
  assert.equal(days(rule('daily', { interval: last + 1, end: { count: 2 } }), '2026-11-23T09:00'), undefined);
  assert.equal(days(rule('monthly', { interval: 12, end: { count: 4 } }), '2028-02-29T09:00'), undefined);
});

test('a location that changes its zone: what is booked stays, another series follows the other clock', () => {
  const [berlin, york] = ['Europe/Berlin', 'America/New_York'].map((zone) =>
    computeOccurrences(zone, toUtc(zone, localMs('2026-10-20T09:00')), rule('weekly'))?.map(({ startMs }) =>
      textOf(startMs),
    ),
  );
  assert.deepEqual(berlin, ['2026-10-20T07:00', '2026-10-27T08:00', '2026-11-03T08:00']);
  assert.deepEqual(york, ['2026-10-20T13:00', '2026-10-27T13:00', '2026-11-03T14:00']);
});
