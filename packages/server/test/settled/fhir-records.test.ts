/** docs/integrate/contract.md#fhir: single resources, by real HTTP. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { appointment, patient } from '../support/records.ts';
import { assertRefused } from '../support/refusals.ts';
import { answerOf, type Caller, makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const service = await openTestService({ after });
const newYork = await makeFirm(service, 'maple', 'sandbox', 'America/New_York');
const tokyo = await makeFirm(service, 'sakura', 'sandbox', 'Asia/Tokyo');
const full = await makeApplication(service, 'Full', ['acl/*'], [newYork, tokyo]);
const caller = await openCaller(service, full, newYork);
const inTokyo = await openCaller(service, full, tokyo);

/** Ids that a search finds, sorted. */
async function found(where: Caller, path: string): Promise<string[]> {
  const { status, json } = await where.get(path);
  assert.equal(status, 200, path);
  return (json.entry ?? []).map(({ resource }: { resource: { id: string } }) => resource.id).sort();
}

async function put(where: Caller, resource: Readonly<Record<string, unknown>>): Promise<void> {
  const { status } = await where.send('PUT', `${resource['resourceType']}/${resource['id']}`, resource);
  assert.equal(status, 201);
}

test('settled types: 145 types have endpoints, Parameters has none', async () => {
  const { json } = await answerOf(await fetch(`${newYork.base}/metadata`));
  const types: string[] = json.rest[0].resource.map(({ type }: { type: string }) => type);
  assert.equal(types.length, 145);
  assert.equal(types.includes('Parameters'), false);
  for (const path of ['Parameters', 'Parameters/1', 'DomainResource', 'Resource']) {
    assertRefused(await caller.get(path), {
      status: 404,
      error: 'type-unknown',
      issue: 'not-supported',
      diagnostics: `${path.split('/')[0]} is not a resource type with an endpoint in FHIR R4`,
    });
  }
  const statuses = await Promise.all(types.map(async (type) => (await caller.get(`${type}?_count=1`)).status));
  assert.deepEqual(new Set(statuses), new Set([200]));
});

test('settled client-ids: PUT creates under the id of the path where acl/* is held', async () => {
  const sent = { ...patient('Quill'), id: 'Chosen.id-1' };
  const answer = await caller.send('PUT', 'Patient/Chosen.id-1', sent);
  assert.equal(answer.status, 201);
  assert.deepEqual(answer.json, { ...sent, meta: { versionId: '1', lastUpdated: '2026-11-21T09:30:00.000Z' } });
  assert.equal(answer.headers.get('location'), `${newYork.base}/Patient/Chosen.id-1/_history/1`);
});

test('settled dates: a date without zone is read in the time zone of the firm', async () => {
  // 02:00 UTC is the evening before in New York and the morning of the same day in Tokyo.
  const at = appointment('Patient/1', '2026-11-24T02:00:00Z', { id: 'night' });
  for (const where of [caller, inTokyo]) await put(where, at);
  assert.deepEqual(await found(caller, 'Appointment?date=2026-11-23'), ['night']);
  assert.deepEqual(await found(caller, 'Appointment?date=2026-11-24'), []);
  assert.deepEqual(await found(inTokyo, 'Appointment?date=2026-11-23'), []);
  assert.deepEqual(await found(inTokyo, 'Appointment?date=2026-11-24'), ['night']);
  assert.deepEqual(await found(caller, 'Appointment?date=ge2026-11-23T21:00:00&date=lt2026-11-23T21:01:00'), ['night']);
  assert.deepEqual(await found(inTokyo, 'Appointment?date=ge2026-11-24T11:00:00&date=lt2026-11-24T11:01:00'), [
    'night',
  ]);
});

test('settled dates: instants are stored in UTC and returned as they were sent', async () => {
  const start = '2026-11-23T21:15:00.120-05:00';
  await put(caller, appointment('Patient/1', start, { id: 'offset', end: '2026-11-24T02:45:00Z' }));
  const { json } = await caller.get('Appointment/offset');
  assert.deepEqual([json.start, json.end], [start, '2026-11-24T02:45:00Z']);
  assert.deepEqual(await found(caller, 'Appointment?date=2026-11-24T02:15:00.120Z'), ['offset']);
});

const references = ['Patient/1', `${newYork.base}/Patient/1`, 'https://other.example.org/fhir/Patient/1'];

test('settled references: they are stored and returned as they were sent', async () => {
  const participant = references.map((reference) => ({ actor: { reference }, status: 'accepted' }));
  const sent = appointment('', '2026-12-01T10:00:00Z', { id: 'references', participant });
  await put(caller, sent);
  assert.deepEqual((await caller.get('Appointment/references')).json.participant, participant);
  assert.deepEqual(await found(caller, 'Appointment?patient=1&date=2026-12-01'), ['references']);
});

test('settled references: absolute ones in answers are a setting of the application', async () => {
  const settings = { absoluteReferences: true };
  const application = await makeApplication(service, 'Absolute', ['acl/*'], [newYork], settings);
  const absolute = await openCaller(service, application, newYork);
  const comment = 'Not one: "reference":"Patient/9"';
  const contained = [{ resourceType: 'Practitioner', id: 'c1' }];
  const actors = [
    'Patient/1',
    'Location/2/_history/3',
    '#c1',
    'urn:uuid:01234567-89ab-4def-8123-456789abcdef',
    ...references,
  ];
  const participant = actors.map((reference) => ({ actor: { reference }, status: 'accepted' }));
  const sent = appointment('', '2026-12-02T10:00:00Z', { contained, participant, comment });
  const shown = [
    `${newYork.base}/Patient/1`,
    `${newYork.base}/Location/2/_history/3`,
    '#c1',
    'urn:uuid:01234567-89ab-4def-8123-456789abcdef',
    `${newYork.base}/Patient/1`,
    ...references.slice(1),
  ].map((reference) => ({ actor: { reference }, status: 'accepted' }));
  const created = await absolute.send('POST', 'Appointment', sent);
  const { id } = created.json;
  const read = await absolute.get(`Appointment/${id}`);
  const searched = (await absolute.get(`Appointment?_id=${id}`)).json.entry[0].resource;
  const past = (await absolute.get(`Appointment/${id}/_history`)).json.entry[0].resource;
  for (const json of [created.json, read.json, searched, past]) {
    assert.deepEqual(json, { ...sent, id, meta: json.meta, participant: shown });
  }
  assert.deepEqual((await caller.get(`Appointment/${id}`)).json.participant, participant);
});

test('settled audit-events: never writable, not even with acl/*', async () => {
  const event = {
    resourceType: 'AuditEvent',
    id: 'e1',
    type: { code: 'rest' },
    recorded: '2026-11-21T09:30:00Z',
    agent: [{ requestor: true }],
    source: { observer: { display: 'Somebody' } },
  };
  const calls: readonly (readonly [method: string, path: string])[] = [
    ['POST', 'AuditEvent'],
    ['PUT', 'AuditEvent/e1'],
    ['DELETE', 'AuditEvent/e1'],
  ];
  for (const [method, path] of calls) {
    assertRefused(await caller.send(method, path, event), {
      status: 405,
      error: 'method-not-allowed',
      issue: 'not-supported',
      diagnostics: 'AuditEvent is written by the server alone: it can be read and searched',
      allow: 'GET, HEAD',
    });
  }
  assert.equal((await caller.get('AuditEvent?_id=e1')).json.total, 0);
  const { json } = await answerOf(await fetch(`${newYork.base}/metadata`));
  const row = json.rest[0].resource.find(({ type }: { type: string }) => type === 'AuditEvent');
  assert.deepEqual(
    row.interaction.map(({ code }: { code: string }) => code),
    ['read', 'vread', 'history-instance', 'history-type', 'search-type'],
  );
});

/** A resource that the parameter finds with `value`, and one that it does not. */
interface PracticeParameter {
  readonly type: string;
  readonly parameter: string;
  readonly value: string;
  readonly matching: Readonly<Record<string, unknown>>;
  readonly other: Readonly<Record<string, unknown>>;
}

const coverage = {
  status: 'active',
  beneficiary: { reference: 'Patient/1' },
  payor: [{ reference: 'Organization/1' }],
};
const task = { status: 'ready', intent: 'order' };
const identified = (system: string, value: string) => [{ system: `https://praxis.health/fhir/sid/${system}`, value }];
const concept = (code: string) => ({ valueCodeableConcept: { coding: [{ code }] } });
const referral = 'https://praxis.health/fhir/StructureDefinition/referral-source';

const practiceParameters: readonly PracticeParameter[] = [
  {
    type: 'Coverage',
    parameter: 'order',
    value: '1',
    matching: { ...coverage, order: 1 },
    other: { ...coverage, order: 2 },
  },
  {
    type: 'Coverage',
    parameter: 'reconciliationId',
    value: 'R-7',
    matching: { ...coverage, identifier: identified('reconciliation', 'R-7') },
    other: { ...coverage, identifier: identified('member', 'R-7') },
  },
  {
    type: 'Appointment',
    parameter: 'created',
    value: 'ge2026-11-01T08:00:00.0000000Z',
    matching: appointment('Patient/1', '2027-01-01T10:00:00Z', { created: '2026-11-01T08:00:00Z' }),
    other: appointment('Patient/1', '2027-01-01T10:00:00Z', { created: '2026-10-31T08:00:00Z' }),
  },
  {
    type: 'Task',
    parameter: 'restriction',
    value: '2027-02',
    matching: { ...task, restriction: { period: { start: '2027-02-01', end: '2027-02-10' } } },
    other: { ...task, restriction: { period: { start: '2027-03-01', end: '2027-03-10' } } },
  },
  {
    type: 'Patient',
    parameter: 'referral-source',
    value: 'friend',
    matching: patient('Quill', { extension: [{ url: referral, ...concept('friend') }] }),
    other: patient('Quill', { extension: [{ url: referral, ...concept('web') }] }),
  },
  {
    type: 'DocumentReference',
    parameter: 'requisition',
    value: '5922',
    matching: {
      status: 'current',
      content: [{ attachment: { title: 'Order' } }],
      identifier: identified('requisition', '5922'),
    },
    other: { status: 'current', content: [{ attachment: { title: 'Note' } }] },
  },
];

test('settled practice-parameters: search parameters that R4 does not define find what they name', async () => {
  for (const { type, parameter, value, matching, other } of practiceParameters) {
    const id = parameter.toLowerCase();
    await put(inTokyo, { resourceType: type, ...matching, id });
    await put(inTokyo, { resourceType: type, ...other, id: `${id}-other` });
    assert.deepEqual(await found(inTokyo, `${type}?${parameter}=${value}`), [id], parameter);
  }
});

test('settled practice-parameters: they are rows of data like any other, and metadata lists them', async () => {
  const { json } = await answerOf(await fetch(`${newYork.base}/metadata`));
  for (const { type, parameter } of practiceParameters) {
    const row = json.rest[0].resource.find((resource: { type: string }) => resource.type === type);
    const listed = row.searchParam.find(({ name }: { name: string }) => name === parameter);
    assert.equal(typeof listed?.documentation, 'string', `${type}.${parameter}`);
  }
});
