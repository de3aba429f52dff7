/**
 * $check-in, $check-out, $no-show and $fulfil: appointment and Encounter change together, with the rights and preconditions
 * of a change of the appointment (docs/decisions/0187). Which state allows which: test/resources/states.test.ts.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { setOperatorRows } from '../../../src/tenancy/authorisations.ts';
import { batch, entry, transaction } from '../../bundle/bundles.ts';
import { assertRefused, insufficientScope } from '../../support/refusals.ts';
import {
  type Answer,
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  startMs,
} from '../../support/service.ts';
import { tenantRows } from '../../support/tenant-rows.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);
const foreign = await openCaller(service, await makeApplication(service, 'Foreign', ['acl/*'], [cedar]), cedar);
const callerWith = async (name: string, acl: readonly string[]): Promise<Caller> =>
  openCaller(service, await makeApplication(service, name, acl, [maple]), maple);
const desk = await callerWith('Desk', ['acl/appmt_r', 'acl/appmt_u', 'acl/enc_r']);
const reader = await callerWith('Reader', ['acl/appmt_r', 'acl/appmt_s', 'acl/enc_r']);
const unseeing = await callerWith('Unseeing', ['acl/appmt_r', 'acl/appmt_u']);
const events = ['$check-in', '$check-out', '$fulfil', '$no-show'] as const;
const names = ['Patient/p1', 'Practitioner/d1', 'Location/l1'];
const now = new Date(startMs).toISOString();

let made = 0;
async function appointment(status: string, more: object = {}): Promise<string> {
  made += 1;
  const id = `a${made}`;
  const sent = {
    resourceType: 'Appointment',
    id,
    status,
    start: '2026-11-21T09:00:00Z',
    end: '2026-11-21T09:20:00Z',
    serviceType: [{ text: 'Check-up' }],
    reasonCode: [{ text: 'Cough' }],
    participant: [
      ...names.map((reference) => ({ actor: { reference }, status: 'accepted' })),
      { actor: { reference: 'Practitioner/d2' }, status: 'declined' },
      { type: [{ text: 'someone' }], status: 'needs-action' },
    ],
    ...more,
  };
  assert.equal((await full.send('PUT', `Appointment/${id}`, sent)).status, 201);
  return `Appointment/${id}`;
}

async function visit(of: string, status: string, more: object = {}): Promise<string> {
  made += 1;
  const id = `e${made}`;
  const sent = {
    resourceType: 'Encounter',
    id,
    status,
    class: { code: 'AMB' },
    appointment: [{ reference: of }],
    ...more,
  };
  assert.equal((await full.send('PUT', `Encounter/${id}`, sent)).status, 201);
  return `Encounter/${id}`;
}

/** The resources of an answer by the names of their parameters. */
function told({ status, json, text }: Answer): Record<string, Record<string, unknown>[]> {
  assert.equal(status, 200, text);
  const read: Record<string, Record<string, unknown>[]> = {};
  for (const { name, resource } of json.parameter ?? []) read[name] = [...(read[name] ?? []), resource];
  return read;
}

async function visitsOf(path: string): Promise<Record<string, unknown>[]> {
  const { json } = await full.get(`Encounter?appointment=${path}&_sort=_id`);
  return (json.entry ?? []).map(({ resource }: { resource: Record<string, unknown> }) => resource);
}

test('denials: no right to change, to read the status, or to know the appointment; nothing is changed', async () => {
  const path = await appointment('booked');
  const before = await tenantRows(service.database.owner);
  const blind = await callerWith('Blind', ['acl/appmt_u', 'acl/enc_r', 'acl/enc_s']);
  for (const event of events) {
    const refused = await reader.send('POST', `${path}/${event}`);
    assert.equal(refused.status, 403);
    assert.match(refused.json.issue[0].diagnostics, /acl\/appmt_u/);
    const hidden = await blind.send('POST', `${path}/${event}`);
    assert.deepEqual([hidden.status, hidden.headers.get('www-authenticate')], [403, insufficientScope]);
    assert.match(
      hidden.json.issue[0].diagnostics,
      /^Changing Appointment\.status, which the application may not read, needs acl\/appmt_r;/,
    );
    for (const [caller, asked] of [
      [foreign, path],
      [desk, 'Appointment/none'],
    ] as const) {
      const answer = await caller.send('POST', `${asked}/${event}`);
      assert.deepEqual([answer.status, answer.json.issue[0].diagnostics], [404, `${asked} is not known`]);
    }
    assert.equal((await desk.get(`${path}/${event}`)).status, 405);
    assert.equal((await desk.send('POST', `Appointment/${event}`)).status, 405);
    assert.equal((await desk.send('POST', `Encounter/x/${event}`)).status, 404);
    const unknown = await desk.send('POST', `${path}/${event}?at=now`);
    assert.deepEqual([unknown.status, unknown.json.issue[0].expression], [400, ['at']]);
  }
  const rows = await tenantRows(service.database.owner);
  assert.deepEqual([rows.resource, rows.resource_version], [before.resource, before.resource_version]);
});

test('rows and elements of the grants hold: outside of them the appointment is not known, or not to be changed', async () => {
  const application = await makeApplication(service, 'Rows', ['acl/appmt_r', 'acl/appmt_u'], [maple]);
  const caller = await openCaller(service, application, maple);
  const path = await appointment('booked');
  const { database } = service.platform;
  await setOperatorRows(database, maple, application.application, {
    appmt: { criteria: [{ parameter: 'status', values: ['pending'] }] },
  });
  const outside = await caller.send('POST', `${path}/$check-in`);
  assert.equal(outside.status, 404, outside.text);
  const pending = await appointment('pending');
  const leaving = await caller.send('POST', `${pending}/$check-in`);
  assert.equal(leaving.status, 403, leaving.text);
  assert.match(leaving.json.issue[0].diagnostics, /Changing Appointment out of the rows/);
  await setOperatorRows(database, maple, application.application, {
    appmt: { elements: ['description'] },
  });
  assert.equal((await caller.send('POST', `${path}/$check-in`)).status, 403);
  await setOperatorRows(database, maple, application.application, { appmt: { elements: ['status'] } });
  const { appointment: shown } = told(await caller.send('POST', `${path}/$check-in`));
  assert.deepEqual(Object.keys(shown?.[0] ?? {}).toSorted(), ['id', 'meta', 'resourceType', 'status']);
  for (const each of [pending]) assert.equal((await full.get(each)).json.status, 'pending');
});

test('$check-in makes the visit of what the appointment says, in the same moment', async () => {
  const path = await appointment('booked');
  const answer = await desk.send('POST', `${path}/$check-in`);
  const { appointment: after, encounter } = told(answer);
  const stored = (await full.get(path)).json;
  assert.deepEqual(after, [stored]);
  assert.deepEqual([stored.status, stored.meta], ['checked-in', { versionId: '2', lastUpdated: now }]);
  assert.equal(answer.headers.get('etag'), 'W/"2"');
  const [patient, practitioner, location] = names.map((reference) => ({ reference }));
  const id = encounter?.[0]?.['id'];
  assert.deepEqual(encounter, [
    {
      resourceType: 'Encounter',
      id,
      meta: { versionId: '1', lastUpdated: now },
      status: 'arrived',
      class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'AMB', display: 'ambulatory' },
      serviceType: { text: 'Check-up' },
      subject: patient,
      participant: [{ individual: practitioner }],
      appointment: [{ reference: path }],
      period: { start: now },
      reasonCode: [{ text: 'Cough' }],
      location: [{ location }],
    },
  ]);
  assert.deepEqual(await visitsOf(path), encounter);
  const validated = await full.get(`Encounter/${id}/$validate`);
  assert.deepEqual([validated.status, /"severity":"error"/.test(validated.text)], [200, false], validated.text);
});

test('$check-out ends the visit, and keeps what it was', async () => {
  const path = await appointment('booked');
  const [opened] = told(await desk.send('POST', `${path}/$check-in`))['encounter'] ?? [];
  const { encounter } = told(await desk.send('POST', `${path}/$check-out`));
  assert.deepEqual(encounter, [
    {
      ...opened,
      meta: { versionId: '2', lastUpdated: now },
      status: 'finished',
      statusHistory: [{ status: 'arrived', period: { start: now, end: now } }],
      period: { start: now, end: now },
    },
  ]);
  assert.equal((await full.get(path)).json.status, 'fulfilled');
  const again = await desk.send('POST', `${path}/$check-out`);
  assertRefused(again, {
    status: 422,
    error: 'rule-broken',
    issue: 'business-rule',
    diagnostics:
      'Appointment.status is fulfilled: $check-out takes it from arrived or checked-in only. What may follow fulfilled: nothing; by the practice: checked-in, noshow, entered-in-error',
    expression: ['Appointment.status'],
  });
});

const worlds: readonly (readonly [event: string, from: string, visits: string[], then: string[]])[] = [
  ['$check-in', 'booked', ['planned'], ['arrived']],
  ['$check-in', 'booked', ['in-progress'], ['in-progress']],
  ['$check-in', 'booked', ['finished', 'cancelled'], ['finished', 'cancelled', 'arrived']],
  ['$check-in', 'noshow', ['cancelled'], ['cancelled', 'arrived']],
  ['$check-out', 'arrived', [], ['finished']],
  ['$check-out', 'arrived', ['finished'], ['finished']],
  ['$check-out', 'checked-in', ['in-progress', 'onleave', 'triaged'], ['finished', 'finished', 'finished']],
  ['$check-out', 'checked-in', ['cancelled', 'entered-in-error'], ['cancelled', 'entered-in-error', 'finished']],
  ['$fulfil', 'booked', [], ['finished']],
  ['$fulfil', 'booked', ['planned'], ['finished']],
  ['$fulfil', 'checked-in', ['arrived'], ['finished']],
  ['$no-show', 'booked', [], []],
  ['$no-show', 'booked', ['planned', 'arrived', 'in-progress'], ['cancelled', 'cancelled', 'in-progress']],
];

for (const [event, from, visits, then] of worlds) {
  test(`${event} of one that is ${from}, with visits ${visits.join(', ') || 'none'}: ${then.join(', ') || 'none'}`, async () => {
    const path = await appointment(from);
    for (const status of visits) await visit(path, status);
    await visit(await appointment('booked'), 'planned'); // another's
    const before = await visitsOf(path);
    const { encounter = [] } = told(await desk.send('POST', `${path}/${event}`));
    const now = await visitsOf(path);
    const ids = before.map(({ id }) => id);
    const known = now.filter(({ id }) => ids.includes(id));
    const fresh = now.filter(({ id }) => !ids.includes(id));
    assert.deepEqual(
      [...known, ...fresh].map(({ status }) => status),
      then,
    );
    const byId = (one: Record<string, unknown>, other: Record<string, unknown>) =>
      String(one['id']) < String(other['id']) ? -1 : 1;
    const changed = now.filter((each) => !before.some((old) => JSON.stringify(old) === JSON.stringify(each)));
    assert.deepEqual(encounter.toSorted(byId), changed.toSorted(byId));
  });
}

test('$fulfil afterwards records the times of the appointment; a visit that was to begin later ends where it stands', async () => {
  const path = await appointment('booked');
  const { encounter } = told(await desk.send('POST', `${path}/$fulfil`));
  assert.deepEqual(encounter?.[0]?.['period'], { start: '2026-11-21T09:00:00Z', end: '2026-11-21T09:20:00Z' });
  const early = await appointment('checked-in');
  await visit(early, 'planned', { period: { start: '2026-11-22T10:00:00Z' } });
  const [ended] = told(await desk.send('POST', `${early}/$check-out`))['encounter'] ?? [];
  assert.deepEqual(ended?.['period'], { end: now });
  assert.deepEqual(ended?.['statusHistory'], [{ status: 'planned', period: { end: now } }]);
});

test('who reads no Encounters is answered alike, whatever visits there are', async () => {
  const answers = new Set<string>();
  for (const visits of [[], ['planned'], ['in-progress'], ['cancelled', 'finished']]) {
    for (const [from, event] of [
      ['booked', '$check-in'],
      ['booked', '$no-show'],
      ['checked-in', '$check-out'],
    ] as const) {
      const path = await appointment(from);
      for (const status of visits) await visit(path, status);
      const answer = await unseeing.send('POST', `${path}/${event}`);
      const { encounter, appointment: shown } = told(answer);
      assert.deepEqual([encounter, shown?.length], [undefined, 1]);
      answers.add(`${event} ${answer.text.replaceAll(path.slice('Appointment/'.length), 'id')}`);
    }
  }
  assert.equal(answers.size, 3);
});

test('If-Match, a deleted appointment, and one that the change would make invalid', async () => {
  const path = await appointment('booked');
  const stale = await desk.send('POST', `${path}/$check-in`, undefined, { 'if-match': 'W/"7"' });
  assert.equal(stale.status, 412);
  assert.equal((await full.get(path)).json.meta.versionId, '1');
  assert.equal((await desk.send('POST', `${path}/$check-in`, undefined, { 'if-match': 'W/"1"' })).status, 200);
  const gone = await appointment('booked');
  assert.equal((await full.send('DELETE', gone)).status, 204);
  assert.equal((await desk.send('POST', `${gone}/$check-in`)).status, 410);
  assert.deepEqual(await visitsOf(gone), []);
});

test('of many who check in at once one does; there is one visit', async () => {
  const path = await appointment('booked');
  const answers = await Promise.all(Array.from({ length: 12 }, () => desk.send('POST', `${path}/$check-in`)));
  const statuses = answers.map(({ status }) => status);
  assert.deepEqual(
    [statuses.filter((each) => each === 200).length, statuses.filter((each) => each === 422).length],
    [1, 11],
    statuses.join(),
  );
  assert.equal((await visitsOf(path)).length, 1);
  assert.equal((await full.get(path)).json.meta.versionId, '2');
});

test('changes of appointment and visit by others at the same time are neither lost nor left half-way', async () => {
  const patch = { 'content-type': 'application/json-patch+json' };
  for (let round = 1; round <= 5; round += 1) {
    const path = await appointment('checked-in');
    const visited = await visit(path, 'in-progress');
    const noted = (what: string, member: string, value: unknown) =>
      full.send('PATCH', what, [{ op: 'add', path: `/${member}`, value }], patch);
    const answers = await Promise.all([
      noted(visited, 'length', { value: 20, unit: 'min' }),
      noted(path, 'comment', 'Bring a coat'),
      desk.send('POST', `${path}/$check-out`),
      noted(visited, 'priority', { text: 'routine' }),
      noted(path, 'priority', 3),
    ]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200, 200],
      answers.map(({ text }) => text).join(),
    );
    const [booked, seen] = [(await full.get(path)).json, (await full.get(visited)).json];
    assert.deepEqual([booked.status, booked.comment, booked.priority], ['fulfilled', 'Bring a coat', 3]);
    assert.deepEqual([seen.status, seen.length.value, seen.priority.text], ['finished', 20, 'routine']);
    assert.deepEqual([booked.meta.versionId, seen.meta.versionId, (await visitsOf(path)).length], ['4', '4', 1]);
  }
});

test('with an Idempotency-Key it takes effect once', async () => {
  const path = await appointment('booked');
  const key = { 'idempotency-key': '"check-in-1"' };
  const first = await desk.send('POST', `${path}/$check-in`, undefined, key);
  const second = await desk.send('POST', `${path}/$check-in`, undefined, key);
  assert.deepEqual([second.status, second.text], [200, first.text]);
  assert.equal(second.headers.get('idempotent-replayed'), 'true');
  assert.equal((await visitsOf(path)).length, 1);
});

test('as entries of Bundles: a transaction that fails later leaves appointment and visits as they were', async () => {
  const [one, other] = [await appointment('booked'), await appointment('fulfilled')];
  const both = (bundle: typeof batch) =>
    full.send('POST', '', bundle(entry('POST', `${one}/$check-in`), entry('POST', `${other}/$check-in`)));
  const failed = await both(transaction);
  assert.equal(failed.status, 422, failed.text);
  assert.deepEqual([(await full.get(one)).json.status, await visitsOf(one)], ['booked', []]);
  const mixed = await both(batch);
  assert.deepEqual(
    mixed.json.entry.map(({ response }: { response: { status: string } }) => response.status),
    ['200 OK', '422 Unprocessable Content'],
  );
  assert.equal((await visitsOf(one)).length, 1);
});

test('the ledger says who changed both, and under which entries', async () => {
  const path = await appointment('booked');
  const { encounter } = told(await desk.send('POST', `${path}/$check-in`));
  const visited = `Encounter/${encounter?.[0]?.['id']}`;
  for (const [entity, action] of [
    [path, 'U'],
    [visited, 'C'],
  ] as const) {
    const { json } = await full.get(`AuditEvent?entity=${entity}&_sort=-date&_count=50`);
    const written = json.entry
      .map(({ resource }: { resource: { action: string } }) => resource)
      .filter((event: { action: string }) => event.action === action);
    assert.ok(written.length >= 1, JSON.stringify(json));
    const text = JSON.stringify(written[0]);
    assert.ok(text.includes('acl/appmt_u') && !text.includes('acl/*'), text);
  }
});
