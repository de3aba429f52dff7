/**
 * Date search: https://hl7.org/fhir/R4/search.html#date and #prefix. The tables state what the specification's text says;
 * where it leaves "above" and "below" open, docs/decisions/0033. The firm is in America/New_York (UTC-5, in summer UTC-4).
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { checkGolden, type Golden } from './golden.ts';
import { openSearchWorld } from './world.ts';

const procedure = (id: string, performed: object) => ({
  resourceType: 'Procedure',
  id,
  status: 'completed',
  subject: { reference: 'Patient/x' },
  ...performed,
});
const at = (id: string, performedDateTime: string) => procedure(id, { performedDateTime });
const during = (id: string, performedPeriod: object) => procedure(id, { performedPeriod });

const procedures = [
  at('day', '2013-01-14'),
  at('midnight', '2013-01-14T00:00:00-05:00'),
  at('ten', '2013-01-14T10:00:00-05:00'),
  at('next-midnight', '2013-01-15T00:00:00-05:00'),
  at('month', '2013-01'),
  at('year', '2013'),
  during('from-21-jan', { start: '2013-01-21' }),
  during('from-15-mar', { start: '2013-03-15' }),
  during('to-21-jan', { end: '2013-01-21' }),
  procedure('none', {}),
  procedure('text', { performedString: 'last winter' }),
];

const prefixTable: Golden = [
  ['date=2013-01-14', ['day', 'midnight', 'ten']],
  ['date=eq2013-01-14', ['day', 'midnight', 'ten']],
  ['date=ne2013-01-14', ['next-midnight', 'month', 'year', 'from-21-jan', 'from-15-mar', 'to-21-jan']],
  // "2013-01-14 matches, because it includes the part of 14-Jan 2013 before 10am"
  ['date=lt2013-01-14T10:00-05:00', ['day', 'midnight', 'month', 'year', 'to-21-jan']],
  // "… because it includes the part of 14-Jan 2013 after 10am"
  [
    'date=gt2013-01-14T10:00-05:00',
    ['day', 'next-midnight', 'month', 'year', 'from-21-jan', 'from-15-mar', 'to-21-jan'],
  ],
  // "from 21-Jan 2013 onwards" is included, "because that period may include times after 14-Mar 2013"
  ['date=ge2013-03-14', ['year', 'from-21-jan', 'from-15-mar']],
  ['date=le2013-03-14', ['day', 'midnight', 'ten', 'next-midnight', 'month', 'year', 'from-21-jan', 'to-21-jan']],
  ['date=sa2013-03-14', ['from-15-mar']],
  ['date=eb2013-03-14', ['day', 'midnight', 'ten', 'next-midnight', 'month', 'to-21-jan']],
  // ap2013-03-14 in January 2026: a tenth of 12 years and 10 months to each side.
  [
    'date=ap2013-03-14',
    ['day', 'midnight', 'ten', 'next-midnight', 'month', 'year', 'from-21-jan', 'from-15-mar', 'to-21-jan'],
  ],
  ['date=ap2026-01-14', ['from-21-jan', 'from-15-mar']],
  ['date=gt2013-01-14', ['next-midnight', 'month', 'year', 'from-21-jan', 'from-15-mar', 'to-21-jan']],
  ['date=lt2013-01-14', ['month', 'year', 'to-21-jan']],
  [
    'date=ge2013-01-14',
    ['day', 'midnight', 'ten', 'next-midnight', 'month', 'year', 'from-21-jan', 'from-15-mar', 'to-21-jan'],
  ],
  ['date=le2013-01-14', ['day', 'midnight', 'ten', 'month', 'year', 'to-21-jan']],
  ['date=2013-01', ['day', 'midnight', 'ten', 'next-midnight', 'month']],
  ['date=2013', ['day', 'midnight', 'ten', 'next-midnight', 'month', 'year']],
  ['date=2013-01-14T10:00', ['ten']],
  ['date=2013-01-14T10:00:00', ['ten']],
  ['date=2013-01-14T10:00:00.000', []],
  ['date=2013-01-14T15:00:00Z', ['ten']],
  ['date=2013-01-14T16:00:00+01:00', ['ten']],
  // A plus sign that was not percent-encoded arrives as a space.
  ['date=2013-01-14T16:00:00 01:00', ['ten']],
  ['date=2013-01-14,2013-01-15', ['day', 'midnight', 'ten', 'next-midnight']],
  ['date=2013,2013-01', ['day', 'midnight', 'ten', 'next-midnight', 'month', 'year']],
  // "all the procedures … that occurred over a 2-year period", as two sides of a range
  ['date=ge2013-01-14&date=lt2013-01-15', ['day', 'midnight', 'ten', 'month', 'year', 'to-21-jan']],
  ['date=ge2013-02-01&date=le2013-02-28', ['year', 'from-21-jan']],
  ['date=sa2013-01-13&date=eb2013-01-16', ['day', 'midnight', 'ten', 'next-midnight']],
  ['date:missing=true', ['none', 'text']],
  [
    'date:missing=false',
    ['day', 'midnight', 'ten', 'next-midnight', 'month', 'year', 'from-21-jan', 'from-15-mar', 'to-21-jan'],
  ],
];

test('every prefix against days, times, months, years and periods with open ends', async (t) => {
  const world = await openSearchWorld(t);
  await world.load(procedures);
  await checkGolden(t, world, 'Procedure', prefixTable);
});

test('a sort by date alone orders equal beginnings by their ends', async (t) => {
  const world = await openSearchWorld(t);
  await world.load([at('year', '2013'), at('day', '2013-01-01'), at('month', '2013-01'), at('before', '2012')]);
  assert.deepEqual(await world.ids('Procedure', '_sort=date'), ['before', 'day', 'month', 'year']);
  assert.deepEqual(await world.ids('Procedure', '_sort=-date&_count=1'), ['year', 'month', 'day', 'before']);
});

const appointments = [
  ['dst-before', '2024-03-10T01:59:59-05:00'],
  ['dst-after', '2024-03-10T03:00:00-04:00'],
  ['fold-first', '2024-11-03T01:30:00-04:00'],
  ['fold-second', '2024-11-03T01:30:00-05:00'],
  ['late', '2024-06-30T23:59:59.999-04:00'],
  ['utc', '2024-07-01T02:30:00Z'],
  ['fraction', '2024-07-02T10:00:00.1234567Z'],
].map(([id, start]) => ({ resourceType: 'Appointment', id, status: 'booked', start, created: start, participant: [] }));

const zoneTable: Golden = [
  // Values without an offset are read in the firm's time zone: the 30th of June ends at 04:00 UTC.
  ['date=2024-06-30', ['late', 'utc']],
  ['date=2024-07-01', []],
  ['date=2024-06-30T22:30', ['utc']],
  ['date=2024-07-01T02:30Z', ['utc']],
  ['date=2024-03-10', ['dst-before', 'dst-after']],
  ['date=ge2024-03-10T03:00&date=lt2024-03-11', ['dst-after']],
  // A reading that clocks show twice means its first time.
  ['date=2024-11-03T01:30', ['fold-first']],
  ['date=2024-11-03', ['fold-first', 'fold-second']],
  // Fractions of 3 to 7 digits: an instant is a point, a search value with digits means what they leave open.
  ['date=2024-07-02T10:00:00Z', ['fraction']],
  ['date=2024-07-02T10:00:00.1Z', ['fraction']],
  ['date=2024-07-02T10:00:00.123Z', ['fraction']],
  ['date=2024-07-02T10:00:00.1234567Z', ['fraction']],
  ['date=2024-07-02T10:00:00.124Z', []],
  ['date=gt2024-07-02T10:00:00.123Z&date=lt2024-08', []],
  ['date=ge2024-07-02T10:00:00.123Z&date=lt2024-08', ['fraction']],
  ['date=lt2024-07-02T10:00:00.124Z&date=ge2024-07-02', ['fraction']],
  ['created=2024-07-02T10:00:00.1234567Z', ['fraction']],
  ['created=ge2024-07-02T10:00:00.0000000Z&created=le2024-07-02T10:00:00.9999999Z', ['fraction']],
];

test('time zones, changes of the clock and fractions of seconds', async (t) => {
  const world = await openSearchWorld(t);
  await world.load(appointments);
  await checkGolden(t, world, 'Appointment', zoneTable);
});

const orders = [
  { id: 'events', occurrenceTiming: { event: ['2013-02-10', '2013-03-24', '2013-01-31'] } },
  {
    id: 'bounds',
    occurrenceTiming: {
      repeat: { boundsPeriod: { start: '2013-01-31', end: '2013-03-24' }, frequency: 1, period: 2, periodUnit: 'd' },
    },
  },
  { id: 'open', occurrenceTiming: { repeat: { frequency: 3, period: 1, periodUnit: 'd' } } },
].map((order) => ({
  resourceType: 'ServiceRequest',
  status: 'active',
  intent: 'order',
  subject: { reference: 'Patient/x' },
  ...order,
}));

const timingTable: Golden = [
  // "every second day between 31-Jan 2013 and 24-Mar 2013 includes 1-Feb 2013"
  ['occurrence=ge2013-02-01&occurrence=le2013-02-01', ['events', 'bounds', 'open']],
  ['occurrence=2013', ['events', 'bounds']],
  ['occurrence=sa2013-01-30', ['events', 'bounds']],
  ['occurrence=gt2013-03-23', ['events', 'bounds', 'open']],
  ['occurrence=gt2013-03-24', ['open']],
  ['occurrence=lt2013-01-31', ['open']],
];

test('of a timing only the outer limits matter', async (t) => {
  const world = await openSearchWorld(t);
  await world.load(orders);
  await checkGolden(t, world, 'ServiceRequest', timingTable);
});

const updated = [
  '2024-01-01T04:59:59.999Z',
  '2024-01-01T05:00:00.000Z',
  '2024-01-01T05:00:00.001Z',
  '2024-01-02T05:00:00.000Z',
].map((lastUpdated, index) => ({
  resourceType: 'Location',
  id: `u${index}`,
  meta: { lastUpdated },
}));

const updatedTable: Golden = [
  ['_lastUpdated=2024-01-01', ['u1', 'u2']],
  ['_lastUpdated=eq2024-01-01', ['u1', 'u2']],
  ['_lastUpdated=gt2024-01-01', ['u3']],
  ['_lastUpdated=ge2024-01-01', ['u1', 'u2', 'u3']],
  ['_lastUpdated=le2024-01-01', ['u0', 'u1', 'u2']],
  ['_lastUpdated=lt2024-01-01', ['u0']],
  ['_lastUpdated=ne2024-01-01', ['u0', 'u3']],
  ['_lastUpdated=sa2024-01-01', ['u3']],
  ['_lastUpdated=eb2024-01-01', ['u0']],
  ['_lastUpdated=2024-01-01T05:00:00.001Z', ['u2']],
  ['_lastUpdated=2024-01-01T05:00:00.0005Z', []],
  ['_lastUpdated=ge2024-01-01T05:00:00.0005Z', ['u2', 'u3']],
  ['_lastUpdated=gt2024-01-01T05:00:00.000Z&_lastUpdated=lt2024-01-02', ['u2']],
  ['_lastUpdated:missing=true', []],
];

test('_lastUpdated, with the prefixes and days that existing clients use', async (t) => {
  const world = await openSearchWorld(t);
  await world.load(updated);
  await checkGolden(t, world, 'Location', updatedTable);
});
