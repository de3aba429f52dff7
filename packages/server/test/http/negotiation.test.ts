/**
 * Media types: 406 for answers that the caller does not take, 415 for bodies that cannot be read; neither before access is
 * settled, and neither with any effect.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { patient } from '../support/records.ts';
import { assertRefused } from '../support/refusals.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { tenantRows } from '../support/tenant-rows.ts';
import { openWire, type WireRequest } from '../support/wire.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const operator = await makeApplication(service, 'Operator', ['acl/*'], [maple]);
const { headers, send } = await openCaller(service, operator, maple);
assert.equal((await send('PUT', 'Patient/one', { ...patient('Stone'), id: 'one' })).status, 201);
const wire = openWire(service.origin);
after(() => wire.close());

const base = '/sandbox/firm/maple/pm/fhir/v2';
const body = JSON.stringify({ ...patient('Intruder'), id: 'one' });
const fhirJson = { 'content-type': 'application/fhir+json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };

const notAcceptable = { status: 406, error: 'not-acceptable', issue: 'not-supported' };
const unsupported = { status: 415, error: 'media-type-unsupported', issue: 'not-supported' };

/** One request of every interaction that answers with a resource. */
const requests: readonly WireRequest[] = [
  { path: `${base}/Patient/one` },
  { path: `${base}/Patient/one/_history/1` },
  { path: `${base}/Patient/one/_history` },
  { path: `${base}/Patient` },
  { method: 'POST', path: `${base}/Patient/_search`, headers: form, body: '' },
  { method: 'POST', path: `${base}/Patient`, headers: fhirJson, body },
  { method: 'PUT', path: `${base}/Patient/one`, headers: fhirJson, body },
  { method: 'DELETE', path: `${base}/Patient/one` },
];

async function assertUnchanged(work: () => Promise<void>): Promise<void> {
  const before = await tenantRows(service.database.owner);
  await work();
  assert.deepEqual(await tenantRows(service.database.owner), before);
}

test('Accept without anything that is served is 406 for every interaction, before it does anything', async () => {
  await assertUnchanged(async () => {
    for (const request of requests) {
      const answer = await wire.send({
        ...request,
        headers: { ...headers, ...request.headers, accept: 'text/turtle' },
      });
      const { diagnostics } = answer.json.issue[0];
      assertRefused(answer, { ...notAcceptable, diagnostics });
      assert.match(diagnostics, /^Accept allows no media type that is served; application\/fhir\+json/);
    }
  });
});

test('a weight of 0 refuses: the most specific range decides', async () => {
  for (const accept of [
    'text/html',
    'text/*',
    'image/png, text/turtle;q=0.9',
    '*/*;q=0',
    'application/fhir+json;q=0',
    'application/json;q=0.000',
    'application/fhir+json;q=0, application/fhir+xml;q=0, image/*',
    'application/*;q=0, text/*;q=0, */*;q=0',
    'text/html, application/*;q=0, */*;q=0.1',
    'application/fhir+json; fhirVersion=3.0',
    'application/fhir+json;fhirVersion=5.0',
    'nonsense',
  ]) {
    const answer = await wire.send({ path: `${base}/Patient/one`, headers: { ...headers, accept } });
    assert.equal(answer.status, 406, accept);
    assert.equal(answer.json.issue[0].details.coding[0].code, 'not-acceptable');
  }
});

test('whatever leaves JSON open gets FHIR JSON; so do GETs that carry any Content-Type', async () => {
  for (const accept of [
    'application/fhir+json',
    'application/json',
    'APPLICATION/FHIR+JSON; charset=UTF-8',
    'application/fhir+json; fhirVersion=4.0',
    'application/*',
    '*/*',
    '',
    'text/html, */*;q=0.1',
    'text/html;q=1.0, application/fhir+json;q=0.001',
    '*/*;q=0, application/json',
    'text/turtle, application/json;q=0.5',
  ]) {
    const sent = { ...headers, accept, 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await wire.send({ path: `${base}/Patient/one`, headers: sent });
    assert.equal(answer.status, 200, accept);
    assert.match(answer.headers.get('content-type') ?? '', /^application\/(?:fhir\+)?json; charset=utf-8$/, accept);
  }
});

test('_format beats Accept, in the query and in the form of a search', async () => {
  for (const format of ['json', 'application/json', 'application/fhir+json', 'application/fhir%2Bjson', 'JSON']) {
    for (const path of [`${base}/Patient/one?_format=${format}`, `${base}/Patient?_format=${format}`]) {
      const answer = await wire.send({ path, headers: { ...headers, accept: 'text/html' } });
      assert.equal(answer.status, 200, path);
    }
  }
  for (const format of ['ttl', 'text/turtle', 'html', 'nonsense']) {
    for (const request of [
      { path: `${base}/Patient/one?_format=${format}` },
      { path: `${base}/Patient?_format=${format}` },
      { path: `${base}/metadata?_format=${format}` },
      { method: 'POST', path: `${base}/Patient/_search`, headers: form, body: `_format=${format}` },
    ]) {
      const sent = { ...headers, ...request.headers, accept: 'application/fhir+json' };
      const answer = await wire.send({ ...request, headers: sent });
      const { diagnostics } = answer.json.issue[0];
      assertRefused(answer, { ...notAcceptable, diagnostics, expression: ['_format'] });
      assert.match(diagnostics, /^_format asks for a media type that is not served/);
    }
  }
});

test('a resource in another media type is 415, and changes nothing', async () => {
  await assertUnchanged(async () => {
    for (const type of [
      'text/plain',
      'text/turtle',
      'multipart/form-data; boundary=x',
      'application/x-www-form-urlencoded',
      'application/octet-stream',
      'nonsense',
      'application/fhir+json, text/plain',
      'application/fhir+jsonx',
      ';',
      '',
    ]) {
      for (const [method, path] of [
        ['POST', `${base}/Patient`],
        ['PUT', `${base}/Patient/one`],
      ] as const) {
        const answer = await wire.send({ method, path, headers: { ...headers, 'content-type': type }, body });
        const { diagnostics } = answer.json.issue[0];
        assertRefused(answer, { ...unsupported, diagnostics });
        assert.match(diagnostics, /^Content-Type must be application\/fhir\+json/, type);
      }
    }
    for (const [type, diagnostics] of [
      ['application/fhir+json; charset=latin1', 'Content-Type must not name a charset other than UTF-8'],
      ['application/fhir+json; fhirVersion=3.0', 'Content-Type must not name a fhirVersion other than 4.0'],
    ] as const) {
      const sent = { ...headers, 'content-type': type };
      assertRefused(await wire.send({ method: 'POST', path: `${base}/Patient`, headers: sent, body }), {
        ...unsupported,
        diagnostics,
      });
    }
  });
});

test('a resource without any Content-Type is 415', async () => {
  const answer = await wire.send({ method: 'POST', path: `${base}/Patient`, headers, body });
  assert.equal(answer.status, 415);
  assert.match(answer.json.issue[0].diagnostics, /none was sent/);
});

test('a resource is read in any spelling of its media type', async () => {
  for (const type of [
    'application/fhir+json',
    'application/json',
    'Application/FHIR+JSON; Charset="UTF-8"',
    'application/fhir+json;fhirVersion=4.0',
  ]) {
    const sent = { ...headers, 'content-type': type };
    assert.equal((await wire.send({ method: 'POST', path: `${base}/Patient`, headers: sent, body })).status, 201, type);
  }
});

test('a search form in another media type is 415; without a body it needs none', async () => {
  const path = `${base}/Patient/_search`;
  for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x', 'nonsense']) {
    const sent = { ...headers, 'content-type': type };
    assertRefused(await wire.send({ method: 'POST', path, headers: sent, body: 'family=Stone' }), {
      ...unsupported,
      diagnostics: 'Content-Type of POST _search must be application/x-www-form-urlencoded',
    });
  }
  assert.equal((await wire.send({ method: 'POST', path: `${path}?family=Stone`, headers })).status, 200);
});

test('media types are looked at after access: without credentials or entries they are never told', async () => {
  const odd = { accept: 'text/turtle', 'content-type': 'nonsense' };
  assert.equal((await wire.send({ method: 'POST', path: `${base}/Patient`, headers: odd, body })).status, 401);
  const reader = await makeApplication(service, 'Reader', ['acl/pat_r'], [maple]);
  const caller = await openCaller(service, reader, maple);
  const sent = { ...caller.headers, ...odd };
  assert.equal((await wire.send({ method: 'POST', path: `${base}/Patient`, headers: sent, body })).status, 403);
});
