/** Documents from the file to the download: a one-time URL, a document that holds the file, a URL that needs no header. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import {
  askForUrl,
  documentOf,
  linkOf,
  openWorld,
  pdf,
  png,
  putFile,
  sha256,
  storedDocument,
  uploaded,
} from './world.ts';

const world = await openWorld({ after });
const { caller, full, maple, files } = world;
const contentBase = maple.base.replace('/fhir/v2', '/content');

test('POST of a Binary without content answers a URL that takes one file without any header', async () => {
  const answer = await caller.send('POST', 'Binary', { resourceType: 'Binary', contentType: 'application/pdf' });
  const url = answer.headers.get('location') ?? '';
  const id = new URL(url).pathname.split('/').at(-1);
  assert.equal(answer.status, 201);
  assert.deepEqual(answer.json, {
    resourceType: 'Parameters',
    parameter: [
      { name: 'url', valueUrl: url },
      { name: 'expires', valueInstant: '2026-11-21T09:35:00.000Z' },
      { name: 'sizeMax', valueInteger: 52_428_800 },
      { name: 'contentType', valueCode: 'application/pdf' },
      { name: 'attachment', valueUrl: `${contentBase}/${id}` },
    ],
  });
  assert.ok(url.startsWith(`${contentBase}/${id}?link=`));
  const put = await putFile(url, pdf, { 'content-type': 'application/pdf' });
  assert.deepEqual([put.status, put.text, put.headers.get('etag')], [200, '', `"${sha256(pdf, 'base64url')}"`]);
  const [firm = ''] = readdirSync(path.join(files.path, 'content')).filter((name) => name !== 'incoming');
  const [first = ''] = readdirSync(path.join(files.path, 'content', firm));
  const [name = ''] = readdirSync(path.join(files.path, 'content', firm, first));
  const file = path.join(files.path, 'content', firm, first, name);
  assert.deepEqual(readFileSync(file), pdf);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(path.join(files.path, 'content', 'incoming')), []);
});

test('a request without a body asks for a URL, too, where the caller can mean nothing else', async () => {
  const bare = await fetch(`${maple.base}/Binary`, { method: 'POST', headers: caller.headers });
  assert.equal(bare.status, 201);
  const url = bare.headers.get('location') ?? '';
  assert.equal((await putFile(url, png, { 'content-type': 'text/plain' })).status, 200);
  const minimal = await caller.send('POST', 'Binary', { resourceType: 'Binary' }, { prefer: 'return=minimal' });
  assert.deepEqual([minimal.status, minimal.text], [201, '']);
  assert.ok(minimal.headers.get('location')?.startsWith(contentBase));
});

test('existing clients PUT whatever they have as text/plain: the file says what it is', async () => {
  for (const [announced, bytes, type] of [
    ['image/png', png, 'image/png'],
    [undefined, png, 'image/png'],
    [undefined, pdf, 'application/pdf'],
    [undefined, Buffer.from('Dear colleague'), 'text/plain'],
    ['text/xml', Buffer.from('<ClinicalDocument/>'), 'text/xml'],
  ] as const) {
    const { url, attachment } = await askForUrl(caller, announced);
    assert.equal((await putFile(url, bytes, { 'content-type': 'text/plain' })).status, 200);
    const made = await caller.send(
      'POST',
      'DocumentReference',
      documentOf(attachment, { subject: undefined }, { contentType: type }),
    );
    assert.equal(made.status, announced === undefined && type === 'image/png' ? 409 : 201, made.text);
  }
});

test('a document is answered with URLs of its content: for a read one that opens, else without', async () => {
  const bytes = Buffer.concat([pdf, Buffer.from('first')]);
  const { url, attachment, id } = await uploaded(caller, bytes);
  for (const named of [url, attachment]) {
    const made = await caller.send(
      'POST',
      'DocumentReference',
      documentOf(named, { subject: { reference: 'Patient/reed' } }),
    );
    if (named === attachment) {
      assert.equal(made.status, 409); // the same content, for the same patient
      continue;
    }
    assert.equal(made.status, 201, made.text);
    assert.equal(made.json.content[0].attachment.url, attachment);
    const read = await caller.get(`DocumentReference/${made.json.id}`);
    const link = read.json.content[0].attachment.url;
    assert.ok(link.startsWith(`${contentBase}/${id}?link=`));
    assert.deepEqual({ ...read.json, content: made.json.content }, made.json);
    const { content: _content, ...rest } = made.json;
    const found = await caller.get('DocumentReference?patient=reed');
    assert.deepEqual(found.json.entry[0].resource, {
      ...rest,
      meta: {
        ...rest.meta,
        tag: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue', code: 'SUBSETTED' }],
      },
    });
    const versions = await caller.get(`DocumentReference/${made.json.id}/_history/1`);
    assert.ok(versions.json.content[0].attachment.url.startsWith(`${attachment}?link=`));
  }
});

test('a document whose content lies elsewhere is found with it, all as it was sent', async () => {
  const sent = documentOf('https://files.example.org/scan.pdf', { subject: { reference: 'Patient/elsewhere' } });
  const made = await caller.send('POST', 'DocumentReference', sent);
  assert.equal(made.status, 201, made.text);
  const found = await caller.get('DocumentReference?patient=elsewhere');
  assert.deepEqual(found.json.entry[0].resource, made.json);
  assert.deepEqual((await caller.get(`DocumentReference/${made.json.id}`)).json, made.json);
});

test('a download needs no header and gives the bytes as an attachment that nothing keeps or guesses at', async () => {
  const bytes = Buffer.concat([pdf, Buffer.from('second')]);
  const link = await linkOf(caller, await storedDocument(caller, bytes));
  const answer = await fetch(link);
  assert.equal(answer.status, 200);
  assert.deepEqual(Buffer.from(await answer.arrayBuffer()), bytes);
  const expected = {
    'content-type': 'application/pdf',
    'content-length': String(bytes.length),
    'content-disposition': 'attachment; filename="document.pdf"',
    'cache-control': 'private, no-store',
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'referrer-policy': 'no-referrer',
    etag: `"${sha256(bytes, 'base64url')}"`,
  };
  for (const [name, value] of Object.entries(expected)) assert.equal(answer.headers.get(name), value, name);
  const head = await fetch(link, { method: 'HEAD' });
  for (const [name, value] of Object.entries(expected)) assert.equal(head.headers.get(name), value, name);
  const known = await fetch(link, { headers: { 'if-none-match': expected.etag } });
  assert.deepEqual([known.status, await known.text()], [304, '']);
});

test('ranges are sent as RFC 9110 has them', async () => {
  const bytes = Buffer.concat([pdf, Buffer.from('third')]);
  const link = await linkOf(caller, await storedDocument(caller, bytes));
  const size = bytes.length;
  const whole = `"${sha256(bytes, 'base64url')}"`;
  const rows: readonly (readonly [range: string, start: number, end: number, ifRange?: string])[] = [
    ['bytes=0-0', 0, 0],
    ['bytes=5-9', 5, 9],
    [`bytes=${size - 3}-`, size - 3, size - 1],
    [`bytes=10-${size + 100}`, 10, size - 1],
    ['bytes=-4', size - 4, size - 1],
    ['bytes=5-9', 5, 9, whole],
  ];
  for (const [range, start, end, ifRange] of rows) {
    const answer = await fetch(link, { headers: { range, ...(ifRange === undefined ? {} : { 'if-range': ifRange }) } });
    assert.equal(answer.status, 206, range);
    assert.equal(answer.headers.get('content-range'), `bytes ${start}-${end}/${size}`);
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), bytes.subarray(start, end + 1), range);
  }
  for (const headers of [
    { range: 'bytes=1-2,4-5' },
    { range: 'lines=1-2' },
    { range: 'bytes=1-2', 'if-range': '"other"' },
  ])
    assert.equal((await (await fetch(link, { headers })).arrayBuffer()).byteLength, size);
  const beyond = await fetch(link, { headers: { range: `bytes=${size}-` } });
  assert.deepEqual([beyond.status, beyond.headers.get('content-range')], [416, `bytes */${size}`]);
});

test('a PUT of what was read keeps the document and its content', async () => {
  const bytes = Buffer.concat([pdf, Buffer.from('fourth')]);
  const id = await storedDocument(caller, bytes);
  const { json } = await caller.get(`DocumentReference/${id}`);
  const put = await full.send('PUT', `DocumentReference/${id}`, { ...json, description: 'Report' });
  assert.equal(put.status, 200, put.text);
  assert.equal((await fetch(await linkOf(caller, id))).status, 200);
  const patch = await caller.send(
    'PATCH',
    `DocumentReference/${id}`,
    [{ op: 'replace', path: '/description', value: 'x' }],
    {
      'content-type': 'application/json-patch+json',
    },
  );
  assert.equal(patch.status, 200, patch.text);
  assert.equal((await fetch(patch.json.content[0].attachment.url)).status, 200);
});

test('documents without a subject are found by that', async () => {
  const id = await storedDocument(caller, Buffer.concat([pdf, Buffer.from('fax')]), { subject: undefined });
  for (const path of ['DocumentReference?subject:missing=true', 'DocumentReference?patient:missing=true']) {
    const { json } = await full.get(path);
    const ids = json.entry.map(({ resource }: { readonly resource: { readonly id: string } }) => resource.id);
    assert.ok(ids.includes(id), path);
  }
});

test('any resource may hold content: a photo, a card in an identifier', async () => {
  const { attachment } = await uploaded(full, png, 'image/png');
  const patient = { resourceType: 'Patient', id: 'photo', photo: [{ contentType: 'image/png', url: attachment }] };
  assert.equal((await full.send('PUT', 'Patient/photo', patient)).status, 201);
  const read = await full.get('Patient/photo');
  assert.equal((await fetch(read.json.photo[0].url)).status, 200);
  const found = await full.get('Patient?_id=photo');
  assert.equal(found.json.entry[0].resource.photo[0].url, attachment);
  const coverage = {
    resourceType: 'Coverage',
    status: 'active',
    beneficiary: { reference: 'Patient/photo' },
    payor: [{ display: 'Payer' }],
    identifier: [{ system: 'card', value: attachment }],
  };
  const made = await full.send('POST', 'Coverage', coverage);
  assert.equal(made.status, 201, made.text);
  const card = (await full.get(`Coverage/${made.json.id}`)).json.identifier[0].value;
  assert.deepEqual(Buffer.from(await (await fetch(card)).arrayBuffer()), png);
});

test('uploads and downloads stand in the audit ledger, with the patient', async () => {
  const bytes = Buffer.concat([pdf, Buffer.from('fifth')]);
  const id = await storedDocument(caller, bytes);
  await world.service.parts.ledger.flush(); // rows that are flushed together may come in any order
  await (await fetch(await linkOf(caller, id))).arrayBuffer();
  await world.service.parts.ledger.flush();
  const rows = await world.database.owner.query<object>(
    sql`
      SELECT interaction, outcome, patients, shown, application::int AS application FROM audit_ledger
      WHERE interaction IN ('$upload', '$download') ORDER BY seq DESC LIMIT 2`,
  );
  const { id: application } = world.scanner.application;
  assert.deepEqual(rows, [
    { interaction: '$download', outcome: 0, patients: 'stone', shown: 1, application },
    { interaction: '$upload', outcome: 0, patients: null, shown: 0, application },
  ]);
  const { json } = await full.get('AuditEvent?patient=stone&_count=1');
  const [event] = json.entry.map(({ resource }: { readonly resource: { readonly entity: object[] } }) => resource);
  assert.equal(event.subtype[0].code, 'operation');
  assert.deepEqual(event.entity[0].what, { reference: `DocumentReference/${id}` });
  assert.deepEqual(event.entity[0].detail[0], { type: 'operation', valueString: '$download' });
});
