/** Binary as content: read by its own media type, written as it is. https://hl7.org/fhir/R4/binary.html#rest */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { parseXml } from '@praxis/fhir';
import { patient } from '../support/records.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { tenantRows } from '../support/tenant-rows.ts';

const bodyBytesMax = 65_536;
const service = await openTestService({ after }, { PRAXIS_BODY_BYTES_MAX: String(bodyBytesMax) });
const maple = await makeFirm(service, 'maple');
const operator = await makeApplication(service, 'Operator', ['acl/*'], [maple]);
const { headers, get, send } = await openCaller(service, operator, maple);

const pdf = Buffer.from([0x25, 0x50, 0x44, 0x46, 0x00, 0xff, 0xfe, 0x80, 0x0d, 0x0a]);

/** Sends bytes as they are. */
async function put(path: string, body: Buffer | string, more: Readonly<Record<string, string>>): Promise<Response> {
  const bytes = typeof body === 'string' ? body : new Uint8Array(body);
  return fetch(`${maple.base}/${path}`, { method: 'PUT', headers: { ...headers, ...more }, body: bytes });
}

async function read(path: string, more: Readonly<Record<string, string>> = {}): Promise<[Response, Buffer]> {
  const response = await fetch(`${maple.base}/${path}`, { headers: { ...headers, ...more } });
  return [response, Buffer.from(await response.arrayBuffer())];
}

const pdfType = { 'content-type': 'application/pdf' };
assert.equal((await put('Binary/pdf', pdf, { ...pdfType, 'x-security-context': 'Patient/one' })).status, 201);

test('content without a media type, with a broken one, empty or too large is refused and not stored', async () => {
  const before = await tenantRows(service.database.owner);
  const rows: readonly (readonly [
    status: number,
    body: string,
    type: string,
    more?: Readonly<Record<string, string>>,
  ])[] = [
    [415, 'x', 'nonsense'],
    [415, 'x', 'text/plain; charset'],
    [415, 'x', 'text/plain, text/html'],
    [415, 'x', 'text/plain', { 'content-encoding': 'gzip' }],
    [400, '', 'text/plain'],
    [413, 'x'.repeat(bodyBytesMax + 1), 'text/plain'],
    [406, 'x', 'text/plain', { accept: 'text/plain' }],
    [400, 'x', 'text/plain', { 'x-security-context': 'not a reference' }],
    [400, '{"resourceType":"Binary","data":"YQ=="}', 'application/json'],
    [400, '{"resourceType":"Binary","contentType":"a/b","foo":1}', 'application/fhir+json'],
    [400, '{"resourceType":"Binary","contentType":"a/b"', 'application/json'],
    [400, '{"contentType":"a/b","data":"YQ=="}', 'application/fhir+json'],
    [400, '{', 'application/fhir+json'],
    [400, '<Binary xmlns="http://hl7.org/fhir"><contentType val="a/b"/></Binary>', 'text/xml'],
    [400, '<!DOCTYPE a><Patient xmlns="http://hl7.org/fhir"/>', 'application/fhir+xml'],
  ];
  for (const [status, body, type, more = {}] of rows) {
    const answer = await send('POST', 'Binary', body, {
      accept: 'application/fhir+json',
      'content-type': type,
      ...more,
    });
    assert.equal(answer.status, status, `${type} ${answer.text}`);
    assert.equal(answer.json.resourceType, 'OperationOutcome');
  }
  const bare = await fetch(`${maple.base}/Binary`, { method: 'POST', headers, body: new Uint8Array(pdf) });
  assert.equal(bare.status, 415);
  assert.deepEqual(await tenantRows(service.database.owner), before);
});

test('content comes back byte by byte with its media type, its version and its security context', async () => {
  for (const path of ['Binary/pdf', 'Binary/pdf/_history/1', 'Binary/pdf?_summary=true']) {
    const [response, bytes] = await read(path);
    assert.equal(response.status, 200, path);
    assert.deepEqual(bytes, pdf);
    assert.equal(response.headers.get('content-type'), 'application/pdf');
    assert.equal(response.headers.get('content-length'), String(pdf.length));
    assert.equal(response.headers.get('etag'), 'W/"1"');
    assert.notEqual(response.headers.get('last-modified'), null);
    assert.equal(response.headers.get('x-security-context'), 'Patient/one');
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
    assert.equal(response.headers.get('content-security-policy'), "default-src 'none'; sandbox");
    assert.equal(response.headers.get('vary'), 'Origin, Accept, Authorization, X-Api-Key');
  }
  const head = await send('HEAD', 'Binary/pdf');
  assert.equal(head.headers.get('content-length'), String(pdf.length));
  assert.equal((await get('Binary/pdf', { 'if-none-match': 'W/"1"' })).status, 304);
});

test('the resource comes where a FHIR format is asked for', async () => {
  const rows: readonly (readonly [accept: string, kind: 'content' | 'json' | 'xml' | 406, query?: string])[] = [
    ['application/fhir+json', 'json'],
    ['application/fhir+xml', 'xml'],
    ['application/fhir+json, */*', 'json'],
    ['application/json', 'json'],
    ['text/xml', 'xml'],
    ['application/pdf', 'json', '?_format=json'],
    ['application/pdf', 'xml', '?_format=application/xml'],
    ['application/pdf', 'content'],
    ['application/*', 'content'],
    ['*/*', 'content'],
    ['application/json, text/plain, */*', 'content'],
    ['application/pdf, application/fhir+json;q=0.9', 'content'],
    ['application/fhir+json, application/pdf;q=0.9', 'json'],
    ['image/png', 406],
    ['application/pdf;q=0', 406],
    ['application/pdf;q=0, */*', 'json'],
    ['application/pdf', 406, '?_format=pdf'],
  ];
  for (const [accept, kind, query = ''] of rows) {
    const answer = await get(`Binary/pdf${query}`, { accept });
    const label = `${accept} ${query}: ${answer.status}`;
    if (kind === 406) assert.equal(answer.status, 406, label);
    else if (kind === 'content') assert.equal(answer.headers.get('content-type'), 'application/pdf', label);
    else {
      const { contentType, data, securityContext } = kind === 'json' ? answer.json : parseXml(answer.text);
      assert.deepEqual(
        { contentType, data, securityContext },
        {
          contentType: 'application/pdf',
          data: pdf.toString('base64'),
          securityContext: { reference: 'Patient/one' },
        },
        label,
      );
    }
  }
});

test('in a Bundle a Binary is a resource', async () => {
  for (const path of ['Binary?_id=pdf', 'Binary/pdf/_history']) {
    const answer = await get(path);
    assert.equal(answer.json.entry[0].resource.data, pdf.toString('base64'));
  }
});

test('whatever is no Binary is content, resources of other types too', async () => {
  const resource = JSON.stringify(patient('Stone'));
  const rows: readonly (readonly [body: string, type: string])[] = [
    [resource, 'application/fhir+json'],
    [resource, 'application/json'],
    ['{"a":1}', 'application/json'],
    ['{"a":', 'application/json'],
    ['[1, 2]', 'application/json'],
    ['<Patient xmlns="http://hl7.org/fhir"/>', 'application/fhir+xml'],
    ['<ClinicalDocument xmlns="urn:hl7-org:v3"/>', 'text/xml'],
    ['<!DOCTYPE a><a/>', 'application/xml'],
    ['a=1&b=2', 'application/x-www-form-urlencoded'],
    ['{"resourceType":"Binary"}', 'application/vnd.example+json'],
    ['<p>hello</p>', 'text/html; charset=utf-8'],
  ];
  for (const [body, type] of rows) {
    const created = await send('POST', 'Binary', body, { 'content-type': type, accept: 'application/fhir+json' });
    assert.equal(created.status, 201, `${type} ${created.text}`);
    const { id, contentType, data } = created.json;
    assert.deepEqual([contentType, Buffer.from(data, 'base64').toString()], [type, body]);
    const [response, bytes] = await read(`Binary/${id}`);
    assert.equal(response.headers.get('content-type'), type);
    assert.equal(bytes.toString(), body);
    // The content's own type asks for the content, unless it is FHIR's.
    const [, asked] = await read(`Binary/${id}`, { accept: type.split(';')[0] ?? '' });
    const isResource = type.startsWith('application/fhir+');
    assert.equal(
      /"resourceType":"Binary"|<Binary xmlns/.test(asked.toString()),
      isResource || body.includes('"Binary"'),
      type,
    );
  }
});

test('a generic type asks for content of its kind', async () => {
  await put('Binary/policy', '{"a":1}', { 'content-type': 'application/xacml+json' });
  assert.equal((await get('Binary/policy', { accept: 'application/json' })).text, '{"a":1}');
  assert.equal(
    parseXml((await get('Binary/policy', { accept: 'application/xml' })).text).contentType,
    'application/xacml+json',
  );
});

test('content in UTF-16 and other encodings is kept as it is', async () => {
  const text = Buffer.from('<?xml version="1.0" encoding="UTF-16"?><a/>', 'utf16le');
  assert.equal((await put('Binary/utf16', text, { 'content-type': 'application/xml; charset=utf-16' })).status, 201);
  assert.deepEqual((await read('Binary/utf16'))[1], text);
});

test('a Binary sent as a resource is read as content, versions count on', async () => {
  const resource = {
    resourceType: 'Binary',
    id: 'text',
    contentType: 'text/plain',
    data: Buffer.from('one').toString('base64'),
  };
  assert.equal((await send('PUT', 'Binary/text', resource)).status, 201);
  const xml =
    '<Binary xmlns="http://hl7.org/fhir"><id value="text"/><contentType value="text/plain"/><data value="dHdv"/></Binary>';
  assert.equal((await send('PUT', 'Binary/text', xml, { 'content-type': 'application/fhir+xml' })).status, 200);
  assert.equal((await put('Binary/text', 'three', { 'content-type': 'text/plain' })).status, 200);
  assert.equal((await get('Binary/text')).text, 'three');
  assert.equal((await get('Binary/text/_history/2')).text, 'two');
  assert.equal((await get('Binary/text/_history/1')).text, 'one');
  assert.equal((await put('Binary/text', 'four', { 'content-type': 'text/plain', 'if-match': 'W/"1"' })).status, 412);
});

test('a stored media type that is none is served as unknown content', async () => {
  await send('PUT', 'Binary/odd', {
    resourceType: 'Binary',
    id: 'odd',
    contentType: 'pörtable document',
    data: 'YQ==',
  });
  const [response, bytes] = await read('Binary/odd');
  assert.equal(response.headers.get('content-type'), 'application/octet-stream');
  assert.equal(bytes.toString(), 'a');
});
