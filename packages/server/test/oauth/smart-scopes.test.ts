/** SMART v2 scopes of systems by HTTP: in an application's acl, in a firm's authorisation, and asked for by `scope`. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { entryProblem } from '../../src/admin/entry-problem.ts';
import { createApplication } from '../../src/tenancy/applications.ts';
import { authorise } from '../../src/tenancy/authorisations.ts';
import { encounter, patient } from '../support/records.ts';
import { assertRefused, insufficientScope } from '../support/refusals.ts';
import {
  type Caller,
  callerOf,
  clientForm,
  clientTokenUrl,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  postForm,
} from '../support/service.ts';

const service = await openTestService({ after });
const { database, clock } = service.platform;
const maple = await makeFirm(service, 'maple');
const birch = await makeFirm(service, 'birch');
const operator = await makeApplication(service, 'Operator', ['acl/*'], [maple, birch]);
const backend = await makeApplication(service, 'Backend', ['system/*.rs'], [maple, birch]);
await authorise(
  database,
  clock,
  birch,
  backend.application,
  { purpose: 'Less', acl: ['system/*.rs'], operatorRows: {} },
  entryProblem,
);

for (const firm of [maple, birch]) {
  const caller = await openCaller(service, operator, firm);
  for (const [id, gender] of [
    ['ann', 'female'],
    ['bob', 'male'],
  ] as const) {
    assert.equal(
      (await caller.send('PUT', `Patient/${id}`, { ...patient(`${id}-${firm.prefix}`, { gender }), id })).status,
      201,
    );
    assert.equal((await caller.send('PUT', `Encounter/${id}`, { ...encounter(`Patient/${id}`), id })).status, 201);
  }
}

const ask = (scope: string) => postForm(clientTokenUrl(service), { ...clientForm(backend), scope }, backend.clientKey);

async function callerWith(scope: string): Promise<Caller> {
  const { status, json, text } = await ask(scope);
  assert.equal(status, 200, text);
  return callerOf(maple, json.access_token, backend.clientKey);
}

const refusals: readonly (readonly [scope: string, description: string])[] = [
  [
    'system/Patient.cruds',
    'system/Patient.cruds is not an access entry: d is not offered: deleting needs acl/*, which operators hold',
  ],
  ['system/Patient.cr', 'system/Patient.cr is not held by the application'],
  [
    'patient/Patient.r',
    'patient/Patient.r is not an access entry: patient/ is about the patient of a launch; applications act for a practice here: use system/',
  ],
  [
    'system/Patient.rs?sex=female',
    'system/Patient.rs?sex=female is not an access entry: Patient has no search parameter sex',
  ],
  ['system/Patient.rs openid', 'openid is not an access entry: it is about a person who logs in; no person does here'],
];

for (const [scope, description] of refusals) {
  test(`asking for ${scope} is refused`, async () => {
    const { status, json } = await ask(scope);
    assert.equal(status, 400);
    assert.deepEqual(json, { error: 'invalid_scope', error_description: description });
  });
}

test('an application is not given a scope that is not understood', async () => {
  for (const entry of ['system/Patient.rs?sex=female', 'user/Patient.rs', 'system/Patient.read']) {
    await assert.rejects(
      createApplication(database, { environment: 'sandbox', name: 'Broken', acl: [entry] }, entryProblem),
      /is not an access entry/,
    );
  }
});

test('denials: what a query leaves out does not exist, by whatever way it is asked for', async () => {
  const caller = await callerWith('system/Patient.rs?gender=female system/Encounter.rs');
  const missing = (id: string) => ({
    status: 404,
    error: 'resource-not-found',
    issue: 'not-found',
    diagnostics: `Patient/${id} is not known`,
    expression: ['Patient'],
  });
  for (const id of ['bob', 'nobody']) {
    assertRefused(await caller.get(`Patient/${id}`), missing(id));
    assertRefused(await caller.get(`Patient/${id}/_history/1`), missing(`${id}/_history/1`));
    assertRefused(await caller.get(`Patient/${id}/_history`), missing(id));
  }
  const found = async (path: string) => {
    const { status, json, text } = await caller.get(path);
    assert.equal(status, 200, text);
    assert.ok(!text.includes('bob-'), path);
    return [
      json.total,
      (json.entry ?? []).map((entry: { fullUrl: string }) => entry.fullUrl.slice(maple.base.length + 1)),
    ];
  };
  assert.deepEqual(await found('Patient'), [1, ['Patient/ann']]);
  assert.deepEqual(await found('Patient?gender=male'), [0, []]);
  assert.deepEqual(await found('Patient?_summary=count&_total=accurate'), [1, []]);
  assert.deepEqual(await found('Patient?_id=bob'), [0, []]);
  assert.deepEqual(await found('Encounter?patient.family=bob'), [0, []]);
  assert.deepEqual(await found('Encounter?patient.family=ann'), [1, ['Encounter/ann']]);
  assert.deepEqual(await found('Encounter?_id=bob&_include=Encounter:patient'), [1, ['Encounter/bob']]);
  assert.deepEqual(await found('Patient?_has:Encounter:patient:_id=bob'), [0, []]);
  assert.deepEqual(await found('Patient?_filter=gender eq male'), [0, []]);
});

test('denials: letters that were not asked for', async () => {
  const caller = await callerWith('system/Patient.s');
  assertRefused(await caller.get('Patient/ann'), {
    status: 403,
    error: 'access-denied',
    issue: 'forbidden',
    challenge: insufficientScope,
    diagnostics:
      'Patient read needs acl/pat_r; the practice has granted it, the token does not hold it: request a token with it',
  });
  assert.equal((await caller.get('Patient')).json.total, 2);
  assert.equal((await caller.get('Encounter')).status, 403);
  assert.equal((await caller.send('DELETE', 'Patient/ann')).status, 403);
  assert.equal((await caller.get('Patient/_history')).status, 403);
});

test('the answer says what was given, and the token grants that', async () => {
  assert.equal((await ask('system/Patient.rs')).json.scope, 'system/Patient.rs');
  assert.equal((await ask('acl/pat_s_id')).json.scope, 'acl/pat_s_id');
  assert.equal(
    (await postForm(clientTokenUrl(service), clientForm(backend), backend.clientKey)).json.scope,
    'system/*.rs',
  );
});

test('a page link made under a query is worth nothing under another', async () => {
  const ofAll = await callerWith('system/Patient.rs');
  const { json } = await ofAll.get('Patient?_count=1');
  const next = json.link.find(({ relation }: { relation: string }) => relation === 'next').url;
  const answer = await (await callerWith('system/Patient.rs?gender=female')).get(next);
  assert.equal(answer.status, 400, answer.text);
  assert.equal(answer.json.issue[0].details.coding[0].code, 'cursor-invalid');
});
