/**
 * Appointments of practitioners who have a calendar: they stand on slots, take their places with their version or not at all,
 * and who comes too late is told what is free (decisions 0188 to 0190). Plain writes first, then $hold and $book.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { sql } from '../../../src/database/sql.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';
import { keepCalendar, plainCalendar, put, putPlaces } from '../calendars/world.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple', 'sandbox', 'Europe/Berlin');
const application = await makeApplication(service, 'Everything', ['acl/*'], [maple]);
const caller = await openCaller(service, application, maple);
const other = await openCaller(service, await makeApplication(service, 'Other', ['acl/*'], [maple]), maple);
const blind = await openCaller(
  service,
  await makeApplication(service, 'Without slots', ['acl/appmt_c', 'acl/appmt_r', 'acl/appmt_u'], [maple]),
  maple,
);
await putPlaces(caller, ['12', '13', '14'], ['3', '31', '32']);
await put(caller, { resourceType: 'Patient', id: 'p' });
await put(caller, { resourceType: 'Device', id: '7' });
await keepCalendar(service.platform, maple, plainCalendar);
await keepCalendar(service.platform, maple, {
  practitioner: '13',
  location: '3',
  appointmentTypes: [
    {
      code: 'LASER',
      minutes: 30,
      bufferAfterMinutes: 10,
      needs: [{ anyOf: ['Location/31', 'Location/32'] }, { anyOf: ['Device/7'] }],
    },
  ],
  weekly: [{ days: ['mon'], from: '09:00', to: '12:00', capacity: 2, stepMinutes: 30 }],
});
await service.service.jobs.settle();

// Monday, 23 November 2026: the clock stands at Saturday, 21 November.
const at = (time: string, day = '2026-11-23'): string => `${day}T${time}:00+01:00`;

const appointment = (start: string, end: string, more: object = {}) => ({
  resourceType: 'Appointment',
  status: 'booked',
  appointmentType: { coding: [{ code: 'FOLLOWUP' }] },
  start,
  end,
  participant: [
    { actor: { reference: 'Patient/p' }, status: 'accepted' },
    { actor: { reference: 'Practitioner/12' }, status: 'accepted' },
    { actor: { reference: `${maple.base}/Location/3` }, status: 'accepted' },
  ],
  ...more,
});

const clear = async (): Promise<void> => {
  const { json } = await caller.get('Appointment?_elements=id&_count=200');
  for (const { resource } of json.entry ?? []) await caller.send('DELETE', `Appointment/${resource.id}`);
  assert.deepEqual(await taken(), []);
};

async function taken(): Promise<readonly string[]> {
  const rows = await service.database.owner.query<{ text: string }>(sql`
    SELECT actor || ' ' || to_char(to_timestamp(starts / 1000) AT TIME ZONE 'Europe/Berlin', 'HH24:MI') || '-' ||
      to_char(to_timestamp(ends / 1000) AT TIME ZONE 'Europe/Berlin', 'HH24:MI') AS text
    FROM occupancy WHERE owner LIKE 'Appointment/%' ORDER BY actor, starts`);
  return rows.map(({ text }) => text);
}

const details = (code: string, text: string) => ({
  coding: [{ system: 'https://praxis.health/fhir/CodeSystem/error', code }],
  text,
});

test('an appointment that stands on no slot is refused by name of what would be right', async () => {
  await clear();
  const refusals: readonly (readonly [object, string, string])[] = [
    [
      appointment(at('09:10'), at('09:40')),
      'Practitioner/12 has no slot of type FOLLOWUP that starts at 2026-11-23T09:10:00+01:00: Slot?appointment-type=…&date=… lists those there are',
      'Appointment.start',
    ],
    [
      appointment(at('09:00'), at('09:45')),
      'An appointment of type FOLLOWUP with Practitioner/12 takes 30 minutes: end must be 2026-11-23T09:30:00+01:00',
      'Appointment.end',
    ],
    [
      appointment(at('09:00'), at('09:30'), { appointmentType: { coding: [{ code: 'LASER' }] } }),
      'Practitioner/12 cannot be booked for LASER, only for FOLLOWUP, NEW',
      'Appointment.appointmentType',
    ],
    [
      appointment(at('09:00'), at('09:30'), { appointmentType: undefined }),
      'appointmentType is missing: Practitioner/12 can be booked for FOLLOWUP, NEW',
      'Appointment.appointmentType',
    ],
  ];
  for (const [body, diagnostics, element] of refusals) {
    const { status, json } = await caller.send('POST', 'Appointment', body);
    assert.equal(status, 422, diagnostics);
    assert.deepEqual(json.issue, [
      {
        severity: 'error',
        code: 'business-rule',
        diagnostics,
        expression: [element],
        details: details('slot-missing', diagnostics),
      },
    ]);
  }
  assert.deepEqual(await taken(), []);
  assert.equal((await caller.get('Appointment?_summary=count')).json.total, 0);
});

test('whoever comes too late is told what is blocked, by nobody’s name, and five free slots', async () => {
  await clear();
  assert.equal((await caller.send('POST', 'Appointment', appointment(at('09:00'), at('09:30')))).status, 201);
  const { status, json } = await other.send('POST', 'Appointment', appointment(at('09:00'), at('09:30')));
  assert.equal(status, 409);
  const diagnostics =
    'The slot at 2026-11-23T09:00:00+01:00 is taken: nothing is free from 2026-11-23T09:00:00+01:00 to 2026-11-23T09:30:00+01:00. The next free ones follow';
  const [first, ...free] = json.issue;
  assert.deepEqual(first, {
    severity: 'error',
    code: 'conflict',
    diagnostics,
    expression: ['Appointment.start'],
    details: details('slot-taken', diagnostics),
  });
  const displays = free.map(
    ({ extension }: { extension: { valueReference: { display: string } }[] }) => extension[0]?.valueReference.display,
  );
  assert.deepEqual(
    displays,
    [
      ['09:30', '10:00'],
      ['10:00', '10:30'],
      ['10:30', '11:00'],
      ['11:00', '11:30'],
      ['11:30', '12:00'],
    ].map(([from, to]) => `${at(from ?? '')}/${at(to ?? '')}`),
  );
  const { reference } = free[0].extension[0].valueReference;
  assert.equal((await other.get(reference)).json.status, 'free');
  assert.equal((await other.send('POST', 'Appointment', appointment(at('09:30'), at('10:00')))).status, 201);
});

test('who may not search for slots is not told of free ones', async () => {
  await clear();
  await caller.send('POST', 'Appointment', appointment(at('09:00'), at('09:30')));
  const { status, json } = await blind.send('POST', 'Appointment', appointment(at('09:00'), at('09:30')));
  assert.equal(status, 409);
  assert.deepEqual(
    json.issue.map(({ diagnostics }: { diagnostics: string }) => diagnostics),
    [
      'The slot at 2026-11-23T09:00:00+01:00 is taken: nothing is free from 2026-11-23T09:00:00+01:00 to 2026-11-23T09:30:00+01:00. With acl/slot_s this answer would name free slots',
    ],
  );
});

test('a long appointment and two short ones share the clock: what overlaps is refused, what touches is not', async () => {
  await clear();
  const long = appointment(at('09:00'), at('10:00'), { appointmentType: { coding: [{ code: 'NEW' }] } });
  assert.equal((await caller.send('POST', 'Appointment', long)).status, 201);
  assert.equal((await caller.send('POST', 'Appointment', appointment(at('09:30'), at('10:00')))).status, 409);
  assert.equal((await caller.send('POST', 'Appointment', appointment(at('10:00'), at('10:30')))).status, 201);
});

test('PUT and PATCH move, free and take again; deletion frees', async () => {
  await clear();
  const { json: made } = await caller.send('POST', 'Appointment', appointment(at('09:00'), at('09:30')));
  const { json: second } = await caller.send('POST', 'Appointment', appointment(at('10:00'), at('10:30')));
  const place = `Appointment/${made.id}`;
  const moved = await caller.send('PUT', place, { ...made, start: at('10:00'), end: at('10:30') });
  assert.equal(moved.status, 409);
  assert.equal((await caller.get(place)).json.start, at('09:00'));
  assert.equal((await caller.send('PUT', place, { ...made, start: at('11:00'), end: at('11:30') })).status, 200);
  assert.deepEqual(await taken(), ['Practitioner/12 10:00-10:30', 'Practitioner/12 11:00-11:30']);
  const patch = (value: string) =>
    caller.send('PATCH', `Appointment/${second.id}`, [{ op: 'replace', path: '/status', value }], {
      'content-type': 'application/json-patch+json',
    });
  assert.equal((await patch('cancelled')).status, 200);
  assert.deepEqual(await taken(), ['Practitioner/12 11:00-11:30']);
  assert.equal((await caller.send('PUT', place, { ...made, start: at('10:00'), end: at('10:30') })).status, 200);
  assert.equal((await patch('booked')).status, 409);
  assert.equal((await caller.send('DELETE', place)).status, 204);
  assert.equal((await patch('booked')).status, 200);
  assert.deepEqual(await taken(), ['Practitioner/12 10:00-10:30']);
});

test('a transaction takes all its places or none', async () => {
  await clear();
  const entry = (start: string, end: string) => ({
    resource: appointment(start, end),
    request: { method: 'POST', url: 'Appointment' },
  });
  const bundle = (...entries: object[]) => ({ resourceType: 'Bundle', type: 'transaction', entry: entries });
  const twice = await caller.send('POST', '', bundle(entry(at('09:00'), at('09:30')), entry(at('09:00'), at('09:30'))));
  assert.equal(twice.status, 409);
  assert.deepEqual(await taken(), []);
  const both = await caller.send('POST', '', bundle(entry(at('09:00'), at('09:30')), entry(at('09:30'), at('10:00'))));
  assert.equal(both.status, 200);
  assert.deepEqual(await taken(), ['Practitioner/12 09:00-09:30', 'Practitioner/12 09:30-10:00']);
});

const laser = (start: string, end: string, more: readonly string[] = []) =>
  appointment(start, end, {
    appointmentType: { coding: [{ code: 'LASER' }] },
    participant: ['Patient/p', 'Practitioner/13', 'Location/3', ...more].map((reference) => ({
      actor: { reference },
      status: 'accepted',
    })),
  });

test('rooms and equipment are taken with the practitioner, buffers included, all or none', async () => {
  await clear();
  assert.equal((await caller.send('POST', 'Appointment', laser(at('09:00'), at('09:30')))).status, 201);
  assert.deepEqual(await taken(), ['Device/7 09:00-09:40', 'Location/31 09:00-09:40', 'Practitioner/13 09:00-09:40']);
  // The practitioner may have two at once, and a second room is free, but there is one device.
  assert.equal((await caller.send('POST', 'Appointment', laser(at('09:00'), at('09:30')))).status, 409);
  assert.equal((await caller.send('POST', 'Appointment', laser(at('09:30'), at('10:00')))).status, 409);
  assert.equal((await taken()).length, 3);
  const named = laser(at('10:00'), at('10:30'), ['Location/32']);
  assert.equal((await caller.send('POST', 'Appointment', named)).status, 201);
  assert.ok((await taken()).includes('Location/32 10:00-10:40'));
});

test('practitioners without a calendar are booked as R4 leaves it', async () => {
  const free = appointment(at('03:07'), at('03:08'), {
    participant: [{ actor: { reference: 'Practitioner/14' }, status: 'accepted' }],
  });
  assert.equal((await caller.send('POST', 'Appointment', free)).status, 201);
  assert.equal((await caller.send('POST', 'Appointment', free)).status, 201);
});

test('appointments from before a calendar count once it is there, also where they overlap', async () => {
  const early = (start: string, end: string) =>
    appointment(start, end, {
      participant: [{ actor: { reference: 'Practitioner/14' }, status: 'accepted' }],
      appointmentType: { coding: [{ code: 'NEW' }] },
    });
  await caller.send('POST', 'Appointment', early(at('09:10'), at('09:40')));
  await caller.send('POST', 'Appointment', early(at('09:15'), at('09:45')));
  await keepCalendar(service.platform, maple, { ...plainCalendar, practitioner: '14' });
  await service.service.jobs.settle();
  const own = (await taken()).filter((text) => text.startsWith('Practitioner/14 09'));
  assert.deepEqual(own, ['Practitioner/14 09:10-09:40', 'Practitioner/14 09:15-09:45']);
  assert.equal((await caller.send('POST', 'Appointment', early(at('09:00'), at('10:00')))).status, 409);
  assert.equal((await caller.send('POST', 'Appointment', early(at('10:00'), at('11:00')))).status, 201);
});
