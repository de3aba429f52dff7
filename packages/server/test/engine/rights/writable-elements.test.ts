/**
 * Who may write some elements or some rows only: a write outside of them is refused naming the element or the rows, and
 * nothing is stored; what the refusal says depends on what was sent, never on what is hidden.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { setOperatorRows } from '../../../src/tenancy/authorisations.ts';
import { patient } from '../../support/records.ts';
import { assertRefused, insufficientScope } from '../../support/refusals.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';
import { tenantRows } from '../../support/tenant-rows.ts';

const service = await openTestService({ after });
const { database } = service.platform;
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const everything = await openCaller(service, await makeApplication(service, 'All', ['acl/*'], [maple, cedar]), maple);

/** Updates and creates names and telecom only, and reads all. */
const limited = await makeApplication(service, 'Limited', ['acl/pat_c', 'acl/pat_r', 'acl/pat_u'], [maple, cedar]);
/** Sees names only, and may change names and active. */
const blind = await makeApplication(service, 'Blind', ['acl/pat_s_name_dob_gen', 'acl/pat_u'], [maple]);
const writes = { pat: { elements: ['name', 'telecom'] } };
await setOperatorRows(database, maple, limited.application, writes);
await setOperatorRows(database, maple, blind.application, { pat: { elements: ['name', 'active', 'gender'] } });
const atMaple = await openCaller(service, limited, maple);
const atCedar = await openCaller(service, limited, cedar);
const half = await openCaller(service, blind, maple);

const whole = {
  resourceType: 'Patient',
  id: 'one',
  meta: { tag: [{ system: 'http://example.org/tag', code: 'kept' }] },
  identifier: [{ system: 'urn:example:mrn', value: 'Secret' }],
  name: [{ family: 'First' }],
  gender: 'female',
  multipleBirthInteger: 2,
};
assert.equal((await everything.send('PUT', 'Patient/one', whole)).status, 201);

const jsonPatch = { 'content-type': 'application/json-patch+json' };

/** The refusal of a write beyond the elements of `acl/pat_…` at maple. */
function beyond(element: string, letter: string, elements: string): Parameters<typeof assertRefused>[1] {
  return {
    status: 403,
    error: 'access-denied',
    issue: 'forbidden',
    challenge: insufficientScope,
    diagnostics: `Writing ${element} needs more than acl/pat_${letter} reaches here (${elements}); the operator of the service says which elements it reaches`,
  };
}

const all = 'Patient.name, Patient.telecom';

test('denials: elements that the operator does not open are refused by name, and nothing is written', async (t) => {
  // With a row for `pat`, its letters r and s read these elements only: PUT is refused for that already.
  const before = await tenantRows(service.database.owner);
  await t.test('create', async () => {
    const answer = await atMaple.send(
      'POST',
      'Patient',
      patient('New', { gender: 'male', telecom: [{ system: 'phone', value: '1' }] }),
    );
    assertRefused(answer, beyond('Patient.gender', 'c', all));
  });
  await t.test('create with labels, an extension, and the other member of a choice', async () => {
    const tag = await atMaple.send('POST', 'Patient', patient('New', { meta: { tag: [{ code: 'mine' }] } }));
    assertRefused(tag, beyond('Patient.meta', 'c', all));
    const extension = [{ url: 'http://example.org/extension', valueString: 'x' }];
    assertRefused(
      await atMaple.send('POST', 'Patient', patient('New', { extension })),
      beyond('Patient.extension', 'c', all),
    );
    assertRefused(
      await atMaple.send('POST', 'Patient', patient('New', { multipleBirthInteger: 1 })),
      beyond('Patient.multipleBirthInteger', 'c', all),
    );
  });
  await t.test('patch, also one that would change nothing', async () => {
    for (const value of ['female', 'male']) {
      const change = [{ op: 'replace', path: '/gender', value }];
      const answer = await atMaple.send('PATCH', 'Patient/one', JSON.stringify(change), jsonPatch);
      assertRefused(answer, beyond('Patient.gender', 'u', all));
    }
  });
  await t.test('patch of the whole, and of the labels', async () => {
    const replace = [{ op: 'replace', path: '', value: whole }];
    assertRefused(
      await atMaple.send('PATCH', 'Patient/one', JSON.stringify(replace), jsonPatch),
      beyond('all of Patient', 'u', all),
    );
    const add = { resourceType: 'Parameters', parameter: [{ name: 'meta', valueMeta: { tag: [{ code: 'mine' }] } }] };
    assertRefused(await atMaple.send('POST', 'Patient/one/$meta-add', add), beyond('Patient.meta', 'u', all));
  });
  await t.test('in a transaction', async () => {
    const bundler = await makeApplication(service, 'Bundler', ['acl/pat_c', 'acl/trans_bndl_post'], [maple]);
    await setOperatorRows(database, maple, bundler.application, writes);
    const before = await tenantRows(service.database.owner);
    const answer = await (await openCaller(service, bundler, maple)).send('POST', '', {
      resourceType: 'Bundle',
      type: 'transaction',
      entry: [
        { resource: patient('Fine'), request: { method: 'POST', url: 'Patient' } },
        { resource: patient('Not', { gender: 'male' }), request: { method: 'POST', url: 'Patient' } },
      ],
    });
    assert.equal(answer.status, 403);
    assert.match(answer.json.issue[0].diagnostics, /Writing Patient\.gender needs more than acl\/pat_c reaches here/);
    assert.deepEqual(await tenantRows(service.database.owner), before);
  });
  assert.deepEqual((await tenantRows(service.database.owner)).resource, before.resource);
});

test('a patch of a hidden element is answered alike whatever the element holds', async () => {
  const answers = new Set<string>();
  for (const gender of ['female', 'male', 'other']) {
    assert.equal((await everything.send('PUT', 'Patient/other', { ...whole, id: 'other', gender })).status < 300, true);
    const change = [{ op: 'replace', path: '/identifier', value: whole.identifier }];
    const { status, text } = await half.send('PATCH', 'Patient/other', JSON.stringify(change), jsonPatch);
    answers.add(`${status} ${text}`);
  }
  assert.equal(answers.size, 1);
  assert.match([...answers][0] ?? '', /^403 .*Writing Patient\.identifier/);
});

test('within the elements writes are carried out, and their answers show what was sent', async () => {
  const created = await atMaple.send('POST', 'Patient', patient('New', { telecom: [{ system: 'phone', value: '1' }] }));
  assert.equal(created.status, 201);
  const { id, meta, ...rest } = created.json;
  assert.deepEqual(rest, patient('New', { telecom: [{ system: 'phone', value: '1' }] }));
  assert.deepEqual(Object.keys(meta), ['versionId', 'lastUpdated']);
  const change = [{ op: 'replace', path: '/name/0/family', value: 'Second' }];
  const patched = await atMaple.send('PATCH', 'Patient/one', JSON.stringify(change), jsonPatch);
  assert.equal(patched.status, 200);
  assert.equal(patched.json.gender, undefined);
  const { meta: _meta, ...stored } = (await everything.get('Patient/one')).json;
  const { meta: _given, ...given } = whole;
  assert.deepEqual(stored, { ...given, name: [{ family: 'Second' }] });
});

test('a PUT may repeat what it may not change', async () => {
  const both = ['acl/pat_u', 'system/Patient.r'];
  const reader = await makeApplication(service, 'Reader', both, [maple]);
  await setOperatorRows(database, maple, reader.application, writes);
  const caller = await openCaller(service, reader, maple);
  const current = (await caller.get('Patient/one')).json;
  assert.equal(current.gender, 'female');
  assertRefused(
    await caller.send('PUT', 'Patient/one', { ...current, gender: 'male' }),
    beyond('Patient.gender', 'u', all),
  );
  const { gender: _left, ...without } = current;
  assertRefused(await caller.send('PUT', 'Patient/one', without), beyond('Patient.gender', 'u', all));
  assertRefused(
    await caller.send('PUT', 'Patient/one', { ...current, meta: { versionId: current.meta.versionId } }),
    beyond('Patient.meta', 'u', all),
  );
  const answer = await caller.send('PUT', 'Patient/one', { ...current, telecom: [{ system: 'phone', value: '2' }] });
  assert.equal(answer.status, 200);
  assert.equal(answer.json.gender, 'female');
  assert.equal(answer.json.meta.tag.length, 1);
});

test('a row is of one firm: at another one the same application writes what its entries say', async () => {
  assert.equal((await atCedar.send('POST', 'Patient', patient('New', { gender: 'male' }))).status, 201);
});

test('rows: what an application may not see afterwards it may not create, under filters and scopes alike', async () => {
  const order = (category: string) => ({
    resourceType: 'ServiceRequest',
    status: 'active',
    intent: 'order',
    subject: { reference: 'Patient/one' },
    category: [{ coding: [{ code: category }] }],
  });
  const acl = ['acl/lab_type_path', 'acl/serv_req_c'];
  const filtered = await openCaller(service, await makeApplication(service, 'Filtered', acl, [maple]), maple);
  const before = await tenantRows(service.database.owner);
  assertRefused(await filtered.send('POST', 'ServiceRequest', order('RADIOLOGY')), {
    status: 403,
    error: 'access-denied',
    issue: 'forbidden',
    challenge: insufficientScope,
    diagnostics:
      'Creating ServiceRequest outside of the rows that the application may write (category=PATHOLOGY) needs acl/serv_req_c without such a limit; token and practice hold it, within limits that a filter or the operator of the service sets',
  });
  assert.deepEqual(await tenantRows(service.database.owner), before);
  assert.equal((await filtered.send('POST', 'ServiceRequest', order('PATHOLOGY'))).status, 201);

  const scope = ['system/Patient.cu?gender=female'];
  const scoped = await openCaller(service, await makeApplication(service, 'Scoped', scope, [maple]), maple);
  const refused = await scoped.send('POST', 'Patient', patient('New', { gender: 'male' }));
  assert.equal(refused.status, 403);
  assert.match(
    refused.json.issue[0].diagnostics,
    /^Creating Patient outside of the rows .* \(gender=female\) needs acl\/pat_c/,
  );
  assert.equal((await scoped.send('POST', 'Patient', patient('New', { gender: 'female' }))).status, 201);
});
