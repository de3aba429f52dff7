/**
 * Ways around the places that an appointment takes: other names for the practitioner, times that are none, slots that it does
 * not stand on, states that take nothing. Each is refused, or takes its place like any other (decision 0188).
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { makeSlotIds } from '../../../src/practice/calendars/slots/slot-id.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';
import { keepCalendar, plainCalendar, put, putPlaces } from '../calendars/world.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple', 'sandbox', 'Europe/Berlin');
const caller = await openCaller(service, await makeApplication(service, 'Everything', ['acl/*'], [maple]), maple);
await putPlaces(caller, ['12'], ['3']);
await put(caller, { resourceType: 'Patient', id: 'p' });
const role = { resourceType: 'PractitionerRole', id: 'r', practitioner: { reference: 'Practitioner/12' } };
await put(caller, role);
const { number } = await keepCalendar(service.platform, maple, plainCalendar);
await service.service.jobs.settle();

const at = (time: string): string => `2026-11-23T${time}:00+01:00`;
const slotAt = (hour: number): string => makeSlotIds(maple.id, number, 'FOLLOWUP')(Date.UTC(2026, 10, 23, hour - 1));
const appointment = (practitioner: string | undefined, more: object = {}) => ({
  resourceType: 'Appointment',
  status: 'booked',
  appointmentType: { coding: [{ code: 'FOLLOWUP' }] },
  start: at('09:00'),
  end: at('09:30'),
  participant: ['Patient/p', ...(practitioner === undefined ? [] : [practitioner])].map((reference) => ({
    actor: { reference },
    status: 'accepted',
  })),
  ...more,
});
const post = (body: object) => caller.send('POST', 'Appointment', body);

const names = [
  'Practitioner/12',
  'Practitioner/12/_history/1',
  'Practitioner/12/_history/99',
  `${maple.base}/Practitioner/12`,
  `${maple.base}/Practitioner/12/_history/1`,
  `${maple.base.replace('http://127', 'HTTP://127')}/Practitioner/12`,
  'PractitionerRole/r',
];

test('by whatever name the practitioner is booked, there is one place', async () => {
  for (const first of names) {
    const made = await post(appointment(first));
    assert.equal(made.status, 201, `${first}: ${made.text}`);
    for (const second of names) assert.equal((await post(appointment(second))).status, 409, `${second} after ${first}`);
    assert.equal((await caller.send('DELETE', `Appointment/${made.json.id}`)).status, 204);
  }
});

test('times that are none are refused', async () => {
  for (const [more, diagnostics, element] of [
    [{ end: undefined }, 'Appointment: Either start and end are specified, or neither (app-2)', 'Appointment'],
    [{ start: undefined }, 'Appointment: Either start and end are specified, or neither (app-2)', 'Appointment'],
    [
      { end: at('08:30') },
      'end is not after start: Practitioner/12 is booked by slots, which have both',
      'Appointment.end',
    ],
  ] as const) {
    const { status, json, text } = await post(appointment('Practitioner/12', more));
    assert.equal(status, 422, text);
    assert.deepEqual([json.issue[0].diagnostics, json.issue[0].expression], [diagnostics, [element]]);
  }
});

test('the slot that an appointment names is the one it stands on', async () => {
  const wrong = { slot: [{ reference: `Slot/${slotAt(10)}` }] };
  const right = { slot: [{ reference: `Slot/${slotAt(9)}` }] };
  const diagnostics = `slot names Slot/${slotAt(10)}, on which the appointment does not stand: leave slot out, or take its type, start, end, practitioner and location`;
  for (const body of [appointment('Practitioner/12', wrong), appointment(undefined, wrong)]) {
    const { status, json, text } = await post(body);
    assert.equal(status, 422, text);
    assert.deepEqual([json.issue[0].diagnostics, json.issue[0].expression], [diagnostics, ['Appointment.slot']]);
  }
  const made = await post(appointment('Practitioner/12', right));
  assert.equal(made.status, 201, made.text);
  const patch = (operations: readonly object[]) =>
    caller.send('PATCH', `Appointment/${made.json.id}`, operations, { 'content-type': 'application/json-patch+json' });
  const lie = await patch([{ op: 'replace', path: '/slot/0/reference', value: `Slot/${slotAt(10)}` }]);
  assert.equal(lie.status, 422);
  assert.equal((await patch([{ op: 'remove', path: '/participant/1' }])).status, 422);
  assert.equal((await caller.get(`Slot/${slotAt(9)}`)).json.status, 'busy');
  await caller.send('DELETE', `Appointment/${made.json.id}`);
});

test('$book makes what is booked or pending, for a patient', async () => {
  const book = (resource: object) =>
    caller.send('POST', 'Appointment/$book', {
      resourceType: 'Parameters',
      parameter: [
        { name: 'appointment', resource: { resourceType: 'Appointment', ...resource } },
        { name: 'slot', valueString: slotAt(9) },
      ],
    });
  const participant = [{ actor: { reference: 'Patient/p' }, status: 'accepted' }];
  for (const status of ['waitlist', 'arrived', 'fulfilled', 'cancelled', 'noshow'])
    assert.equal((await book({ status, participant })).status, 422, status);
  for (const none of [[], [{ status: 'accepted' }], [{ actor: { reference: 'Device/7' }, status: 'accepted' }]])
    assert.ok([400, 422].includes((await book({ participant: none })).status));
  assert.equal((await caller.get(`Slot/${slotAt(9)}`)).json.status, 'free');
  assert.equal((await book({ status: 'pending', participant })).status, 201);
});

test('an application holds twenty slots of a practice at once', async () => {
  const { json } = await caller.get('Slot?date=ge2026-11-24&date=le2026-11-27&appointment-type=FOLLOWUP');
  const ids: string[] = json.entry.map(({ resource }: { resource: { id: string } }) => resource.id);
  for (const id of ids.slice(0, 20)) assert.equal((await caller.send('POST', `Slot/${id}/$hold`)).status, 200);
  const { status, json: refused } = await caller.send('POST', `Slot/${ids[20]}/$hold`);
  assert.equal(status, 422);
  assert.equal(
    refused.issue[0].diagnostics,
    'The application holds 20 slots of this practice already: book or release one of them',
  );
});
