/**
 * $meta of a type and of the system: the profiles, tags and security labels in use, on rows that the caller may see
 * (https://hl7.org/fhir/R4/resource-operation-meta.html).
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { batch, entry } from '../bundle/bundles.ts';
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
const cedar = await makeFirm(service, 'cedar');
const birch = await makeFirm(service, 'birch');
const callerWith = async (name: string, acl: readonly string[], firm = maple): Promise<Caller> =>
  openCaller(service, await makeApplication(service, name, acl, [firm]), firm);
const full = await callerWith('Full', ['acl/*']);
const foreign = await callerWith('Foreign', ['acl/*'], cedar);
const many = await callerWith('Many', ['acl/*'], birch);
const names = await callerWith('Names', ['acl/pat_s_name_dob_gen']);
const pathology = await callerWith('Pathology', ['acl/serv_req_s', 'acl/lab_type_path']);
const both = await callerWith('Both', ['acl/pat_s_name_dob_gen', 'acl/serv_req_s', 'acl/lab_type_path']);
const reader = await callerWith('Reader', ['acl/pat_r']);

const tag = (code: string, more: object = {}) => ({ system: 'https://example.org/tags', code, ...more });
const profile = (name: string) => `https://example.org/StructureDefinition/${name}`;
const confidential = { system: 'http://terminology.hl7.org/CodeSystem/v3-Confidentiality', code: 'R' };
const order = (code: string, meta: object) => ({
  resourceType: 'ServiceRequest',
  status: 'active',
  intent: 'order',
  category: [{ coding: [{ code }] }],
  subject: { reference: 'Patient/p1' },
  meta,
});

const put = async (id: string, resource: Readonly<Record<string, unknown>>, caller = full) => {
  const answer = await caller.send('PUT', `${resource['resourceType']}/${id}`, { ...resource, id });
  assert.ok(answer.status < 300, answer.text);
};
await put('p1', patient('Stone', { meta: { tag: [tag('a', { display: 'First' })], profile: [profile('one')] } }));
await put('p2', patient('Slate', { meta: { tag: [tag('a'), { code: 'a' }], security: [confidential] } }));
await put('p3', patient('Shale', { meta: { tag: [tag('gone')] } }));
await put('p3', patient('Shale', { meta: { profile: [profile('two'), profile('one')] } }));
await put('p4', patient('Chalk', { meta: { tag: [tag('deleted')] } }));
assert.equal((await full.send('DELETE', 'Patient/p4')).status, 204);
await put('e1', encounter('Patient/p1', { meta: { tag: [tag('visit'), { ...tag('a'), system: 'urn:other' }] } }));
await put('lab', order('PATHOLOGY', { tag: [tag('shared'), tag('lab')] }));
await put('scan', order('RADIOLOGY', { tag: [tag('shared'), tag('hidden')], security: [confidential] }));

const meta = (value: object) => ({ resourceType: 'Parameters', parameter: [{ name: 'return', valueMeta: value }] });
const none = meta({
  extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'not-applicable' }],
});
const ofPatients = {
  profile: [profile('one'), profile('two')],
  security: [confidential],
  tag: [{ code: 'a' }, tag('a', { display: 'First' })],
};

function answered({ status, json, text }: Answer): unknown {
  assert.equal(status, 200, text);
  return json;
}

test('who may not search is refused', async () => {
  for (const [caller, path, diagnostics] of [
    [reader, 'Patient/$meta', /^Patient search needs /],
    [names, 'Encounter/$meta', /^Encounter search needs /],
    [
      reader,
      '$meta',
      /^\$meta needs acl\/acc_s or acl\/algy_intol_s or acl\/appmt_s or another entry to search one of them;/,
    ],
  ] as const) {
    for (const method of ['GET', 'POST'] as const) {
      const answer = await caller.send(method, path);
      assert.match(answer.json.issue[0].diagnostics, diagnostics);
      assertRefused(answer, {
        status: 403,
        error: 'access-denied',
        issue: 'forbidden',
        diagnostics: answer.json.issue[0].diagnostics,
        challenge: insufficientScope,
      });
    }
  }
  assert.equal((await fetch(`${maple.base}/$meta`)).status, 401);
});

test('labels of rows and types that the caller may not see are not told', async () => {
  const ofPathology = { tag: [tag('lab'), tag('shared')] };
  assert.deepEqual(answered(await pathology.get('ServiceRequest/$meta')), meta(ofPathology));
  assert.deepEqual(answered(await pathology.get('$meta')), meta(ofPathology));
  assert.deepEqual(answered(await names.get('$meta')), meta(ofPatients));
  assert.deepEqual(
    answered(await both.get('$meta')),
    meta({ ...ofPatients, tag: [...ofPatients.tag, tag('lab'), tag('shared')] }),
  );
});

test('a label that only a hidden row has is told as one that nothing has', async () => {
  const before = answered(await pathology.get('ServiceRequest/$meta'));
  await put('more', order('RADIOLOGY', { tag: [tag('0'), tag('lac'), tag('zzz')], profile: [profile('hidden')] }));
  assert.deepEqual(answered(await pathology.get('ServiceRequest/$meta')), before);
  assert.equal((await full.send('DELETE', 'ServiceRequest/more')).status, 204);
});

test('another firm is told of its own', async () => {
  for (const path of ['$meta', 'Patient/$meta', 'ServiceRequest/$meta']) {
    assert.deepEqual(answered(await foreign.get(path)), none, path);
  }
  await put('own', patient('Cedar', { meta: { tag: [tag('cedar')] } }), foreign);
  assert.deepEqual(answered(await foreign.get('$meta')), meta({ tag: [tag('cedar')] }));
  assert.doesNotMatch((await full.get('$meta')).text, /cedar/);
});

test('of a type: what its current resources have, each label once', async () => {
  for (const caller of [full, names]) {
    assert.deepEqual(answered(await caller.get('Patient/$meta')), meta(ofPatients));
    assert.deepEqual(answered(await caller.send('POST', 'Patient/$meta')), meta(ofPatients));
  }
  assert.deepEqual(answered(await full.get('Basic/$meta')), none);
});

test('of the system: what all types have together', async () => {
  const expected = {
    ...ofPatients,
    tag: [
      ...ofPatients.tag,
      ...['hidden', 'lab', 'shared', 'visit'].map((code) => tag(code)),
      { ...tag('a'), system: 'urn:other' },
    ],
  };
  assert.deepEqual(answered(await full.get('$meta')), meta(expected));
  const answer = await full.send('POST', '', batch(entry('GET', '$meta'), entry('GET', 'Patient/$meta')));
  const bodies = answer.json.entry.map(({ resource }: { resource: unknown }) => resource);
  assert.deepEqual(bodies, [meta(expected), meta(ofPatients)]);
});

test('it is what the resources say, found one by one', async () => {
  for (const type of ['Patient', 'Encounter', 'ServiceRequest']) {
    const { entry: entries } = (await full.get(`${type}?_count=100`)).json;
    const codes = new Set<string>();
    for (const { resource } of entries) {
      for (const { system, code } of resource.meta?.tag ?? []) codes.add(`${system}|${code}`);
    }
    const [{ valueMeta }] = (await full.get(`${type}/$meta`)).json.parameter;
    const told = valueMeta.tag.map(({ system, code }: { system: string; code: string }) => `${system}|${code}`);
    assert.deepEqual(told.toSorted(), [...codes].toSorted(), type);
  }
});

test('more labels than a limit are refused and what to do is told', async () => {
  const tags = Array.from({ length: 500 }, (_, number) => tag(`t${number}`));
  await put('full', patient('Full', { meta: { tag: tags } }), many);
  const [{ valueMeta }] = (await many.get('Patient/$meta')).json.parameter;
  assert.equal(valueMeta.tag.length, 500);
  await put('more', patient('More', { meta: { profile: [profile('one')] } }), many);
  const expected = { status: 422, error: 'labels-too-many', issue: 'too-costly' };
  const diagnostics = 'More than 500 profiles, tags and security labels are in use: ';
  assertRefused(await many.get('Patient/$meta'), {
    ...expected,
    diagnostics: `${diagnostics}search by the labels that you know`,
  });
  assertRefused(await many.get('$meta'), { ...expected, diagnostics: `${diagnostics}ask the types one by one` });
});

test('it takes no parameters', async () => {
  const answer = await full.get('Patient/$meta?family=Stone');
  assert.equal(answer.status, 400);
  assert.equal(answer.json.issue[0].details.coding[0].code, 'operation-parameter-invalid');
});

test('the CapabilityStatement lists it for the system', async () => {
  const [rest] = (await full.get('metadata')).json.rest;
  const definition = 'http://hl7.org/fhir/OperationDefinition/Resource-meta';
  assert.deepEqual(
    rest.operation.filter(({ name }: { name: string }) => name === 'meta'),
    [{ name: 'meta', definition }],
  );
});
