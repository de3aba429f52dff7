/**
 * $meta, $meta-add and $meta-delete: labels as sets, and changes with the rights and the record of a PATCH
 * (https://hl7.org/fhir/R4/resource-operation-meta-add.html).
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { patient } from '../support/records.ts';
import { type Caller, makeApplication, makeFirm, openCaller, openTestService, startMs } from '../support/service.ts';
import { tenantRows } from '../support/tenant-rows.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const callerWith = async (name: string, acl: readonly string[], firm = maple): Promise<Caller> =>
  openCaller(service, await makeApplication(service, name, acl, [firm]), firm);
const full = await callerWith('Full', ['acl/*']);
const foreign = await callerWith('Foreign', ['acl/*'], cedar);
const searcher = await callerWith('Searcher', ['acl/pat_s_name_dob_gen']);
const reader = await callerWith('Reader', ['acl/pat_r']);

const tag = (code: string, more: object = {}) => ({ system: 'https://example.org/tags', code, ...more });
const sent = (meta: object) => ({ resourceType: 'Parameters', parameter: [{ name: 'meta', valueMeta: meta }] });
const answered = (meta: object) => ({ resourceType: 'Parameters', parameter: [{ name: 'return', valueMeta: meta }] });
const lastUpdated = new Date(startMs).toISOString();
const make = async (): Promise<string> =>
  `Patient/${(await full.send('POST', 'Patient', patient('Stone', { meta: { tag: [tag('a')] } }))).json.id}`;

test('denials: without the right to read or to change, nothing is said or done', async () => {
  const path = await make();
  const before = await tenantRows(service.database.owner);
  assert.equal((await searcher.get(`${path}/$meta`)).status, 403);
  assert.equal((await searcher.send('POST', `${path}/$meta-add`, sent({ tag: [tag('b')] }))).status, 403);
  assert.equal((await reader.send('POST', `${path}/$meta-add`, sent({ tag: [tag('b')] }))).status, 403);
  assert.equal((await reader.send('POST', `${path}/$meta-delete`, sent({ tag: [tag('a')] }))).status, 403);
  for (const name of ['$meta-add', '$meta-delete']) {
    const answer = await foreign.send('POST', `${path}/${name}`, sent({ tag: [tag('a')] }));
    assert.equal(answer.status, 404);
    assert.ok(!answer.text.includes('example.org'));
  }
  assert.equal((await foreign.get(`${path}/$meta`)).status, 404);
  assert.deepEqual(await tenantRows(service.database.owner), before);
});

test('the ledger cannot be labelled', async () => {
  const answer = await full.send('POST', 'AuditEvent/x/$meta-add', sent({ tag: [tag('b')] }));
  assert.equal(answer.status, 405);
});

test('the meta of a resource and of one of its versions', async () => {
  const path = await make();
  const expected = answered({ tag: [tag('a')], versionId: '1', lastUpdated });
  for (const caller of [full, reader]) assert.deepEqual((await caller.get(`${path}/$meta`)).json, expected);
  await full.send('POST', `${path}/$meta-add`, sent({ tag: [tag('b')] }));
  assert.deepEqual((await full.get(`${path}/_history/1/$meta`)).json, expected);
  assert.equal((await full.get(`${path}/$meta`)).json.parameter[0].valueMeta.versionId, '2');
  assert.equal((await full.get(`${path}/_history/3/$meta`)).status, 404);
  assert.equal((await full.send('POST', 'Patient/$meta-add', sent({ tag: [tag('b')] }))).status, 405);
});

test('adding makes a version with the labels as sets; version and display of a label do not tell it from another', async () => {
  const path = await make();
  const labels = {
    tag: [tag('a', { display: 'Again', version: '2' }), tag('b', { display: 'Second' })],
    security: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-Confidentiality', code: 'R' }],
    profile: ['https://example.org/StructureDefinition/one'],
  };
  const added = await full.send('POST', `${path}/$meta-add`, sent(labels));
  const meta = { ...labels, tag: [tag('a'), tag('b', { display: 'Second' })], versionId: '2', lastUpdated };
  assert.deepEqual(added.json, answered(meta));
  assert.equal(added.status, 200);
  const { json } = await full.get(path);
  assert.deepEqual(json.meta, meta);
  assert.equal(json.name[0].family, 'Stone');
  const again = await full.send('POST', `${path}/$meta-add`, sent(labels));
  assert.deepEqual(again.json, answered(meta), 'what is there already makes no version');
  assert.equal((await full.get(`Patient?_tag=https://example.org/tags|b&_id=${json.id}`)).json.entry.length, 1);
});

test('deleting takes labels away; it is no error if they are not there', async () => {
  const path = await make();
  const gone = await full.send('POST', `${path}/$meta-delete`, sent({ tag: [tag('a', { display: 'Other' })] }));
  assert.deepEqual(gone.json, answered({ versionId: '2', lastUpdated }));
  assert.deepEqual((await full.get(path)).json.meta, { versionId: '2', lastUpdated });
  const again = await full.send('POST', `${path}/$meta-delete`, sent({ tag: [tag('a')], profile: ['x:y'] }));
  assert.deepEqual(again.json, answered({ versionId: '2', lastUpdated }));
});

test('refusals name the parameter', async () => {
  const path = await make();
  const refused = async (body: unknown, says: RegExp) => {
    const answer = await full.send('POST', `${path}/$meta-add`, body);
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.json.issue[0].diagnostics, says);
  };
  await refused(undefined, /^meta is missing/);
  await refused(sent({ extension: [{ url: 'https://example.org/x', valueString: 'x' }] }), /^meta has extension/);
  await refused(sent({ nonsense: 1 }), /nonsense/);
  assert.equal((await full.get(`${path}/$meta-add`)).status, 405);
  const stale = await full.send('POST', `${path}/$meta-add`, sent({ tag: [tag('z')] }), { 'if-match': 'W/"7"' });
  assert.equal(stale.status, 412);
});
