/**
 * Slots derived from calendars: search and read as existing clients and R4 ask
 * (https://hl7.org/fhir/R4/slot.html#search). It is Saturday, 2026-11-21, 04:30 in New York.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { sql } from '../../../src/database/sql.ts';
import { slotIdentifierSystems } from '../../../src/practice/calendars/slots/slot-resource.ts';
import { type Answer, makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';
import { keepCalendar, keepHolidays, plainCalendar, put, putPlaces } from './world.ts';

const service = await openTestService({ after });
const { platform } = service;
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const full = await makeApplication(service, 'Full', ['acl/*'], [maple, cedar]);
const caller = await openCaller(service, full, maple);
const elsewhere = await openCaller(service, full, cedar);

await putPlaces(caller, ['12', '13'], ['3', '31']);
await putPlaces(elsewhere, ['12'], ['3']);
await put(caller, { resourceType: 'Schedule', id: 's13', actor: [{ reference: 'Practitioner/13' }] });
const calendar = await keepCalendar(platform, maple, plainCalendar);
await keepCalendar(platform, maple, {
  practitioner: '13',
  location: '3',
  schedule: 's13',
  appointmentTypes: [{ code: 'NEW', minutes: 60, needs: [{ anyOf: ['Location/31'] }] }],
  weekly: [{ days: ['mon'], from: '09:00', to: '11:00' }],
});

const startsOf = ({ json }: Answer): readonly string[] =>
  json.entry?.map(({ resource }: { resource: { start: string } }) => resource.start.slice(5, 16)) ?? [];

async function startsBy(query: string): Promise<readonly string[]> {
  const answer = await caller.get(`Slot?${query}`);
  assert.equal(answer.status, 200, answer.text);
  return startsOf(answer);
}

const newOn23rd = 'appointment-type=NEW&date=2026-11-23';

test('a search by appointment type and date finds the slots with their total, unpaged', async () => {
  const { status, json } = await caller.get(
    `Slot?${newOn23rd}&identifier=${slotIdentifierSystems.practitioner}|12`.replace('#', '%23'),
  );
  assert.equal(status, 200);
  const { id } = json.entry[0].resource;
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.deepEqual(json.entry[0], {
    fullUrl: `${maple.base}/Slot/${id}`,
    resource: {
      resourceType: 'Slot',
      id,
      identifier: [
        { system: 'https://praxis.health/fhir/sid/appointment-type', value: 'NEW' },
        {
          type: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0203', code: 'FI' }] },
          system: 'http://www.hl7.org/fhir/v2/0203/index.html#v2-0203-FI',
          value: '3',
        },
        {
          type: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0203', code: 'PRN' }] },
          system: 'http://www.hl7.org/fhir/v2/0203/index.html#v2-0203-PRN',
          value: '12',
        },
      ],
      appointmentType: { coding: [{ code: 'NEW', display: 'New patient' }], text: 'New patient' },
      schedule: {
        identifier: { system: 'https://praxis.health/fhir/sid/calendar', value: String(calendar.number) },
        display: 'Practitioner/12 at Location/3',
      },
      status: 'free',
      start: '2026-11-23T09:00:00-05:00',
      end: '2026-11-23T10:00:00-05:00',
    },
    search: { mode: 'match' },
  });
  assert.equal(json.total, 3);
  assert.equal(json.entry.length, 3);
  assert.deepEqual(
    json.link.map(({ relation }: { relation: string }) => relation),
    ['self'],
  );
});

test('the self link says that free slots alone were searched for', async () => {
  const { json } = await caller.get(`Slot?${newOn23rd}`);
  assert.equal(json.link[0].url, `${maple.base}/Slot?appointment-type=NEW&date=2026-11-23&status=free`);
});

test('slots come by start, then calendar, then type', async () => {
  const { json } = await caller.get('Slot?date=2026-11-23');
  const shown = json.entry.map(({ resource }: { resource: { start: string; identifier: { value: string }[] } }) =>
    [resource.start.slice(11, 16), resource.identifier[2]?.value, resource.identifier[0]?.value].join(' '),
  );
  assert.deepEqual(shown, [
    '09:00 12 FOLLOWUP',
    '09:00 12 NEW',
    '09:00 13 NEW',
    '09:30 12 FOLLOWUP',
    '10:00 12 FOLLOWUP',
    '10:00 12 NEW',
    '10:00 13 NEW',
    '10:30 12 FOLLOWUP',
    '11:00 12 FOLLOWUP',
    '11:00 12 NEW',
    '11:30 12 FOLLOWUP',
  ]);
  assert.equal(json.total, 11);
});

const prn = 'http://www.hl7.org/fhir/v2/0203/index.html%23v2-0203-PRN';
const nine = ['11-23T09:00', '11-23T10:00'];

const found: readonly (readonly [query: string, starts: readonly string[]])[] = [
  [`${newOn23rd}&identifier=13`, nine],
  [`${newOn23rd}&identifier=13&identifier=3`, nine],
  [`${newOn23rd}&identifier=${prn}|13`, nine],
  [`${newOn23rd}&identifier=${prn.replace('http:', 'https:')}|13`, nine],
  [`${newOn23rd}&identifier=${prn.replace('www.', '')}|13`, nine],
  [`${newOn23rd}&identifier=${prn.replace('http://www.', 'https://')}|13`, nine],
  [`${newOn23rd}&identifier=${prn.replace('PRN', 'FI')}|13`, []],
  [`${newOn23rd}&schedule:identifier=https://praxis.health/fhir/sid/calendar|2`, nine],
  [`${newOn23rd}&schedule=Schedule/2`, []],
  [`${newOn23rd}&schedule=s13`, nine],
  [`${newOn23rd}&schedule=Schedule/s13,Schedule/other`, nine],
  [`${newOn23rd}&schedule:Schedule=s13`, nine],
  [`${newOn23rd}&schedule=${maple.base}/Schedule/s13`, nine],
  [`${newOn23rd}&schedule:missing=true`, []],
  ['appointment-type=NEW&date=eq2026-11-23&identifier=13', nine],
  ['appointment-type=OTHER&date=2026-11-23', []],
  ['appointment-type=OTHER,NEW&date=2026-11-23&identifier=13', nine],
  ['appointment-type:not=FOLLOWUP&date=2026-11-23&identifier=13', nine],
  ['appointment-type=NEW&identifier=12&date=ge2026-11-24&date=lt2026-11-24T10:00:00-05:00', ['11-24T09:00']],
  [
    'appointment-type=NEW&identifier=12&start=ge2026-11-24T14:00:00Z&start=lt2026-11-24T16:00:00Z&status=free',
    ['11-24T09:00', '11-24T10:00'],
  ],
  [
    'appointment-type=NEW&identifier=12&start=2026-11-24T09:00:00-05:00,2026-11-25T11:00:00-05:00',
    ['11-24T09:00', '11-25T11:00'],
  ],
  ['appointment-type=NEW&identifier=13&date=ge2026-11-23&date=le2026-11-27&_sort=-start', nine.toReversed()],
  ['date=ge2026-11-24&date=lt2026-11-24', []],
  // What another date leaves out is no part of the window.
  [
    'appointment-type=NEW&identifier=12&date=2026-11-24,2026-12-24&date=lt2026-12-24',
    ['11-24T09:00', '11-24T10:00', '11-24T11:00'],
  ],
  [`${newOn23rd}&service-type=x`, []],
  [`${newOn23rd}&service-type:missing=true&identifier=13`, nine],
  [`${newOn23rd}&identifier=13&status=busy`, []],
  [`${newOn23rd}&identifier=13&status:not=busy`, nine],
  // Before now: what has begun is not free any more.
  ['appointment-type=NEW&date=2026-11-20', []],
  [
    'appointment-type=NEW&identifier=12&date=2026-11-20&status=busy-unavailable',
    ['11-20T09:00', '11-20T10:00', '11-20T11:00'],
  ],
];

for (const [query, starts] of found) {
  test(`Slot?${query} finds ${starts.length}`, async () => {
    assert.deepEqual(await startsBy(query), starts);
  });
}

const refused: readonly (readonly [query: string, diagnostics: RegExp])[] = [
  ['appointment-type=NEW', /^date needs both ends of a window of at most 5 days, such as date=2026-03-02 or date=ge/],
  [`${newOn23rd}&identifier=foo|13`, /^identifier takes one of the systems that slots have: https:/],
  [`${newOn23rd}&identifier=13,https://www.example.com/sid|13`, /^identifier takes one of the systems/],
  [`${newOn23rd}&identifier=${prn.replace('PRN', 'XX')}|13`, /^identifier takes one of the systems/],
  ['date=ge2026-11-23', /^date needs both ends/],
  ['start=lt2026-11-23', /^date needs both ends/],
  ['date=ne2026-11-23', /^date takes no ne /],
  ['date=2026-11', /^date spans 721 hours; a search for slots spans at most 5 days, the last one included$/],
  ['date=ge2026-11-23&date=le2026-11-28', /^date spans 144 hours; /],
  ['date=2026-11-23,2026-12-23', /^date spans 744 hours; /],
  ['date=soon', /^date takes a date such as 2013/],
  [
    'date=2026-11-23&_lastUpdated=gt2020',
    /^_lastUpdated is not searched by where slots are derived from calendars; they are by appointment-type, /,
  ],
  ['date=2026-11-23&schedule.actor=Practitioner/12', /^schedule.actor is not searched by /],
  ['date=2026-11-23&appointment-type:text=new', /^appointment-type:text is not searched by /],
  ['date=2026-11-23&_sort=schedule', /^_sort takes start or -start /],
  [
    'date=2026-11-23&_revinclude=Appointment:slot',
    /^_revinclude is not followed where slots are derived from calendars: /,
  ],
  ['date=2026-11-23&_include=Slot:schedule', /^_include is not followed where /],
  ['date=2026-11-23&unknown=1', /^unknown is not a search parameter of Slot; /],
];

for (const [query, diagnostics] of refused) {
  test(`Slot?${query} is refused`, async () => {
    const { status, json } = await caller.get(`Slot?${query}`);
    assert.equal(status, 400);
    assert.equal(json.resourceType, 'OperationOutcome');
    assert.match(json.issue[0].diagnostics, diagnostics);
  });
}

test('five days with an hour more, since clocks were set back, are five days', async () => {
  assert.deepEqual(await startsBy('identifier=13&date=ge2026-10-29&date=le2026-11-02&status=busy-unavailable'), [
    '11-02T09:00',
    '11-02T10:00',
  ]);
});

test('pages come where they are asked for, in one order, and end', async () => {
  const query = 'appointment-type=FOLLOWUP&date=2026-11-23&_count=4';
  const first = await caller.get(`Slot?${query}`);
  assert.equal(first.json.total, 6);
  assert.deepEqual(startsOf(first), ['11-23T09:00', '11-23T09:30', '11-23T10:00', '11-23T10:30']);
  const next = first.json.link.find(({ relation }: { relation: string }) => relation === 'next').url;
  assert.equal(next, `${maple.base}/Slot?${query}&status=free&page=2`);
  const second = await caller.get(next);
  assert.deepEqual(startsOf(second), ['11-23T11:00', '11-23T11:30']);
  assert.deepEqual(
    second.json.link.map(({ relation }: { relation: string }) => relation),
    ['self', 'first', 'previous'],
  );
  assert.deepEqual(await startsBy(`${query}&page=3`), []);
  assert.deepEqual(await startsBy('appointment-type=FOLLOWUP&date=2026-11-23&page=2'), []);
});

test('counts, elements and NDJSON are those of any search', async () => {
  const { json } = await caller.get(`Slot?${newOn23rd}&_summary=count`);
  assert.deepEqual([json.total, json.entry], [5, undefined]);
  const elements = await caller.get(`Slot?${newOn23rd}&identifier=13&_elements=start`);
  assert.deepEqual(Object.keys(elements.json.entry[0].resource).sort(), [
    'end',
    'id',
    'meta',
    'resourceType',
    'schedule',
    'start',
    'status',
  ]);
  const lines = await caller.get(`Slot?${newOn23rd}&identifier=13`, { accept: 'application/fhir+ndjson' });
  assert.equal(lines.text.trim().split('\n').length, 2);
});

test('a slot is read and searched by its id, which stays the same', async () => {
  const { json } = await caller.get(`Slot?${newOn23rd}&identifier=13`);
  const [{ resource }] = json.entry;
  const read = await caller.get(`Slot/${resource.id}`);
  assert.deepEqual([read.status, read.json], [200, resource]);
  assert.equal(read.headers.get('etag'), null);
  const byId = await caller.get(`Slot?_id=${resource.id}`);
  assert.deepEqual(
    byId.json.entry.map((entry: { resource: unknown }) => entry.resource),
    [resource],
  );
  assert.deepEqual(await startsBy(`_id=${resource.id}&date=2026-11-24`), []);
  assert.deepEqual(await startsBy(`_id=${resource.id}&appointment-type=FOLLOWUP`), []);
  assert.equal((await elsewhere.get(`Slot/${resource.id}`)).status, 404);
});

test('what no rule offers is no slot: 404', async () => {
  const { json } = await caller.get(`Slot?${newOn23rd}&identifier=13`);
  const { id } = json.entry[0].resource;
  const other = id.replace(
    /^(.{11})(.)/,
    (_: string, head: string, digit: string) => `${head}${digit === '0' ? '1' : '0'}`,
  );
  for (const unknown of [other, `f${id.slice(1)}`, `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`, 'nothing'])
    assert.equal((await caller.get(`Slot/${unknown}`)).status, 404, unknown);
});

test('what is taken is busy: of the practitioner, and of a room that is needed', async () => {
  const { json } = await caller.get(`Slot?${newOn23rd}&identifier=13`);
  const [nineOClock, tenOClock] = json.entry.map(({ resource }: { resource: { id: string } }) => resource.id);
  await take('Location/31', '2026-11-23T09:30:00-05:00', '2026-11-23T09:31:00-05:00');
  assert.equal((await caller.get(`Slot/${nineOClock}`)).json.status, 'busy');
  assert.deepEqual(await startsBy(`${newOn23rd}&identifier=13`), ['11-23T10:00']);
  assert.deepEqual(await startsBy(`${newOn23rd}&identifier=13&status=busy`), ['11-23T09:00']);
  assert.deepEqual(await startsBy(`${newOn23rd}&identifier=13&status=busy,free`), nine);
  await take('Practitioner/13', '2026-11-23T10:59:00-05:00', '2026-11-23T12:00:00-05:00');
  assert.equal((await caller.get(`Slot/${tenOClock}`)).json.status, 'busy');
  assert.deepEqual(await startsBy(`${newOn23rd}&identifier=13`), []);
});

/** As a booking would. */
async function take(actor: string, from: string, until: string): Promise<void> {
  await service.database.owner.query(sql`
    INSERT INTO occupancy (firm, actor, owner, starts, ends, lane, places)
    VALUES (${maple.id}, ${actor}, ${`Appointment/${from}`}, ${Date.parse(from)}::bigint, ${Date.parse(until)}::bigint, 0, 1)`);
}

test('changed rules and holidays act on the next search; an ended calendar offers nothing', async () => {
  const more = { ...plainCalendar, weekly: [{ days: ['sat'], from: '09:00', to: '10:00' }] };
  const made = await keepCalendar(platform, maple, more, calendar.version);
  assert.equal(made.version, 2);
  assert.deepEqual(await startsBy('appointment-type=NEW&identifier=12&date=2026-11-28'), ['11-28T09:00']);
  assert.deepEqual(await startsBy('appointment-type=NEW&identifier=12&date=2026-11-24'), []);
  await keepHolidays(platform, maple, '3', { holidays: [{ yearly: '11-28', name: 'Day off' }] });
  assert.deepEqual(await startsBy('date=2026-11-28'), []);
  await keepHolidays(platform, maple, '3', { holidays: [] }, 1);
  assert.deepEqual(await startsBy('appointment-type=NEW&date=2026-11-28'), ['11-28T09:00']);
  await keepCalendar(platform, maple, { ...more, active: false }, 2);
  assert.deepEqual(await startsBy('date=2026-11-28'), []);
});

test('a location that moves to another zone moves its slots', async () => {
  const timezone = { url: 'http://hl7.org/fhir/StructureDefinition/timezone', valueCode: 'America/Los_Angeles' };
  const query = 'appointment-type=NEW&identifier=13&date=2026-11-30';
  assert.deepEqual((await caller.get(`Slot?${query}`)).json.entry[0].resource.start, '2026-11-30T09:00:00-05:00');
  const place = { resourceType: 'Location', id: '3', name: 'Location 3' };
  await put(caller, { ...place, extension: [timezone] });
  assert.deepEqual((await caller.get(`Slot?${query}`)).json.entry[0].resource.start, '2026-11-30T09:00:00-08:00');
  await put(caller, { ...place, extension: [{ ...timezone, valueCode: 'Mars/Olympus' }] });
  assert.deepEqual((await caller.get(`Slot?${query}`)).json.entry[0].resource.start, '2026-11-30T09:00:00-05:00');
});

test('a firm without calendars searches the slots that are stored', async () => {
  await put(elsewhere, {
    ...{ resourceType: 'Slot', id: 'kept', schedule: { display: 'x' }, status: 'free' },
    ...{ start: '2026-11-23T14:00:00Z', end: '2026-11-23T15:00:00Z' },
  });
  const { json } = await elsewhere.get('Slot?status=free');
  assert.deepEqual(
    json.entry.map(({ resource }: { resource: { id: string } }) => resource.id),
    ['kept'],
  );
});
