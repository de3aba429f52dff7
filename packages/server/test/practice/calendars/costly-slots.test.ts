/**
 * Calendars that make a hundred thousand slots a day, each within the limits of a document: whoever searches them gets what
 * the budget of one request suffices for, and a place to go on from (docs/decisions/0215, 0221). Before, one GET of $find
 * looked at 13 million slots in one turn.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { tooCostly } from '../../support/refusals.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';
import { keepCalendar, plainCalendar, put, putPlaces } from './world.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const caller = await openCaller(service, await makeApplication(service, 'Everything', ['acl/*'], [maple]), maple);
const narrow = await openCaller(
  service,
  await makeApplication(service, 'Narrow', ['system/Slot.rs?appointment-type=T49'], [maple]),
  maple,
);
const practitioners = Array.from({ length: 10 }, (_, at) => `${100 + at}`);
const types = Array.from({ length: 50 }, (_, at) => `T${at}`);
await putPlaces(caller, [...practitioners, '12'], ['3']);
await put(caller, { resourceType: 'Patient', id: 'p' });
for (const practitioner of practitioners)
  await keepCalendar(service.platform, maple, {
    practitioner,
    location: '3',
    appointmentTypes: types.map((code) => ({ code, minutes: 5 })),
    weekly: [
      {
        days: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'],
        from: '00:00',
        to: '24:00',
        stepMinutes: 5,
      },
    ],
  });
await keepCalendar(service.platform, maple, plainCalendar);
await service.service.jobs.settle();

interface Found {
  readonly id: string;
  readonly start: string;
}
type Json = { entry?: { resource: Found }[]; link: { relation: string; url: string }[] };

const startsOf = ({ entry = [] }: Json): string[] => entry.map(({ resource }) => resource.start.slice(0, 16));
const nextOf = ({ link }: Json): string | undefined => link.find(({ relation }) => relation === 'next')?.url;
const allTypes = types.map((code) => `appointment-type=${code}`).join('&');

const steps =
  'The search for slots costs more than one request may: the limit is 2000000 steps of computing. Nothing was changed. To make it cheaper: name fewer days, appointment types, practitioners or locations';

test('$find looks at preferred times alone, over all days', async () => {
  const { status, json } = await caller.get(`Slot/$find?${allTypes}&time=00:01-00:02`);
  assert.equal(status, 200);
  assert.deepEqual(
    json.link.map(({ relation }: { relation: string }) => relation),
    ['self'],
  );
  assert.equal(json.entry, undefined);
  const noon = await caller.get(`Slot/$find?${allTypes}&time=12:00-12:01&day=tue&_count=100&end=2026-12-01`);
  assert.deepEqual([...new Set(startsOf(noon.json))], ['2026-11-24T12:00']);
});

test('$find tells what it has found and where to go on; its pages are the whole', async () => {
  // The caller may see none of it: each page would otherwise be full.
  const query = `${types
    .slice(0, 49)
    .map((code) => `appointment-type=${code}`)
    .join('&')}&start=2026-11-24T06:00:00Z&end=2026-11-24T10:00:00Z`;
  const seen: string[] = [];
  let pages = 0;
  for (let url: string | undefined = `Slot/$find?${query}`; url !== undefined; pages += 1) {
    assert.ok(pages < 100, 'it goes on');
    const { status, json, text } = await narrow.get(url);
    assert.equal(status, 200, text);
    seen.push(...startsOf(json));
    url = nextOf(json);
  }
  assert.deepEqual(seen, []);
  assert.ok(pages > 1, `${pages} pages`);
});

test('pages that end early tell every slot once, in order', async () => {
  const query = `${allTypes}&start=2026-11-24T06:00:00Z&end=2026-11-24T09:59:00Z&_count=100`;
  const found: string[] = [];
  for (let url: string | undefined = `Slot/$find?${query}`; url !== undefined; ) {
    const { status, json, text } = await narrow.get(url);
    assert.equal(status, 200, text);
    found.push(...(json.entry ?? []).map(({ resource }: { resource: Found }) => `${resource.start} ${resource.id}`));
    url = nextOf(json);
  }
  assert.equal(found.length, 10 * 4 * 12);
  assert.equal(new Set(found).size, found.length);
  assert.deepEqual(
    found.map((each) => each.slice(0, 25)),
    found.map((each) => each.slice(0, 25)).toSorted(),
  );
});

test('$find with others tells preferred times first, then goes on', async () => {
  const { status, json } = await caller.get(`Slot/$find?${allTypes}&time=00:01-00:02&others=true&end=2026-11-30`);
  assert.equal(status, 200);
  assert.equal(json.entry.length, 20);
  assert.ok(nextOf(json) !== undefined);
});

test('$find of first slots has one page: it is refused where the budget does not suffice', async () => {
  const first = await caller.get(`Slot/$find?${allTypes}&first-available=true`);
  assert.equal(first.status, 200, first.text);
  assert.equal(first.json.entry.length, 10);
  const { status, json } = await narrow.get('Slot/$find?appointment-type=T0&appointment-type=T1&first-available=true');
  assert.equal(status, 422);
  assert.deepEqual(json, tooCostly(steps));
});

test('a search for Slot is refused before rows are lost', async () => {
  const day = await caller.get('Slot?date=2026-11-24&appointment-type=T0,T1,T2');
  assert.equal(day.status, 422);
  const many =
    'The search finds more than 5000 slots, too many for one response. Nothing was changed. To make it cheaper: name an appointment-type, practitioner or location (identifier), a shorter window, or _count=5000';
  assert.deepEqual(day.json, tooCostly(many, 'date'));
  const paged = await caller.get('Slot?date=2026-11-24&appointment-type=T0,T1,T2&_count=10');
  assert.equal(paged.status, 200);
  assert.equal(paged.json.entry.length, 10);
  const days = await caller.get('Slot?date=ge2026-11-24&date=le2026-11-28');
  assert.equal(days.status, 422);
  assert.deepEqual(days.json, tooCostly(steps));
});

test('the windows of many dates together stay few', async () => {
  const minutes = (offset: number) =>
    Array.from(
      { length: 50 },
      (_, at) => `ge2026-11-24T${String(offset).padStart(2, '0')}:${String(at).padStart(2, '0')}:00Z`,
    ).join(',');
  const dates = Array.from({ length: 12 }, (_, at) => `date=${minutes(at)}`).join('&');
  const { status, json } = await caller.get(`Slot?${dates}&date=lt2026-11-24T11:10:00Z&appointment-type=T0&_count=100`);
  assert.equal(status, 200);
  assert.equal(startsOf(json)[0], '2026-11-24T06:00');
  assert.equal(json.entry.length, 20);
});
