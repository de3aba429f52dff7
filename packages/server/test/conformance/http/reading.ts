/** https://hl7.org/fhir/R4/http.html#read, #vread, #head: reading one resource. */
import assert from 'node:assert/strict';
import { patient } from '../../support/records.ts';
import type { Answer } from '../../support/service.ts';
import { type Clause, shall, should } from '../clause.ts';

/** ETag and Last-Modified are those of the resource that is answered. */
function assertVersionHeaders({ headers, json }: Answer): void {
  assert.equal(headers.get('etag'), `W/"${json.meta.versionId}"`);
  const lastModifiedMs = Date.parse(headers.get('last-modified') ?? '');
  assert.equal(lastModifiedMs, Math.floor(Date.parse(json.meta.lastUpdated) / 1000) * 1000);
}

const subsetted = { system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue', code: 'SUBSETTED' };

/** The resource says that parts of it are left out. */
export function assertSubsetted(resource: Answer['json']): void {
  const tags: readonly { system: string; code: string }[] = resource.meta.tag ?? [];
  assert.ok(tags.some(({ system, code }) => system === subsetted.system && code === subsetted.code));
}

export const reading: readonly Clause[] = [
  shall('http-read-1', 'read', 'The resource has the id that was asked for', async ({ create, get, unique }) => {
    const { id } = await create(patient(unique()));
    assert.equal((await get(`Patient/${id}`)).json.id, id);
  }),
  should('http-read-2', 'read', 'A read answers with ETag and Last-Modified', async ({ create, get, unique }) => {
    const { id } = await create(patient(unique()));
    assertVersionHeaders(await get(`Patient/${id}`));
  }),
  should(
    'http-read-3',
    'read',
    'A resource that is read in part carries the tag SUBSETTED',
    async ({ create, get, unique }) => {
      const { id } = await create({ ...patient(unique()), photo: [{ title: 'Large' }] });
      for (const filter of ['_summary=true', '_summary=text', '_elements=name']) {
        const { status, json } = await get(`Patient/${id}?${filter}`);
        assert.deepEqual([status, json.photo], [200, undefined], filter);
        assertSubsetted(json);
      }
    },
  ),
  shall(
    'http-vread-1',
    'vread',
    'A version has the id and the versionId that were asked for',
    async ({ create, get, send, unique }) => {
      const { id, meta } = await create(patient(unique()));
      await send('PUT', `Patient/${id}`, { ...patient('Later'), id });
      for (const { versionId } of [meta, (await get(`Patient/${id}`)).json.meta]) {
        const { status, json } = await get(`Patient/${id}/_history/${versionId}`);
        assert.deepEqual([status, json.id, json.meta.versionId], [200, id, versionId]);
      }
    },
  ),
  should('http-vread-2', 'vread', 'A vread answers with ETag and Last-Modified', async ({ create, get, unique }) => {
    const { id, meta } = await create(patient(unique()));
    assertVersionHeaders(await get(`Patient/${id}/_history/${meta.versionId}`));
  }),
  should(
    'http-concurrency-1',
    'concurrency',
    'Every answer with a resource has an ETag',
    async ({ get, send, unique }) => {
      const wish = { prefer: 'return=representation' };
      const made = await send('POST', 'Patient', patient(unique()), wish);
      const { id } = made.json;
      const put = await send('PUT', `Patient/${id}`, { ...patient('Later'), id }, wish);
      const change = [{ op: 'replace', path: '/name/0/family', value: 'Last' }];
      const patched = await send('PATCH', `Patient/${id}`, change, {
        ...wish,
        'content-type': 'application/json-patch+json',
      });
      for (const answer of [made, put, patched, await get(`Patient/${id}`)]) {
        assert.ok(answer.headers.get('etag'), answer.text);
      }
    },
  ),
  shall('http-concurrency-2', 'concurrency', 'An ETag holds the versionId', async ({ create, get, unique }) => {
    const { id } = await create(patient(unique()));
    const { headers, json } = await get(`Patient/${id}`);
    assert.equal(headers.get('etag'), `W/"${json.meta.versionId}"`);
    const cached = await get(`Patient/${id}`, { 'if-none-match': headers.get('etag') ?? '' });
    assert.deepEqual([cached.status, cached.text], [304, '']);
  }),
  shall(
    'http-head-1',
    'head',
    'HEAD is answered as GET, without the body',
    async ({ create, firm, get, headers, unique }) => {
      const { id } = await create(patient(unique()));
      for (const path of [
        `Patient/${id}`,
        `Patient?_id=${id}`,
        `Patient/${id}/_history`,
        'metadata',
        'Patient/nobody',
      ]) {
        const head = await fetch(`${firm.base}/${path}`, { method: 'HEAD', headers });
        const whole = await get(path);
        assert.deepEqual([head.status, await head.text()], [whole.status, ''], path);
        for (const name of ['content-type', 'etag', 'last-modified']) {
          assert.equal(head.headers.get(name), whole.headers.get(name), `${path} ${name}`);
        }
      }
    },
  ),
  should(
    'http-custom-1',
    'custom',
    'X-Correlation-Id returns the id of the client where the server gives the request another one',
    async ({ get }) => {
      for (const sent of ['call-17', 'call (17) of "us"', 'x'.repeat(200)]) {
        const { headers } = await get('Patient?_count=1', { 'x-request-id': sent });
        const own = headers.get('x-request-id');
        assert.ok(own);
        assert.equal(own === sent ? sent : headers.get('x-correlation-id'), sent);
      }
    },
  ),
  shall('http-custom-2', 'custom', 'Interface engines that alter content add X-Intermediary', {
    notApplicable: 'binds what stands between client and service',
  }),
  shall('http-custom-3', 'custom', 'X-Intermediary is used for nothing', async ({ create, get, send, unique }) => {
    const { id } = await create(patient(unique()));
    const stamp = { 'x-intermediary': 'engine.example.org' };
    const [plain, stamped] = [await get(`Patient/${id}`), await get(`Patient/${id}`, stamp)];
    assert.deepEqual([stamped.status, stamped.json], [plain.status, plain.json]);
    assert.equal((await send('PUT', `Patient/${id}`, { ...patient('Later'), id }, stamp)).status, 200);
  }),
];
