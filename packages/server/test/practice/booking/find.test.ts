/**
 * $find: free slots over weeks (decision 0191). What it tells is compared with searches for Slot, day by day; pages
 * concatenate to the whole.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';
import { keepCalendar, plainCalendar, put, putPlaces } from '../calendars/world.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple', 'sandbox', 'Europe/Berlin');
const cedar = await makeFirm(service, 'cedar', 'sandbox', 'Europe/Berlin');
const everything = await makeApplication(service, 'Everything', ['acl/*'], [maple, cedar]);
const caller = await openCaller(service, everything, maple);
const elsewhere = await openCaller(service, everything, cedar);
const searcher = await openCaller(service, await makeApplication(service, 'Searcher', ['acl/slot_s'], [maple]), maple);
const reader = await openCaller(service, await makeApplication(service, 'Reader', ['acl/pat_s'], [maple]), maple);
const narrow = await openCaller(
  service,
  await makeApplication(service, 'Narrow', ['system/Slot.rs?appointment-type=NEW'], [maple]),
  maple,
);
await putPlaces(caller, ['12', '13', '14'], ['3', '4', '31']);
await put(caller, { resourceType: 'Patient', id: 'p' });
await keepCalendar(service.platform, maple, plainCalendar);
await keepCalendar(service.platform, maple, {
  ...plainCalendar,
  practitioner: '13',
  weekly: [{ days: ['tue', 'thu'], from: '10:00', to: '16:00' }],
});
await keepCalendar(service.platform, maple, {
  practitioner: '14',
  location: '4',
  appointmentTypes: [{ code: 'ROOM', minutes: 60, needs: [{ anyOf: ['Location/31'] }] }],
  weekly: [{ days: ['tue'], from: '08:00', to: '12:00', capacity: 2 }],
});
await service.service.jobs.settle();

interface Found {
  readonly id: string;
  readonly start: string;
  readonly identifier: readonly { readonly value: string }[];
}

const slotsOf = (json: { entry?: { resource: Found }[] }): Found[] =>
  (json.entry ?? []).map(({ resource }) => resource);
const link = (json: { link: { relation: string; url: string }[] }, name: string): string | undefined =>
  json.link.find(({ relation }) => relation === name)?.url;

/** All pages. */
async function findAll(query: string, by = caller): Promise<Found[]> {
  const found: Found[] = [];
  for (let url: string | undefined = `Slot/$find?${query}`; url !== undefined; ) {
    const { status, json, text } = await by.get(url);
    assert.equal(status, 200, text);
    found.push(...slotsOf(json));
    url = link(json, 'next');
  }
  return found;
}

const idsOf = (slots: readonly Found[]): string[] => slots.map(({ id }) => id);
const startsOf = (slots: readonly Found[]): string[] => slots.map(({ start }) => start.slice(0, 16));

test('who may not search for slots is refused, and what is asked wrongly named', async () => {
  assert.equal((await reader.get('Slot/$find?appointment-type=NEW')).status, 403);
  const refusals: readonly (readonly [string, string])[] = [
    ['', 'appointment-type'],
    ['appointment-type=NEW&start=tomorrow', 'start takes a date or a time, such as 2026-03-02 or 2026-03-02T08:00:00Z'],
    ['appointment-type=NEW&start=2026-12-01&end=2027-04-01', 'end must be within 90 days of start'],
    ['appointment-type=NEW&start=2026-12-02&end=2026-12-01', 'end must be after start'],
    ['appointment-type=NEW&day=monday', 'day takes sun, mon, tue, wed, thu, fri, sat'],
    [
      'appointment-type=NEW&time=12:00-08:00',
      'time takes a period of the day by the clock of the location, such as 08:00-12:00',
    ],
    [
      'appointment-type=NEW&with=room',
      'with takes references to practitioners, rooms and equipment, such as Location/31 or Device/7',
    ],
    ['appointment-type=NEW&_cursor=x', '_cursor is not from a link of $find: follow the link next as it is'],
    ['appointment-type=NEW&_count=0', '_count takes an integer from 1; 100 slots at most are told on a page'],
  ];
  for (const [query, words] of refusals) {
    const { status, json } = await caller.get(`Slot/$find?${query}`);
    assert.equal(status, 400, query);
    assert.ok(json.issue[0].diagnostics.startsWith(words), json.issue[0].diagnostics);
  }
});

test('finds over two weeks what searches find day by day, for each token that may search', async () => {
  const byDay: Found[] = [];
  for (let day = 21; day <= 30; day += 1) {
    const { json } = await caller.get(`Slot?appointment-type=NEW,FOLLOWUP&date=2026-11-${day}&status=free`);
    byDay.push(...slotsOf(json));
  }
  const query = 'appointment-type=NEW&appointment-type=FOLLOWUP&start=2026-11-21&end=2026-11-30';
  assert.ok(byDay.length > 80);
  assert.deepEqual(idsOf(await findAll(query)), idsOf(byDay));
  assert.deepEqual(idsOf(await findAll(`${query}&_count=7`, searcher)), idsOf(byDay));
  const visible = byDay.filter(({ identifier }) => identifier[0]?.value === 'NEW');
  assert.deepEqual(idsOf(await findAll(`${query}&_count=7`, narrow)), idsOf(visible));
  assert.deepEqual(await findAll(query, elsewhere), []);
});

test('what is booked or held is not found', async () => {
  const query = 'appointment-type=FOLLOWUP&practitioner=12&start=2026-11-23&end=2026-11-23';
  const before = await findAll(query);
  const [first, second] = before;
  assert.equal((await caller.send('POST', `Slot/${first?.id}/$hold`)).status, 200);
  const visit = {
    resourceType: 'Appointment',
    participant: [{ actor: { reference: 'Patient/p' }, status: 'accepted' }],
  };
  const book = {
    resourceType: 'Parameters',
    parameter: [
      { name: 'appointment', resource: visit },
      { name: 'slot', valueString: `Slot/${second?.id}` },
    ],
  };
  assert.equal((await caller.send('POST', 'Appointment/$book', book)).status, 201);
  assert.deepEqual(idsOf(await findAll(query)), idsOf(before.slice(2)));
  service.clock.advance(5 * 60_000);
  assert.deepEqual(idsOf(await findAll(query)), [first?.id, ...idsOf(before.slice(2))]);
});

test('preferred times are found alone, or first with the others behind them, over all pages', async () => {
  const query =
    'appointment-type=FOLLOWUP&practitioner=Practitioner/13&start=2026-11-24&end=2026-11-26&day=thu&time=10:00-11:00&time=15:00-24:00';
  const preferred = ['2026-11-26T10:00', '2026-11-26T10:30', '2026-11-26T15:00', '2026-11-26T15:30'];
  assert.deepEqual(startsOf(await findAll(query)), preferred);
  const all = await findAll('appointment-type=FOLLOWUP&practitioner=13&start=2026-11-24&end=2026-11-26');
  const rest = startsOf(all).filter((start) => !preferred.includes(start));
  assert.deepEqual(startsOf(await findAll(`${query}&others=true&_count=3`)), [...preferred, ...rest]);
});

test('the first of each practitioner, and those whom several share', async () => {
  const first = await findAll('appointment-type=FOLLOWUP&start=2026-11-24&first-available=true');
  assert.deepEqual(startsOf(first), ['2026-11-24T09:00', '2026-11-24T10:00']);
  const shared = await findAll(
    'appointment-type=FOLLOWUP&practitioner=12&with=Practitioner/13&start=2026-11-23&end=2026-11-25',
  );
  assert.deepEqual(startsOf(shared), ['2026-11-24T10:00', '2026-11-24T10:30', '2026-11-24T11:00', '2026-11-24T11:30']);
});

test('rooms count: those a type needs, and those that are named', async () => {
  const rooms = 'appointment-type=ROOM&start=2026-11-24&end=2026-11-24';
  const before = await findAll(rooms);
  assert.deepEqual(startsOf(before), ['2026-11-24T08:00', '2026-11-24T09:00', '2026-11-24T10:00', '2026-11-24T11:00']);
  await caller.send('POST', `Slot/${before[1]?.id}/$hold`);
  assert.deepEqual(startsOf(await findAll(rooms)), ['2026-11-24T08:00', '2026-11-24T10:00', '2026-11-24T11:00']);
  const named = await findAll('appointment-type=NEW&practitioner=12&with=Location/31&start=2026-11-24&end=2026-11-24');
  assert.deepEqual(startsOf(named), ['2026-11-24T10:00', '2026-11-24T11:00']);
  assert.deepEqual(await findAll('appointment-type=NEW&with=Location/unknown&start=2026-11-24&end=2026-11-24'), []);
});
