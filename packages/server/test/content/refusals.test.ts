/**
 * What is refused about content: each time the answer says what would work, nothing of the database or the content store has
 * changed, and a URL that was good before still is.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import test, { after, beforeEach } from 'node:test';
import { mediaTypes } from '../../src/content/media-types.ts';
import { assertRefused } from '../support/refusals.ts';
import { type Answer, answerOf, makeApplication, openCaller, toAnswer } from '../support/service.ts';
import { everyRow } from '../support/tenant-rows.ts';
import {
  askForUrl,
  documentOf,
  linkOf,
  openWorld,
  pdf,
  png,
  putFile,
  sha1,
  sha256,
  storedDocument,
  uploaded,
} from './world.ts';

const sizeMax = 20_000;
const world = await openWorld({ after }, { PRAXIS_UPLOAD_BYTES_MAX: String(sizeMax) });
const { caller, full, maple, clock, files } = world;
const contentRoot = path.join(files.path, 'content');
const pdfType = { 'content-type': 'application/pdf' };
const list = mediaTypes.join(', ');

/** Each test has a URL that nothing was uploaded to, and looks at what there is before and after. */
let offered = await askForUrl(caller, 'application/pdf');
beforeEach(async () => {
  offered = await askForUrl(caller, 'application/pdf');
});

async function everything(): Promise<object> {
  const { rate_counter: _counted, ...rows } = await everyRow(world.database.owner);
  return { rows, files: filesIn(contentRoot) };
}

function filesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name));
  } catch {
    return []; // nothing was stored yet
  }
}

/** Asserts that `work` leaves everything as it was and the URL of this test good. */
async function changingNothing(work: () => Promise<void>): Promise<void> {
  const before = await everything();
  await work();
  assert.deepEqual(await everything(), before);
  assert.equal((await putFile(offered.url, pdf, pdfType)).status, 200);
  offered = await askForUrl(caller, 'application/pdf');
}

test('a file that is too large, empty, compressed, of no length or of another type is refused', async () => {
  const large = Buffer.concat([pdf, Buffer.alloc(sizeMax)]);
  const other =
    'not application/pdf, which this URL was asked for: send such a file (with Content-Type application/pdf, text/plain or none), or ask for another URL';
  await changingNothing(async () => {
    assertRefused(await putFile(offered.url, large, pdfType), {
      status: 413,
      error: 'body-too-large',
      issue: 'too-long',
      diagnostics: `The file has ${large.length} bytes; this URL takes at most ${sizeMax}`,
    });
    assertRefused(await putFile(offered.url, Buffer.alloc(0), pdfType), {
      status: 400,
      error: 'request-malformed',
      issue: 'invalid',
      diagnostics: 'The body is empty: send the bytes of the file',
    });
    assertRefused(await putFile(offered.url, pdf, { ...pdfType, 'content-encoding': 'gzip' }), {
      status: 415,
      error: 'media-type-unsupported',
      issue: 'not-supported',
      diagnostics: 'Content-Encoding must be identity: send the file uncompressed',
    });
    for (const [bytes, type, what] of [
      [png, 'image/png', 'Content-Type is'],
      [pdf, 'text/html', 'Content-Type is'],
      [png, 'application/pdf', 'The file is'],
      [png, 'text/plain', 'The file is'],
    ] as const) {
      assertRefused(await putFile(offered.url, bytes, { 'content-type': type }), {
        status: 415,
        error: 'media-type-unsupported',
        issue: 'not-supported',
        diagnostics: `${what} ${other}`,
      });
    }
    assertRefused(await inChunks(offered.url), {
      status: 400,
      error: 'request-malformed',
      issue: 'invalid',
      diagnostics: 'Content-Length is missing: send the file with its length, not in chunks',
    });
    const digest = `sha-256=:${sha256(png)}:`;
    assertRefused(await putFile(offered.url, pdf, { ...pdfType, 'content-digest': digest }), {
      status: 400,
      error: 'header-invalid',
      issue: 'value',
      diagnostics: 'Content-Digest is not that of the bytes that arrived: send the file again, or correct the header',
      expression: ['Content-Digest'],
    });
  });
});

/** Without Content-Length. */
async function inChunks(url: string): Promise<Answer> {
  return await new Promise((resolve, reject) => {
    const request = http.request(url, { method: 'PUT', headers: pdfType }, (response) => {
      const headers = new Headers(
        Object.entries(response.headersDistinct).map(([name, values]) => [name, String(values)]),
      );
      text(response).then((body) => resolve(toAnswer(response.statusCode ?? 0, headers, body)), reject);
    });
    request.once('error', reject);
    request.flushHeaders();
    request.end(pdf);
  });
}

test('a file whose type nobody has said and that does not say it itself is refused', async () => {
  const { url } = await askForUrl(caller);
  await changingNothing(async () => {
    for (const [type, what] of [
      ['application/octet-stream', 'The file is'],
      ['text/html', 'Content-Type is'],
    ] as const) {
      assertRefused(await putFile(url, Buffer.from('<html>'), { 'content-type': type }), {
        status: 415,
        error: 'media-type-unsupported',
        issue: 'not-supported',
        diagnostics: `${what} none that is taken; these are: ${list}`,
      });
    }
  });
});

test('a file that is cut off leaves nothing', async () => {
  await changingNothing(async () => {
    const { hostname, port, pathname, search } = new URL(offered.url);
    const socket = net.connect(Number(port), hostname);
    socket.write(
      `PUT ${pathname}${search} HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-length: ${pdf.length}\r\n\r\n`,
    );
    socket.write(pdf.subarray(0, 1_000));
    await until(() => filesIn(contentRoot).some((file) => file.includes('incoming')));
    socket.destroy();
    await until(() => !filesIn(contentRoot).some((file) => file.includes('incoming')));
  });
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

test('a URL is good once, for 300 seconds, and as it was given', async () => {
  const { url, attachment } = await uploaded(caller, pdf);
  await changingNothing(async () => {
    assertRefused(await putFile(url, pdf, pdfType), {
      status: 410,
      error: 'link-ended',
      issue: 'expired',
      diagnostics: `This URL was used: its content is named ${attachment}; for another file: ask for another by POST Binary`,
    });
  });
  const other = await askForUrl(caller, 'application/pdf');
  const nothing = {
    status: 404,
    error: 'resource-not-found',
    issue: 'not-found',
    diagnostics:
      'This URL opens nothing: URLs to upload to are answered to POST Binary, those to download from stand in a resource that is read, and both are used as they are given',
  };
  const swapped = other.url.replace(other.id, offered.id);
  const altered = `${other.url.slice(0, -1)}${other.url.endsWith('A') ? 'B' : 'A'}`;
  await changingNothing(async () => {
    for (const wrong of [
      other.attachment,
      swapped,
      altered,
      other.url.replace('/maple/', '/cedar/'),
      `${other.attachment}?link=`,
    ])
      assertRefused(await putFile(wrong, pdf, pdfType), nothing);
    const method = { status: 405, error: 'method-not-allowed', issue: 'not-supported' };
    for (const name of ['GET', 'HEAD'])
      assert.equal((await fetch(other.url, { method: name })).headers.get('allow'), 'PUT');
    assertRefused(await fetch(other.url).then(answerOf), {
      ...method,
      diagnostics: 'This URL takes PUT',
      allow: 'PUT',
    });
    const allow = 'GET, HEAD, PUT';
    for (const name of ['POST', 'DELETE', 'PATCH'])
      assertRefused(await fetch(other.url, { method: name }).then(answerOf), {
        ...method,
        diagnostics: `This URL takes ${allow}`,
        allow,
      });
  });
  const late = await askForUrl(caller, 'application/pdf');
  clock.advance(300_000);
  const before = await everything();
  assertRefused(await putFile(late.url, pdf, pdfType), {
    status: 410,
    error: 'link-ended',
    issue: 'expired',
    diagnostics: 'This URL has expired: ask for another by POST Binary',
  });
  assert.deepEqual(await everything(), before);
});

test('of many uploads to one URL at once exactly one is kept', async () => {
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, at) => putFile(offered.url, Buffer.concat([pdf, Buffer.from([65 + at])]), pdfType)),
  );
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, ...Array.from({ length: 7 }, () => 410)]);
});

test('asking for a URL names what is taken', async () => {
  const reader = await openCaller(world, await makeApplication(world, 'Reader', ['acl/doc_ref_r'], [maple]), maple);
  await changingNothing(async () => {
    const html = { resourceType: 'Binary', contentType: 'text/html' };
    assertRefused(await caller.send('POST', 'Binary', html), {
      status: 415,
      error: 'media-type-unsupported',
      issue: 'not-supported',
      diagnostics: `Binary.contentType is not supported. Supported: ${list}`,
      expression: ['Binary.contentType'],
    });
    const withData = { resourceType: 'Binary', contentType: 'application/pdf', data: 'JVBERi0=' };
    assertRefused(await caller.send('POST', 'Binary', withData), {
      status: 403,
      error: 'access-denied',
      issue: 'forbidden',
      diagnostics:
        'acl/bnry_c_url asks for a URL and stores nothing here: send {"resourceType":"Binary","contentType":"…"} or no body, then PUT the file to the URL of the answer. Binary create needs system/Binary.c or acl/*; the application does not hold it: the operator of the service adds it, then the practice grants it',
      challenge: 'Bearer error="insufficient_scope"',
    });
    assert.equal((await reader.send('POST', 'Binary', { resourceType: 'Binary' })).status, 403);
  });
});

test('a document names content that its application has uploaded, and says of it what is so', async () => {
  const { attachment } = await uploaded(caller, Buffer.concat([pdf, Buffer.from('hash')]));
  const bytes = Buffer.concat([pdf, Buffer.from('hash')]);
  const path0 = 'DocumentReference.content[0].attachment';
  const rows: readonly (readonly [attachment: object, element: string, diagnostics: string])[] = [
    [{ contentType: 'image/png' }, 'contentType', 'the content is application/pdf'],
    [{ size: 17 }, 'size', `the content has ${bytes.length} bytes`],
    [{ hash: sha1(png) }, 'hash', `the SHA-1 of the content is ${sha1(bytes)} in base64`],
  ];
  await changingNothing(async () => {
    for (const [wrong, element, fact] of rows) {
      assertRefused(await caller.send('POST', 'DocumentReference', documentOf(attachment, {}, wrong)), {
        status: 422,
        error: 'rule-broken',
        issue: 'business-rule',
        diagnostics: `${path0}.${element} is not that of what was uploaded: ${fact}. Correct it, or upload the file again`,
        expression: [`${path0}.${element}`],
      });
    }
    for (const url of [offered.url, attachment.replace(/[0-9a-f]{12}$/, '000000000000'), 'urn:praxis:content:x']) {
      assertRefused(await caller.send('POST', 'DocumentReference', documentOf(url)), {
        status: 422,
        error: 'rule-broken',
        issue: 'business-rule',
        diagnostics: `${path0}.url names no content that this application has uploaded: ask for a URL by POST Binary, PUT the file there, then name that URL here within a day`,
        expression: [`${path0}.url`],
      });
    }
  });
  const right = documentOf(attachment, {}, { size: bytes.length, hash: sha1(bytes) });
  assert.equal((await caller.send('POST', 'DocumentReference', right)).status, 201);
});

test('the same file for the same patient is recognised, by those who can see the first document', async () => {
  const bytes = Buffer.concat([pdf, Buffer.from('twice')]);
  const first = await storedDocument(caller, bytes);
  const second = await uploaded(caller, bytes);
  await changingNothing(async () => {
    const answer = await caller.send('POST', 'DocumentReference', documentOf(second.attachment));
    assert.equal(answer.status, 409);
    const [issue] = answer.json.issue;
    assert.equal(issue.code, 'duplicate');
    assert.equal(
      issue.diagnostics,
      `DocumentReference/${first} holds the same file for the same subject: use it, or say in relatesTo how this one relates to it`,
    );
    assert.ok(JSON.stringify(issue.extension).includes(`DocumentReference/${first}`));
  });
  const writer = await makeApplication(world, 'Writer', ['acl/bnry_c_url', 'acl/doc_ref_c'], [maple]);
  const blind = await openCaller(world, writer, maple);
  const third = await uploaded(blind, bytes);
  assert.equal((await blind.send('POST', 'DocumentReference', documentOf(third.attachment))).status, 201);
  const other = documentOf(second.attachment, { subject: { reference: 'Patient/reed' } });
  assert.equal((await caller.send('POST', 'DocumentReference', other)).status, 201);
  const { attachment } = await uploaded(caller, bytes);
  const relatesTo = (await caller.get('DocumentReference?patient=stone')).json.entry.map(
    ({ resource }: { readonly resource: { readonly id: string } }) => ({
      code: 'replaces',
      target: { reference: `DocumentReference/${resource.id}` },
    }),
  );
  assert.equal((await caller.send('POST', 'DocumentReference', documentOf(attachment, { relatesTo }))).status, 201);
});

test('of many documents of the same file for a patient at once exactly one is stored', async () => {
  const bytes = Buffer.concat([pdf, Buffer.from('at once')]);
  const copies = await Promise.all(Array.from({ length: 6 }, () => uploaded(caller, bytes)));
  const answers = await Promise.all(
    copies.map(({ attachment }) => caller.send('POST', 'DocumentReference', documentOf(attachment))),
  );
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 409, 409, 409, 409, 409]);
});

test('of many changes of one version of a document at once one is stored, and the others are told', async () => {
  const { attachment } = await uploaded(caller, Buffer.concat([pdf, Buffer.from('changed at once')]));
  const { json } = await caller.send('POST', 'DocumentReference', documentOf(attachment));
  const change = (description: string) =>
    caller.send('PUT', `DocumentReference/${json.id}`, { ...json, description }, { 'if-match': 'W/"1"' });
  const answers = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(change));
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 412, 412, 412, 412, 412]);
  assert.equal((await caller.get(`DocumentReference/${json.id}`)).json.meta.versionId, '2');
});

test('a transaction that fails leaves its documents and what they would hold undone', async () => {
  const { attachment } = await uploaded(caller, Buffer.concat([pdf, Buffer.from('undone')]));
  await changingNothing(async () => {
    const entry = (resource: object, url: string) => ({ resource, request: { method: 'POST', url } });
    const bundle = {
      resourceType: 'Bundle',
      type: 'transaction',
      entry: [
        entry(documentOf(attachment), 'DocumentReference'),
        entry(documentOf('urn:praxis:content:unknown'), 'DocumentReference'),
      ],
    };
    assert.equal((await full.send('POST', '', bundle)).status, 422);
  });
});

test('a download ends by time, with the document, and with the rights of the application', async () => {
  const id = await storedDocument(caller, Buffer.concat([pdf, Buffer.from('ends')]));
  const expired = await linkOf(caller, id);
  clock.advance(300_000);
  const ended = { status: 410, error: 'link-ended', issue: 'expired' };
  assertRefused(await answerOf(await fetch(expired)), {
    ...ended,
    diagnostics: 'This URL has expired: read the resource again to get another',
  });
  const deleted = await linkOf(caller, id);
  assert.equal((await full.send('DELETE', `DocumentReference/${id}`)).status, 204);
  assertRefused(await answerOf(await fetch(deleted)), {
    ...ended,
    diagnostics: 'The content is no longer open to the application: read the resource again to get another',
  });
});

test('uploads and downloads count against the limit of the API key that their URLs came with, by their size', async (t) => {
  const limited = await openWorld(t, { PRAXIS_RATE_LIMIT: '40' });
  const megabyte = 1_048_576;
  const id = await storedDocument(limited.caller, Buffer.concat([pdf, Buffer.alloc(2 * megabyte, 'x')])); // 1 + (1 + 2) + 1
  const link = await linkOf(limited.caller, id); // 1
  const left = async (): Promise<number> => {
    const answer = await fetch(link, { headers: { range: 'bytes=0-0' } }); // 1
    await answer.arrayBuffer();
    return Number(/"api-key";r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '')?.[1]);
  };
  const before = await left();
  assert.equal(before, 40 - 1 - 7); // 1 for the token
  await (await fetch(link)).arrayBuffer(); // 1 + 2
  assert.equal(await left(), before - 4);
  for (let rest = before - 4; rest > 0; rest -= 1) await left();
  const refused = await answerOf(await fetch(link));
  assert.deepEqual([refused.status, refused.json.issue[0].code], [429, 'throttled']);
});
