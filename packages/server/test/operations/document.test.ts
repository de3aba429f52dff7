/**
 * $document: a document of what the caller may read, or an error that names what is missing
 * (https://hl7.org/fhir/R4/composition-operation-document.html).
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { patient } from '../support/records.ts';
import {
  type Answer,
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
} from '../support/service.ts';
import { tenantRows } from '../support/tenant-rows.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const callerWith = async (name: string, acl: readonly string[], firm = maple): Promise<Caller> =>
  openCaller(service, await makeApplication(service, name, acl, [firm]), firm);
const full = await callerWith('Full', ['acl/*']);
const foreign = await callerWith('Foreign', ['acl/*'], cedar);
const names = await callerWith('Names', ['acl/pat_s_name_dob_gen']);

const put = async (resource: {
  readonly resourceType: string;
  readonly id: string;
  readonly [name: string]: unknown;
}) => {
  const answer = await full.send('PUT', `${resource.resourceType}/${resource.id}`, resource);
  assert.equal(answer.status, 201, answer.text);
};
const composition = (id: string, more: object = {}) => ({
  resourceType: 'Composition',
  id,
  status: 'final',
  type: { text: 'Summary' },
  subject: { reference: 'Patient/stone' },
  date: '2026-03-01',
  author: [{ reference: 'Practitioner/quarry' }],
  title: 'Summary',
  ...more,
});
await put({
  ...patient('Stone'),
  resourceType: 'Patient',
  id: 'stone',
  managingOrganization: { reference: 'Organization/granite' },
});
await put({ resourceType: 'Practitioner', id: 'quarry', name: [{ family: 'Quarry' }] });
await put({ resourceType: 'Organization', id: 'granite', name: 'Granite Health' });
await put(composition('whole'));
await put(composition('broken', { custodian: { reference: 'Organization/never' } }));

const carried = (answer: Answer): string[] => {
  assert.equal(answer.status, 200, answer.text);
  return answer.json.entry.map((each: { fullUrl: string }) => each.fullUrl.slice(maple.base.length + 1));
};

test('denials: no entry, another firm, or a resource that is not there: nothing is told and nothing stored', async () => {
  const before = await tenantRows(service.database.owner);
  assert.equal((await names.get('Composition/whole/$document')).status, 403);
  assert.equal((await names.get('Composition/$document?id=whole')).status, 403);
  assert.equal((await foreign.get('Composition/whole/$document?persist=true')).status, 404);
  assert.equal((await full.get('Composition/never/$document')).status, 404);
  assert.deepEqual(await tenantRows(service.database.owner), before);
});

test('the Composition first, then all that it refers to, directly or not', async () => {
  const answer = await full.get('Composition/whole/$document');
  assert.deepEqual(carried(answer), [
    'Composition/whole',
    'Patient/stone',
    'Practitioner/quarry',
    'Organization/granite',
  ]);
  const { type, identifier, timestamp, id } = answer.json;
  assert.deepEqual(
    { type, identifier, timestamp },
    {
      type: 'document',
      identifier: { system: 'urn:ietf:rfc:3986', value: `urn:uuid:${id}` },
      timestamp: new Date(service.clock.now()).toISOString(),
    },
  );
  assert.equal((await full.get(`Bundle/${id}`)).status, 404);
});

test('at type level by id or URL', async () => {
  for (const id of ['whole', `${maple.base}/Composition/whole`]) {
    assert.equal(carried(await full.get(`Composition/$document?id=${encodeURIComponent(id)}`)).length, 4);
  }
  for (const query of ['', '?id=https://example.org/Composition/whole']) {
    assert.equal((await full.get(`Composition/$document${query}`)).status, 400);
  }
  assert.equal((await full.get('Composition/whole/$document?id=whole')).status, 400);
});

test('a reference that leads nowhere makes no document', async () => {
  const answer = await full.get('Composition/broken/$document');
  assert.equal(answer.status, 422);
  assert.match(answer.json.issue[0].diagnostics, /^The Composition refers to Organization\/never, which is not known/);
});

test('a text that reads like a reference is none', async () => {
  const title = '"reference":"Organization/never" \\"reference\\":\\"Organization/never\\"';
  await put(composition('quoting', { title }));
  assert.equal(carried(await full.get('Composition/quoting/$document')).length, 4);
});

test('persist stores the document as a Bundle and says where', async () => {
  const answer = await full.get('Composition/whole/$document?persist=true');
  assert.equal(carried(answer).length, 4);
  const location = answer.headers.get('location') ?? '';
  assert.ok(location.startsWith(`${maple.base}/Bundle/${answer.json.id}`), location);
  assert.deepEqual((await full.get(`Bundle/${answer.json.id}`)).json, answer.json);
});
