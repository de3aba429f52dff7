/** https://hl7.org/fhir/R4/bundle.html */
import assert from 'node:assert/strict';
import { batch, bundle as bundleOf, entry, post, transaction } from '../bundle/bundles.ts';
import { patient } from '../support/records.ts';
import type { Answer } from '../support/service.ts';
import { type Clause, type Page, shall } from './clause.ts';
import { someTagged } from './http/searching.ts';
import type { World } from './world.ts';

const composition = {
  resourceType: 'Composition',
  status: 'final',
  type: { coding: [{ system: 'http://loinc.org', code: '11488-4' }] },
  date: '2026-11-20',
  author: [{ reference: 'urn:uuid:00000000-0000-4000-8000-000000000002' }],
  title: 'Consultation',
};

const messageHeader = {
  resourceType: 'MessageHeader',
  eventCoding: { system: 'urn:example:event', code: 'told' },
  source: { endpoint: 'http://example.org/source' },
};

const fullUrl = (number: number) => `urn:uuid:00000000-0000-4000-8000-00000000000${number}`;

/** A Bundle to be stored whose first entry is `first`. */
function stored(type: string, first: object, second: object): Record<string, unknown> {
  const identifier = { system: 'urn:ietf:rfc:3986', value: 'urn:uuid:00000000-0000-4000-8000-0000000000aa' };
  const entries = [
    { fullUrl: fullUrl(1), resource: first },
    { fullUrl: fullUrl(2), ...second },
  ];
  return { ...bundleOf(type, entries), identifier, timestamp: '2026-11-20T10:00:00Z' };
}

/** The type is stored with resources in every entry, and refused where one is missing. */
async function assertNeedsResources({ send }: World, type: string, first: object): Promise<void> {
  const whole = await send(
    'POST',
    'Bundle',
    stored(type, first, { resource: { resourceType: 'Practitioner', active: true } }),
  );
  assert.equal(whole.status, 201, whole.text);
  const { status, json } = await send('POST', 'Bundle', stored(type, first, {}));
  assert.ok([400, 422].includes(status), `${type} ${status}`);
  assert.match(json.issue[0].diagnostics, /resource/);
}

const responses = ({ json }: Answer) => json.entry.map(({ response }: Answer['json']) => response.status.slice(0, 3));

const clauses: readonly Clause[] = [
  shall('bundle-document-1', 'document', 'Every entry of a document has a resource', (world) =>
    assertNeedsResources(world, 'document', composition),
  ),
  shall('bundle-message-1', 'message', 'Every entry of a message has a resource', (world) =>
    assertNeedsResources(world, 'message', messageHeader),
  ),
  shall('bundle-searchset-1', 'searchset', 'Every entry of a searchset has a resource', async (world) => {
    const { criterion } = await someTagged(world, 3);
    for (const query of [
      criterion,
      `${criterion}&_summary=true`,
      `${criterion}&_elements=id`,
      `${criterion}&nonsense=1`,
    ]) {
      const { status, json } = await world.get(`Patient?${query}`, { prefer: 'handling=lenient' });
      assert.equal(status, 200);
      assert.ok(json.entry.length >= 3);
      for (const { resource } of json.entry) assert.equal(typeof resource.resourceType, 'string');
    }
  }),
  shall(
    'bundle-history-1',
    'history',
    'Every entry of a history has a request, and a resource when that is POST or PUT',
    async ({ create, get, send, unique }) => {
      const { id } = await create(patient(unique()));
      await send('PUT', `Patient/${id}`, { ...patient('Later'), id });
      await send('DELETE', `Patient/${id}`);
      const { json } = await get(`Patient/${id}/_history`);
      const told = json.entry.map(({ request, resource }: Answer['json']) => [
        request.method,
        resource?.name[0].family,
      ]);
      assert.deepEqual(told.slice(0, 2), [
        ['DELETE', undefined],
        ['PUT', 'Later'],
      ]);
      assert.equal(told[2][0], 'POST');
      assert.ok(told[2][1]);
    },
  ),
  shall(
    'bundle-history-2',
    'history',
    'Every entry of a history has a response',
    async ({ create, get, send, unique }) => {
      const { id } = await create(patient(unique()));
      await send('DELETE', `Patient/${id}`);
      const { json } = await get(`Patient/${id}/_history`);
      assert.equal(json.entry.length, 2);
      for (const { response } of json.entry) assert.match(response.status, /^20[0-4]/);
    },
  ),
  shall(
    'bundle-transaction-1',
    'transaction',
    'Every entry of a transaction or batch has a request',
    async ({ send }) => {
      const refused = await send('POST', '', transaction({ resource: patient('Stone') }));
      assert.equal(refused.status, 400);
      const answer = await send('POST', '', batch({ resource: patient('Stone') }));
      assert.equal(answer.status === 200 ? responses(answer)[0] : '400', '400');
    },
  ),
  shall(
    'bundle-transaction-2',
    'transaction',
    'Every POST and PUT of a transaction or batch has a resource',
    async ({ send }) => {
      for (const request of [entry('POST', 'Patient'), entry('PUT', 'Patient/one')]) {
        assert.equal((await send('POST', '', transaction(request))).status, 400);
        const answer = await send('POST', '', batch(request));
        assert.equal(answer.status === 200 ? responses(answer)[0] : '400', '400');
      }
    },
  ),
  shall(
    'bundle-transaction-response-1',
    'transaction-response',
    'Every entry of their answers has a response',
    async ({ send, unique }) => {
      const entries = [post(patient(unique())), entry('GET', 'Patient?_count=1')];
      assert.deepEqual(responses(await send('POST', '', transaction(...entries))), ['201', '200']);
      assert.deepEqual(responses(await send('POST', '', batch(...entries, entry('GET', 'Patient/nobody')))), [
        '201',
        '200',
        '404',
      ]);
    },
  ),
  shall('bundle-collection-1', 'collection', 'Every entry of a collection has a resource', (world) =>
    assertNeedsResources(world, 'collection', patient('Stone')),
  ),
  shall('bundle-unique-1', 'bundle-unique', 'A version of a resource appears once in a Bundle', async (world) => {
    const { criterion, made } = await someTagged(world, 3);
    const found = await world.get(`Patient?${criterion}&_id=${made.join(',')},${made.join(',')}`);
    assert.equal(found.json.entry.length, 3);
    await world.send('PUT', `Patient/${made[0]}`, { ...patient('Later'), id: made[0] });
    const { json } = await world.get(`Patient/${made[0]}/_history`);
    const versions = json.entry.map(({ resource }: Answer['json']) => resource.meta.versionId);
    assert.equal(new Set(versions).size, 2);
    const twice = { fullUrl: 'http://example.org/fhir/Patient/1', resource: { ...patient('Stone'), id: '1' } };
    const { status } = await world.send('POST', 'Bundle', bundleOf('collection', [twice, twice]));
    assert.ok([400, 422].includes(status), String(status));
  }),
];

export const bundle: Page = {
  name: 'bundle',
  title: 'Bundle',
  url: 'https://hl7.org/fhir/R4/bundle.html',
  clauses,
};
