/** Compression of answers: who gets it, what it leaves alone. RFC 9110 §12.5.3 */
import assert from 'node:assert/strict';
import http from 'node:http';
import test, { after } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { patient } from '../support/records.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const bytesMin = 2_000;
const service = await openTestService({ after }, { PRAXIS_COMPRESS_BYTES_MIN: String(bytesMin) });
const maple = await makeFirm(service, 'maple');
const operator = await makeApplication(service, 'Operator', ['acl/*'], [maple]);
const { headers, send } = await openCaller(service, operator, maple);
const large = { ...patient('Stone'), id: 'large', name: [{ family: 'é'.repeat(bytesMin) }] };
assert.equal((await send('PUT', 'Patient/large', large)).status, 201);
assert.equal((await send('PUT', 'Patient/small', { ...patient('Stone'), id: 'small' })).status, 201);
const base = '/sandbox/firm/maple/pm/fhir/v2';

interface Received {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** The answer as it is on the wire, not decompressed. */
function receive(path: string, sent: Readonly<Record<string, string>>, method = 'GET', body = ''): Promise<Received> {
  return new Promise((resolve, reject) => {
    const request = http.request(service.origin + path, { method, headers: sent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) }),
      );
      response.once('error', reject);
    });
    request.once('error', reject);
    request.end(body);
  });
}

const plain = await receive(`${base}/Patient/large`, headers);

test('answers of the token endpoint, raw content and small answers are never compressed', async () => {
  const accepted = { ...headers, 'accept-encoding': 'br, gzip' };
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: operator.clientId,
    client_secret: operator.clientSecret,
    padding: 'x'.repeat(bytesMin),
  }).toString();
  const token = await receive(
    '/auth/realms/sandbox/protocol/openid-connect/token',
    { ...accepted, 'x-api-key': operator.clientKey, 'content-type': 'application/x-www-form-urlencoded' },
    'POST',
    form,
  );
  assert.equal(token.status, 200);
  const content = { ...accepted, 'content-type': 'text/plain' };
  assert.equal((await receive(`${base}/Binary/raw`, content, 'PUT', 'x'.repeat(bytesMin * 2))).status, 201);
  const raw = await receive(`${base}/Binary/raw`, accepted);
  const small = await receive(`${base}/Patient/small`, accepted);
  for (const { headers: received } of [token, raw, small]) assert.equal(received['content-encoding'], undefined);
  assert.equal(small.headers.vary, 'Origin, Accept, Authorization, X-Api-Key');
});

test('a coding that is not wanted is not used', async () => {
  for (const coding of [
    '',
    'identity',
    'deflate',
    'zstd',
    'gzip;q=0',
    'br;q=0, gzip;q=0',
    '*;q=0',
    'identity, *;q=0',
  ]) {
    const answer = await receive(`${base}/Patient/large`, { ...headers, 'accept-encoding': coding });
    assert.equal(answer.headers['content-encoding'], undefined, coding);
    assert.deepEqual(answer.bytes, plain.bytes);
    assert.equal(answer.headers.vary, 'Origin, Accept, Authorization, X-Api-Key, Accept-Encoding');
  }
});

test('br or gzip as the caller prefers, with the same ETag and the same content', async () => {
  const rows: readonly (readonly [accepted: string, coding: string])[] = [
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br', 'br'],
    ['gzip, deflate', 'gzip'],
    ['*', 'br'],
    ['GZIP', 'gzip'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['br;q=0, *', 'gzip'],
  ];
  for (const [accepted, coding] of rows) {
    for (const accept of ['application/fhir+json', 'application/fhir+xml']) {
      const sent = { ...headers, accept };
      const whole = await receive(`${base}/Patient/large`, sent);
      const answer = await receive(`${base}/Patient/large`, { ...sent, 'accept-encoding': accepted });
      assert.equal(answer.headers['content-encoding'], coding, accepted);
      const bytes = coding === 'br' ? brotliDecompressSync(answer.bytes) : gunzipSync(answer.bytes);
      assert.deepEqual(bytes, whole.bytes);
      assert.equal(answer.headers['content-length'], String(answer.bytes.length));
      for (const header of ['etag', 'last-modified', 'content-type', 'vary', 'cache-control'] as const) {
        assert.equal(answer.headers[header], whole.headers[header], header);
      }
    }
  }
  const notModified = { ...headers, 'accept-encoding': 'br', 'if-none-match': String(plain.headers.etag) };
  assert.equal((await receive(`${base}/Patient/large`, notModified)).status, 304);
});

test('metadata is compressed without credentials', async () => {
  const answer = await receive(`${base}/metadata`, { 'accept-encoding': 'gzip' });
  assert.equal(answer.headers['content-encoding'], 'gzip');
  assert.equal(answer.headers.vary, 'Origin, Accept, Authorization, x-api-key, Accept-Encoding');
  assert.equal(JSON.parse(gunzipSync(answer.bytes).toString()).resourceType, 'CapabilityStatement');
});

test('many compressed answers at once are whole, compressed or not', async () => {
  const sent = { ...headers, 'accept-encoding': 'gzip' };
  const answers = await Promise.all(Array.from({ length: 40 }, () => receive(`${base}/Patient/large`, sent)));
  for (const { bytes, headers: received } of answers) {
    assert.deepEqual(received['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes, plain.bytes);
  }
});
