/** XML in and out: the same resources, the same headers, another spelling. https://hl7.org/fhir/R4/http.html#mime-type */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { type JsonObject, parseJson, parseXml, toXml } from '@praxis/fhir';
import { patient } from '../support/records.ts';
import { assertRefused } from '../support/refusals.ts';
import { type Answer, callerOf, makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const operator = await makeApplication(service, 'Operator', ['acl/*'], [maple]);
const { get, send } = await openCaller(service, operator, maple);

const fhirXml = 'application/fhir+xml; charset=utf-8';
const xml = { 'content-type': 'application/fhir+xml', accept: 'application/fhir+xml' };

/** The JSON that an answer in XML stands for. */
function resourceOf(answer: Answer): JsonObject {
  assert.match(answer.headers.get('content-type') ?? '', /^(?:application\/(?:fhir\+)?|text\/)xml; charset=utf-8$/);
  assert.ok(answer.text.startsWith('<?xml version="1.0" encoding="UTF-8"?>'), answer.text.slice(0, 100));
  return parseXml(answer.text);
}

test('errors before and after access are in XML for those who ask for it', async () => {
  const refused: readonly (readonly [answer: Answer, status: number, code: string])[] = [
    [await get(`${service.origin}/nowhere`, xml), 404, 'path-unknown'],
    [await get('Patient/none', xml), 404, 'resource-not-found'],
    [await get('Nothing', xml), 404, 'type-unknown'],
    [await callerOf(maple, 'a.b.c', operator.clientKey).get('Patient', xml), 401, 'credentials-invalid'],
    [await get('Patient?foo=1&_format=xml'), 400, 'search-invalid'],
    [await get('Patient?foo=1', { accept: 'text/turtle, application/xml;q=0.1' }), 400, 'search-invalid'],
  ];
  for (const [answer, status, code] of refused) {
    const outcome = JSON.parse(JSON.stringify(resourceOf(answer)));
    assert.equal(outcome.resourceType, 'OperationOutcome');
    assert.equal(answer.status, status, answer.text);
    assert.equal(outcome.issue[0].details.coding[0].code, code);
  }
});

test('a resource created in XML is read in XML and JSON, digits kept, with the same headers', async () => {
  const sent = `<?xml version="1.0" encoding="UTF-8"?><!-- a lab result -->
<Observation xmlns="http://hl7.org/fhir">
  <text><status value="generated"/><div xmlns="http://www.w3.org/1999/xhtml">Glucose <b>6.30</b> &lt; 7</div></text>
  <extension url="http://example.org/note"><valueString value=" é &amp; &quot;&#10;"/></extension>
  <status value="final"/>
  <code><text value="Glucose"/></code>
  <effectiveDateTime id="e" value="2026-11-21"><extension url="http://example.org/a"><valueCode value="b"/></extension></effectiveDateTime>
  <valueQuantity><value value="6.30"/><unit value="mmol/l"/></valueQuantity>
</Observation>`;
  const created = await send('POST', 'Observation', sent, xml);
  assert.equal(created.status, 201, created.text);
  const stored = resourceOf(created);
  const { id, meta, ...rest } = stored;
  const { resourceType, ...expected } = parseXml(sent);
  assert.equal(JSON.stringify(rest), JSON.stringify({ resourceType, ...expected }));
  assert.match(created.text, /<valueQuantity><value value="6\.30"\/>/);
  assert.match(created.text, /<div xmlns="http:\/\/www\.w3\.org\/1999\/xhtml">Glucose <b>6\.30<\/b> &lt; 7<\/div>/);

  const asXml = await get(`Observation/${id}`, { accept: 'application/fhir+xml' });
  const asJson = await get(`Observation/${id}`);
  assert.equal(asXml.text, created.text);
  assert.equal(JSON.stringify(resourceOf(asXml)), JSON.stringify(parseJson(asJson.text)));
  assert.equal(JSON.parse(JSON.stringify(meta)).versionId, '1');
  for (const header of ['etag', 'last-modified', 'vary', 'cache-control']) {
    assert.equal(asXml.headers.get(header), asJson.headers.get(header), header);
  }
  assert.equal(asXml.headers.get('etag'), 'W/"1"');
  const notModified = await get(`Observation/${id}`, { accept: 'application/fhir+xml', 'if-none-match': 'W/"1"' });
  assert.deepEqual([notModified.status, notModified.text], [304, '']);
});

test('every interaction takes and gives XML', async () => {
  const id = 'xml';
  const written = await send('PUT', `Patient/${id}`, toXml({ ...patient('Stone'), resourceType: 'Patient', id }), xml);
  assert.equal(written.status, 201);
  assert.equal(resourceOf(written).id, id);
  const patch = `<Parameters xmlns="http://hl7.org/fhir"><parameter><name value="operation"/>
    <part><name value="type"/><valueCode value="add"/></part>
    <part><name value="path"/><valueString value="Patient"/></part>
    <part><name value="name"/><valueString value="birthDate"/></part>
    <part><name value="value"/><valueDate value="1980-01-01"/></part></parameter></Parameters>`;
  const patched = await send('PATCH', `Patient/${id}`, patch, xml);
  assert.equal(patched.status, 200, patched.text);
  assert.equal(resourceOf(patched).birthDate, '1980-01-01');
  for (const path of [`Patient/${id}/_history/1`, `Patient/${id}/_history`, `Patient?_id=${id}`, 'metadata']) {
    const answer = await get(path, { accept: 'application/fhir+xml' });
    const json = await get(path, { accept: 'application/fhir+json' });
    assert.equal(answer.status, 200, path);
    const [one, other] = [resourceOf(answer), json.json];
    assert.deepEqual(stable(one), stable(other), path);
  }
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const searched = await send('POST', 'Patient/_search', `_id=${id}&_format=xml`, form);
  assert.equal(resourceOf(searched).total, 1);
  const outcome = await send('PUT', `Patient/${id}`, toXml({ ...patient('Stone'), resourceType: 'Patient', id }), {
    ...xml,
    prefer: 'return=OperationOutcome',
  });
  assert.equal(resourceOf(outcome).resourceType, 'OperationOutcome');
});

/** Without what differs from one answer to the next. */
function stable(resource: JsonObject): unknown {
  const { id, meta, ...rest } = JSON.parse(JSON.stringify(resource));
  if (resource.resourceType !== 'Bundle') return { id, meta, ...rest };
  return { ...rest, link: rest.link?.length };
}

test('Accept is weighed; generic types are answered in kind; _format beats it', async () => {
  await send('PUT', 'Patient/one', { ...patient('Stone'), id: 'one' });
  const json = 'application/fhir+json; charset=utf-8';
  const rows: readonly (readonly [accept: string, contentType: string, query?: string])[] = [
    ['application/fhir+xml', fhirXml],
    ['application/xml+fhir', fhirXml],
    ['application/xml', 'application/xml; charset=utf-8'],
    ['text/xml', 'text/xml; charset=utf-8'],
    ['application/json', 'application/json; charset=utf-8'],
    ['text/json', 'text/json; charset=utf-8'],
    ['application/json+fhir', json],
    ['application/json, text/plain, */*', 'application/json; charset=utf-8'],
    ['application/fhir+xml;q=0.9, application/fhir+json;q=0.8', fhirXml],
    ['application/fhir+xml;q=0.8, application/fhir+json;q=0.9', json],
    ['application/fhir+xml, application/fhir+json', json],
    ['application/fhir+xml, */*', fhirXml],
    ['*/*, application/fhir+json;q=0.5', fhirXml],
    ['application/fhir+json;q=0, */*', fhirXml],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'application/xml; charset=utf-8'],
    ['application/fhir+xml; fhirVersion=4.0', fhirXml],
    ['application/fhir+xml; fhirVersion=3.0, application/fhir+json;q=0.1', json],
    ['application/fhir+json', fhirXml, '?_format=xml'],
    ['application/fhir+json', fhirXml, '?_format=text/xml'],
    ['application/fhir+json', fhirXml, '?_format=application/xml'],
    ['application/fhir+json', fhirXml, '?_format=application/fhir+xml'],
    ['application/fhir+json', fhirXml, '?_format=application/fhir%2Bxml'],
    ['application/fhir+json', fhirXml, '?_format=application/xml%2Bfhir'],
    ['application/fhir+xml', json, '?_format=json'],
    ['application/fhir+xml', json, '?_format=text/json'],
    ['application/fhir+xml', json, '?_format=application/json'],
  ];
  for (const [accept, contentType, query = ''] of rows) {
    const answer = await get(`Patient/one${query}`, { accept });
    assert.equal(answer.status, 200, accept + query);
    assert.equal(answer.headers.get('content-type'), contentType, accept + query);
    const resource = contentType.includes('xml') ? parseXml(answer.text) : answer.json;
    assert.equal(resource.id, 'one');
  }
});

test('_pretty lays out both formats for people and changes nothing else', async () => {
  const body =
    '{"resourceType":"Observation","id":"p","status":"final","code":{"text":"a"},"valueQuantity":{"value":1.50}}';
  await send('PUT', 'Observation/p', body);
  const plain = await get('Observation/p');
  const json = await get('Observation/p?_pretty=true');
  assert.match(json.text, /^\{\n {2}"resourceType": "Observation",\n/);
  assert.match(json.text, /"value": 1\.50\n/);
  assert.deepEqual(json.json, plain.json);
  const lines = (await get('Observation/p?_pretty=true&_format=xml')).text.split('\n');
  assert.deepEqual(lines.slice(0, 3), [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<Observation xmlns="http://hl7.org/fhir">',
    '  <id value="p"/>',
  ]);
  assert.equal((await get('Observation/p?_pretty=false')).text, plain.text);
});

test('_pretty is true or false', async () => {
  for (const path of ['Patient/one?_pretty=1', 'Patient?_pretty=TRUE', 'Patient/one/_history?_pretty=']) {
    assertRefused(await get(path), {
      status: 400,
      error: 'search-invalid',
      issue: 'invalid',
      diagnostics: '_pretty takes true or false',
      expression: ['_pretty'],
    });
  }
});

test('texts of more than 1 MiB, which nobody reads, are not laid out', async () => {
  const name = Array.from({ length: 40 }, () => ({ text: 'x'.repeat(30_000) }));
  const body = JSON.stringify({ resourceType: 'Patient', id: 'long', name });
  assert.equal((await send('PUT', 'Patient/long', body)).status, 201);
  assert.equal((await get('Patient/long?_pretty=true')).text, (await get('Patient/long')).text);
  const xml = (await get('Patient/long?_pretty=true&_format=xml')).text;
  assert.equal(xml, (await get('Patient/long?_format=xml')).text);
});

test('HEAD says what GET would', async () => {
  const head = await send('HEAD', 'Patient/one', undefined, { accept: 'application/fhir+xml' });
  const whole = await get('Patient/one', { accept: 'application/fhir+xml' });
  assert.equal(head.text, '');
  assert.equal(head.headers.get('content-type'), fhirXml);
  assert.equal(head.headers.get('content-length'), String(Buffer.byteLength(whole.text)));
});

test('metadata lists what is served and may be cached by format', async () => {
  const answer = await get('metadata');
  assert.deepEqual(answer.json.format, [
    'application/fhir+json',
    'json',
    'application/fhir+xml',
    'xml',
    'application/fhir+ndjson',
  ]);
  assert.match(answer.headers.get('vary') ?? '', /^Origin, Accept\b/);
});
