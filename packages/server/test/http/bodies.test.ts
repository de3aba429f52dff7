/**
 * Request bodies as they arrive: too large (declared or not), compressed, cut short, slow, announced with Expect. A refusal
 * is a whole answer, writes nothing, and leaves the connection fit for the next request.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { patient } from '../support/records.ts';
import { assertRefused } from '../support/refusals.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { tenantRows } from '../support/tenant-rows.ts';
import { openRaw, openWire, type RawConnection } from '../support/wire.ts';

const bytesMax = 4096;
const tokenBytesMax = 512;
const service = await openTestService(
  { after },
  {
    PRAXIS_BODY_BYTES_MAX: String(bytesMax),
    PRAXIS_TOKEN_BODY_BYTES_MAX: String(tokenBytesMax),
  },
);
const maple = await makeFirm(service, 'maple');
const operator = await makeApplication(service, 'Operator', ['acl/*'], [maple]);
const { headers } = await openCaller(service, operator, maple);
const wire = openWire(service.origin);
after(() => wire.close());

const base = '/sandbox/firm/maple/pm/fhir/v2';
const tokenPath = '/auth/realms/sandbox/protocol/openid-connect/token';
const fhirJson = { ...headers, 'content-type': 'application/fhir+json' };
const small = JSON.stringify(patient('Stone'));
const tooLarge = {
  status: 413,
  error: 'body-too-large',
  issue: 'too-long',
  diagnostics: `The body is larger than ${bytesMax} bytes, the limit of one request`,
};

/** A resource of exactly `bytes` bytes. */
function resourceOfSize(bytes: number): string {
  const empty = JSON.stringify(patient(''));
  return JSON.stringify(patient('x'.repeat(bytes - empty.length)));
}

function head(method: string, path: string, sent: Readonly<Record<string, string>>): string {
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\nhost: x\r\n${lines.join('')}\r\n`;
}

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

/** The connection still serves: the next request on it is answered. */
async function assertServes(raw: RawConnection): Promise<void> {
  raw.write(head('GET', `${base}/Patient?_summary=count`, headers));
  assert.equal((await raw.answer()).status, 200);
}

async function assertUnchanged(work: () => Promise<void>): Promise<void> {
  const before = await tenantRows(service.database.owner);
  await work();
  assert.deepEqual(await tenantRows(service.database.owner), before);
}

test('a body of the limit passes, one byte more is 413', async () => {
  const fits = await wire.send({
    method: 'POST',
    path: `${base}/Patient`,
    headers: fhirJson,
    body: resourceOfSize(bytesMax),
  });
  assert.equal(fits.status, 201);
  await assertUnchanged(async () => {
    const body = resourceOfSize(bytesMax + 1);
    assertRefused(await wire.send({ method: 'POST', path: `${base}/Patient`, headers: fhirJson, body }), tooLarge);
  });
});

test('a declared length beyond the limit is refused before the body arrives', async () => {
  await assertUnchanged(async () => {
    const raw = await openRaw(service.origin);
    raw.write(head('POST', `${base}/Patient`, { ...fhirJson, 'content-length': '1000000000' }));
    assertRefused(await raw.answer(), tooLarge);
    raw.destroy();
  });
});

test('a chunked body is refused as soon as it passes the limit, without its end', async () => {
  await assertUnchanged(async () => {
    const raw = await openRaw(service.origin);
    raw.write(head('POST', `${base}/Patient`, { ...fhirJson, 'transfer-encoding': 'chunked' }));
    raw.write(chunk('{"resourceType":"Patient","name":[{"family":"'));
    for (let sent = 0; sent <= bytesMax; sent += 1024) raw.write(chunk('x'.repeat(1024)));
    assertRefused(await raw.answer(), tooLarge);
    raw.destroy();
  });
});

test('a search form has the same limit', async () => {
  const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' };
  const body = `family=${'x'.repeat(bytesMax)}`;
  assertRefused(await wire.send({ method: 'POST', path: `${base}/Patient/_search`, headers: form, body }), tooLarge);
});

test('token endpoints have a limit of their own, and answer as RFC 6749 does', async () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded', 'x-api-key': operator.clientKey };
  const body = `grant_type=client_credentials&client_secret=${'x'.repeat(tokenBytesMax)}`;
  for (const path of [tokenPath, '/sandbox/firm/maple/pm/ws/oauth2/grant']) {
    const declared = await wire.send({ method: 'POST', path, headers: form, body });
    const raw = await openRaw(service.origin);
    raw.write(head('POST', path, { ...form, 'transfer-encoding': 'chunked' }) + chunk(body));
    for (const answer of [declared, await raw.answer()]) {
      assert.equal(answer.status, 413, answer.text);
      assert.equal(answer.json.error, 'invalid_request');
      assert.match(answer.json.error_description, new RegExp(`larger than ${tokenBytesMax} bytes`));
      assert.equal(answer.headers.get('cache-control'), 'no-store');
    }
    raw.destroy();
  }
});

test('without credentials a large body is 401, unread', async () => {
  const raw = await openRaw(service.origin);
  raw.write(
    head('POST', `${base}/Patient`, { 'content-type': 'application/fhir+json', 'content-length': '1000000000' }),
  );
  assert.equal((await raw.answer()).status, 401);
  raw.destroy();
});

test('after a refused body that has arrived the connection serves the next request', async () => {
  const refused: readonly (readonly [status: number, headers: Readonly<Record<string, string>>, body: string])[] = [
    [413, fhirJson, 'x'.repeat(bytesMax * 20)],
    [415, { ...headers, 'content-type': 'text/plain' }, small],
    [415, { ...headers, 'content-type': 'nonsense' }, small],
    [415, { ...fhirJson, 'content-encoding': 'gzip' }, small],
    [406, { ...fhirJson, accept: 'text/turtle' }, small],
    [400, fhirJson, '{'],
    [401, { 'content-type': 'application/fhir+json' }, small],
  ];
  const raw = await openRaw(service.origin);
  for (const [status, sent, body] of refused) {
    raw.write(head('POST', `${base}/Patient`, { ...sent, 'content-length': String(Buffer.byteLength(body)) }) + body);
    assert.equal((await raw.answer()).status, status);
    await assertServes(raw);
    raw.write(head('POST', `${base}/Patient`, { ...sent, 'transfer-encoding': 'chunked' }) + chunk(body) + chunk(''));
    assert.equal((await raw.answer()).status, status, 'chunked');
    await assertServes(raw);
  }
  raw.destroy();
});

test('requests that are sent without waiting are answered in order', async () => {
  const raw = await openRaw(service.origin);
  raw.write(
    head('GET', `${base}/Patient/unknown`, headers) +
      head('GET', '/health/live', {}) +
      head('GET', `${base}/Patient`, {}) +
      head('GET', `${base}/Patient?_summary=count`, headers),
  );
  const statuses: number[] = [];
  for (let index = 0; index < 4; index += 1) statuses.push((await raw.answer()).status);
  assert.deepEqual(statuses, [404, 200, 401, 200]);
  raw.destroy();
});

test('compressed bodies are 415', async () => {
  await assertUnchanged(async () => {
    for (const encoding of ['gzip', 'br', 'deflate', 'zstd', 'identity, gzip', 'nonsense']) {
      const answer = await wire.send({
        method: 'POST',
        path: `${base}/Patient`,
        headers: { ...fhirJson, 'content-encoding': encoding },
        body: gzipSync(small),
      });
      assertRefused(answer, {
        status: 415,
        error: 'media-type-unsupported',
        issue: 'not-supported',
        diagnostics: 'Content-Encoding must be identity: send the body uncompressed',
      });
    }
  });
  const identity = { ...fhirJson, 'content-encoding': 'identity' };
  assert.equal(
    (await wire.send({ method: 'POST', path: `${base}/Patient`, headers: identity, body: small })).status,
    201,
  );
});

test('a gzip body that says it is JSON is no JSON', async () => {
  await assertUnchanged(async () => {
    const body = gzipSync(small);
    const answer = await wire.send({ method: 'POST', path: `${base}/Patient`, headers: fhirJson, body });
    assertRefused(answer, {
      status: 400,
      error: 'request-malformed',
      issue: 'invalid',
      diagnostics: 'The body is not UTF-8',
    });
  });
});

test('a body that is cut short writes nothing, and the service goes on', async () => {
  await assertUnchanged(async () => {
    for (const sent of ['', small.slice(0, 20), small.slice(0, -1)]) {
      for (const leave of ['end', 'destroy'] as const) {
        const raw = await openRaw(service.origin);
        raw.write(head('POST', `${base}/Patient`, { ...fhirJson, 'content-length': String(small.length) }) + sent);
        await delay(20);
        raw[leave]();
        await raw.closed;
        raw.destroy();
      }
    }
    await delay(50);
    assert.equal((await wire.send({ path: '/health/ready' })).status, 200);
  });
});

test('a slow body is waited for, and delays nobody else', async () => {
  const raw = await openRaw(service.origin);
  raw.write(head('POST', `${base}/Patient`, { ...fhirJson, 'content-length': String(small.length) }));
  for (const character of small) {
    raw.write(character);
    await delay(5);
  }
  const [slow, other] = await Promise.all([
    raw.answer(),
    wire.send({ path: `${base}/Patient?_summary=count`, headers }),
  ]);
  assert.equal(slow.status, 201);
  assert.equal(other.status, 200);
  raw.destroy();
});

test('Expect: 100-continue is answered before the body is sent, and any other expectation is 417', async () => {
  const raw = await openRaw(service.origin);
  const expecting = { ...fhirJson, 'content-length': String(small.length), expect: '100-continue' };
  raw.write(head('POST', `${base}/Patient`, expecting));
  assert.equal((await raw.answer()).status, 100);
  raw.write(small);
  assert.equal((await raw.answer()).status, 201);
  await assertServes(raw);
  raw.write(head('POST', `${base}/Patient`, { ...fhirJson, 'content-length': '0', expect: 'the-unexpected' }));
  assert.equal((await raw.answer()).status, 417);
  raw.destroy();
});

test('two ways of saying where a body ends are refused: no request hides inside another', async () => {
  await assertUnchanged(async () => {
    const hidden = head('POST', `${base}/Patient`, { ...fhirJson, 'content-length': String(small.length) }) + small;
    for (const lengths of [
      'content-length: 5\r\ntransfer-encoding: chunked',
      'content-length: 5\r\ncontent-length: 6',
      'content-length: +5',
      'content-length: 5x',
      'transfer-encoding: chunked, identity',
      'transfer-encoding: xchunked',
    ]) {
      const raw = await openRaw(service.origin);
      const sent = Object.entries(fhirJson).map(([name, value]) => `${name}: ${value}\r\n`);
      raw.write(`POST ${base}/Patient HTTP/1.1\r\nhost: x\r\n${sent.join('')}${lengths}\r\n\r\n0\r\n\r\n${hidden}`);
      const answer = await raw.answer();
      assert.equal(answer.status, 400, lengths);
      assert.equal(answer.json.resourceType, 'OperationOutcome');
      await raw.closed;
      raw.destroy();
    }
  });
});

test('a body with GET or HEAD is ignored', async () => {
  for (const method of ['GET', 'HEAD']) {
    const answer = await wire.send({ method, path: `${base}/Patient?_summary=count`, headers: fhirJson, body: small });
    assert.equal(answer.status, 200);
  }
});
