/** Exports of some patients: those that `patient` names, and the members of a Group. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { patient } from '../../support/records.ts';
import { assertRefused, insufficientScope } from '../../support/refusals.ts';
import { type Caller, makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';
import { exportAll, fetchAll, finish, observation, put, refused, respondAsync, toKeys } from './exporting.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);
const patients = await openCaller(service, await makeApplication(service, 'Patients', ['acl/pat_s'], [maple]), maple);

for (const id of ['ann', 'ben', 'cay']) {
  await put(full, 'Patient', id, patient(id));
  await put(full, 'Observation', `of-${id}`, observation('exam', id));
}
await put(
  full,
  'Patient',
  'linked',
  patient('linked', { link: [{ other: { reference: 'Patient/ann' }, type: 'seealso' }] }),
);

const group = (more: Readonly<Record<string, unknown>> = {}, members: readonly object[] = []) => ({
  type: 'person',
  actual: true,
  ...(members.length === 0 ? {} : { member: members }),
  ...more,
});

const member = (id: string, more: object = {}) => ({ entity: { reference: `Patient/${id}` }, ...more });

const ask = async (caller: Caller, path: string, ids: readonly string[], prefer = respondAsync) =>
  await caller.send(
    'POST',
    path,
    {
      resourceType: 'Parameters',
      parameter: ids.map((id) => ({ name: 'patient', valueReference: { reference: id } })),
    },
    prefer,
  );

const exportOf = async (caller: Caller, path: string, ids: readonly string[]): Promise<readonly string[]> => {
  const answer = await ask(caller, path, ids);
  assert.equal(answer.status, 202, answer.text);
  const manifest = await finish(caller, answer.headers.get('content-location') ?? '');
  assert.equal(manifest.request, `${maple.base}/${path}`);
  return toKeys(await fetchAll(caller, manifest));
};

test('denials: a Group that may not be read, patients whom the caller does not find', async () => {
  await put(full, 'Group', 'all', group({}, [member('ann')]));
  const closed = await patients.get('Group/all/$export', respondAsync);
  assert.equal(closed.status, 403);
  assert.equal(closed.headers.get('www-authenticate'), insufficientScope);
  const diagnostics = 'patient names Patient/nobody, which is not known';
  const answer = await ask(full, 'Patient/$export', ['Patient/ann', 'Patient/nobody']);
  refused(answer, 400, 'operation-parameter-invalid', 'invalid', diagnostics, 'patient');
  assertRefused(await full.get('Group/none/$export', respondAsync), {
    status: 404,
    error: 'resource-not-found',
    issue: 'not-found',
    diagnostics: 'Group/none is not known',
    expression: ['Group'],
  });
});

test('wrong requests are precise refusals', async () => {
  refused(
    await full.get('Patient/$export?patient=ann', respondAsync),
    400,
    'operation-parameter-invalid',
    'invalid',
    'patient is no primitive value: send it in a Parameters resource by POST',
    'patient',
  );
  const system = await ask(full, '$export', ['Patient/ann']);
  assert.equal(system.status, 400);
  assert.match(system.json.issue[0].diagnostics, /^patient is no parameter of the operation/);
  const practitioner = 'patient names "Practitioner/x": it takes references such as Patient/23';
  refused(
    await ask(full, 'Patient/$export', ['Practitioner/x']),
    400,
    'operation-parameter-invalid',
    'invalid',
    practitioner,
    'patient',
  );
  const stranger = 'patient names Patient/ben, which is no member of the Group';
  refused(
    await ask(full, 'Group/all/$export', ['Patient/ben']),
    400,
    'operation-parameter-invalid',
    'invalid',
    stranger,
    'patient',
  );
  await put(full, 'Group', 'planned', group({ actual: false }));
  await put(full, 'Group', 'devices', group({ type: 'device' }));
  for (const id of ['planned', 'devices']) {
    assertRefused(await full.get(`Group/${id}/$export`, respondAsync), {
      status: 422,
      error: 'rule-broken',
      issue: 'business-rule',
      diagnostics: `Group/${id} is no group of actual persons: an export takes a Group with type person and actual true`,
      expression: ['Group.type', 'Group.actual'],
    });
  }
  const headerless = await full.get('Group/all/$export');
  assert.equal(headerless.json.issue[0].diagnostics, 'A bulk export is answered later: send Prefer: respond-async');
});

test('only what is in the compartments of the patients is exported', async () => {
  const ofAnn = ['Group/all/1', 'Observation/of-ann/1', 'Patient/ann/1'];
  assert.deepEqual(await exportOf(full, 'Patient/$export', ['Patient/ann']), ofAnn);
  assert.deepEqual(await exportOf(full, 'Patient/$export', [`${maple.base}/Patient/ann`, 'Patient/ann']), ofAnn);
  assert.deepEqual(await exportOf(full, 'Patient/$export', ['Patient/ann', 'Patient/cay']), [
    'Group/all/1',
    'Observation/of-ann/1',
    'Observation/of-cay/1',
    'Patient/ann/1',
    'Patient/cay/1',
  ]);
});

test('a Group is exported with the members that it has', async () => {
  await put(
    full,
    'Group',
    'mixed',
    group({}, [
      member('ann'),
      member('ben', { inactive: true }),
      member('cay', { period: { end: '2020-01-01' } }),
      { entity: { reference: 'Practitioner/doc' } },
      member('nobody'),
    ]),
  );
  const ofAnn = ['Group/all/1', 'Observation/of-ann/1', 'Patient/ann/1'];
  assert.deepEqual(toKeys(await exportAll(full, 'Group/mixed/$export')), ofAnn, 'no Group that names others');
  assert.deepEqual(toKeys(await exportAll(full, 'Group/mixed/$export?_type=Patient')), ['Patient/ann/1']);
  assert.deepEqual(await exportOf(full, 'Group/mixed/$export', ['Patient/ann']), ofAnn);
  await put(full, 'Group', 'empty', group());
  assert.deepEqual(toKeys(await exportAll(full, 'Group/empty/$export')), []);
});
