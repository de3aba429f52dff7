/**
 * What derived slots show to whom: nothing without the entry, no element, row or status that a token may not see, and nothing
 * of another firm, however it is asked for. It is Saturday, 2026-11-21, 04:30 in New York.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { entryProblem } from '../../../src/admin/entry-problem.ts';
import { sql } from '../../../src/database/sql.ts';
import { authorise } from '../../../src/tenancy/authorisations.ts';
import {
  type Answer,
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
} from '../../support/service.ts';
import { keepCalendar, plainCalendar, putPlaces } from './world.ts';

const service = await openTestService({ after });
const { platform } = service;
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const full = await makeApplication(service, 'Full', ['acl/*'], [maple, cedar]);
const caller = await openCaller(service, full, maple);
await putPlaces(caller, ['12'], ['3']);
await keepCalendar(platform, maple, plainCalendar);
const elsewhere = await openCaller(service, full, cedar);
await putPlaces(elsewhere, ['12'], ['3']);
await keepCalendar(platform, cedar, { ...plainCalendar, appointmentTypes: [{ code: 'SECRET', minutes: 30 }] });

async function callerWith(name: string, acl: readonly string[]): Promise<Caller> {
  return await openCaller(service, await makeApplication(service, name, acl, [maple]), maple);
}

const byEntry = await callerWith('Booking', ['acl/slot_s']);
const restricted = await callerWith('Restricted', ['acl/enc_s', 'acl/pat_s_name_dob_gen']);
const followUps = await callerWith('Follow-ups', ['system/Slot.s?appointment-type=FOLLOWUP']);
const freeOnly = await callerWith('Free', ['system/Slot.rs?status=free']);

const monday = 'date=2026-11-23';
const types = ({ json }: Answer): readonly string[] => [
  ...new Set<string>(
    (json.entry ?? []).map(({ resource }: { resource: { appointmentType: { coding: { code: string }[] } } }) =>
      resource.appointmentType.coding.map(({ code }) => code).join(),
    ),
  ),
];
const idsOf = ({ json }: Answer): readonly string[] =>
  (json.entry ?? []).map(({ resource }: { resource: { id: string } }) => resource.id);

const all = await caller.get(`Slot?${monday}`);
const [followUp = '', newPatient = ''] = ['FOLLOWUP', 'NEW'].map(
  (code) =>
    all.json.entry.find(
      ({ resource }: { resource: { appointmentType: { coding: { code: string }[] } } }) =>
        resource.appointmentType.coding[0]?.code === code,
    ).resource.id,
);

test('without an entry for slots nothing is told, not even whether there are calendars', async () => {
  for (const path of [`Slot?${monday}`, 'Slot', `Slot?_id=${newPatient}`, `Slot/${newPatient}`, 'Slot/none']) {
    const { status, json } = await restricted.get(path);
    assert.deepEqual([status, json.issue[0].code], [403, 'forbidden'], path);
  }
});

test('slot_s searches all free slots, and reads none', async () => {
  const found = await byEntry.get(`Slot?${monday}`);
  assert.deepEqual(found.json.total, all.json.total);
  assert.equal((await byEntry.get(`Slot/${newPatient}`)).status, 403);
  assert.deepEqual(idsOf(await byEntry.get(`Slot?_id=${newPatient}`)), [newPatient]);
});

test('rows outside of the criteria are found by nothing: not by id, total, page or what is left out', async () => {
  const found = await followUps.get(`Slot?${monday}`);
  assert.deepEqual(types(found), ['FOLLOWUP']);
  assert.equal(found.json.total, 6);
  for (const query of [
    `${monday}&appointment-type=NEW`,
    `${monday}&appointment-type:not=FOLLOWUP`,
    `_id=${newPatient}`,
    `_id=${newPatient}&_summary=count`,
    `${monday}&appointment-type=NEW&_count=1&page=1`,
    `${monday}&appointment-type=NEW&status=free,busy,busy-unavailable`,
  ]) {
    const { status, json } = await followUps.get(`Slot?${query}`);
    assert.deepEqual([status, json.total, json.entry], [200, 0, undefined], query);
  }
  assert.deepEqual(idsOf(await followUps.get(`Slot?_id=${newPatient},${followUp}`)), [followUp]);
});

test('who may see free slots alone learns of none that is taken: it is like one that never was', async () => {
  assert.equal((await freeOnly.get(`Slot/${newPatient}`)).status, 200);
  await service.database.owner.query(sql`
    INSERT INTO occupancy (firm, actor, owner, starts, ends, lane, places)
    VALUES (${maple.id}, 'Practitioner/12', 'Appointment/x', ${Date.parse('2026-11-23T14:00:00Z')}::bigint, ${Date.parse('2026-11-23T15:00:00Z')}::bigint, 0, 1)`);
  assert.equal((await caller.get(`Slot/${newPatient}`)).json.status, 'busy');
  const taken = await freeOnly.get(`Slot/${newPatient}`);
  const never = await freeOnly.get(`Slot/${newPatient.slice(0, -1)}${newPatient.endsWith('0') ? '1' : '0'}`);
  assert.deepEqual([taken.status, never.status], [404, 404]);
  assert.deepEqual(await freeOnly.get('Slot/x').then(({ json }) => json.issue[0].code), taken.json.issue[0].code);
  for (const query of [`_id=${newPatient}`, `${monday}&status=busy`, `${monday}&status:not=free`]) {
    const { json } = await freeOnly.get(`Slot?${query}`);
    assert.deepEqual([json.total, json.entry], [0, undefined], query);
  }
});

test('who may not see the status is not told it by what is found', async () => {
  const application = await makeApplication(service, 'Times', ['acl/slot_s'], [maple]);
  const elements = ['start', 'end', 'appointmentType'];
  const draft = { purpose: 'Test', operatorRows: { slot: { elements } } };
  await authorise(platform.database, platform.clock, maple, application.application, draft, entryProblem);
  const times = await openCaller(service, application, maple);
  const query = `${monday}&appointment-type=NEW`;
  const { json } = await times.get(`Slot?${query}`);
  // One of the three is taken: all are found, as if it were not.
  assert.equal((await caller.get(`Slot?${query}`)).json.total, 2);
  assert.equal(json.total, 3);
  assert.equal(json.link[0].url, `${maple.base}/Slot?${query}`);
  for (const { resource } of json.entry) {
    const { resourceType, id, meta, ...shown } = resource;
    assert.deepEqual([resourceType, typeof id, typeof meta], ['Slot', 'string', 'object']);
    assert.deepEqual(Object.keys(shown).sort(), elements.toSorted());
  }
  for (const hidden of [
    `${query}&status=free`,
    `${query}&identifier=12`,
    `${query}&_sort=schedule`,
    `${query}&schedule:missing=true`,
  ])
    assert.equal((await times.get(`Slot?${hidden}`)).status, 403, hidden);
});

test('who may see times alone holds and books nothing: that tells whose a slot is, and whether it is taken', async () => {
  const application = await makeApplication(service, 'Times to book', ['acl/slot_s', 'acl/appmt_c'], [maple]);
  const draft = { purpose: 'Test', operatorRows: { slot: { elements: ['start', 'end', 'appointmentType'] } } };
  await authorise(platform.database, platform.clock, maple, application.application, draft, entryProblem);
  const times = await openCaller(service, application, maple);
  const slot = (await times.get(`Slot?${monday}&appointment-type=FOLLOWUP&_sort=-start`)).json.entry[0].resource.id;
  const participant = [{ actor: { reference: 'Patient/p' }, status: 'accepted' }];
  const parameter = [
    { name: 'appointment', resource: { resourceType: 'Appointment', participant } },
    { name: 'slot', valueString: `Slot/${slot}` },
  ];
  const body = { resourceType: 'Parameters', parameter };
  for (const [path, sent] of [
    [`Slot/${slot}/$hold`, undefined],
    ['Appointment/$book', body],
  ] as const) {
    const { status, json } = await times.send('POST', path, sent);
    assert.deepEqual([status, json.issue[0].code], [403, 'forbidden'], path);
  }
  const held = await byEntry.send('POST', `Slot/${slot}/$hold`);
  assert.equal(held.status, 200, held.text);
  await byEntry.send('POST', 'Slot/$release', {
    resourceType: 'Parameters',
    parameter: held.json.parameter.filter(({ name }: { name: string }) => name === 'hold'),
  });
});

test('a slot is held under criteria that it meets all of', async () => {
  const narrowed = await callerWith('Free follow-ups', ['system/Slot.s?status=free&appointment-type=FOLLOWUP']);
  for (const [code, status] of [
    ['NEW', 404],
    ['FOLLOWUP', 200],
  ] as const) {
    const [slot = ''] = idsOf(await caller.get(`Slot?date=2026-11-24&appointment-type=${code}`));
    assert.equal((await narrowed.send('POST', `Slot/${slot}/$hold`)).status, status, code);
  }
});

test('a Bundle asks no more than its caller may', async () => {
  const entry = [
    { request: { method: 'GET', url: `Slot/${newPatient}` } },
    { request: { method: 'GET', url: `Slot?_id=${newPatient},${followUp}` } },
  ];
  const { json } = await followUps.send('POST', '', { resourceType: 'Bundle', type: 'batch', entry });
  const [read, found] = json.entry;
  assert.equal(read.response.status.slice(0, 3), '403');
  assert.equal(found.resource.total, 1);
});

test('slots of another firm are those of none', async () => {
  const theirs = await elsewhere.get(`Slot?${monday}`);
  assert.deepEqual(types(theirs), ['SECRET']);
  const [secret] = idsOf(theirs);
  assert.equal((await elsewhere.get(`Slot/${secret}`)).status, 200);
  for (const by of [caller, byEntry]) {
    assert.deepEqual(idsOf(await by.get(`Slot?_id=${secret}`)), []);
    assert.deepEqual(idsOf(await by.get(`Slot?${monday}&appointment-type=SECRET`)), []);
  }
  assert.equal((await caller.get(`Slot/${secret}`)).status, 404);
  assert.equal((await elsewhere.get(`Slot/${newPatient}`)).status, 404);
  const strange = await fetch(`${cedar.base}/Slot?${monday}`, { headers: byEntry.headers });
  assert.equal(strange.status, 403);
});

test('what was shown stands in the ledger, with the entry that allowed it', async () => {
  await byEntry.get(`Slot?${monday}&appointment-type=FOLLOWUP`);
  await service.service.parts.ledger.flush();
  const rows = await service.database.owner.query<{ shown: number; entries: string }>(sql`
    SELECT shown, entries FROM audit_ledger WHERE firm = ${maple.id} AND interaction = 'search-type' AND shown = 4`);
  assert.deepEqual(rows, [{ shown: 4, entries: 'acl/slot_s' }]);
});
