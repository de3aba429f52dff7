/**
 * Includes tell nobody more than searches of its own would: not what its entries hide on the resource that refers, not
 * which hidden resources exist, and nothing of another firm.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { assertRefused, insufficientScope } from '../../support/refusals.ts';
import {
  type Answer,
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
} from '../../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const callerOf = async (acl: readonly string[], firm = maple): Promise<Caller> =>
  await openCaller(service, await makeApplication(service, `${acl.join(' ')} at ${firm.prefix}`, acl, [firm]), firm);
const full = await callerOf(['acl/*']);
const foreign = await callerOf(['acl/*'], cedar);
const restricted = await callerOf(['acl/enc_s', 'acl/pat_s_name_dob_gen']);
const recalls = await callerOf(['acl/tsk_pmrecall_s', 'acl/pat_s_id']);

const secret = 'what is hidden';
const reference = (to: string) => ({ reference: to });
const patient = (id: string, more: object = {}) => ({
  resourceType: 'Patient',
  id,
  name: [{ family: id }],
  birthDate: '1980-01-01',
  gender: 'female',
  address: [{ text: secret }],
  managingOrganization: reference('Organization/hospital'),
  generalPractitioner: [reference('Practitioner/doctor')],
  ...more,
});
const visit = (id: string, subject: string) => ({
  resourceType: 'Encounter',
  id,
  status: 'finished',
  class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'AMB' },
  subject: reference(subject),
  location: [{ location: reference('Location/room') }],
  participant: [{ individual: reference('Practitioner/doctor') }],
});
const task = (id: string, code: string | undefined, more: object = {}) => ({
  resourceType: 'Task',
  id,
  status: 'requested',
  intent: 'order',
  for: reference('Patient/anna'),
  ...(code === undefined ? {} : { code: { coding: [{ code }] } }),
  ...more,
});
const order = (id: string, category: string) => ({
  resourceType: 'ServiceRequest',
  id,
  status: 'active',
  intent: 'order',
  subject: reference('Patient/anna'),
  category: [{ coding: [{ code: category }] }],
});

const resources = [
  { resourceType: 'Organization', id: 'hospital', name: secret },
  { resourceType: 'Practitioner', id: 'doctor', name: [{ family: secret }] },
  { resourceType: 'Location', id: 'room', name: secret },
  { resourceType: 'Group', id: 'team', type: 'person', actual: true },
  patient('bert'),
  patient('anna', { link: [{ other: reference('Patient/bert'), type: 'seealso' }] }),
  visit('visit', 'Patient/anna'),
  visit('visit-of-team', 'Group/team'),
  task('recall', 'PMRECALL'),
  task('hidden', 'OTHER', { partOf: [reference('Task/recall')] }),
  task('behind', 'PMRECALL', { partOf: [reference('Task/hidden')] }),
  order('pathology', 'PATHOLOGY'),
  order('radiology', 'RADIOLOGY'),
];
for (const [caller, all] of [
  [full, resources],
  [foreign, [patient('anna', { name: [{ family: 'Cedar' }] }), visit('visit-at-cedar', 'Patient/anna')]],
] as const) {
  for (const resource of all) {
    const answer = await caller.send('PUT', `${resource.resourceType}/${resource.id}`, resource);
    assert.equal(answer.status, 201, answer.text);
  }
}

function shown({ status, json, text }: Answer): string[] {
  assert.equal(status, 200, text);
  return (json.entry ?? []).map(
    ({ resource, search }: { resource: { resourceType: string; id: string }; search: { mode: string } }) =>
      `${search.mode} ${resource.resourceType}/${resource.id}`,
  );
}

test('an included resource is shown as a search would show it', async () => {
  const answer = await restricted.get('Encounter?_include=Encounter:subject');
  assert.deepEqual(shown(answer), ['match Encounter/visit', 'match Encounter/visit-of-team', 'include Patient/anna']);
  const { resource } = answer.json.entry[2];
  assert.deepEqual(Object.keys(resource).toSorted(), ['birthDate', 'gender', 'id', 'meta', 'name', 'resourceType']);
  assert.deepEqual(resource, (await restricted.get('Patient?family=anna')).json.entry[0].resource);
  assert.ok(!answer.text.includes(secret));
});

test('what the caller may not search is left out where it is not named', async () => {
  const visits = ['match Encounter/visit', 'match Encounter/visit-of-team'];
  for (const [query, expected] of [
    ['Encounter?_include=*', [...visits, 'include Patient/anna']],
    ['Encounter?_include=Encounter:*', [...visits, 'include Patient/anna']],
    ['Encounter?_include:iterate=*', [...visits, 'include Patient/anna']],
    ['Encounter?_include:iterate=*&_revinclude:iterate=*', [...visits, 'include Patient/anna']],
    ['Patient?family=anna&_include=*', ['match Patient/anna']],
    ['Patient?family=anna&_include=Patient:*', ['match Patient/anna']],
    ['Patient?family=anna&_revinclude=*', ['match Patient/anna', 'include Encounter/visit']],
    ['Patient?family=bert&_revinclude=*', ['match Patient/bert']],
    ['Patient?family=bert&_revinclude=Patient:*', ['match Patient/bert']],
  ] as const) {
    const answer = await restricted.get(query);
    assert.deepEqual(shown(answer), expected, query);
    assert.ok(!answer.text.includes(secret), query);
  }
});

test('what is named without an entry is refused, the same whether there is something or not', async () => {
  const entry = (what: string, entries: string): string =>
    `${what} needs ${entries}; the application does not hold it: the operator of the service adds it, then the practice grants it`;
  const location = entry('Location search', 'acl/loc_s');
  const group = entry('Group search', 'system/Group.s or acl/*');
  const hidden = (code: string, element: string): string =>
    entry(`Patient search by ${code}, which reads Patient.${element},`, 'acl/pat_s');
  const practitioners = [
    entry('Practitioner search', 'acl/prac_s'),
    entry('PractitionerRole search', 'acl/prac_role_s'),
    entry('RelatedPerson search', 'system/RelatedPerson.s or acl/*'),
  ].join('; or ');
  for (const [include, diagnostics] of [
    ['_include=Encounter:location', location],
    ['_include:iterate=Location:organization', location],
    ['_include=Location:*', location],
    ['_include=Encounter:participant', practitioners],
    ['_include=Encounter:subject:Group', group],
    ['_revinclude=Group:member', group],
    ['_revinclude=Encounter:subject:Group', group],
    ['_revinclude=Observation:encounter', entry('Observation search', 'system/Observation.s or acl/*')],
    ['_include=Patient:organization', hidden('organization', 'managingOrganization')],
    ['_include=Patient:link', hidden('link', 'link')],
    ['_revinclude=Patient:link', hidden('link', 'link')],
  ] as const) {
    for (const rest of ['', '&_id=none', '&_summary=count']) {
      assertRefused(await restricted.get(`Encounter?${include}${rest}`), {
        status: 403,
        error: 'access-denied',
        issue: 'forbidden',
        diagnostics,
        challenge: insufficientScope,
      });
    }
  }
});

test('rows that the caller may not see are neither included nor passed through', async () => {
  for (const [query, expected] of [
    ['Patient?_id=anna&_revinclude=Task:subject', ['match Patient/anna', 'include Task/recall', 'include Task/behind']],
    ['Patient?_id=anna&_revinclude=*', ['match Patient/anna', 'include Task/recall', 'include Task/behind']],
    ['Task?_id=behind&_include:iterate=Task:part-of', ['match Task/behind']],
    ['Task?_id=recall&_revinclude:iterate=Task:part-of', ['match Task/recall']],
    ['Task?_id=hidden&_include=Task:part-of', []],
  ] as const) {
    assert.deepEqual(shown(await recalls.get(query)), expected, query);
  }
  const pathology = await callerOf(['acl/*', 'acl/lab_type_path']);
  assert.deepEqual(shown(await pathology.get('Patient?_id=anna&_revinclude=ServiceRequest:subject')), [
    'match Patient/anna',
    'include ServiceRequest/pathology',
  ]);
  assert.deepEqual(shown(await full.get('Patient?_id=anna&_revinclude=ServiceRequest:subject')), [
    'match Patient/anna',
    'include ServiceRequest/pathology',
    'include ServiceRequest/radiology',
  ]);
});

test('rows that the caller may not see do not count towards the limit', async () => {
  const request = { method: 'POST', url: 'Task' };
  const { id: _id, ...hidden } = task('', 'OTHER', { for: reference('Patient/bert') });
  for (let sent = 0; sent < 1200; sent += 400) {
    const entry = Array.from({ length: 400 }, () => ({ resource: hidden, request }));
    assert.equal((await full.send('POST', '', { resourceType: 'Bundle', type: 'transaction', entry })).status, 200);
  }
  const last = task('last', 'PMRECALL', { for: reference('Patient/bert') });
  assert.equal((await full.send('PUT', 'Task/last', last)).status, 201);
  assert.deepEqual(shown(await recalls.get('Patient?_id=bert&_revinclude=Task:subject')), [
    'match Patient/bert',
    'include Task/last',
  ]);
  const everything = shown(await full.get('Patient?_id=bert&_revinclude=Task:subject'));
  assert.equal(everything.length, 1002);
  assert.match(everything.at(-1) ?? '', /^outcome OperationOutcome/);
});

test('nothing of another firm is included', async () => {
  assert.deepEqual(shown(await foreign.get('Encounter?_include=*')), [
    'match Encounter/visit-at-cedar',
    'include Patient/anna',
  ]);
  const answer = await foreign.get('Patient?_id=anna&_revinclude=*&_include:iterate=*');
  assert.deepEqual(shown(answer), ['match Patient/anna', 'include Encounter/visit-at-cedar']);
  assert.equal(answer.json.entry[0].resource.name[0].family, 'Cedar');
  assert.ok(
    !shown(await full.get('Patient?_id=anna&_revinclude=Encounter:patient')).includes(
      'include Encounter/visit-at-cedar',
    ),
  );
});

test('a token without the entry for matches is refused before includes are read', async () => {
  const visits = await callerOf(['acl/enc_s']);
  for (const include of ['_include=Encounter:subject', '_include=nonsense']) {
    assertRefused(await visits.get(`Patient?${include}`), {
      status: 403,
      error: 'access-denied',
      issue: 'forbidden',
      diagnostics:
        'Patient search needs acl/pat_s or acl/pat_s_name_dob_gen or acl/pat_s_id; the application does not hold it: the operator of the service adds it, then the practice grants it',
      challenge: insufficientScope,
    });
  }
});

test('an entry in a batch includes no more than the same request alone', async () => {
  const request = { method: 'GET', url: 'Encounter?_include=*&_revinclude:iterate=*' };
  const named = { method: 'GET', url: 'Encounter?_include=Encounter:location' };
  const answer = await restricted.send('POST', '', {
    resourceType: 'Bundle',
    type: 'batch',
    entry: [{ request }, { request: named }],
  });
  assert.ok(!answer.text.includes(secret));
  const [all, refused] = answer.json.entry;
  assert.deepEqual(shown({ ...answer, json: all.resource }), [
    'match Encounter/visit',
    'match Encounter/visit-of-team',
    'include Patient/anna',
  ]);
  assert.equal(refused.response.status.slice(0, 3), '403');
});
