/** Published client libraries work unmodified: each searches, goes through pages, creates, updates with an ETag, sends a batch. */
import assert from 'node:assert/strict';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import test, { after } from 'node:test';
import { MedplumClient } from '@medplum/core';
import { Client } from 'fhir-kit-client';
import smart from 'fhirclient';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const full = await makeApplication(service, 'Full', ['acl/*'], [maple]);
const { headers } = await openCaller(service, full, maple);

const patient = (family: string) => ({ resourceType: 'Patient' as const, name: [{ family }] });
const batch = (family: string) => ({
  resourceType: 'Bundle' as const,
  type: 'batch' as const,
  entry: [{ request: { method: 'GET' as const, url: `Patient?family=${family}&_summary=count` } }],
});

interface Found {
  readonly link: { readonly relation: string; readonly url: string }[];
  readonly entry: readonly { readonly resource: { readonly id: string; readonly total?: number } }[];
  readonly meta: { readonly versionId: string };
}

/** What a library returned, by the shape that this file reads. */
function asFound<T extends object>(resource: T): T & Found {
  return JSON.parse(JSON.stringify(resource));
}

test('clients libraries: fhir-kit-client', async () => {
  const client = new Client({ baseUrl: maple.base, customHeaders: { ...headers } });
  const ids: string[] = [];
  for (const family of ['Kit0', 'Kit1', 'Kit2'])
    ids.push(String((await client.create({ resourceType: 'Patient', body: patient(family) })).id));
  ids.sort();

  const first = asFound(await client.search({ resourceType: 'Patient', searchParams: { family: 'kit', _count: 2 } }));
  const next = await client.nextPage({ bundle: first });
  assert.ok(next);
  const second = asFound(next);
  const found = [first, second].flatMap(({ entry }) => entry.map(({ resource }) => resource.id));
  assert.deepEqual(found.sort(), ids);
  const back = await client.prevPage({ bundle: second });
  assert.deepEqual(back?.['entry'], first['entry']);

  const id = ids[0] ?? '';
  const body = { ...patient('Kit9'), id };
  const etag = (version: string) => ({ headers: { 'If-Match': `W/"${version}"` } });
  await assert.rejects(client.update({ resourceType: 'Patient', id, body, options: etag('7') }), /412|Precondition/);
  const updated = asFound(await client.update({ resourceType: 'Patient', id, body, options: etag('1') }));
  assert.equal(updated.meta.versionId, '2');

  const answer = asFound(await client.batch({ body: batch('kit') }));
  assert.equal(answer.entry[0]?.resource.total, 3);
});

test('clients libraries: @medplum/core', async () => {
  const base = new URL(maple.base);
  const client = new MedplumClient({
    baseUrl: `${base.origin}/`,
    fhirUrlPath: `${base.pathname.slice(1)}/`,
    defaultHeaders: { 'x-api-key': headers['x-api-key'] ?? '' },
    accessToken: (headers['authorization'] ?? '').replace('Bearer ', ''),
    cacheTime: 0,
  });
  const made = await Promise.all(['Plum0', 'Plum1', 'Plum2'].map((family) => client.createResource(patient(family))));
  const found: string[] = [];
  for await (const page of client.searchResourcePages('Patient', { family: 'plum', _count: 2 })) {
    found.push(...page.map(({ id }) => id));
  }
  assert.deepEqual(found.sort(), made.map(({ id }) => id).sort());

  const [one] = made;
  assert.ok(one);
  const options = (version: string) => ({ headers: { 'If-Match': `W/"${version}"` } });
  await assert.rejects(client.updateResource({ ...one, gender: 'female' }, options('7')));
  const updated = asFound(await client.updateResource({ ...one, gender: 'female' }, options('1')));
  assert.equal(updated.meta.versionId, '2');

  const answer = await client.executeBatch(batch('plum'));
  assert.equal(answer.entry?.[0]?.response?.status.slice(0, 3), '200');
});

test('clients libraries: fhirclient', async () => {
  const accessToken = (headers['authorization'] ?? '').replace('Bearer ', '');
  // What an express application would give it: a session in which it keeps its state.
  const incoming = Object.assign(new IncomingMessage(new Socket()), { session: {} });
  const adapter = smart(incoming, new ServerResponse(incoming));
  const client = adapter.client({ serverUrl: maple.base, tokenResponse: { access_token: accessToken } });
  const own = { 'x-api-key': headers['x-api-key'] ?? '', 'content-type': 'application/fhir+json' };
  const ids: string[] = [];
  for (const family of ['Fire0', 'Fire1', 'Fire2'])
    ids.push(asFound<{ id?: string }>(await client.create(patient(family), { headers: own })).id ?? '');
  ids.sort();

  // Its own way through pages leaves out the headers of the first request, so the links are followed one by one.
  const found: string[] = [];
  for (let url: string | undefined = 'Patient?family=fire&_count=2'; url !== undefined; ) {
    const page: Found = await client.request<Found>({ url, headers: own });
    found.push(...page.entry.map(({ resource }) => resource.id));
    url = page.link.find(({ relation }) => relation === 'next')?.url;
  }
  assert.deepEqual(found.sort(), ids);

  const id = ids[0] ?? '';
  const body = { ...patient('Fire9'), id };
  await assert.rejects(client.update(body, { headers: { ...own, 'if-match': 'W/"7"' } }), /412|Precondition/);
  const updated = asFound<object>(await client.update(body, { headers: { ...own, 'if-match': 'W/"1"' } }));
  assert.equal(updated.meta.versionId, '2');

  const answer = await client.request<Found>({
    url: maple.base,
    method: 'POST',
    body: JSON.stringify(batch('fire')),
    headers: own,
  });
  assert.equal(answer.entry[0]?.resource.total, 3);
});
