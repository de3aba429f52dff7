/**
 * Conditional create, update, patch and delete by HTTP (https://hl7.org/fhir/R4/http.html#ccreate, #cond-update, #cdelete).
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertRefused } from '../../support/refusals.ts';
import { type Caller, makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';

const mrn = 'urn:example:mrn';
const patient = (value: string, family = 'Stone') => ({
  resourceType: 'Patient',
  identifier: [{ system: mrn, value }],
  name: [{ family }],
});
const criteria = (value: string): string => `identifier=${mrn}|${value}`;

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);
const createOnly = await openCaller(
  service,
  await makeApplication(service, 'Create', ['acl/pat_c', 'acl/pat_r'], [maple]),
  maple,
);
const names = ['acl/pat_c', 'acl/pat_s_name_dob_gen'];
const restricted = await openCaller(service, await makeApplication(service, 'Restricted', names, [maple]), maple);
const other = await openCaller(service, await makeApplication(service, 'Other', ['acl/*'], [cedar]), cedar);

const count = async (caller: Caller, value: string): Promise<number> =>
  (await caller.get(`Patient?${criteria(value)}&_summary=count`)).json.total;
const createIf = (caller: Caller, value: string, query: string) =>
  caller.send('POST', 'Patient', patient(value), { 'if-none-exist': query });

test('a conditional create needs the right to search, too', async () => {
  const answer = await createIf(createOnly, 'A1', criteria('A1'));
  assert.equal(answer.status, 403);
  assert.match(answer.json.issue[0].diagnostics, /^Patient search needs acl\/pat_s/);
  assert.equal(await count(full, 'A1'), 0);
});

test('criteria on elements that may not be read are refused, so they tell nothing', async () => {
  assert.equal((await createIf(full, 'A2', criteria('A2'))).status, 201);
  for (const value of ['A2', 'A2-missing']) {
    const answer = await createIf(restricted, 'A2x', criteria(value));
    assert.equal(answer.status, 403);
    assert.match(answer.json.issue[0].diagnostics, /identifier/);
  }
});

test('a conditional update is refused to those who may not read all that it would replace, whether or not it finds one', async () => {
  const entries = ['acl/pat_c', 'acl/pat_u', 'acl/pat_s_name_dob_gen'];
  const half = await openCaller(service, await makeApplication(service, 'Half', entries, [maple]), maple);
  await full.send('POST', 'Patient', patient('D0', 'Slate'));
  for (const family of ['Slate', 'Slate-missing']) {
    const answer = await half.send('PUT', `Patient?family=${family}`, patient('D0x', 'Slate'));
    assert.equal(answer.status, 403, answer.text);
    assert.match(answer.json.issue[0].diagnostics, /^PUT replaces the whole Patient, and the application may not read/);
  }
  assert.equal(await count(full, 'D0x'), 0);
});

test('missing, unknown and result parameters are no criteria', async () => {
  for (const query of ['', '_count=1', 'foo=1', 'identifier:nonsense=1', '_sort=family']) {
    assert.equal((await createIf(full, 'A3', query)).status, 400, query);
  }
  assert.equal(await count(full, 'A3'), 0);
});

const written = (base: string, text: string): readonly string[] => [
  text,
  `?${text}`,
  `Patient?${text}`,
  `/Patient?${text}`,
  `${base}/Patient?${text}`,
];

test('criteria of a create may come with the URL that they belong to, relative or absolute', async () => {
  assert.equal((await createIf(full, 'A4', criteria('A4'))).status, 201);
  for (const query of written(maple.base, criteria('A4')))
    assert.equal((await createIf(full, 'A4', query)).status, 200, query);
  for (const ifNoneExist of written(maple.base, criteria('A4'))) {
    const entry = [{ resource: patient('A4'), request: { method: 'POST', url: 'Patient', ifNoneExist } }];
    const answer = await full.send('POST', '', { resourceType: 'Bundle', type: 'transaction', entry });
    assert.equal(answer.json.entry?.[0]?.response.status, '200 OK', `${ifNoneExist}: ${answer.text}`);
  }
  assert.equal(await count(full, 'A4'), 1);
});

test('criteria of another type, firm or server are refused, whatever they would find', async () => {
  assert.equal((await createIf(other, 'A5', criteria('A5'))).status, 201);
  const query = criteria('A5');
  const foreign = [
    `${cedar.base}/Patient?${query}`,
    `https://fhir.example.com/Patient?${query}`,
    `${maple.base}/Person?${query}`,
    `${maple.base}?${query}`,
    `Person?${query}`,
    `//x/Patient?${query}`,
  ];
  for (const ifNoneExist of foreign) {
    const answer = await createIf(full, 'A5', ifNoneExist);
    assert.equal(answer.status, 400, ifNoneExist);
    const diagnostics = 'If-None-Exist must be criteria of Patient, the type that is created, at this base';
    assertRefused(answer, {
      status: 400,
      error: 'header-invalid',
      issue: 'value',
      diagnostics,
      expression: ['If-None-Exist'],
    });
    const entry = [{ resource: patient('A5'), request: { method: 'POST', url: 'Patient', ifNoneExist } }];
    const refused = await full.send('POST', '', { resourceType: 'Bundle', type: 'transaction', entry });
    assert.equal(refused.status, 400, ifNoneExist);
    assert.match(refused.json.issue[0].diagnostics, /ifNoneExist must be criteria of Patient/);
  }
  assert.equal(await count(full, 'A5'), 0);
});

test('a question mark within a criterion is part of its value', async () => {
  assert.equal((await createIf(full, 'A6?x', `identifier=${mrn}|A6?x`)).status, 201);
  assert.equal((await createIf(full, 'A6?x', `identifier=${mrn}|A6?x`)).status, 200);
});

test('conditional create: none creates, one answers 200 with it, several are 412', async () => {
  const first = await createIf(full, 'B1', criteria('B1'));
  const second = await createIf(full, 'B1', criteria('B1'));
  assert.equal(first.status, 201);
  assert.equal(second.status, 200);
  assert.equal(second.text, first.text);
  assert.equal(second.headers.get('location'), first.headers.get('location'));
  assert.equal(second.headers.get('etag'), 'W/"1"');
  await full.send('POST', 'Patient', patient('B1'));
  const third = await createIf(full, 'B1', criteria('B1'));
  assert.equal(third.status, 412);
  assert.equal(await count(full, 'B1'), 2);
});

test('the resource that was found is shown only as far as it may be read', async () => {
  await full.send('POST', 'Patient', {
    ...patient('B2', 'Quartz'),
    birthDate: '1980-01-01',
    telecom: [{ system: 'phone', value: '555-0100' }],
  });
  const answer = await restricted.send('POST', 'Patient', patient('B3', 'Quartz'), {
    'if-none-exist': 'family=Quartz',
  });
  assert.equal(answer.status, 200);
  assert.deepEqual(Object.keys(answer.json).sort(), ['birthDate', 'id', 'meta', 'name', 'resourceType']);
});

test("another firm's resources neither match nor block", async () => {
  assert.equal((await createIf(full, 'B4', criteria('B4'))).status, 201);
  assert.equal((await createIf(other, 'B4', criteria('B4'))).status, 201);
});

test('64 identical conditional creates at once make one resource', async () => {
  const answers = await Promise.all(Array.from({ length: 64 }, () => createIf(full, 'C1', criteria('C1'))));
  const statuses = answers.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [...Array.from({ length: 63 }, () => 200), 201]);
  assert.equal(new Set(answers.map(({ json }) => json.id)).size, 1);
  assert.equal(await count(full, 'C1'), 1);
});

test('conditional update: none creates, one updates, another id is refused, several are 412', async () => {
  const created = await full.send('PUT', `Patient?${criteria('D1')}`, patient('D1'));
  assert.equal(created.status, 201);
  const updated = await full.send('PUT', `Patient?${criteria('D1')}`, patient('D1', 'Marble'));
  assert.equal(updated.status, 200);
  assert.equal(updated.json.id, created.json.id);
  assert.equal(updated.json.meta.versionId, '2');
  const foreign = await full.send('PUT', `Patient?${criteria('D1')}`, { ...patient('D1'), id: 'another' });
  assert.equal(foreign.status, 400);
  await full.send('POST', 'Patient', patient('D1'));
  assert.equal((await full.send('PUT', `Patient?${criteria('D1')}`, patient('D1'))).status, 412);
  assert.equal((await full.send('PUT', 'Patient', patient('D1'))).status, 400);
});

test('conditional delete: none and one are 204, several are 412, and no criteria delete nothing', async () => {
  await full.send('POST', 'Patient', patient('E1'));
  assert.equal((await full.send('DELETE', 'Patient')).status, 400);
  assert.equal((await full.send('DELETE', `Patient?${criteria('E1')}`)).status, 204);
  assert.equal(await count(full, 'E1'), 0);
  assert.equal((await full.send('DELETE', `Patient?${criteria('E1')}`)).status, 204);
  await full.send('POST', 'Patient', patient('E2'));
  await full.send('POST', 'Patient', patient('E2'));
  assert.equal((await full.send('DELETE', `Patient?${criteria('E2')}`)).status, 412);
  assert.equal(await count(full, 'E2'), 2);
});

test('conditional patch: none is 404, one is patched, several are 412', async () => {
  const change = [{ op: 'replace', path: '/name/0/family', value: 'Basalt' }];
  const patchIf = (value: string) =>
    full.send('PATCH', `Patient?${criteria(value)}`, change, { 'content-type': 'application/json-patch+json' });
  assert.equal((await patchIf('F1')).status, 404);
  await full.send('POST', 'Patient', patient('F1'));
  const patched = await patchIf('F1');
  assert.equal(patched.status, 200);
  assert.deepEqual(patched.json.name, [{ family: 'Basalt' }]);
  await full.send('POST', 'Patient', patient('F1'));
  assert.equal((await patchIf('F1')).status, 412);
});
