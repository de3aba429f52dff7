/**
 * A series of appointments: booked by one $book, all or as many as can be; each is an appointment of its own that can be
 * moved, and cancelled alone, with those after it, or with all (decisions 0200, 0201).
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { sql } from '../../../src/database/sql.ts';
import { type Answer, makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';
import { keepCalendar, plainCalendar, put, putPlaces } from '../calendars/world.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple', 'sandbox', 'Europe/Berlin');
const caller = await openCaller(service, await makeApplication(service, 'Everything', ['acl/*'], [maple]), maple);
const booker = await openCaller(
  service,
  await makeApplication(service, 'Booker', ['acl/slot_s', 'acl/appmt_c', 'acl/appmt_r', 'acl/appmt_u'], [maple]),
  maple,
);
const blind = await openCaller(
  service,
  await makeApplication(service, 'Blind', ['acl/slot_s', 'acl/appmt_c', 'acl/appmt_u'], [maple]),
  maple,
);
const rows = await openCaller(
  service,
  await makeApplication(service, 'Rows', ['acl/slot_s', 'system/Appointment.crus?service-category=open'], [maple]),
  maple,
);
await putPlaces(caller, ['12', '13'], ['3', '31']);
await put(caller, { resourceType: 'Patient', id: 'p' });
await keepCalendar(service.platform, maple, {
  practitioner: '13',
  location: '3',
  appointmentTypes: [{ code: 'ROOM', minutes: 30, needs: [{ anyOf: ['Location/31'] }] }],
  weekly: [{ days: ['mon'], from: '09:00', to: '12:00' }],
});
await keepCalendar(service.platform, maple, {
  ...plainCalendar,
  exceptions: [{ date: '2026-12-24', closed: true }],
});
await service.service.jobs.settle();

const visit = {
  resourceType: 'Appointment',
  identifier: [{ system: 'urn:example:own', value: '1' }],
  participant: [{ actor: { reference: 'Patient/p' }, status: 'accepted' }],
};

// The clock stands at Saturday, 21 November 2026.
async function slotAt(day: string, time: string, type = 'FOLLOWUP'): Promise<string> {
  const { json } = await caller.get(`Slot?appointment-type=${type}&date=${day}&status=free,busy`);
  const found = json.entry?.find(({ resource }: { resource: { start: string } }) =>
    resource.start.startsWith(`${day}T${time}`),
  );
  return found?.resource.id ?? '';
}

type Part = Readonly<Record<string, string | number | readonly string[]>>;

const memberOf = (name: string, value: string | number) => {
  if (typeof value === 'number') return { name, valuePositiveInt: value };
  return ['until', 'except'].includes(name) ? { name, valueDate: value } : { name, valueCode: value };
};

const booking = (slot: string, recurrence: Part, appointment: object = visit) => ({
  resourceType: 'Parameters',
  parameter: [
    { name: 'appointment', resource: appointment },
    { name: 'slot', valueString: slot },
    {
      name: 'recurrence',
      part: Object.entries(recurrence).flatMap(([name, value]) =>
        [value].flat().map((each) => memberOf(name, each as string | number)),
      ),
    },
  ],
});

interface PartOut {
  readonly name: string;
  readonly valueInstant?: string;
  readonly valueString?: string;
  readonly valueCode?: string;
  readonly valueReference?: { readonly reference: string; readonly display?: string };
  readonly resource?: {
    readonly id: string;
    readonly start: string;
    readonly status: string;
    readonly identifier: object[];
  };
}

function partsOf({ json }: Answer, name: string): readonly (readonly PartOut[])[] {
  return (json.parameter ?? [])
    .filter((each: { name: string }) => each.name === name)
    .map(({ part }: { part: PartOut[] }) => part);
}

const startsOf = (answer: Answer, name = 'booked'): readonly (string | undefined)[] =>
  partsOf(answer, name).map((parts) => parts.find((each) => each.name === 'start')?.valueInstant);
const idsOf = (answer: Answer, name = 'booked'): readonly string[] =>
  partsOf(answer, name).map(
    (parts) =>
      parts.find((each) => each.name === 'reference')?.valueReference?.reference.slice('Appointment/'.length) ?? '',
  );
const seriesOf = ({ json }: Answer): string => json.parameter[0].valueIdentifier.value;

const book = (slot: string, recurrence: Part, by = booker, appointment: object = visit): Promise<Answer> =>
  by.send('POST', 'Appointment/$book', booking(slot, recurrence, appointment));

const cancelled = {
  coding: [{ system: 'http://terminology.hl7.org/CodeSystem/appointment-cancellation-reason', code: 'pat' }],
};
const cancel = (id: string, scope?: string, by = booker): Promise<Answer> =>
  by.send('POST', `Appointment/${id}/$cancel`, {
    resourceType: 'Parameters',
    parameter: [
      { name: 'reason', valueCodeableConcept: cancelled },
      ...(scope === undefined ? [] : [{ name: 'scope', valueCode: scope }]),
    ],
  });

async function clear(): Promise<void> {
  const { json } = await caller.get('Appointment?_elements=id&_count=200');
  for (const { resource } of json.entry ?? []) await caller.send('DELETE', `Appointment/${resource.id}`);
  await service.service.jobs.settle();
}

async function held(): Promise<number> {
  const [row] = await service.database.owner.query<{ held: number }>(
    sql`SELECT (SELECT count(*)::int FROM slot_hold) + (SELECT count(*)::int FROM occupancy WHERE owner LIKE 'hold/%') AS held`,
  );
  return row?.held ?? -1;
}

const total = async (): Promise<number> => (await caller.get('Appointment?_summary=count')).json.total;
const monday = await slotAt('2026-11-23', '09:00');

test('what a recurrence may not say is refused by name, and nothing is booked', async () => {
  await clear();
  const refusals: readonly (readonly [Part, string])[] = [
    [{ count: 3 }, 'recurrence.frequency is missing'],
    [{ frequency: 'yearly', count: 3 }, 'recurrence.frequency takes daily, weekly, monthly'],
    [{ frequency: 'daily' }, 'recurrence.count or recurrence.until says how long it goes on: give one of both'],
    [
      { frequency: 'daily', count: 3, until: '2026-12-01' },
      'recurrence.count or recurrence.until says how long it goes on: give one of both',
    ],
    [{ frequency: 'daily', count: 105 }, 'recurrence.count takes an integer from 1 to 104'],
    [{ frequency: 'daily', until: '2026-11-22' }, 'recurrence.until is before 2026-11-23, the day of the slot'],
    [{ frequency: 'daily', until: '2027-03-31' }, 'recurrence.until makes 129 appointments: a series has 104 at most'],
    [
      { frequency: 'monthly', count: 60 },
      'recurrence.count ends more than 731 days after the first: begin another series then',
    ],
    [{ frequency: 'daily', count: 3, weekday: 'mon' }, 'recurrence.weekday is for a weekly series: leave it out'],
    [
      { frequency: 'weekly', count: 3, weekday: 'tue' },
      'recurrence.weekday leaves out that of the slot, which is the first: add mon',
    ],
    [{ frequency: 'weekly', count: 3, weekday: 'Mon' }, 'recurrence.weekday takes sun, mon, tue, wed, thu, fri, sat'],
    [{ frequency: 'weekly', count: 3, interval: 100 }, 'recurrence.interval takes an integer from 1 to 99'],
    [
      { frequency: 'daily', count: 3, except: '2026-11-23' },
      'recurrence.except leaves out 2026-11-23, the day of the slot: begin with another slot',
    ],
    [{ frequency: 'daily', count: 3, taken: 'maybe' }, 'recurrence.taken takes refuse, skip'],
  ];
  for (const [recurrence, diagnostics] of refusals) {
    const { status, json } = await book(monday, recurrence);
    assert.equal(status, 400, diagnostics);
    assert.equal(json.issue[0].diagnostics, diagnostics);
  }
  assert.equal(await total(), 0);
  assert.equal(await held(), 0);
});

test('each appointment is one of its own, at the same time by the clock, with what the series shares', async () => {
  await clear();
  const answer = await book(monday, { frequency: 'weekly', count: 4, weekday: ['mon', 'wed'], except: '2026-11-30' });
  assert.equal(answer.status, 200, answer.text);
  const starts = ['2026-11-23T09:00:00+01:00', '2026-11-25T09:00:00+01:00', '2026-12-02T09:00:00+01:00'];
  assert.deepEqual(startsOf(answer), starts);
  assert.deepEqual(partsOf(answer, 'skipped'), []);
  const series = seriesOf(answer);
  for (const [index, id] of idsOf(answer).entries()) {
    const { json } = await booker.get(`Appointment/${id}`);
    const { id: _id, meta: _meta, slot, ...appointment } = json;
    assert.match(slot[0].reference, /^Slot\//);
    assert.deepEqual(appointment, {
      resourceType: 'Appointment',
      identifier: [
        { system: 'urn:example:own', value: '1' },
        {
          extension: [
            {
              url: 'https://praxis.health/fhir/StructureDefinition/appointment-series-start',
              valueInstant: starts[index],
            },
          ],
          system: 'https://praxis.health/fhir/sid/appointment-series',
          value: series,
        },
      ],
      status: 'booked',
      appointmentType: { coding: [{ code: 'FOLLOWUP' }] },
      start: starts[index],
      end: starts[index]?.replace('09:00', '09:30'),
      minutesDuration: 30,
      participant: [
        { actor: { reference: 'Patient/p' }, status: 'accepted' },
        { actor: { reference: 'Practitioner/12' }, status: 'accepted' },
        { actor: { reference: 'Location/3' }, status: 'accepted' },
      ],
    });
  }
  const found = await booker.get(`Appointment?identifier=https://praxis.health/fhir/sid/appointment-series|${series}`);
  assert.equal(found.status, 403, 'acl/appmt_r alone does not search');
  assert.equal(await held(), 0);
});

test('all or nothing: what is taken or missing is named one by one, with what is free instead', async () => {
  await clear();
  for (const day of ['2026-11-24', '2026-11-26'])
    assert.equal(
      (
        await caller.send('POST', 'Appointment/$book', {
          resourceType: 'Parameters',
          parameter: [
            { name: 'appointment', resource: visit },
            { name: 'slot', valueString: await slotAt(day, '09:00') },
          ],
        })
      ).status,
      201,
    );
  const { status, json } = await book(monday, { frequency: 'daily', count: 6 });
  assert.equal(status, 409);
  const [first, ...more] = json.issue;
  assert.equal(first.details.coding[0].code, 'slot-taken');
  assert.equal(
    first.diagnostics,
    'Occurrence 2 of 6: The slot at 2026-11-24T09:00:00+01:00 is taken: nothing is free from 2026-11-24T09:00:00+01:00 to 2026-11-24T09:30:00+01:00. The next free ones follow',
  );
  const errors = more.filter(({ severity }: { severity: string }) => severity === 'error');
  assert.deepEqual(
    errors.map(({ diagnostics }: { diagnostics: string }) => diagnostics.slice(0, 74)),
    [
      'Occurrence 4 of 6: The slot at 2026-11-26T09:00:00+01:00 is taken: nothing',
      'Occurrence 6 of 6: Practitioner/12 has no slot of type FOLLOWUP at Locatio',
    ],
  );
  assert.equal(more.length - errors.length, 10);
  assert.equal(await total(), 2);
  assert.equal(await held(), 0);
});

test('with skip the others are booked, and the answer tells which were not and what is free instead', async () => {
  await clear();
  const taken = await slotAt('2026-11-25', '09:00');
  await caller.send('POST', 'Appointment/$book', {
    resourceType: 'Parameters',
    parameter: [
      { name: 'appointment', resource: visit },
      { name: 'slot', valueString: taken },
    ],
  });
  const answer = await book(monday, { frequency: 'daily', count: 6, taken: 'skip' });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(
    startsOf(answer).map((start) => start?.slice(8, 10)),
    ['23', '24', '26', '27'],
  );
  assert.deepEqual(
    startsOf(answer, 'skipped').map((start) => start?.slice(8, 10)),
    ['25', '28'],
  );
  const [skipped = [], missing = []] = partsOf(answer, 'skipped');
  const free = skipped.flatMap(({ valueReference }) => valueReference ?? []);
  assert.equal(free.length, 5);
  assert.equal(free[0]?.display, '2026-11-25T09:30:00+01:00/2026-11-25T10:00:00+01:00');
  assert.match(missing.find(({ name }) => name === 'reason')?.valueString ?? '', /has no slot of type FOLLOWUP/);
  assert.equal(await total(), 5);
});

test('where none can be booked nothing is, also with skip', async () => {
  await clear();
  const series = await book(monday, { frequency: 'daily', count: 3 });
  assert.equal(series.status, 200);
  const { status } = await book(monday, { frequency: 'daily', count: 3, taken: 'skip' });
  assert.equal(status, 409);
  assert.equal(await total(), 3);
});

test('a series on a hold; the time of the clock stays over the change of the clocks and over a holiday', async () => {
  await clear();
  const first = await slotAt('2026-12-17', '10:30');
  const held = await booker.send('POST', `Slot/${first}/$hold`);
  const hold = held.json.parameter.find(({ name }: { name: string }) => name === 'hold').valueId;
  const body = booking(first, { frequency: 'weekly', until: '2027-04-01', taken: 'skip' });
  const parameter = body.parameter.map((each) => (each.name === 'slot' ? { name: 'hold', valueId: hold } : each));
  const answer = await booker.send('POST', 'Appointment/$book', { ...body, parameter });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(startsOf(answer, 'skipped'), ['2026-12-24T10:30:00+01:00']);
  const starts = startsOf(answer);
  assert.equal(starts.length, 15);
  assert.deepEqual(starts.slice(-2), ['2027-03-25T10:30:00+01:00', '2027-04-01T10:30:00+02:00']);
});

test('cancelled alone, with those after it, or all; those that have begun are left', async () => {
  await clear();
  const ids = idsOf(await book(monday, { frequency: 'daily', count: 5 }));
  const [first = '', second = '', third = '', fourth = '', fifth = ''] = ids;
  assert.equal((await cancel(second)).status, 200);
  const moved = await booker.send('POST', `Appointment/${fifth}/$reschedule`, {
    resourceType: 'Parameters',
    parameter: [{ name: 'slot', valueString: await slotAt('2026-11-23', '11:00') }],
  });
  assert.equal(moved.status, 200, moved.text);
  const following = await cancel(third, 'following');
  assert.equal(following.status, 200, following.text);
  assert.deepEqual(idsOf(following, 'cancelled'), [third, fourth, fifth], 'one that was moved keeps its place');
  assert.deepEqual(partsOf(following, 'left'), []);
  for (const [resource] of partsOf(following, 'cancelled').map((parts) => parts.flatMap((each) => each.resource ?? [])))
    assert.equal(resource?.status, 'cancelled');
  const all = await cancel(fifth, 'all');
  assert.deepEqual(idsOf(all, 'cancelled'), [first]);
  assert.deepEqual(
    partsOf(all, 'left').map(([reference, status]) => [reference?.valueReference?.reference, status?.valueCode]),
    [second, third, fourth, fifth].map((id) => [`Appointment/${id}`, 'cancelled']),
  );
});

test('one that is over stays as it is, and one that is arriving', async () => {
  await clear();
  const [first = '', second = '', third = ''] = idsOf(await book(monday, { frequency: 'daily', count: 3 }));
  for (const [id, status] of [
    [first, 'fulfilled'],
    [second, 'arrived'],
  ]) {
    const patch = [{ op: 'replace', path: '/status', value: status }];
    const headers = { 'content-type': 'application/json-patch+json' };
    assert.equal((await caller.send('PATCH', `Appointment/${id}`, patch, headers)).status, 200);
  }
  const answer = await cancel(first, 'all');
  assert.deepEqual(idsOf(answer, 'cancelled'), [third]);
  assert.deepEqual(
    partsOf(answer, 'left').map(([, status]) => status?.valueCode),
    ['fulfilled', 'arrived'],
  );
});

test('an appointment of no series has no scope; who may not read what decides is refused alike', async () => {
  await clear();
  const [member = ''] = idsOf(await book(monday, { frequency: 'daily', count: 2 }));
  const { json } = await caller.send('POST', 'Appointment', { ...visit, status: 'proposed' });
  const none = await cancel(json.id, 'all');
  assert.equal(none.status, 422);
  assert.equal(none.json.issue[0].diagnostics, `Appointment/${json.id} is part of no series: leave scope out`);
  const refusals = await Promise.all([cancel(member, 'all', blind), cancel(json.id, 'all', blind)]);
  assert.deepEqual(
    refusals.map(({ status }) => status),
    [403, 403],
  );
  assert.equal(refusals[0]?.text, refusals[1]?.text);
  assert.equal((await cancel(member, 'some')).json.issue[0].diagnostics, 'scope takes one, following, all');
  assert.equal((await cancel('unknown', 'all')).status, 404);
});

test('appointments outside of the rows that one may change are neither cancelled nor told of', async () => {
  await clear();
  const open = { ...visit, serviceCategory: [{ coding: [{ code: 'open' }] }] };
  const ids = idsOf(await book(monday, { frequency: 'daily', count: 3 }, rows, open));
  const [first = '', second = '', third = ''] = ids;
  const { json } = await caller.get(`Appointment/${second}`);
  await put(caller, { ...json, serviceCategory: [{ coding: [{ code: 'closed' }] }] });
  const answer = await cancel(first, 'all', rows);
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(idsOf(answer, 'cancelled'), [first, third]);
  assert.ok(!answer.text.includes(second));
  assert.equal((await caller.get(`Appointment/${second}`)).json.status, 'booked');
  assert.deepEqual([(await cancel(second, 'all', rows)).status, (await cancel('x', 'all', rows)).status], [404, 404]);
});

test('two who book the same series at once: one has all of it, the other nothing', async () => {
  await clear();
  const answers = await Promise.all(Array.from({ length: 4 }, () => book(monday, { frequency: 'daily', count: 5 })));
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409, 409, 409]);
  assert.equal(await total(), 5);
  assert.equal(await held(), 0);
});

test('in a transaction of a Bundle what is skipped takes nothing', async () => {
  await clear();
  const two = {
    ...visit,
    participant: [...visit.participant, { actor: { reference: 'Location/31' }, status: 'accepted' }],
  };
  const taken = await book(await slotAt('2026-11-24', '09:00'), { frequency: 'daily', count: 1 }, caller, two);
  assert.equal(taken.status, 200, taken.text);
  const answer = await caller.send('POST', '', {
    resourceType: 'Bundle',
    type: 'transaction',
    entry: [
      {
        resource: booking(monday, { frequency: 'daily', count: 3, taken: 'skip' }, { ...two, status: 'booked' }),
        request: { method: 'POST', url: 'Appointment/$book' },
      },
    ],
  });
  assert.equal(answer.status, 200, answer.text);
  const [told] = answer.json.entry;
  assert.deepEqual(
    told.resource.parameter.map(({ name }: { name: string }) => name),
    ['series', 'booked', 'booked', 'skipped'],
  );
  assert.equal(await total(), 3);
  assert.equal(await held(), 0);
  const rows = await service.database.owner.query(sql`SELECT DISTINCT owner FROM occupancy`);
  assert.equal(rows.length, 3);
});
