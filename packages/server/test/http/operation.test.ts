/**
 * What operators rely on: health, request ids that lead from an answer to the log and the audit row, and metrics that count
 * everything and name nobody.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { pino } from 'pino';
import { sql } from '../../src/database/sql.ts';
import { openMetricsPage } from '../../src/http/pages/metrics-page.ts';
import { version } from '../../src/version.ts';
import { patient } from '../support/records.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { openWire } from '../support/wire.ts';

const lines: string[] = [];
const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
const service = await openTestService({ after }, {}, log);
const maple = await makeFirm(service, 'maple');
const vendor = await makeApplication(service, 'Vendor', ['acl/*'], [maple]);
const caller = await openCaller(service, vendor, maple);
const wire = openWire(service.origin);
after(() => wire.close());

const base = '/sandbox/firm/maple/pm/fhir/v2';
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const fhirJson = { 'content-type': 'application/fhir+json' };

test('health is open to everybody, is never stored and tells nothing else', async () => {
  for (const path of ['/health/live', '/health/ready']) {
    const answer = await wire.send({ path });
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.json, { status: 'ok' });
    assert.equal(answer.headers.get('cache-control'), 'no-store');
  }
});

test('the page at / says what this is, without scripts or anything from elsewhere', async () => {
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  const answer = await wire.send({ path: '/', headers: { accept: browser } });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.match(answer.text, /<h1>Praxis<\/h1>/);
  assert.match(answer.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  assert.ok(!/<script|src=|https?:\/\//.test(answer.text));
});

test('at / programs get JSON if they name it, and text otherwise, and neither tells of a sandbox that is none', async () => {
  const { status, headers, json } = await wire.send({ path: '/', headers: { accept: 'application/json' } });
  assert.deepEqual([status, headers.get('content-type')], [200, 'application/json; charset=utf-8']);
  assert.equal(headers.get('vary'), 'Accept');
  assert.deepEqual(Object.keys(json), ['name', 'version', 'about', 'credentials', 'paths']);
  assert.deepEqual([json.name, json.version, json.paths.reference], ['Praxis', version, 'GET /docs']);
  for (const accept of [undefined, '*/*', 'text/plain', 'text/html;q=0', 'image/png']) {
    const plain = await wire.send({ path: '/', headers: accept === undefined ? {} : { accept } });
    assert.equal(plain.headers.get('content-type'), 'text/plain; charset=utf-8', accept);
    assert.match(plain.text, new RegExp(`^Praxis ${version.replaceAll('.', '\\.')}\n`));
    assert.match(plain.text, /^Reference +GET {3}\/docs$/m);
    assert.doesNotMatch(plain.text, /curl|sandbox/);
  }
});

test('every answer has a request id; a well-formed one of the caller is kept', async () => {
  for (const path of [
    '/',
    '/health/live',
    '/nowhere',
    `${base}/Patient`,
    `${base}/metadata`,
    '/auth/realms/sandbox/protocol/openid-connect/certs',
  ]) {
    assert.match((await wire.send({ path })).headers.get('x-request-id') ?? '', uuid, path);
    const kept = await wire.send({ path, headers: { 'x-request-id': 'Trace-1.2_3' } });
    assert.equal(kept.headers.get('x-request-id'), 'Trace-1.2_3', path);
  }
  const token = await wire.send({
    method: 'POST',
    path: '/auth/realms/sandbox/protocol/openid-connect/token',
    headers: { 'x-request-id': 'abc' },
    body: '',
  });
  assert.equal(token.headers.get('x-request-id'), 'abc');
});

test('a request id that could forge a log line or a header is replaced', async () => {
  for (const id of ['', 'a b', 'a"b', 'x'.repeat(65), '{"level":"error"}', 'a,b', '../x', '\u00e9', '<script>']) {
    const answer = await wire.send({ path: '/health/live', headers: { 'x-request-id': id } });
    assert.match(answer.headers.get('x-request-id') ?? '', uuid, id);
  }
  const twice = await wire.send({ path: '/health/live', headers: { 'x-request-id': ['a', 'b'] } });
  assert.match(twice.headers.get('x-request-id') ?? '', uuid);
});

test('ids of two requests differ', async () => {
  const ids = await Promise.all(
    Array.from({ length: 50 }, async () => (await wire.send({ path: '/health/live' })).headers.get('x-request-id')),
  );
  assert.equal(new Set(ids).size, 50);
});

test('the id leads to the log line and to the audit row of a write', async () => {
  const sent = { ...caller.headers, ...fhirJson, 'x-request-id': 'find-me-1' };
  const created = await wire.send({
    method: 'POST',
    path: `${base}/Patient`,
    headers: sent,
    body: JSON.stringify(patient('Stone')),
  });
  assert.equal(created.status, 201);
  const rows = await service.database.owner.query(
    sql`SELECT interaction, id FROM audit_ledger WHERE request_id = 'find-me-1'`,
  );
  assert.deepEqual(rows, [{ interaction: 'create', id: created.json.id }]);
  const line = lines.map((text) => JSON.parse(text)).find(({ requestId }) => requestId === 'find-me-1');
  assert.deepEqual(
    { method: line?.method, route: line?.route, status: line?.status },
    { method: 'POST', route: 'fhir', status: 201 },
  );
});

test('logs hold no path of a firm, no query value, no credential', async () => {
  const token = caller.headers['authorization']?.slice('Bearer '.length) ?? '';
  await wire.send({ path: `${base}/Patient?family=Hemoglobin&identifier=12345`, headers: caller.headers });
  await wire.send({ path: `${base}/Patient?access_token=${token}`, headers: { 'x-api-key': vendor.clientKey } });
  await wire.send({
    path: `${base}/Patient/secret-id-1`,
    headers: { authorization: 'Bearer garbage', 'x-api-key': vendor.clientKey },
  });
  const all = lines.join('');
  assert.ok(lines.length > 10);
  for (const secret of [
    token,
    token.slice(0, 40),
    vendor.clientKey,
    vendor.clientSecret,
    'Hemoglobin',
    '12345',
    'maple',
    'secret-id-1',
    'Stone',
    'garbage',
  ])
    assert.ok(!all.includes(secret), secret);
});

test('metrics: on a port of their own, counting by route, method, status and reason, naming nobody', async (t) => {
  const page = await openMetricsPage('127.0.0.1', 0, service.service.parts.metrics.registry);
  t.after(() => page.close());
  await wire.send({ path: `${base}/Patient/secret-id-2`, headers: caller.headers });
  await wire.send({ path: `${base}/Patient` });
  const scraped = await fetch(`${page.origin}/metrics`);
  assert.equal(scraped.status, 200);
  assert.match(scraped.headers.get('content-type') ?? '', /^text\/plain/);
  const text = await scraped.text();
  for (const pattern of [
    /^praxis_http_request_duration_seconds_count\{route="fhir",method="GET",status="404"\} [1-9]/m,
    /^praxis_http_request_duration_seconds_count\{route="fhir",method="GET",status="401"\} [1-9]/m,
    /^praxis_denials_total\{reason="credentials-missing"\} [1-9]/m,
    /^praxis_denials_total\{reason="resource-not-found"\} [1-9]/m,
    /^praxis_token_requests_total\{flow="client_credentials",outcome="issued"\} [1-9]/m,
    /^praxis_http_requests_in_flight 0$/m,
    /^process_cpu_user_seconds_total /m,
  ]) {
    assert.match(text, pattern);
  }
  for (const name of ['maple', 'secret-id', 'Vendor', vendor.clientId]) assert.ok(!text.includes(name), name);
  for (const [method, path] of [
    ['GET', '/'],
    ['GET', '/metrics/x'],
    ['POST', '/metrics'],
    ['GET', `${base}/metadata`],
  ] as const)
    assert.equal((await fetch(page.origin + path, { method })).status, 404, path);
});

test('the API itself has no metrics page', async () => {
  assert.equal((await wire.send({ path: '/metrics' })).status, 404);
  assert.equal((await wire.send({ path: '/metrics', headers: caller.headers })).status, 404);
});
