/**
 * A slot is judged once (decision 0250): what its places are taken by goes with the appointment, so that a booking sends few
 * statements, and an appointment that says more than its slot is judged for all of it.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { sql } from '../../../src/database/sql.ts';
import { claimSlot } from '../../../src/practice/booking/holding.ts';
import { withReservation } from '../../../src/practice/booking/reserve.ts';
import { findSlotRules } from '../../../src/practice/calendars/slots/offered-slot.ts';
import { openRecordedService } from '../../support/recorded-service.ts';
import { type Answer, makeApplication, makeFirm, openCaller } from '../../support/service.ts';
import { editorOf, keepCalendar, plainCalendar, put, putPlaces } from '../calendars/world.ts';

const sent: string[] = [];
const service = await openRecordedService({ after }, (firm, { text }) => {
  if (firm !== undefined && !text.includes('praxis_audit_rows(')) sent.push(text);
});
const maple = await makeFirm(service, 'maple', 'sandbox', 'Europe/Berlin');
const caller = await openCaller(service, await makeApplication(service, 'Everything', ['acl/*'], [maple]), maple);
await putPlaces(caller, ['12', '13', '14'], ['3', '31', '32']);
await put(caller, { resourceType: 'Patient', id: 'p' });
const mornings = [{ days: ['mon', 'tue'], from: '09:00', to: '12:00' }];
await keepCalendar(service.platform, maple, plainCalendar);
await keepCalendar(service.platform, maple, {
  practitioner: '13',
  location: '3',
  appointmentTypes: [{ code: 'ROOM', minutes: 30, needs: [{ anyOf: ['Location/31', 'Location/32'] }] }],
  weekly: mornings,
});
await keepCalendar(service.platform, maple, {
  practitioner: '14',
  location: '3',
  appointmentTypes: [{ code: 'FOLLOWUP', minutes: 30 }],
  weekly: mornings,
});
await service.service.jobs.settle();

const monday = '2026-11-23';
const participant = (reference: string) => ({ actor: { reference }, status: 'accepted' });
const visit = { resourceType: 'Appointment', participant: [participant('Patient/p')] };
const withOthers = (...references: readonly string[]) => ({
  ...visit,
  participant: [...visit.participant, ...references.map(participant)],
});
const parameters = (...parameter: readonly object[]) => ({ resourceType: 'Parameters', parameter });
const ofSlot = (slot: string, appointment: object = visit) =>
  parameters({ name: 'appointment', resource: appointment }, { name: 'slot', valueString: slot });
const ofHold = (hold: string) => parameters({ name: 'appointment', resource: visit }, { name: 'hold', valueId: hold });
const book = (body: object): Promise<Answer> => caller.send('POST', 'Appointment/$book', body);

async function slotsOf(type: string, practitioner: string): Promise<string[]> {
  const { json } = await caller.get(
    `Slot/$find?appointment-type=${type}&start=${monday}&end=2026-11-24&practitioner=${practitioner}`,
  );
  return json.entry.map(({ resource }: { resource: { id: string } }) => resource.id);
}

async function holdOf(slot: string): Promise<string> {
  const { status, json, text } = await caller.send('POST', `Slot/${slot}/$hold`);
  assert.equal(status, 200, text);
  return json.parameter[0].valueId;
}

/** Who has what of the time of the Monday, in the order of actors. */
async function taken(): Promise<readonly string[]> {
  const rows = await service.database.owner.query<{ text: string }>(sql`
    SELECT actor || ' ' || to_char(to_timestamp(starts / 1000) AT TIME ZONE 'Europe/Berlin', 'HH24:MI') || ' ' ||
      split_part(owner, '/', 1) AS text FROM occupancy ORDER BY actor, starts`);
  return rows.map(({ text }) => text);
}

async function clear(): Promise<void> {
  await service.database.owner.query(sql`DELETE FROM occupancy`);
  await service.database.owner.query(sql`DELETE FROM slot_hold`);
  await service.service.jobs.settle();
}

/** Statements that the request sends as the firm, but for its audit row and those that begin and end a transaction. */
async function statementsOf(status: number, ask: () => Promise<Answer>): Promise<number> {
  await service.service.jobs.settle();
  await service.service.parts.ledger.flush();
  sent.length = 0;
  const answer = await ask();
  assert.equal(answer.status, status, answer.text);
  return sent.length;
}

// Of the nine, three go together: the time that is given up is noted, and due, and the rights are still those.
test('a slot is held by three statements, booked by five, moved by nine; a room costs one more', async () => {
  for (const [type, practitioner, more] of [
    ['FOLLOWUP', '12', 0],
    ['ROOM', '13', 1],
  ] as const) {
    await clear();
    const [one = '', two = '', three = ''] = await slotsOf(type, practitioner);
    const counts: Record<string, number> = {};
    counts['$hold'] = await statementsOf(200, () => caller.send('POST', `Slot/${one}/$hold`));
    await clear();
    const hold = await holdOf(one);
    counts['$renew'] = await statementsOf(200, () =>
      caller.send('POST', 'Slot/$renew', parameters({ name: 'hold', valueId: hold })),
    );
    let id = '';
    counts['$book of a hold'] = await statementsOf(201, async () => {
      const answer = await book(ofHold(hold));
      id = answer.json.id;
      return answer;
    });
    const next = await holdOf(two);
    counts['$reschedule to a hold'] = await statementsOf(200, () =>
      caller.send('POST', `Appointment/${id}/$reschedule`, parameters({ name: 'hold', valueId: next })),
    );
    counts['$book of a slot'] = await statementsOf(201, () => book(ofSlot(three)));
    assert.deepEqual(counts, {
      $hold: 3 + more,
      $renew: 3 + more,
      '$book of a hold': 5 + more,
      '$reschedule to a hold': 9 + more,
      '$book of a slot': 4 + more,
    });
  }
});

test('each appointment more in a series costs one statement, all are written by one', async () => {
  await clear();
  const [first = '', second = ''] = await slotsOf('FOLLOWUP', '12');
  const weekly = (slot: string, count: number) => {
    const part = [
      { name: 'frequency', valueCode: 'weekly' },
      { name: 'count', valuePositiveInt: count },
    ];
    const { parameter } = ofSlot(slot);
    return parameters(...parameter, { name: 'recurrence', part });
  };
  const ofTwo = await statementsOf(200, () => book(weekly(first, 2)));
  assert.equal(await statementsOf(200, () => book(weekly(second, 12))), ofTwo + 10);
  assert.equal(sent.filter((text) => text.includes('praxis_write_resources(')).length, 1);
});

test('an offer of the waiting list is accepted by nine statements, of which three go together', async () => {
  await clear();
  const [slot = ''] = await slotsOf('FOLLOWUP', '12');
  const { json: booked } = await book(ofSlot(slot));
  const waiting = { ...visit, status: 'waitlist', appointmentType: { coding: [{ code: 'FOLLOWUP' }] } };
  const { json: waits } = await caller.send('POST', 'Appointment', waiting);
  await caller.send('DELETE', `Appointment/${booked.id}`);
  await service.service.jobs.settle();
  const accept = () => caller.send('POST', `Appointment/${waits.id}/$accept-offer`);
  assert.equal(await statementsOf(200, accept), 9);
  assert.deepEqual(await taken(), ['Practitioner/12 09:00 Appointment']);
});

test('one hold that three book at once becomes one appointment', async () => {
  for (let round = 0; round < 5; round += 1) {
    await clear();
    const [slot = ''] = await slotsOf('FOLLOWUP', '12');
    const hold = await holdOf(slot);
    const statuses = (await Promise.all([1, 2, 3].map(() => book(ofHold(hold))))).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 201).length, 1, String(statuses));
    assert.ok(
      statuses.every((status) => [201, 400, 409].includes(status)),
      String(statuses),
    );
    assert.deepEqual(await taken(), ['Practitioner/12 09:00 Appointment']);
  }
});

test('a hold that was booked or released leaves nothing, one whose booking is refused stays', async () => {
  await clear();
  const [slot = ''] = await slotsOf('FOLLOWUP', '12');
  const holds = async (): Promise<number> => (await service.database.owner.query(sql`SELECT FROM slot_hold`)).length;
  const hold = await holdOf(slot);
  const wrong = parameters(
    { name: 'appointment', resource: { ...visit, minutesDuration: 5 } },
    { name: 'hold', valueId: hold },
  );
  assert.equal((await book(wrong)).status, 422);
  assert.deepEqual([await holds(), await taken()], [1, ['Practitioner/12 09:00 hold']]);
  assert.equal((await book(ofHold(hold))).status, 201);
  assert.deepEqual([await holds(), await taken()], [0, ['Practitioner/12 09:00 Appointment']]);
  await clear();
  const other = await holdOf(slot);
  assert.equal((await caller.send('POST', 'Slot/$release', parameters({ name: 'hold', valueId: other }))).status, 204);
  assert.deepEqual([await holds(), await taken()], [0, []]);
});

test('an appointment that names more than its slot is judged for all whom it names', async () => {
  await clear();
  const [slot = ''] = await slotsOf('FOLLOWUP', '12');
  assert.equal((await book(ofSlot(slot, withOthers('Practitioner/14')))).status, 201);
  assert.deepEqual(await taken(), ['Practitioner/12 09:00 Appointment', 'Practitioner/14 09:00 Appointment']);
  // The other one has no slot of the type.
  await clear();
  const refused = await book(ofSlot(slot, withOthers('Practitioner/13')));
  assert.equal(refused.status, 422);
  assert.match(refused.json.issue[0].diagnostics, /^Practitioner\/13 cannot be booked for FOLLOWUP/);
  assert.deepEqual(await taken(), []);
  // Of the other one it is taken.
  const [own = ''] = await slotsOf('FOLLOWUP', '14');
  assert.equal((await book(ofSlot(own))).status, 201);
  assert.equal((await book(ofSlot(slot, withOthers('Practitioner/14')))).status, 409);
  assert.deepEqual(await taken(), ['Practitioner/14 09:00 Appointment']);
});

test('a move that is refused names no time as free that the appointment itself has', async () => {
  await clear();
  const [one = '', two = ''] = await slotsOf('FOLLOWUP', '12');
  assert.equal((await book(ofSlot(one))).status, 201);
  const { json: moving } = await book(ofSlot(two));
  const { status, json } = await caller.send(
    'POST',
    `Appointment/${moving.id}/$reschedule`,
    parameters({ name: 'slot', valueString: one }),
  );
  assert.equal(status, 409);
  const told = json.issue.slice(1).map(({ extension }: Answer['json']) => extension[0].valueReference.reference);
  assert.equal(told.length, 5);
  assert.ok(![one, two].some((slot) => told.includes(`Slot/${slot}`)), String(told));
  assert.deepEqual(await taken(), ['Practitioner/12 09:00 Appointment', 'Practitioner/12 09:30 Appointment']);
});

test('rules that change after a slot was judged are read again: it is taken by them, or is no more', async () => {
  await clear();
  const [slot = ''] = await slotsOf('FOLLOWUP', '14');
  const { store, scope, clock, budget } = await editorOf(service.platform, maple);
  const judge = () => findSlotRules(store, scope, slot);
  const claim = (judged: Awaited<ReturnType<typeof judge>>) =>
    withReservation({ store, scope, nowMs: clock.now(), budget, maySeeSlots: false }, async (inside) => {
      assert.ok(judged);
      return (await claimSlot(inside, judged, { owner: 'Appointment/a', replaces: [] })).participants;
    });
  const withBuffer = {
    practitioner: '14',
    location: '3',
    appointmentTypes: [{ code: 'FOLLOWUP', minutes: 30, bufferBeforeMinutes: 15 }],
    weekly: mornings,
  };
  const before = await judge();
  const changed = await keepCalendar(service.platform, maple, withBuffer, before?.slot.calendar.version);
  assert.deepEqual(await claim(before), ['Practitioner/14', 'Location/3']);
  assert.deepEqual(await taken(), ['Practitioner/14 08:45 Appointment']);
  await clear();
  const then = await judge();
  const afternoons = [{ days: ['mon'], from: '14:00', to: '15:00' }];
  await keepCalendar(service.platform, maple, { ...withBuffer, weekly: afternoons }, changed.version);
  await assert.rejects(claim(then), { code: 'slot-missing' });
  assert.deepEqual(await taken(), []);
});
