/**
 * Chains, reverse chains and lists tell nothing that the caller may not search for itself: not by hidden elements, not by
 * hidden rows, not across firms (docs/integrate/contract.md#access-entries).
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const operator = await makeApplication(service, 'Operator', ['acl/*'], [maple, cedar]);
const restricted = await makeApplication(service, 'Restricted', ['acl/enc_s', 'acl/pat_s_name_dob_gen'], [maple]);
const payers = await makeApplication(service, 'Payers', ['acl/pat_s', 'acl/org_pay_s', 'acl/tsk_s'], [maple]);
const visits = await makeApplication(service, 'Visits', ['acl/enc_s'], [maple]);
const stranger = await makeApplication(service, 'Stranger', ['acl/*'], [cedar]);

const organization = (id: string, type: string) => ({
  resourceType: 'Organization',
  id,
  name: 'Maple Health',
  type: [{ coding: [{ code: type }] }],
});
const patient = (id: string, of: string) => ({
  resourceType: 'Patient',
  id,
  name: [{ family: 'Stone' }],
  gender: 'female',
  telecom: [{ system: 'email', value: 'stone@example.org' }],
  managingOrganization: { reference: `Organization/${of}` },
});
const records = [
  organization('payer', 'pay'),
  organization('clinic', 'prov'),
  patient('insured', 'payer'),
  patient('treated', 'clinic'),
  {
    resourceType: 'Encounter',
    id: 'visit',
    status: 'finished',
    class: { code: 'AMB' },
    subject: { reference: 'Patient/insured' },
  },
  {
    resourceType: 'Observation',
    id: 'pressure',
    status: 'final',
    code: { coding: [{ code: '8480-6' }] },
    subject: { reference: 'Patient/insured' },
    valueQuantity: { value: 120 },
  },
  {
    resourceType: 'List',
    id: 'chosen',
    status: 'current',
    mode: 'working',
    entry: [{ item: { reference: 'Patient/insured' } }, { item: { reference: 'Encounter/visit' } }],
  },
];
const full = await openCaller(service, operator, maple);
for (const record of records) {
  const answer = await full.send('PUT', `${record.resourceType}/${record.id}`, record);
  assert.equal(answer.status, 201, answer.text);
}

const idsOf = (bundle: { entry?: readonly { resource: { id: string } }[] }) =>
  (bundle.entry ?? []).map(({ resource }) => resource.id).toSorted();

const refusals: readonly (readonly [application: typeof operator, path: string, diagnostics: RegExp])[] = [
  [
    restricted,
    'Encounter?patient.telecom=stone@example.org',
    /^Patient search by telecom, which reads Patient\.telecom,/,
  ],
  [restricted, 'Encounter?patient.email=nobody@example.org', /^Patient search by email, which reads Patient\.telecom,/],
  [restricted, 'Encounter?patient.organization.name=maple', /^Organization search needs acl\/org_s/],
  [restricted, 'Encounter?patient._has:Observation:patient:code=1', /^Observation search needs/],
  [restricted, 'Patient?_has:Observation:patient:code=1', /^Observation search needs/],
  [restricted, 'Patient?_has:Encounter:patient:_has:Task:encounter:status=ready', /^Task search needs/],
  [restricted, 'Patient?_filter=telecom+eq+x', /^Patient search by telecom, which reads Patient\.telecom,/],
  [restricted, 'Patient?_filter=name+co+stone+or+telecom+eq+x', /^Patient search by telecom, which reads/],
  [restricted, 'Patient?_filter=organization.name+eq+maple', /^Organization search needs acl\/org_s/],
  [restricted, 'Encounter?_filter=patient[email+eq+x].name+co+stone', /^Patient search by email, which reads/],
  [restricted, 'Observation?code-value-quantity=8480-6$gt1', /^Observation search needs/],
  [restricted, 'Patient?_has:Observation:patient:code-value-quantity=8480-6$gt1', /^Observation search needs/],
  [restricted, 'Patient?_list=chosen', /^List search needs system\/List\.s or acl\/\*/],
  [restricted, 'Encounter?_list=chosen', /^List search needs system\/List\.s or acl\/\*/],
  [visits, 'Encounter?patient.name=stone', /^Patient search needs acl\/pat_s/],
  [visits, 'Encounter?patient._id=insured', /^Patient search needs acl\/pat_s/],
];

for (const [application, path, diagnostics] of refusals) {
  test(`refused: ${path}`, async () => {
    const caller = await openCaller(service, application, maple);
    const answer = await caller.get(path);
    assert.equal(answer.status, 403, answer.text);
    assert.equal(answer.headers.get('www-authenticate'), 'Bearer error="insufficient_scope"');
    assert.equal(answer.json.issue.length, 1);
    assert.match(answer.json.issue[0].diagnostics, diagnostics);
    const other = await caller.get(path.replace('stone', 'smith'));
    assert.equal(other.status, 403);
    assert.equal(other.json.issue[0].diagnostics, answer.json.issue[0].diagnostics);
  });
}

test('a link leads to those rows only that the caller may search', async () => {
  const caller = await openCaller(service, payers, maple);
  assert.deepEqual(idsOf((await full.get('Patient?organization.name=maple')).json), ['insured', 'treated']);
  assert.deepEqual(idsOf((await caller.get('Patient?organization.name=maple')).json), ['insured']);
  assert.deepEqual(idsOf((await caller.get('Patient?organization._id=clinic')).json), []);
  assert.deepEqual(idsOf((await caller.get('Patient?organization.name=maple&_sort=-_id')).json), ['insured']);
  const count = await caller.get('Patient?organization.name=maple&_summary=count');
  assert.equal(count.json.total, 1);
});

test('of several types that a reference can lead to, those that may be searched are followed', async () => {
  const caller = await openCaller(service, restricted, maple);
  assert.deepEqual(idsOf((await caller.get('Encounter?subject._id=insured')).json), ['visit']);
  const answer = await caller.get('Encounter?subject:Patient.name=stone');
  assert.deepEqual(idsOf(answer.json), ['visit']);
  assert.deepEqual(idsOf((await caller.get('Encounter?patient.gender=female')).json), ['visit']);
  assert.deepEqual(idsOf((await caller.get('Patient?_has:Encounter:patient:status=finished')).json), ['insured']);
});

test('no link leads into another firm', async () => {
  const caller = await openCaller(service, stranger, cedar);
  for (const path of [
    'Encounter?patient.name=stone',
    'Encounter?patient.organization.name=maple',
    'Patient?_has:Encounter:patient:status=finished',
    'Organization?_has:Patient:organization:family=stone',
    'Patient?_list=chosen',
    'Patient?_filter=name+co+stone',
    'Observation?code-value-quantity=8480-6$gt1',
    'Encounter?_filter=patient.name+co+stone',
  ]) {
    const answer = await caller.get(path);
    assert.equal(answer.status, 200, path);
    assert.deepEqual(idsOf(answer.json), [], path);
    assert.equal(answer.json.total, 0, path);
  }
});
