/** Contract parts 1, 2 (resources), 3 and 6: what the service does, by real HTTP. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { appointment, encounter, patient } from '../support/records.ts';
import { assertRefused, insufficientScope, invalidToken } from '../support/refusals.ts';
import {
  type Answer,
  answerOf,
  callerOf,
  clientToken,
  legacyToken,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
} from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const birch = await makeFirm(service, 'birch');
const full = await makeApplication(service, 'Full', ['acl/*'], [maple, cedar]);
const patients = await makeApplication(service, 'Patients', ['acl/pat_r', 'acl/pat_s'], [maple]);
const encounters = await makeApplication(service, 'Encounters', ['acl/enc_s'], [maple]);
const atMaple = await openCaller(service, full, maple);
const atCedar = await openCaller(service, full, cedar);
const lastUpdated = '2026-11-21T09:30:00.000Z';

/** The id of a resource that was just created, whose answer is asserted in full. */
function assertCreated(answer: Answer, base: string, sent: Readonly<Record<string, unknown>>): string {
  const { id } = answer.json;
  assert.match(id, /^[A-Za-z0-9\-.]{1,64}$/);
  assert.deepEqual(answer.json, { ...sent, id, meta: { versionId: '1', lastUpdated } });
  assert.equal(answer.status, 201);
  assert.equal(answer.headers.get('location'), `${base}/${sent.resourceType}/${id}/_history/1`);
  assert.equal(answer.headers.get('etag'), 'W/"1"');
  assert.equal(answer.headers.get('last-modified'), 'Sat, 21 Nov 2026 09:30:00 GMT');
  assert.equal(answer.headers.get('content-type'), 'application/fhir+json; charset=utf-8');
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  return id;
}

/** A searchset with these resources and no more. */
function assertFound(answer: Answer, base: string, type: string, resources: readonly { readonly id: string }[]): void {
  assert.deepEqual(answer.json, {
    resourceType: 'Bundle',
    id: answer.json.id,
    meta: { lastUpdated },
    type: 'searchset',
    total: resources.length,
    link: [{ relation: 'self', url: `${base}/${type}` }],
    ...(resources.length === 0
      ? {}
      : {
          entry: resources.map((resource) => ({
            fullUrl: `${base}/${type}/${resource.id}`,
            resource,
            search: { mode: 'match' },
          })),
        }),
  });
  assert.match(answer.json.id, /^[0-9a-f-]{36}$/);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'application/fhir+json; charset=utf-8');
}

test('contract 1.1 what is no FHIR resource type is not served', async () => {
  assertRefused(await atMaple.get('Appointments'), {
    status: 404,
    error: 'type-unknown',
    issue: 'not-supported',
    diagnostics: 'Appointments is not a resource type with an endpoint in FHIR R4: did you mean Appointment?',
  });
});

test('contract 1.1 patients and appointments are written and read as FHIR resources', async () => {
  const sent = patient('Quill', { birthDate: '1980-02-29', gender: 'female' });
  const created = await atMaple.send('POST', 'Patient', sent);
  const id = assertCreated(created, maple.base, sent);
  const visit = appointment(`Patient/${id}`, '2026-11-23T15:00:00Z');
  const booked = await atMaple.send('POST', 'Appointment', visit);
  const visitId = assertCreated(booked, maple.base, visit);
  assert.deepEqual((await atMaple.get(`Patient/${id}`)).json, created.json);
  assert.deepEqual((await atMaple.get(`Appointment/${visitId}`)).json, booked.json);
});

test('contract 1.2 a call without an access token is refused', async () => {
  const answer = await answerOf(await fetch(`${maple.base}/Patient`, { headers: { 'x-api-key': full.clientKey } }));
  assertRefused(answer, {
    status: 401,
    error: 'credentials-missing',
    issue: 'login',
    diagnostics: 'Bearer token is missing: send the header Authorization: Bearer <access token>',
    challenge: 'Bearer realm="sandbox"',
  });
});

test('contract 1.2 the token decides which resources may be accessed', async () => {
  const caller = await openCaller(service, patients, maple);
  assertRefused(await caller.get('Appointment'), {
    status: 403,
    error: 'access-denied',
    issue: 'forbidden',
    diagnostics:
      'Appointment search needs acl/appmt_s; the application does not hold it: the operator of the service adds it, then the practice grants it',
    challenge: insufficientScope,
  });
  assert.equal((await caller.get('Patient')).status, 200);
});

test('contract 1.2 the token identifies the application: with the key of another one it is refused', async () => {
  const caller = callerOf(maple, await clientToken(service, patients), encounters.clientKey);
  const diagnostics = 'x-api-key belongs to another application than the Bearer token';
  assertRefused(await caller.get('Patient'), {
    status: 401,
    error: 'credentials-invalid',
    issue: 'login',
    diagnostics,
    challenge: invalidToken(diagnostics),
  });
});

test('contract 1.3 an application is refused by a practice that has not authorised it, for every interaction', async () => {
  const caller = callerOf(birch, await clientToken(service, full), full.clientKey);
  const calls: readonly (readonly [method: string, path: string, body?: unknown])[] = [
    ['GET', 'Patient'],
    ['GET', 'Patient/1'],
    ['GET', 'Patient/1/_history'],
    ['GET', 'Patient/1/_history/1'],
    ['POST', 'Patient', patient('Quill')],
    ['PUT', 'Patient/1', { ...patient('Quill'), id: '1' }],
    ['DELETE', 'Patient/1'],
  ];
  for (const [method, path, body] of calls) {
    assertRefused(await caller.send(method, path, body), {
      status: 403,
      error: 'firm-forbidden',
      issue: 'forbidden',
      diagnostics: 'Firm is not open to this application: no such firm has authorised it',
    });
  }
});

test('contract 1.3 with one token an application works in each practice that authorised it, with the data of each', async () => {
  const token = await clientToken(service, full);
  const [here, there] = [callerOf(maple, token, full.clientKey), callerOf(cedar, token, full.clientKey)];
  const slot = { resourceType: 'Location', name: 'Front room' };
  const mine = await here.send('POST', 'Location', slot);
  assertCreated(mine, maple.base, slot);
  assertFound(await here.get('Location'), maple.base, 'Location', [mine.json]);
  assertFound(await there.get('Location'), cedar.base, 'Location', []);
  assertRefused(await there.get(`Location/${mine.json.id}`), {
    status: 404,
    error: 'resource-not-found',
    issue: 'not-found',
    diagnostics: `Location/${mine.json.id} is not known`,
    expression: ['Location'],
  });
});

test('contract 1.3 a legacy token works in the practice that issued it only', async () => {
  const token = await legacyToken(full, maple);
  assert.equal((await callerOf(maple, token, full.legacyKey).get('Patient')).status, 200);
  assertRefused(await callerOf(cedar, token, full.legacyKey).get('Patient'), {
    status: 403,
    error: 'firm-forbidden',
    issue: 'forbidden',
    diagnostics: 'Firm is not open to this application: no such firm has authorised it',
  });
});

test('contract 1.4 functional scope, not shown: the resource types of R4 with the interactions of its REST API', async () => {
  const { json } = await answerOf(await fetch(`${maple.base}/metadata`));
  const interactions = ['read', 'vread', 'create', 'update', 'delete', 'history-instance', 'search-type'];
  const rows: { type: string; interaction: { code: string }[] }[] = json.rest[0].resource;
  assert.equal(rows.length, 145);
  for (const { type, interaction } of rows.filter((row) => row.type !== 'AuditEvent')) {
    const codes = interaction.map(({ code }) => code);
    assert.deepEqual(
      interactions.filter((code) => !codes.includes(code)),
      [],
      type,
    );
  }
});

test('contract 2 resource Patient is searched at the path that the contract shows', async () => {
  const sent = patient('Sedge', { telecom: [{ system: 'phone', value: '555-0100' }] });
  const created = await atCedar.send('POST', 'Patient', sent);
  assertCreated(created, cedar.base, sent);
  assertFound(await atCedar.get('Patient'), cedar.base, 'Patient', [created.json]);
});

test('contract 2 resource Appointment is what a token may grant access to', async () => {
  const sent = appointment('Patient/1', '2026-11-24T15:00:00Z');
  const created = await atCedar.send('POST', 'Appointment', sent);
  assertCreated(created, cedar.base, sent);
  const reader = await makeApplication(service, 'Appointments', ['acl/appmt_r', 'acl/appmt_s'], [cedar]);
  const caller = await openCaller(service, reader, cedar);
  assertRefused(await caller.send('POST', 'Appointment', sent), {
    status: 403,
    error: 'access-denied',
    issue: 'forbidden',
    diagnostics:
      'Appointment create needs acl/appmt_c; the application does not hold it: the operator of the service adds it, then the practice grants it',
    challenge: insufficientScope,
  });
  assertFound(await caller.get('Appointment'), cedar.base, 'Appointment', [created.json]);
});

test('contract 2 resource Encounter is searched with acl/enc_s, which allows nothing else', async () => {
  const sent = encounter('Patient/1');
  const created = await atMaple.send('POST', 'Encounter', sent);
  const id = assertCreated(created, maple.base, sent);
  const caller = await openCaller(service, encounters, maple);
  const refused: readonly (readonly [method: string, path: string, what: string, entry: string])[] = [
    ['GET', `Encounter/${id}`, 'Encounter read', 'acl/enc_r'],
    ['GET', `Encounter/${id}/_history`, 'Encounter read', 'acl/enc_r'],
    ['POST', 'Encounter', 'Encounter create', 'system/Encounter.c or acl/*'],
    ['PUT', `Encounter/${id}`, 'Encounter update', 'system/Encounter.u or acl/*'],
    ['DELETE', `Encounter/${id}`, 'Encounter delete', 'acl/*'],
    ['GET', 'Patient', 'Patient search', 'acl/pat_s or acl/pat_s_name_dob_gen or acl/pat_s_id'],
  ];
  for (const [method, path, what, entry] of refused) {
    assertRefused(await caller.send(method, path), {
      status: 403,
      error: 'access-denied',
      issue: 'forbidden',
      diagnostics: `${what} needs ${entry}; the application does not hold it: the operator of the service adds it, then the practice grants it`,
      challenge: insufficientScope,
    });
  }
  assertFound(await caller.get('Encounter'), maple.base, 'Encounter', [created.json]);
});

test('contract 2 fields, not shown: they are those of R4, and another one is refused', async () => {
  assertRefused(await atMaple.send('POST', 'Patient', patient('Quill', { shoeSize: 43 })), {
    status: 400,
    error: 'resource-invalid',
    issue: 'structure',
    diagnostics: 'Patient.shoeSize: unknown element of Patient',
    expression: ['Patient.shoeSize'],
  });
});

test('contract 3 states, not shown: they are those of R4, and another one is refused', async () => {
  const sent = appointment('Patient/1', '2026-11-23T15:00:00Z', { status: 'confirmed' });
  const answer = await atMaple.send('POST', 'Appointment', sent);
  assertRefused(answer, {
    status: 400,
    error: 'resource-invalid',
    issue: 'code-invalid',
    diagnostics: answer.json.issue[0].diagnostics,
    expression: ['Appointment.status'],
  });
  assert.match(answer.json.issue[0].diagnostics, /^Appointment\.status: .*proposed.*noshow/);
});

test('contract 3 transitions, not shown: those of the table of the type, and another one is refused', async () => {
  const sent = appointment('Patient/1', '2026-11-23T16:00:00Z', { id: 'visit-1', status: 'booked' });
  assert.equal((await atMaple.send('PUT', 'Appointment/visit-1', sent)).status, 201);
  const answer = await atMaple.send('PUT', 'Appointment/visit-1', { ...sent, status: 'fulfilled' });
  assert.deepEqual(answer.json, { ...sent, status: 'fulfilled', meta: { versionId: '2', lastUpdated } });
  assert.equal(answer.status, 200);
  assertRefused(await atMaple.send('PUT', 'Appointment/visit-1', sent), {
    status: 422,
    error: 'rule-broken',
    issue: 'business-rule',
    diagnostics:
      'Appointment.status is fulfilled and cannot become booked. What may follow fulfilled: checked-in, noshow, entered-in-error',
    expression: ['Appointment.status'],
  });
});

test('contract 6 events, not shown: none are offered', async () => {
  const { json } = await answerOf(await fetch(`${maple.base}/metadata`));
  assert.deepEqual([json.resourceType, json.messaging, json.document], ['CapabilityStatement', undefined, undefined]);
  assert.deepEqual(
    json.rest.map(({ mode }: { mode: string }) => mode),
    ['server'],
  );
});
