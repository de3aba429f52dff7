/**
 * Browsers of other origins (https://fetch.spec.whatwg.org/#http-cors-protocol): nothing unless PRAXIS_CORS_ORIGINS names
 * the origin; then preflights pass with `Authorization` and `x-api-key`, and every answer may be read, refusals too.
 */
import assert from 'node:assert/strict';
import test, { after, type TestContext } from 'node:test';
import { captureLog } from '../support/captured-log.ts';
import { type Answer, makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { openWire, type WireRequest } from '../support/wire.ts';

const base = '/sandbox/firm/maple/pm/fhir/v2';
const app = 'https://app.example.com';
const other = 'https://second.example.com:8443';

interface Browser {
  readonly service: Awaited<ReturnType<typeof openTestService>>;
  readonly credentials: Readonly<Record<string, string>>;
  send(request: WireRequest): Promise<Answer>;
  preflight(origin: string, path: string, method: string): Promise<Answer>;
}

async function openBrowser(
  t: Pick<TestContext, 'after'> | { after: typeof after },
  corsOrigins?: string,
): Promise<Browser> {
  const service = await openTestService(
    { after: (work) => t.after(work) },
    corsOrigins === undefined ? {} : { PRAXIS_CORS_ORIGINS: corsOrigins, PRAXIS_BODY_BYTES_MAX: '1024' },
  );
  const maple = await makeFirm(service, 'maple');
  const vendor = await makeApplication(service, 'Vendor', ['acl/pat_r', 'acl/pat_s'], [maple]);
  const wire = openWire(service.origin);
  t.after(async () => wire.close());
  return {
    service,
    credentials: (await openCaller(service, vendor, maple)).headers,
    send: wire.send,
    preflight: (origin, path, method) =>
      wire.send({
        method: 'OPTIONS',
        path,
        headers: {
          origin,
          'access-control-request-method': method,
          'access-control-request-headers': 'authorization,content-type,x-api-key',
        },
      }),
  };
}

const browser = await openBrowser({ after }, `${app},${other}`);

function corsHeaders(answer: Answer): string[] {
  return [...answer.headers.keys()].filter((name) => name.startsWith('access-control-'));
}

function listOf(answer: Answer, name: string): string[] {
  return (answer.headers.get(name) ?? '').split(',').map((word) => word.trim().toLowerCase());
}

test('disabled by default: no answer carries a CORS header, a preflight is any other request', async (t) => {
  const plain = await openBrowser(t);
  for (const path of [`${base}/Patient`, `${base}/metadata`, '/auth/realms/sandbox/protocol/openid-connect/token']) {
    const preflight = await plain.preflight(app, path, 'POST');
    assert.ok(preflight.status >= 400, path);
    assert.deepEqual(corsHeaders(preflight), []);
    const actual = await plain.send({ path, headers: { ...plain.credentials, origin: app } });
    assert.deepEqual(corsHeaders(actual), []);
    assert.ok(listOf(actual, 'vary').includes('origin'), `${path}: of the sandbox, which localhost may call`);
  }
  for (const path of ['/openapi.json', '/prod/firm/oak/pm/fhir/v2/metadata', '/health/live', '/nowhere']) {
    const answer = await plain.send({ path, headers: { origin: app } });
    assert.deepEqual(corsHeaders(answer), [], path);
    assert.ok(!listOf(answer, 'vary').includes('origin'), path);
  }
});

test('a preflight without the setting says in the answer, and once a minute in the log, which setting is missing', async (t) => {
  const { log, lines } = captureLog();
  const service = await openTestService({ after: (work) => t.after(work) }, {}, log);
  const wire = openWire(service.origin);
  t.after(() => wire.close());
  const headers = { origin: app, 'access-control-request-method': 'GET' };
  for (const path of [
    `${base}/Patient`,
    '/prod/firm/oak/pm/fhir/v2/Patient',
    '/auth/realms/sandbox/protocol/openid-connect/token',
  ]) {
    const answer = await wire.send({ method: 'OPTIONS', path, headers });
    assert.equal(answer.status, 405, path);
    assert.match(answer.json.issue[0].diagnostics, /the setting PRAXIS_CORS_ORIGINS names none/);
    assert.deepEqual(corsHeaders(answer), []);
  }
  const said = (): number => lines.filter((line) => line.includes('PRAXIS_CORS_ORIGINS names no origin')).length;
  assert.equal(said(), 1);
  service.clock.advance(60_000);
  await wire.send({ method: 'OPTIONS', path: base, headers });
  assert.equal(said(), 2);
});

test('the sandbox, and it alone, lets localhost in without the setting', async (t) => {
  const plain = await openBrowser(t);
  const token = '/auth/realms/sandbox/protocol/openid-connect/token';
  for (const origin of ['http://localhost:3000', 'http://127.0.0.1:5173', 'http://localhost']) {
    for (const path of [`${base}/Patient`, token]) {
      const preflight = await plain.preflight(origin, path, 'POST');
      assert.equal(preflight.status, 204, `${origin} ${path}`);
      assert.equal(preflight.headers.get('access-control-allow-origin'), origin);
    }
    const actual = await plain.send({ path: `${base}/Patient`, headers: { ...plain.credentials, origin } });
    assert.deepEqual([actual.status, actual.headers.get('access-control-allow-origin')], [200, origin]);
    for (const path of [
      '/training/firm/maple/pm/fhir/v2/Patient',
      '/prod/firm/oak/pm/fhir/v2/Patient',
      '/auth/realms/production/protocol/openid-connect/token',
      '/admin/api/firms',
      '/nowhere',
    ]) {
      const preflight = await plain.preflight(origin, path, 'GET');
      assert.ok(preflight.status >= 400, path);
      assert.deepEqual(corsHeaders(preflight), [], path);
      assert.deepEqual(corsHeaders(await plain.send({ path, headers: { origin } })), [], path);
    }
  }
  for (const origin of [
    'https://localhost.evil.example',
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example:80',
    'http://localhost:1/x',
    'null',
  ])
    assert.deepEqual(corsHeaders(await plain.preflight(origin, `${base}/Patient`, 'GET')), [], origin);
});

test('a stranger gets no CORS header that names it, in preflights and in answers', async () => {
  for (const origin of [
    'https://evil.example',
    'http://app.example.com',
    'https://app.example.com:444',
    'https://app.example.com.evil.example',
    'https://xapp.example.com',
    'https://app.example.com/',
    'null',
    '*',
    '',
  ]) {
    for (const answer of [
      await browser.preflight(origin, `${base}/Patient`, 'GET'),
      await browser.send({ path: `${base}/Patient`, headers: { ...browser.credentials, origin } }),
    ]) {
      assert.equal(answer.headers.get('access-control-allow-origin'), null, origin);
      assert.equal(answer.headers.get('access-control-allow-credentials'), null);
    }
  }
});

test('a preflight of a listed origin passes without credentials, for both of our headers and every method', async () => {
  for (const origin of [app, other]) {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await browser.preflight(origin, `${base}/Patient/one`, method);
      assert.equal(answer.status, 204);
      assert.equal(answer.text, '');
      assert.equal(answer.headers.get('access-control-allow-origin'), origin);
      assert.ok(listOf(answer, 'access-control-allow-methods').includes(method.toLowerCase()));
      const allowed = listOf(answer, 'access-control-allow-headers');
      for (const header of ['authorization', 'x-api-key', 'content-type', 'if-match', 'prefer', 'if-none-exist'])
        assert.ok(allowed.includes(header), header);
      for (const header of ['idempotency-key', 'content-digest']) assert.ok(allowed.includes(header), header);
      assert.equal(answer.headers.get('access-control-max-age'), '600');
      assert.equal(answer.headers.get('access-control-allow-credentials'), null);
      assert.ok(listOf(answer, 'vary').includes('origin'));
      assert.match(answer.headers.get('x-request-id') ?? '', /^[\w.-]+$/);
    }
  }
  const token = await browser.preflight(app, '/auth/realms/sandbox/protocol/openid-connect/token', 'POST');
  assert.equal(token.status, 204);
  assert.equal(token.headers.get('access-control-allow-origin'), app);
});

test('every answer to a listed origin may be read: success, refusals and broken bodies', async () => {
  const { credentials } = browser;
  const json = { 'content-type': 'application/fhir+json' };
  const requests: readonly (WireRequest & { readonly status: number })[] = [
    { path: `${base}/Patient`, headers: credentials, status: 200 },
    { path: `${base}/Patient/unknown`, headers: credentials, status: 404 },
    { path: `${base}/Observation`, headers: credentials, status: 403 },
    { path: `${base}/Patient`, status: 401 },
    { path: '/nowhere', status: 404 },
    { path: `${base}/metadata`, status: 200 },
    { path: '/health/live', status: 200 },
    { method: 'POST', path: `${base}/Patient`, headers: { ...credentials, ...json }, body: '{', status: 403 },
    { method: 'POST', path: '/auth/realms/sandbox/protocol/openid-connect/token', body: '', status: 400 },
    {
      method: 'POST',
      path: `${base}/Patient/_search`,
      headers: { ...credentials, 'content-type': 'application/x-www-form-urlencoded' },
      body: `name=${'x'.repeat(2000)}`,
      status: 413,
    },
  ];
  for (const { status, headers, ...request } of requests) {
    const answer = await browser.send({ ...request, headers: { ...headers, origin: app } });
    assert.equal(answer.status, status, `${request.path}: ${answer.text}`);
    assert.equal(answer.headers.get('access-control-allow-origin'), app, request.path);
    assert.ok(listOf(answer, 'vary').includes('origin'), request.path);
    const exposed = listOf(answer, 'access-control-expose-headers');
    for (const header of [
      'etag',
      'location',
      'content-location',
      'last-modified',
      'www-authenticate',
      'x-request-id',
      'retry-after',
    ])
      assert.ok(exposed.includes(header), header);
  }
});

test('an answer with data varies by origin and by both credentials', async () => {
  const answer = await browser.send({ path: `${base}/Patient`, headers: { ...browser.credentials, origin: app } });
  assert.deepEqual(listOf(answer, 'vary').toSorted(), ['accept', 'authorization', 'origin', 'x-api-key']);
});

test('OPTIONS that is no preflight is a method like any other', async () => {
  for (const headers of [{ origin: app }, { 'access-control-request-method': 'GET' }, {}]) {
    const sent = { ...browser.credentials, ...headers };
    const answer = await browser.send({ method: 'OPTIONS', path: `${base}/Patient`, headers: sent });
    assert.equal(answer.status, 405, JSON.stringify(headers));
    assert.equal(answer.json.resourceType, 'OperationOutcome');
  }
});

test('preflights are counted like other requests', async () => {
  const { requestsInFlight } = browser.service.service.parts.metrics;
  await browser.preflight(app, `${base}/Patient`, 'GET');
  const { values } = await requestsInFlight.get();
  assert.deepEqual(
    values.map(({ value }) => value),
    [0],
  );
});

test('* lets every origin in, and still no cookies', async (t) => {
  const open = await openBrowser(t, '*');
  const preflight = await open.preflight('https://anybody.example', `${base}/Patient`, 'GET');
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers.get('access-control-allow-origin'), '*');
  assert.equal(preflight.headers.get('access-control-allow-credentials'), null);
  assert.ok(listOf(preflight, 'access-control-allow-headers').includes('x-api-key'));
  const actual = await open.send({ path: `${base}/Patient`, headers: { ...open.credentials, origin: 'null' } });
  assert.equal(actual.status, 200);
  assert.equal(actual.headers.get('access-control-allow-origin'), '*');
});
