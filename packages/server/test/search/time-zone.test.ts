/**
 * From wall clocks to UTC, and from date texts to ranges of time.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { toUtc } from '../../src/base/time-zone.ts';
import { type DateRange, parseDate, toDateRange } from '../../src/search/kinds/date-range.ts';

const local = (text: string): number => Date.parse(`${text}Z`);

test('wall clocks of zones, through changes of the clock', () => {
  const rows: readonly (readonly [zone: string, local: string, utc: string])[] = [
    ['UTC', '2024-07-01T12:00:00', '2024-07-01T12:00:00Z'],
    ['America/New_York', '2024-01-01T00:00:00', '2024-01-01T05:00:00Z'],
    ['America/New_York', '2024-07-01T00:00:00', '2024-07-01T04:00:00Z'],
    // Set forward from 02:00 to 03:00: what lies between is never shown.
    ['America/New_York', '2024-03-10T01:59:59', '2024-03-10T06:59:59Z'],
    ['America/New_York', '2024-03-10T02:30:00', '2024-03-10T07:00:00Z'],
    ['America/New_York', '2024-03-10T03:00:00', '2024-03-10T07:00:00Z'],
    // Set back from 02:00 to 01:00: the hour is shown twice.
    ['America/New_York', '2024-11-03T00:59:59', '2024-11-03T04:59:59Z'],
    ['America/New_York', '2024-11-03T01:30:00', '2024-11-03T05:30:00Z'],
    ['America/New_York', '2024-11-03T02:00:00', '2024-11-03T07:00:00Z'],
    ['America/Phoenix', '2024-07-01T00:00:00', '2024-07-01T07:00:00Z'],
    ['Asia/Kolkata', '2024-07-01T00:00:00', '2024-06-30T18:30:00Z'],
    ['Australia/Lord_Howe', '2024-07-01T00:00:00', '2024-06-30T13:30:00Z'],
    // Midnight itself was skipped on this day.
    ['America/Sao_Paulo', '2018-11-04T00:00:00', '2018-11-04T03:00:00Z'],
    ['Pacific/Apia', '2011-12-30T12:00:00', '2011-12-30T10:00:00Z'],
    // Summer time lasted for two weeks.
    ['America/Recife', '2000-10-07T12:00:00', '2000-10-07T15:00:00Z'],
    ['America/Recife', '2000-10-10T12:00:00', '2000-10-10T14:00:00Z'],
    ['America/Recife', '2000-10-16T12:00:00', '2000-10-16T15:00:00Z'],
    ['Europe/Berlin', '2023-12-31T23:59:59', '2023-12-31T22:59:59Z'],
    ['Europe/Berlin', '2024-01-01T00:00:00', '2023-12-31T23:00:00Z'],
  ];
  for (const [zone, shown, utc] of rows)
    assert.equal(new Date(toUtc(zone, local(shown))).toISOString(), new Date(utc).toISOString(), `${zone} ${shown}`);
});

test('every hour of a year is where the zone itself says', () => {
  for (const zone of ['America/New_York', 'Europe/London', 'Australia/Sydney', 'America/St_Johns']) {
    const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
    for (let utcMs = Date.UTC(2025, 0, 1); utcMs < Date.UTC(2026, 0, 1); utcMs += 3_600_000) {
      const shown = format.format(utcMs).replace(' ', 'T');
      const back = toUtc(zone, local(shown));
      assert.ok(back === utcMs || format.format(back).replace(' ', 'T') === shown, `${zone} ${shown}`);
    }
  }
});

test('a name that is no time zone is an error', () => {
  assert.throws(() => toUtc('Mars/Olympus', 0), RangeError);
});

const range = (text: string, zone = 'UTC'): DateRange => toDateRange(parseDate(text) ?? assert.fail(text), zone);
const micros = (text: string): number => Date.parse(text) * 1000;

test('what each precision leaves open', () => {
  assert.deepEqual(range('2000'), { lo: micros('2000-01-01T00:00:00Z'), hi: micros('2001-01-01T00:00:00Z') });
  assert.deepEqual(range('2000-04'), { lo: micros('2000-04-01T00:00:00Z'), hi: micros('2000-05-01T00:00:00Z') });
  assert.deepEqual(range('2000-12'), { lo: micros('2000-12-01T00:00:00Z'), hi: micros('2001-01-01T00:00:00Z') });
  assert.deepEqual(range('2024-02-29'), { lo: micros('2024-02-29T00:00:00Z'), hi: micros('2024-03-01T00:00:00Z') });
  assert.deepEqual(range('2013-01-14T10:00'), {
    lo: micros('2013-01-14T10:00:00Z'),
    hi: micros('2013-01-14T10:01:00Z'),
  });
  assert.deepEqual(range('2013-01-14T10:00:59Z'), {
    lo: micros('2013-01-14T10:00:59Z'),
    hi: micros('2013-01-14T10:01:00Z'),
  });
  assert.deepEqual(range('2013-01-14T10:00:00.12+01:00'), {
    lo: micros('2013-01-14T09:00:00Z') + 120_000,
    hi: micros('2013-01-14T09:00:00Z') + 130_000,
  });
  assert.deepEqual(range('2013-01-14T10:00:00.1234567Z'), {
    lo: micros('2013-01-14T10:00:00Z') + 123_456,
    hi: micros('2013-01-14T10:00:00Z') + 123_457,
  });
  assert.deepEqual(range('2016-12-31T23:59:60Z'), {
    lo: micros('2017-01-01T00:00:00Z'),
    hi: micros('2017-01-01T00:00:01Z'),
  });
  assert.deepEqual(range('0001'), { lo: '-62135596800000000', hi: '-62104060800000000' });
  // The day of the change has 23 hours.
  assert.deepEqual(range('2024-03-10', 'America/New_York'), {
    lo: micros('2024-03-10T05:00:00Z'),
    hi: micros('2024-03-11T04:00:00Z'),
  });
});
