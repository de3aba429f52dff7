/** What every answer says to browsers and caches, also one that refuses, breaks off or is not of the data API. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { type ErrorCode, errorTable, PraxisError } from '../../src/base/errors.ts';
import { buildErrorHeaders } from '../../src/http/answer/errors.ts';
import { openMetricsPage } from '../../src/http/pages/metrics-page.ts';
import { patient } from '../support/records.ts';
import { type Answer, makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { openRaw, openWire } from '../support/wire.ts';

const service = await openTestService({ after }, { PRAXIS_HSTS_SECONDS: '31536000' });
const maple = await makeFirm(service, 'maple');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);
const stored = await full.send('PUT', 'Patient/one', { ...patient('Stone'), id: 'one' });
const wire = openWire(service.origin);
after(() => wire.close());

function assertHeaders(answer: Answer, where: string, caching: string | null = 'no-store'): void {
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff', where);
  assert.equal(answer.headers.get('strict-transport-security'), 'max-age=31536000; includeSubDomains', where);
  if (caching !== null) assert.equal(answer.headers.get('cache-control'), caching, where);
}

test('answers with data rest nowhere, and conditional reads go on', async () => {
  assertHeaders(stored, 'update');
  const { headers } = full;
  for (const path of [
    'Patient/one',
    'Patient/one/_history/1',
    'Patient/one/_history',
    'Patient',
    'Patient/one/$everything',
    'AuditEvent',
    'Patient/none',
    'Patient?unknown=1',
  ])
    assertHeaders(await full.get(path), path);
  const known = await full.get('Patient/one', { ...headers, 'if-none-match': 'W/"1"' });
  assert.equal(known.status, 304);
  assertHeaders(known, '304');
});

test('so do refusals, token endpoints, administration and health', async () => {
  for (const path of [
    '/sandbox/firm/maple/pm/fhir/v2/Patient',
    '/nowhere',
    '/health/live',
    '/health/ready',
    '/admin/api/firms',
    '/sandbox/firm/maple/pm/ws/oauth2/grant',
    '/auth/realms/sandbox/protocol/openid-connect/token',
    '/sandbox/firm/maple/pm/content/none',
  ])
    assertHeaders(await wire.send({ path }), path, null);
  const token = await wire.send({ method: 'POST', path: '/auth/realms/sandbox/protocol/openid-connect/token' });
  assertHeaders(token, 'token');
});

test('pages that caches may keep say so, and are sniffed by nobody', async () => {
  for (const path of ['/', '/docs', '/openapi.json', '/auth/realms/sandbox/protocol/openid-connect/certs'])
    assertHeaders(await wire.send({ path }), path, null);
  assertHeaders(await wire.send({ path: '/openapi.json' }), 'openapi', 'public, max-age=300');
});

test('what is no HTTP is answered with them, too', async () => {
  const raw = await openRaw(service.origin);
  raw.write('GET /a b HTTP/1.1\r\nhost: x\r\n\r\n');
  const answer = await raw.answer();
  assert.equal(answer.status, 400);
  assertHeaders(answer, 'broken request');
  raw.destroy();
});

test('metrics are sniffed by nobody', async () => {
  const page = await openMetricsPage('127.0.0.1', 0, service.service.parts.metrics.registry);
  after(() => page.close());
  for (const path of ['/metrics', '/other'])
    assert.equal((await fetch(page.origin + path)).headers.get('x-content-type-options'), 'nosniff', path);
});

test('without the setting nothing is said about TLS', async () => {
  const plain = await openTestService({ after });
  const answer = await fetch(`${plain.origin}/health/live`);
  assert.equal(answer.headers.get('strict-transport-security'), null);
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
});

test('every 503 of the errors table says when to come again, by its own words where it has some', () => {
  const codes = Object.keys(errorTable) as ErrorCode[];
  const temporary = codes.filter((code) => errorTable[code].status === 503);
  assert.deepEqual(temporary.sort(), ['legacy-paused', 'stale-access', 'statement-timeout', 'unavailable']);
  for (const code of codes) {
    const said = buildErrorHeaders(new PraxisError(code, { diagnostics: 'x' }))['retry-after'];
    assert.equal(said, temporary.includes(code) ? '5' : undefined, code);
    const own = { diagnostics: 'x', headers: { 'retry-after': '77' } };
    assert.equal(buildErrorHeaders(new PraxisError(code, own))['retry-after'], '77', code);
  }
});

test('a lost database is 503 with the time to come again, for data, administration, tokens and readiness', async () => {
  const lost = await openTestService({ after });
  const firm = await makeFirm(lost, 'maple');
  const caller = await openCaller(lost, await makeApplication(lost, 'Full', ['acl/*'], [firm]), firm);
  await lost.platform.database.close();
  for (const answer of [
    await caller.get('Patient'),
    await caller.send('POST', 'Patient', patient('Stone')),
    await caller.get(`${lost.origin}/health/ready`),
    await caller.get(`${lost.origin}/admin/api/me`, { authorization: 'Bearer x' }),
    await caller.send('POST', `${lost.origin}/auth/realms/sandbox/protocol/openid-connect/token`, 'a=b', {
      'content-type': 'application/x-www-form-urlencoded',
    }),
  ]) {
    if (answer.status === 503) assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/, answer.text);
    else assert.ok(answer.status < 500, answer.text);
  }
  assert.equal((await caller.get(`${lost.origin}/health/ready`)).status, 503);
});
