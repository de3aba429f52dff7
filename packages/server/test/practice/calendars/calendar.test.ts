/** Documents of calendars and holidays: what is wrong is told by its element, with what would be right. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { PraxisError } from '../../../src/base/errors.ts';
import { parseHolidays } from '../../../src/practice/calendars/holidays.ts';
import { parseCalendar } from '../../../src/practice/calendars/parse-calendar.ts';

type Json = Readonly<Record<string, unknown>>;

const morning = { days: ['mon', 'tue'], from: '08:00', to: '12:00' };
const document: Json = {
  practitioner: '12',
  location: '3',
  appointmentTypes: [{ code: 'NEW', minutes: 30 }],
  weekly: [morning],
};
const withWeekly = (...weekly: readonly Json[]): Json => ({ ...document, weekly });
const withTypes = (...appointmentTypes: readonly Json[]): Json => ({ ...document, appointmentTypes });
const withExceptions = (...exceptions: readonly Json[]): Json => ({ ...document, exceptions });

/** The issues of the error that `work` throws: `path rule`. */
function issuesOf(work: () => unknown): readonly string[] {
  try {
    work();
  } catch (error) {
    if (error instanceof PraxisError) return [error.code, ...error.issues.map(({ diagnostics }) => diagnostics)];
    throw error;
  }
  return [];
}

test('a document is read as it says, with what it leaves out', () => {
  assert.deepEqual(parseCalendar(document), {
    practitioner: '12',
    location: '3',
    active: true,
    appointmentTypes: [{ code: 'NEW', minutes: 30, bufferBeforeMinutes: 0, bufferAfterMinutes: 0, needs: [] }],
    weekly: [
      {
        days: [1, 2],
        fromMinutes: 480,
        toMinutes: 720,
        appointmentTypes: undefined,
        capacity: 1,
        stepMinutes: undefined,
        validFrom: undefined,
        validTo: undefined,
      },
    ],
    exceptions: new Map(),
  });
});

const long = 'x'.repeat(65);

const malformed: readonly (readonly [document: unknown, issue: string])[] = [
  [undefined, 'The document must be a JSON object'],
  [[], 'The document must be a JSON object'],
  [
    { ...document, colour: 'red' },
    'The document has colour, which is none of practitioner, location, schedule, active, appointmentTypes, weekly, exceptions',
  ],
  [{ ...document, practitioner: undefined }, 'practitioner must be the id of a Practitioner, without the type'],
  [{ ...document, practitioner: 'Practitioner/12' }, 'practitioner must be the id of a Practitioner, without the type'],
  [{ ...document, location: 3 }, 'location must be the id of a Location, without the type'],
  [{ ...document, schedule: '' }, 'schedule must be the id of a Schedule, without the type'],
  [{ ...document, active: 'yes' }, 'active must be true or false'],
  [withTypes(), 'appointmentTypes must be a list of 1 to 50 items'],
  [
    withTypes({ code: ' NEW', minutes: 30 }),
    'appointmentTypes[0].code must be a code: no spaces at its ends, and no two together',
  ],
  [
    withTypes({ code: long, minutes: 30 }),
    'appointmentTypes[0].code must be a text of 1 to 64 characters without control characters',
  ],
  [withTypes({ code: 'NEW', minutes: 4 }), 'appointmentTypes[0].minutes must be a whole number from 5 to 1440'],
  [withTypes({ code: 'NEW', minutes: 7.5 }), 'appointmentTypes[0].minutes must be a whole number from 5 to 1440'],
  [withTypes({ code: 'NEW', minutes: 30, system: 'a b' }), 'appointmentTypes[0].system must be a URI without spaces'],
  [
    withTypes({ code: 'NEW', minutes: 30, bufferAfterMinutes: 241 }),
    'appointmentTypes[0].bufferAfterMinutes must be a whole number from 0 to 240',
  ],
  [
    withTypes({ code: 'NEW', minutes: 30, needs: [{ anyOf: ['Patient/1'] }] }),
    'appointmentTypes[0].needs[0].anyOf[0] must be Location/<id> of a room or Device/<id> of equipment',
  ],
  [
    withTypes({ code: 'NEW', minutes: 30, needs: [{ anyOf: [] }] }),
    'appointmentTypes[0].needs[0].anyOf must be a list of 1 to 20 items',
  ],
  [withWeekly({ ...morning, days: ['monday'] }), 'weekly[0].days[0] must be one of sun, mon, tue, wed, thu, fri, sat'],
  [withWeekly({ ...morning, days: ['mon', 'mon'] }), 'weekly[0].days names a day twice'],
  [withWeekly({ ...morning, days: [] }), 'weekly[0].days must be a list of 1 to 7 items'],
  [withWeekly({ ...morning, from: '8:00' }), 'weekly[0].from must be a time of day HH:MM from 00:00 to 23:59'],
  [withWeekly({ ...morning, from: '24:00' }), 'weekly[0].from must be a time of day HH:MM from 00:00 to 23:59'],
  [withWeekly({ ...morning, to: '24:01' }), 'weekly[0].to must be a time of day HH:MM from 00:00 to 24:00'],
  [withWeekly({ ...morning, to: '12:60' }), 'weekly[0].to must be a time of day HH:MM from 00:00 to 24:00'],
  [
    withWeekly({ ...morning, from: '22:00', to: '02:00' }),
    'weekly[0].to must be after from (22:00); what is open past midnight is one rule up to 24:00 and one from 00:00',
  ],
  [
    withWeekly({ ...morning, from: '12:00' }),
    'weekly[0].to must be after from (12:00); what is open past midnight is one rule up to 24:00 and one from 00:00',
  ],
  [withWeekly({ ...morning, capacity: 0 }), 'weekly[0].capacity must be a whole number from 1 to 50'],
  [withWeekly({ ...morning, capacity: 51 }), 'weekly[0].capacity must be a whole number from 1 to 50'],
  [withWeekly({ ...morning, stepMinutes: 1 }), 'weekly[0].stepMinutes must be a whole number from 5 to 1440'],
  [
    withWeekly({ ...morning, validFrom: '2026-02-29' }),
    'weekly[0].validFrom must be a date YYYY-MM-DD that exists, from 2000-01-01 to 2499-12-31',
  ],
  [
    withWeekly({ ...morning, validFrom: '2026-02-02', validTo: '2026-02-01' }),
    'weekly[0].validTo must not be before validFrom',
  ],
  [{ ...document, weekly: Array.from({ length: 101 }, () => morning) }, 'weekly must be a list of 0 to 100 items'],
  [
    withExceptions({ date: '2026-13-01', closed: true }),
    'exceptions[0].date must be a date YYYY-MM-DD that exists, from 2000-01-01 to 2499-12-31',
  ],
  [
    withExceptions({ date: '2026-12-24', closed: false }),
    'exceptions[0].closed must be true; leave it out of what is open',
  ],
  [
    withExceptions({ date: '2026-12-24', closed: true, capacity: 2 }),
    'exceptions[0].capacity has no meaning where it is closed',
  ],
  [withExceptions({ date: '2026-12-24' }), 'exceptions[0].from must be a time of day HH:MM from 00:00 to 23:59'],
  [
    withExceptions({ date: '2026-12-24', closed: true, from: '12:00' }),
    'exceptions[0].to must be a time of day HH:MM from 00:00 to 24:00',
  ],
];

for (const [given, issue] of malformed) {
  test(`refused: ${issue}`, () => {
    const [errorCode, first] = issuesOf(() => parseCalendar(given));
    assert.deepEqual([errorCode, first], ['input-invalid', issue]);
  });
}

const short = { days: ['mon'], from: '08:00', to: '08:20' };
const fits = 'name the appointmentTypes that fit, or open longer';
const apart = 'let one end where the other begins, or give them days or periods apart';

const contradicting: readonly (readonly [document: Json, issue: string])[] = [
  [
    withTypes({ code: 'NEW', minutes: 30 }, { code: 'NEW', minutes: 15 }),
    'appointmentTypes[1].code is that of appointmentTypes[0]: a calendar has each type once',
  ],
  [withWeekly(short), `weekly[0] has no room for NEW: 30 minutes do not fit into 08:00-08:20; ${fits}`],
  [
    withWeekly({ ...morning, appointmentTypes: ['OLD'] }),
    'weekly[0].appointmentTypes[0] is no appointment type of the calendar; they are NEW',
  ],
  [withWeekly({ ...morning, appointmentTypes: ['NEW', 'NEW'] }), 'weekly[0].appointmentTypes[1] is named twice'],
  [
    withWeekly(morning, { ...morning, days: ['tue'], from: '11:59', to: '13:00' }),
    `weekly[1] overlaps weekly[0] on tue 11:59-12:00: ${apart}`,
  ],
  [
    withWeekly({ ...morning, validTo: '2026-03-02' }, { ...morning, validFrom: '2026-03-02' }), // a Monday
    `weekly[1] overlaps weekly[0] on mon 08:00-12:00: ${apart}`,
  ],
  [
    withExceptions(
      { date: '2026-12-05', from: '09:00', to: '11:00' },
      { date: '2026-12-05', from: '10:00', to: '12:00' },
    ),
    'exceptions on 2026-12-05 from 10:00 overlaps another opening of that day: make one of them, or move one',
  ],
  [
    withExceptions({ date: '2026-12-05', from: '09:00', to: '09:10' }),
    `exceptions on 2026-12-05 from 09:00 has no room for NEW: 30 minutes do not fit into 09:00-09:10; ${fits}`,
  ],
];

for (const [given, issue] of contradicting) {
  test(`contradicts itself: ${issue}`, () => {
    assert.deepEqual(
      issuesOf(() => parseCalendar(given)),
      ['rule-broken', issue],
    );
  });
}

test('rules that only touch, or are never in force together, are taken', () => {
  parseCalendar(withWeekly(morning, { ...morning, from: '12:00', to: '24:00' }, { ...morning, days: ['wed'] }));
  parseCalendar(withWeekly({ ...morning, validTo: '2026-03-01' }, { ...morning, validFrom: '2026-03-02' }));
  // A Sunday is all that they share, and neither is open on Sundays.
  parseCalendar(withWeekly({ ...morning, validTo: '2026-03-01' }, { ...morning, validFrom: '2026-03-01' }));
  const types = [
    { code: 'NEW', minutes: 30 },
    { code: 'SHORT', minutes: 20 },
  ];
  parseCalendar({ ...withTypes(...types), weekly: [{ ...short, appointmentTypes: ['SHORT'] }] });
});

test('codes whose slots would have the same ids cannot stand in one calendar', () => {
  // Found by trying: SHA-256 of both begins with the same five digits.
  const [one, other] = ['T120', 'T438'];
  assert.deepEqual(
    issuesOf(() => parseCalendar(withTypes({ code: one, minutes: 30 }, { code: other, minutes: 30 }))),
    [
      'rule-broken',
      'appointmentTypes[1].code cannot stand beside that of appointmentTypes[0], since ids of slots would be equal: choose another code',
    ],
  );
});

test('all that is wrong is told at once, ten problems at most', () => {
  const issues = issuesOf(() => parseCalendar({ weekly: Array.from({ length: 20 }, () => ({ days: ['x'] })) }));
  assert.equal(issues.length, 11);
});

test('holidays are read, and refused by their element', () => {
  assert.deepEqual(
    parseHolidays({
      holidays: [
        { date: '2026-11-26', name: 'Thanksgiving' },
        { yearly: '12-24', from: '12:00', to: '24:00' },
      ],
    }),
    [
      { on: { day: 20_783 }, name: 'Thanksgiving', fromMinutes: 0, toMinutes: 1440 },
      { on: { month: 12, dayOfMonth: 24 }, name: undefined, fromMinutes: 720, toMinutes: 1440 },
    ],
  );
  for (const [given, issue] of [
    [{}, 'holidays must be a list of 0 to 500 items'],
    [{ holidays: [{}] }, 'holidays[0] must have either date (YYYY-MM-DD) or yearly (MM-DD)'],
    [
      { holidays: [{ date: '2026-01-01', yearly: '01-01' }] },
      'holidays[0] must have either date (YYYY-MM-DD) or yearly (MM-DD)',
    ],
    [{ holidays: [{ yearly: '02-30' }] }, 'holidays[0].yearly must be a day MM-DD that exists, such as 12-25'],
    [
      { holidays: [{ yearly: '12-25', closed: true }] },
      'holidays[0] has closed, which is none of date, yearly, name, from, to',
    ],
    [
      { holidays: [{ yearly: '12-25', from: '12:00' }] },
      'holidays[0].to must be a time of day HH:MM from 00:00 to 24:00',
    ],
  ] as const)
    assert.deepEqual(
      issuesOf(() => parseHolidays(given)),
      ['input-invalid', issue],
    );
});
