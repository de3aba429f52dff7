/** docs/integrate/contract.md#access-entries: includes, chains and the histories of a type and of a firm, by real HTTP. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { encounter, patient } from '../support/records.ts';
import { assertRefused, insufficientScope } from '../support/refusals.ts';
import {
  type Answer,
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
} from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const operator = await enter(['acl/*']);
const visits = await enter(['acl/enc_s']);
const both = await enter(['acl/enc_s', 'acl/pat_s']);
const restricted = await enter(['acl/enc_s', 'acl/pat_s_name_dob_gen']);
const everyLetter = await enter(['acl/pat_c', 'acl/pat_r', 'acl/pat_s', 'acl/pat_u', 'acl/enc_s', 'acl/enc_r']);

const stored = [
  { ...patient('Quill', { telecom: [{ system: 'phone', value: '555-0100' }] }), id: 'quill' },
  { ...encounter('Patient/quill'), id: 'visit' },
] as const;
const subsettedTag = { system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue', code: 'SUBSETTED' };
const meta = { versionId: '1', lastUpdated: '2026-11-21T09:30:00.000Z' };
for (const resource of stored) {
  assert.equal((await operator.send('PUT', pathOf(resource), resource)).status, 201);
}

async function enter(acl: readonly string[]): Promise<Caller> {
  return openCaller(service, await makeApplication(service, acl.join(' '), acl, [maple]), maple);
}

function pathOf(resource: Readonly<Record<string, unknown>>): string {
  return `${resource['resourceType']}/${resource['id']}`;
}

/** A searchset or history of these entries, without what the server makes up for each Bundle. */
function bodyOf({ status, json, text }: Answer): object {
  assert.equal(status, 200, text);
  const { id: _id, link: _link, ...rest } = json;
  return rest;
}

const shown = (resource: Readonly<Record<string, unknown>>, mode: string): object => ({
  fullUrl: `${maple.base}/${pathOf(resource)}`,
  resource: { ...resource, meta },
  search: { mode },
});

const [quill, visit] = stored;
const searchset = (...entry: readonly object[]): object => ({
  resourceType: 'Bundle',
  meta: { lastUpdated: '2026-11-21T09:30:00.000Z' },
  type: 'searchset',
  total: entry.filter((one) => JSON.stringify(one).includes('"mode":"match"')).length,
  entry,
});

const patientSearch =
  'Patient search needs acl/pat_s or acl/pat_s_name_dob_gen or acl/pat_s_id; the application does not hold it: the operator of the service adds it, then the practice grants it';
const operatorOnly =
  'needs acl/*; the application does not hold it: the operator of the service adds it, then the practice grants it';
const encounterSearch =
  'Encounter search needs acl/enc_s; the application does not hold it: the operator of the service adds it, then the practice grants it';

async function denied(caller: Caller, path: string, diagnostics: string): Promise<void> {
  assertRefused(await caller.get(path), {
    status: 403,
    error: 'access-denied',
    issue: 'forbidden',
    diagnostics,
    challenge: insufficientScope,
  });
}

test('settled letters of includes and chains: each needs s on the type that it leads to', async () => {
  for (const query of [
    '_include=Encounter:patient',
    'patient.family=Quill',
    'patient:Patient.family=Nobody',
    '_filter=patient.family%20eq%20Quill',
  ]) {
    await denied(visits, `Encounter?${query}`, patientSearch);
  }
  const patients = await enter(['acl/pat_s']);
  for (const query of ['_revinclude=Encounter:patient', '_has:Encounter:patient:status=finished']) {
    await denied(patients, `Patient?${query}`, encounterSearch);
  }
});

test('settled letters of includes and chains: with s they are served', async () => {
  for (const [path, body] of [
    ['Encounter?_include=Encounter:patient', searchset(shown(visit, 'match'), shown(quill, 'include'))],
    ['Encounter?patient.family=Quill', searchset(shown(visit, 'match'))],
    ['Patient?_revinclude=Encounter:patient', searchset(shown(quill, 'match'), shown(visit, 'include'))],
    ['Patient?_has:Encounter:patient:status=finished', searchset(shown(quill, 'match'))],
  ] as const) {
    assert.deepEqual(bodyOf(await both.get(path)), body, path);
  }
});

test('settled letters of includes and chains: a restricted s restricts them, too', async () => {
  const { telecom: _telecom, ...rest } = quill as Readonly<Record<string, unknown>>;
  const subsetted = {
    fullUrl: `${maple.base}/Patient/quill`,
    resource: { ...rest, meta: { ...meta, tag: [subsettedTag] } },
    search: { mode: 'include' },
  };
  const included = await restricted.get('Encounter?_include=Encounter:patient');
  assert.deepEqual(bodyOf(included), searchset(shown(visit, 'match'), subsetted));
  await denied(
    restricted,
    'Encounter?patient.phone=555-0100',
    'Patient search by phone, which reads Patient.telecom, needs acl/pat_s; the application does not hold it: the operator of the service adds it, then the practice grants it',
  );
});

test('settled letters of type and system history: no letter opens them, acl/* does', async () => {
  await denied(everyLetter, 'Patient/_history', `Patient history ${operatorOnly}`);
  await denied(everyLetter, '_history', `System history ${operatorOnly}`);
  const version = (resource: Readonly<Record<string, unknown>>): object => ({
    fullUrl: `${maple.base}/${pathOf(resource)}`,
    resource: { ...resource, meta },
    request: { method: 'PUT', url: pathOf(resource) },
    response: { status: '201', etag: 'W/"1"', lastModified: meta.lastUpdated },
  });
  const history = (...entry: readonly object[]): object => ({
    resourceType: 'Bundle',
    meta: { lastUpdated: '2026-11-21T09:30:00.000Z' },
    type: 'history',
    total: entry.length,
    entry,
  });
  assert.deepEqual(bodyOf(await operator.get('Patient/_history')), history(version(quill)));
  assert.deepEqual(bodyOf(await operator.get('_history')), history(version(visit), version(quill)));
});
