/** docs/integrate/contract.md#access-entries, by real HTTP. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { patient } from '../support/records.ts';
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
const operator = await enter('Operator', ['acl/*']);
const created = await operator.send(
  'POST',
  'Patient',
  patient('Quill', { telecom: [{ system: 'phone', value: '555-0100' }] }),
);
const id: string = created.json.id;
const refused = [403, 'access-denied'];

async function enter(name: string, acl: readonly string[]): Promise<Caller> {
  return openCaller(service, await makeApplication(service, name, acl, [maple]), maple);
}

function outcomeOf({ status, json }: Answer): readonly unknown[] {
  const error = json?.resourceType === 'OperationOutcome' ? json.issue[0].details.coding[0].code : undefined;
  return error === undefined ? [status] : [status, error];
}

const jsonPatch = { 'content-type': 'application/json-patch+json' };
const activate = [{ op: 'add', path: '/active', value: true }];

/** Everything that can be asked of a type, by name. */
async function interactionsOf(caller: Caller): Promise<Record<string, readonly unknown[]>> {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const calls = {
    read: () => caller.get(`Patient/${id}`),
    vread: () => caller.get(`Patient/${id}/_history/1`),
    history: () => caller.get(`Patient/${id}/_history`),
    search: () => caller.get('Patient'),
    searchByPost: () => caller.send('POST', 'Patient/_search', '', form),
    create: () => caller.send('POST', 'Patient', patient('New')),
    update: () => caller.send('PUT', `Patient/${id}`, { ...patient('Quill'), id }),
    patch: () => caller.send('PATCH', `Patient/${id}`, activate, jsonPatch),
    delete: () => caller.send('DELETE', `Patient/${id}`),
  };
  const outcomes: Record<string, readonly unknown[]> = {};
  for (const [name, call] of Object.entries(calls)) outcomes[name] = outcomeOf(await call());
  return outcomes;
}

const nothing = {
  read: refused,
  vread: refused,
  history: refused,
  search: refused,
  searchByPost: refused,
  create: refused,
  update: refused,
  patch: refused,
  delete: refused,
};

test('settled letters: r is read, vread and instance history', async () => {
  const reader = await enter('Reader', ['acl/pat_r']);
  assert.deepEqual(await interactionsOf(reader), { ...nothing, read: [200], vread: [200], history: [200] });
});

test('settled letters: s is type search, by GET and by POST; the GET of contract 4.4 is one', async () => {
  const searcher = await enter('Searcher', ['acl/pat_s']);
  assert.deepEqual(await interactionsOf(searcher), { ...nothing, search: [200], searchByPost: [200] });
});

test('settled letters: c is create', async () => {
  const creator = await enter('Creator', ['acl/pat_c']);
  assert.deepEqual(await interactionsOf(creator), { ...nothing, create: [201] });
});

test('settled letters: u is update and PATCH', async () => {
  const updater = await enter('Updater', ['acl/pat_u', 'acl/pat_r']);
  assert.deepEqual(await interactionsOf(updater), {
    ...nothing,
    read: [200],
    vread: [200],
    history: [200],
    update: [200],
    patch: [200],
  });
});

test('settled letters: a conditional write needs its own letter and s', async () => {
  const ifNone = { 'if-none-exist': 'family=Nobody' };
  const creator = await enter('Creator without s', ['acl/enc_s', 'acl/pat_c', 'acl/pat_r', 'acl/pat_u']);
  const searching = {
    status: 403,
    error: 'access-denied',
    issue: 'forbidden',
    diagnostics:
      'Patient search needs acl/pat_s or acl/pat_s_name_dob_gen or acl/pat_s_id; the application does not hold it: the operator of the service adds it, then the practice grants it',
    challenge: insufficientScope,
  };
  assertRefused(await creator.send('POST', 'Patient', patient('Nobody'), ifNone), searching);
  assertRefused(await creator.send('PUT', 'Patient?family=Quill', patient('Quill')), searching);
  assertRefused(await creator.send('PATCH', 'Patient?family=Quill', activate, jsonPatch), searching);
  const searcher = await enter('Searcher without c', ['acl/pat_s']);
  assert.deepEqual(outcomeOf(await searcher.send('POST', 'Patient', patient('Nobody'), ifNone)), refused);
  assert.deepEqual(outcomeOf(await searcher.send('PUT', 'Patient?family=Quill', patient('Quill'))), refused);
  const both = await enter('Creator and searcher', ['acl/pat_c', 'acl/pat_s']);
  assert.deepEqual(outcomeOf(await both.send('POST', 'Patient', patient('Nobody'), ifNone)), [201]);
});

test('settled letters: delete and update-as-create need acl/*', async () => {
  const everyLetter = await enter('Every letter', ['acl/pat_c', 'acl/pat_r', 'acl/pat_s', 'acl/pat_u']);
  assertRefused(await everyLetter.send('DELETE', `Patient/${id}`), {
    status: 403,
    error: 'access-denied',
    issue: 'forbidden',
    diagnostics:
      'Patient delete needs acl/*; the application does not hold it: the operator of the service adds it, then the practice grants it',
    challenge: insufficientScope,
  });
  assertRefused(await everyLetter.send('PUT', 'Patient/chosen', { ...patient('New'), id: 'chosen' }), {
    status: 404,
    error: 'resource-not-found',
    issue: 'not-found',
    diagnostics: 'Patient/chosen is not known',
    expression: ['Patient'],
  });
  assert.equal((await operator.send('PUT', 'Patient/chosen', { ...patient('New'), id: 'chosen' })).status, 201);
  assert.equal((await operator.send('DELETE', 'Patient/chosen')).status, 204);
});

test('settled union: entries combine as a union, restricted ones do not narrow wider ones', async () => {
  const restricted = await enter('Restricted', ['acl/pat_s_id', 'acl/pat_s_name_dob_gen']);
  assert.deepEqual(outcomeOf(await restricted.get('Patient?phone=555-0100')), refused);
  assert.deepEqual(outcomeOf(await restricted.get('Patient?family=Quill')), [200]);
  assert.deepEqual(outcomeOf(await restricted.get('Patient?identifier=1')), [200]);
  const wide = await enter('Wide', ['acl/pat_s', 'acl/pat_s_id', 'acl/pat_s_name_dob_gen']);
  assert.deepEqual(outcomeOf(await wide.get('Patient?phone=555-0100')), [200]);
});

const orders = [
  { id: 'path', code: 'PATHOLOGY' },
  { id: 'radio', code: 'RADIOLOGY' },
];
for (const order of orders) {
  await operator.send('PUT', `ServiceRequest/${order.id}`, {
    resourceType: 'ServiceRequest',
    id: order.id,
    status: 'active',
    intent: 'order',
    subject: { reference: `Patient/${id}` },
    category: [{ coding: [{ code: order.code }] }],
  });
}

test('settled union: filters intersect', async () => {
  const found = async (name: string, filters: readonly string[]) => {
    const caller = await enter(name, ['acl/serv_req_r', 'acl/serv_req_s', ...filters]);
    const { json } = await caller.get('ServiceRequest');
    return (json.entry ?? []).map(({ resource }: { resource: { id: string } }) => resource.id);
  };
  assert.deepEqual(await found('All orders', []), ['path', 'radio']);
  assert.deepEqual(await found('Pathology', ['acl/lab_type_path']), ['path']);
  assert.deepEqual(await found('Radiology', ['acl/lab_type_radio']), ['radio']);
  assert.deepEqual(await found('Both filters', ['acl/lab_type_path', 'acl/lab_type_radio']), []);
  const pathology = await enter('Pathology read', ['acl/serv_req_r', 'acl/lab_type_path']);
  assert.deepEqual(outcomeOf(await pathology.get('ServiceRequest/radio')), [404, 'resource-not-found']);
  assert.deepEqual(outcomeOf(await pathology.get('ServiceRequest/path')), [200]);
});

test('settled opaque: entries with ef and those of unknown meaning grant nothing until an operator says what', async () => {
  const acl = [
    'acl/obsv_ef_r',
    'acl/obsv_ef_s',
    'acl/proc_ef_s',
    'acl/pmc_ocu_ef_s',
    'acl/fmly_his_ef_c',
    'acl/pat_ef_m',
  ];
  const opaque = await enter('Opaque', [...acl, 'acl/m_t', 'acl/t_s', 'acl/mynwscp']);
  for (const type of ['Observation', 'Procedure', 'Condition', 'FamilyMemberHistory', 'Patient', 'Basic']) {
    assert.deepEqual(outcomeOf(await opaque.get(type)), refused, type);
    assert.deepEqual(outcomeOf(await opaque.send('POST', type, { resourceType: type })), refused, type);
  }
});

test('settled restricted-search: pat_s_name_dob_gen restricts both the usable parameters and the returned elements', async () => {
  const restricted = await enter('Name only', ['acl/pat_s_name_dob_gen']);
  for (const query of ['phone=555-0100', 'telecom:missing=false', 'identifier=1', '_sort=phone']) {
    assert.deepEqual(outcomeOf(await restricted.get(`Patient?${query}`)), refused, query);
  }
  const { json } = await restricted.get('Patient?family=Quill');
  assert.deepEqual(Object.keys(json.entry[0].resource), ['resourceType', 'id', 'meta', 'name']);
});

test('settled put: a PUT by who cannot read every element is 403 with "use PATCH", and changes nothing', async () => {
  const blind = await enter('Blind', ['acl/pat_u', 'acl/pat_s_name_dob_gen']);
  const before = (await operator.get(`Patient/${id}`)).json;
  assertRefused(await blind.send('PUT', `Patient/${id}`, { ...patient('Reed'), id }), {
    status: 403,
    error: 'access-denied',
    issue: 'forbidden',
    diagnostics:
      'PUT replaces the whole Patient, and the application may not read every element of it: use PATCH, or get acl/pat_r; the application does not hold it: the operator of the service adds it, then the practice grants it',
    challenge: insufficientScope,
  });
  assert.deepEqual((await operator.get(`Patient/${id}`)).json, before);
});
