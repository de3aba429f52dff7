/** https://hl7.org/fhir/R4/http.html#update, #create, #delete: writing one resource. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { patient } from '../../support/records.ts';
import type { Answer } from '../../support/service.ts';
import { type Clause, forClients, shall, should } from '../clause.ts';
import type { World } from '../world.ts';

const example: Record<string, unknown> = JSON.parse(
  readFileSync(
    new URL('../../../../../node_modules/hl7.fhir.r4.examples/Patient-example.json', import.meta.url),
    'utf8',
  ),
);

/** What clients claim and servers set. */
const claimed = { versionId: '77', lastUpdated: '2001-01-01T00:00:00Z' };

const metadata = {
  profile: ['http://example.org/fhir/StructureDefinition/patient-of-ours'],
  security: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-Confidentiality', code: 'R' }],
  tag: [{ system: 'urn:example:tag', code: 'kept' }],
};

function assertServerMeta({ meta }: Answer['json'], { service }: World): void {
  assert.notEqual(meta.versionId, claimed.versionId);
  assert.equal(Date.parse(meta.lastUpdated), service.clock.now());
}

const unsupported = { notApplicable: 'conditional interactions, batches and transactions are supported' };

export const writing: readonly Clause[] = [
  shall('http-update-1', 'update', 'The body is a resource whose id is that of the URL', forClients),
  shall(
    'http-update-2',
    'update',
    'A body without id, or with another than that of the URL, is 400',
    async ({ create, send, unique }) => {
      const { id } = await create(patient(unique()));
      assert.equal((await send('PUT', `Patient/${id}`, patient('Stone'))).status, 400);
      assert.equal((await send('PUT', `Patient/${id}`, { ...patient('Stone'), id: 'other' })).status, 400);
    },
  ),
  should('http-update-3', 'update', 'That refusal names the id in an OperationOutcome', async ({ send }) => {
    for (const body of [patient('Stone'), { ...patient('Stone'), id: 'other' }]) {
      const { json } = await send('PUT', 'Patient/one', body);
      assert.equal(json.resourceType, 'OperationOutcome');
      assert.match(json.issue[0].diagnostics, /\bid\b/);
    }
  }),
  shall('http-update-4', 'update', 'versionId and lastUpdated of the body are ignored', async (world) => {
    const { id } = await world.create(patient(world.unique()));
    await world.send('PUT', `Patient/${id}`, { ...patient('Later'), id, meta: claimed });
    assertServerMeta((await world.get(`Patient/${id}`)).json, world);
  }),
  shall('http-update-5', 'update', 'The new version has versionId and lastUpdated', async (world) => {
    const { id, meta } = await world.create(patient(world.unique()));
    world.service.clock.advance(1000);
    await world.send('PUT', `Patient/${id}`, { ...patient('Later'), id });
    const { json } = await world.get(`Patient/${id}`);
    assert.notEqual(json.meta.versionId, meta.versionId);
    assertServerMeta(json, world);
  }),
  should('http-update-6', 'update', 'Other metadata stay as they were sent', async ({ create, get, send, unique }) => {
    const { id } = await create(patient(unique()));
    await send('PUT', `Patient/${id}`, { ...patient('Later'), id, meta: metadata });
    const { versionId: _version, lastUpdated: _updated, ...kept } = (await get(`Patient/${id}`)).json.meta;
    assert.deepEqual(kept, metadata);
  }),
  should(
    'http-update-7',
    'update',
    'What was accepted is read as it was sent',
    async ({ create, get, send, unique }) => {
      const { id } = await create(patient(unique()));
      await send('PUT', `Patient/${id}`, { ...example, id });
      const { meta: _meta, ...read } = (await get(`Patient/${id}`)).json;
      assert.deepEqual(read, { ...example, id });
    },
  ),
  shall(
    'http-update-8',
    'update',
    'A success is 200, or 201 where the resource is new or was deleted, with Last-Modified and the new ETag',
    async ({ create, get, send, unique }) => {
      const { id } = await create(patient(unique()));
      const own = `own-${unique()}`;
      const put = async (at: string, status: number) => {
        const { headers, ...answer } = await send('PUT', `Patient/${at}`, { ...patient('Later'), id: at });
        assert.equal(answer.status, status);
        assert.equal(headers.get('etag'), `W/"${(await get(`Patient/${at}`)).json.meta.versionId}"`);
        assert.ok(headers.get('last-modified'));
      };
      await put(id, 200);
      await put(own, 201);
      await send('DELETE', `Patient/${own}`);
      await put(own, 201);
    },
  ),
  should('http-update-9', 'update', 'A created resource is told by Location', async ({ send, unique }) => {
    const id = `own-${unique()}`;
    const { headers, status } = await send('PUT', `Patient/${id}`, { ...patient('Stone'), id });
    assert.equal(status, 201);
    assert.match(headers.get('location') ?? '', new RegExp(`/Patient/${id}(?:/_history/|$)`));
  }),
  should(
    'http-rejecting-updates-1',
    'rejecting-updates',
    'Refused updates (400, 401, 404, 405, 409, 412, 422) carry an OperationOutcome',
    async ({ create, firm, send, unique }) => {
      const { id } = await create(patient(unique()));
      const body = { ...patient('Stone'), id };
      const bare = await fetch(`${firm.base}/Patient/${id}`, { method: 'PUT', body: JSON.stringify(body) });
      const unnamed = JSON.parse(await bare.text());
      assert.deepEqual([bare.status, unnamed.resourceType], [401, 'OperationOutcome']);
      const refusals: readonly [string, string, unknown, number, Record<string, string>?][] = [
        ['PUT', `Patient/${id}`, { ...body, gender: 'none' }, 400],
        ['PUT', `Nonsense/${id}`, body, 404],
        ['PUT', `AuditEvent/${id}`, { resourceType: 'AuditEvent', id }, 405],
        ['PUT', `Patient/${id}`, body, 412, { 'if-match': 'W/"9"' }],
      ];
      for (const [method, path, content, status, headers] of refusals) {
        const answer = await send(method, path, content, headers);
        assert.deepEqual([answer.status, answer.json.resourceType], [status, 'OperationOutcome']);
      }
    },
  ),
  should('http-cond-update-1', 'cond-update', 'Without conditional updates they are 400', unsupported),
  shall('http-cond-update-2', 'cond-update', 'An id in the body of a conditional update is ignored', {
    notApplicable:
      'contradicts the list above it on the page, which is followed: an id that is not that of the match is 400, and one without a match is created',
  }),
  shall('http-delete-1', 'delete', 'The request of a delete has no body', forClients),
  should('http-cond-delete-1', '3.1.0.7.1', 'Without conditional deletes they are 400', unsupported),
  shall('http-create-1', 'create', 'The body of a create is a resource', async ({ send }) => {
    for (const body of ['[]', '"Patient"', '{}', '{"resourceType":"Nonsense"}']) {
      assert.equal((await send('POST', 'Patient', body)).status, 400, body);
    }
  }),
  shall('http-create-2', 'create', 'An id in the body of a create is ignored', async ({ create, get, unique }) => {
    const { id } = await create({ ...patient(unique()), id: 'of-the-client' });
    assert.notEqual(id, 'of-the-client');
    assert.equal((await get('Patient/of-the-client')).status, 404);
  }),
  shall('http-create-3', 'create', 'versionId and lastUpdated of the body are ignored', async (world) => {
    assertServerMeta(await world.create({ ...patient(world.unique()), meta: claimed }), world);
  }),
  shall('http-create-4', 'create', 'A new resource has id, versionId and lastUpdated', async (world) => {
    const { id, meta } = await world.create(patient(world.unique()));
    assert.match(id, /^[A-Za-z0-9\-.]{1,64}$/);
    assert.match(meta.versionId, /^[A-Za-z0-9\-.]{1,64}$/);
    assert.equal(Date.parse(meta.lastUpdated), world.service.clock.now());
  }),
  should('http-create-5', 'create', 'Other metadata stay as they were sent', async ({ create, unique }) => {
    const { meta } = await create({ ...patient(unique()), meta: metadata });
    const { versionId: _version, lastUpdated: _updated, ...kept } = meta;
    assert.deepEqual(kept, metadata);
  }),
  should('http-create-6', 'create', 'What was accepted is read as it was sent', async ({ create, get }) => {
    const { id } = await create(example);
    const { meta: _meta, ...read } = (await get(`Patient/${id}`)).json;
    assert.deepEqual(read, { ...example, id });
  }),
  shall(
    'http-create-7',
    'create',
    'A create is 201 with a Location of the id and the version',
    async ({ firm, get, send, unique }) => {
      const { headers, status } = await send('POST', 'Patient', patient(unique()));
      assert.equal(status, 201);
      const location = new URL(headers.get('location') ?? '', `${firm.base}/`).href;
      const { json } = await get(location);
      assert.equal(location, `${firm.base}/Patient/${json.id}/_history/${json.meta.versionId}`);
    },
  ),
  should('http-create-8', 'create', 'A create answers with ETag and Last-Modified', async ({ send, unique }) => {
    const { headers } = await send('POST', 'Patient', patient(unique()));
    assert.match(headers.get('etag') ?? '', /^W\/"[^"]+"$/);
    assert.ok(headers.get('last-modified'));
  }),
  should(
    'http-create-9',
    'create',
    'What cannot be created is refused with an OperationOutcome that tells why',
    async ({ send }) => {
      const { status, json } = await send('POST', 'Patient', { ...patient('Stone'), birthDate: 'yesterday' });
      assert.deepEqual([status, json.resourceType], [400, 'OperationOutcome']);
      assert.deepEqual(json.issue[0].expression, ['Patient.birthDate']);
    },
  ),
  should('http-ccreate-1', 'ccreate', 'Without conditional creates they are 400', unsupported),
  should(
    'http-transactional-integrity-1',
    'transactional-integrity',
    'Resources are changed as little as possible',
    async ({ create, get, send, unique }) => {
      const odd = {
        ...patient(unique()),
        text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml"><p>As  it is</p></div>' },
        extension: [{ url: 'http://example.org/fhir/weight', valueDecimal: 1 }],
        _birthDate: { extension: [{ url: 'http://example.org/fhir/unknown', valueBoolean: true }] },
      };
      const text = JSON.stringify(odd).replace('"valueDecimal":1', '"valueDecimal":1.500');
      const made = await send('POST', 'Patient', text, { prefer: 'return=representation' });
      assert.match(made.text, /"valueDecimal"\s*:\s*1\.500\b/);
      const { id, meta: _meta, ...kept } = (await get(`Patient/${made.json.id}`)).json;
      assert.deepEqual(kept, JSON.parse(text));
      assert.equal((await create({ ...odd, id })).birthDate, undefined);
    },
  ),
  should(
    'http-conformance-rules-1',
    'conformance-rules',
    'The CapabilityStatement says how the integrity of changes is kept',
    async ({ get }) => {
      const { json } = await get('metadata');
      assert.match(json.rest[0].documentation ?? '', /transaction/i);
    },
  ),
];
