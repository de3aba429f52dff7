/** https://hl7.org/fhir/R4/http.html#mime-type: formats, parameters of all interactions, versions. */
import assert from 'node:assert/strict';
import { patient } from '../../support/records.ts';
import { type Clause, shall, should } from '../clause.ts';
import type { World } from '../world.ts';

const mediaType = (headers: Headers) => (headers.get('content-type') ?? '').split(';')[0];

/** The media type in which a resource is answered, and the status. */
async function answered({ get }: World, path: string, accept: string): Promise<[number, string | undefined]> {
  const { status, headers } = await get(path, { accept });
  return [status, mediaType(headers)];
}

export const mediaTypes: readonly Clause[] = [
  shall(
    'http-mime-type-1',
    'mime-type',
    'Resources are sent and taken as application/fhir+xml and application/fhir+json',
    async (world) => {
      const { id } = await world.create(patient(world.unique()));
      for (const type of ['application/fhir+json', 'application/fhir+xml']) {
        const answer = await world.get(`Patient/${id}`, { accept: type });
        assert.deepEqual([answer.status, mediaType(answer.headers)], [200, type]);
        const sent = await world.send('PUT', `Patient/${id}`, answer.text, { 'content-type': type });
        assert.equal(sent.status, 200, sent.text);
      }
    },
  ),
  shall(
    'http-mime-type-2',
    'mime-type',
    'The media type of answers is negotiated by Accept; what is not served is 406, what cannot be read 415',
    async (world) => {
      const { id } = await world.create(patient(world.unique()));
      const path = `Patient/${id}`;
      const [json, xml] = ['application/fhir+json', 'application/fhir+xml'];
      assert.deepEqual(await answered(world, path, `${xml};q=0.5, ${json};q=0.4`), [200, xml]);
      assert.deepEqual(await answered(world, path, `${xml};q=0.4, ${json};q=0.5`), [200, json]);
      assert.deepEqual(await answered(world, path, `image/png, ${xml};q=0.1`), [200, xml]);
      assert.equal((await world.get(path, { accept: 'image/png' })).status, 406);
      assert.equal((await world.send('POST', 'Patient', 'x', { 'content-type': 'text/plain' })).status, 415);
    },
  ),
  should(
    'http-mime-type-3',
    'mime-type',
    'Who asks for a generic XML or JSON type is answered in that type',
    async (world) => {
      const { id } = await world.create(patient(world.unique()));
      for (const type of ['application/xml', 'text/json', 'application/json']) {
        assert.deepEqual(await answered(world, `Patient/${id}`, type), [200, type]);
      }
    },
  ),
  shall('http-mime-type-4', 'mime-type', 'Bodies are in UTF-8', async ({ create, firm, get, headers, send }) => {
    const family = 'Žluťoučký 日本 🐎';
    const { id } = await create(patient(family));
    const answer = await fetch(`${firm.base}/Patient/${id}`, { headers });
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await answer.arrayBuffer());
    assert.equal(JSON.parse(text).name[0].family, family);
    assert.match((await get(`Patient/${id}`)).headers.get('content-type') ?? '', /^[^;]+(?:; charset=utf-8)?$/i);
    const latin1 = { 'content-type': 'application/fhir+json; charset=iso-8859-1' };
    assert.equal((await send('POST', 'Patient', patient('Stone'), latin1)).status, 415);
  }),
  should('http-parameters-1', 'parameters', '_format overrides Accept', async (world) => {
    const { id } = await world.create(patient(world.unique()));
    const [json, xml] = ['application/fhir+json', 'application/fhir+xml'];
    assert.deepEqual(await answered(world, `Patient/${id}?_format=xml`, json), [200, xml]);
    assert.deepEqual(await answered(world, `Patient/${id}?_format=json`, xml), [200, json]);
    assert.deepEqual(await answered(world, 'Patient?_count=1&_format=xml', 'text/html'), [200, xml]);
  }),
  shall(
    'http-parameters-2',
    'parameters',
    '_format takes xml, text/xml, application/xml and application/fhir+xml for XML',
    async (world) => {
      const { id } = await world.create(patient(world.unique()));
      for (const name of ['xml', 'text/xml', 'application/xml', 'application/fhir+xml', 'application/fhir%2Bxml']) {
        const { status, text } = await world.get(`Patient/${id}?_format=${name}`);
        assert.equal(status, 200, name);
        assert.match(text, /^(?:<\?xml [^>]*>\s*)?<Patient xmlns="http:\/\/hl7\.org\/fhir">/);
      }
    },
  ),
  shall(
    'http-parameters-3',
    'parameters',
    '_format takes json, application/json and application/fhir+json for JSON',
    async (world) => {
      const { id } = await world.create(patient(world.unique()));
      for (const name of ['json', 'application/json', 'application/fhir+json', 'application/fhir%2Bjson']) {
        const { status, json } = await world.get(`Patient/${id}?_format=${name}`, { accept: 'application/fhir+xml' });
        assert.deepEqual([status, json.id], [200, id], name);
      }
    },
  ),
  shall(
    'http-parameters-4',
    'parameters',
    '_format takes ttl, application/fhir+turtle and text/turtle for Turtle and nothing else: 406, as Turtle is not served',
    async (world) => {
      const { id } = await world.create(patient(world.unique()));
      for (const name of ['ttl', 'application/fhir+turtle', 'text/turtle']) {
        assert.equal((await world.get(`Patient/${id}?_format=${name}`)).status, 406, name);
      }
    },
  ),
  should(
    'http-versions-1',
    'versions',
    'Versions are supported in full: versionId, vread, updates that know their version',
    async ({ create, get, send, unique }) => {
      const first = await create(patient(unique()));
      const path = `Patient/${first.id}`;
      const put = (family: string, version: string) =>
        send('PUT', path, { ...patient(family), id: first.id }, { 'if-match': `W/"${version}"` });
      const second = await put('Second', first.meta.versionId);
      assert.equal(second.status, 200);
      assert.equal((await put('Third', first.meta.versionId)).status, 412);
      const old = await get(`${path}/_history/${first.meta.versionId}`);
      assert.deepEqual(old.json, first);
      const { versionId } = (await get(path)).json.meta;
      assert.notEqual(versionId, first.meta.versionId);
      assert.equal(second.headers.get('etag'), `W/"${versionId}"`);
    },
  ),
  shall('http-versions-2', 'versions', 'Servers without versions send no versionId', {
    notApplicable: 'versions are supported for every type',
  }),
  shall('http-versions-3', 'versions', 'Servers without versions keep lastUpdated right', {
    notApplicable: 'versions are supported for every type',
  }),
];
