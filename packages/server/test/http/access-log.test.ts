/**
 * The log of requests: one line for each at `info` where it is asked for, with a template in the place of the path. Values are planted
 * wherever a caller can put one, and looked for in everything that is logged.
 */
import assert from 'node:assert/strict';
import test, { after, beforeEach } from 'node:test';
import { pino } from 'pino';
import { connect, refusalOf } from '../practice/subscriptions/socket-client.ts';
import { patient } from '../support/records.ts';
import {
  clientForm,
  clientTokenUrl,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  passwordForm,
  postForm,
} from '../support/service.ts';
import { openRaw, openWire } from '../support/wire.ts';

interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

let lines: string[] = [];
const levels = { level: (label: string) => ({ level: label }) };
const log = pino({ level: 'info', base: null, formatters: levels }, { write: (line: string) => void lines.push(line) });
const service = await openTestService({ after }, { PRAXIS_ACCESS_LOG: 'true' }, log);
const maple = await makeFirm(service, 'maple');
const vendor = await makeApplication(service, 'Vendor', ['acl/*'], [maple]);
const caller = await openCaller(service, vendor, maple);
const wire = openWire(service.origin);
after(() => wire.close());
beforeEach(() => {
  lines = [];
});

const tenant = '/{environment}/firm/{firm}/{product}';
const base = '/sandbox/firm/maple/pm/fhir/v2';

function parse(): readonly LogLine[] {
  return lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
}

/** The line of the only request since the last call, without its time and duration, which are of the right form. */
async function takeLine(): Promise<object> {
  while (parse().length === 0) await new Promise((resolve) => setImmediate(resolve));
  const [line, ...others] = parse();
  assert.ok(line !== undefined && others.length === 0, lines.join(''));
  lines = [];
  const { time: _time, ms, ...rest } = line;
  assert.ok(typeof ms === 'number' && ms >= 0 && /^\d+(\.\d)?$/.test(String(ms)), String(ms));
  return rest;
}

const info = { level: 'info', msg: 'request' };

test('a line has method, template, status, request id and environment; a refusal has its code as well', async () => {
  const id = { 'x-request-id': 'trace-1' };
  const made = await wire.send({
    method: 'POST',
    path: `${base}/Patient`,
    headers: { ...caller.headers, ...id, 'content-type': 'application/fhir+json' },
    body: JSON.stringify(patient('Stone')),
  });
  assert.equal(made.status, 201);
  const line = { ...info, requestId: 'trace-1', route: 'fhir', environment: 'sandbox' };
  assert.deepEqual(await takeLine(), { ...line, method: 'POST', path: `${tenant}/fhir/v2/Patient`, status: 201 });
  await wire.send({ path: `${base}/Patient/none`, headers: { ...caller.headers, ...id } });
  assert.deepEqual(await takeLine(), {
    ...line,
    method: 'GET',
    path: `${tenant}/fhir/v2/Patient/{id}`,
    status: 404,
    code: 'resource-not-found',
  });
  await postForm(clientTokenUrl(service), { ...clientForm(vendor), client_secret: 'wrong' }, vendor.clientKey, id);
  assert.deepEqual(await takeLine(), {
    ...info,
    requestId: 'trace-1',
    method: 'POST',
    route: 'realm',
    path: '/auth/realms/{realm}/protocol/openid-connect/token',
    status: 401,
    code: 'invalid_client',
  });
});

const templates: readonly (readonly [method: string, path: string, template: string])[] = [
  ['GET', '/', '/'],
  ['GET', '/docs', '/docs'],
  ['GET', '/nowhere', '{unknown}'],
  ['GET', '/Health/live', '{unknown}'],
  ['GET', `${base}/metadata`, `${tenant}/fhir/v2/metadata`],
  ['GET', base, `${tenant}/fhir/v2`],
  ['GET', `${base}/_history`, `${tenant}/fhir/v2/_history`],
  ['POST', `${base}/_search`, `${tenant}/fhir/v2/_search`],
  ['GET', `${base}/Patient?name=a`, `${tenant}/fhir/v2/Patient`],
  ['POST', `${base}/Patient/_search`, `${tenant}/fhir/v2/Patient/_search`],
  ['GET', `${base}/Patient/_history`, `${tenant}/fhir/v2/Patient/_history`],
  ['DELETE', `${base}/Patient/x`, `${tenant}/fhir/v2/Patient/{id}`],
  ['GET', `${base}/Patient/x/_history`, `${tenant}/fhir/v2/Patient/{id}/_history`],
  ['GET', `${base}/Patient/x/_history/2`, `${tenant}/fhir/v2/Patient/{id}/_history/{vid}`],
  ['GET', `${base}/Patient/x/Observation`, `${tenant}/fhir/v2/Patient/{id}/Observation`],
  ['POST', `${base}/Patient/x/Observation/_search`, `${tenant}/fhir/v2/Patient/{id}/Observation/_search`],
  ['GET', `${base}/Patient/x/*`, `${tenant}/fhir/v2/Patient/{id}/*`],
  ['POST', `${base}/Patient/x/*/_search`, `${tenant}/fhir/v2/Patient/{id}/*/_search`],
  ['GET', `${base}/$changes`, `${tenant}/fhir/v2/$changes`],
  ['GET', `${base}/Patient/x/$everything`, `${tenant}/fhir/v2/Patient/{id}/$everything`],
  ['GET', `${base}/Patient/x/$nothing`, `${tenant}/fhir/v2/Patient/{id}/{operation}`],
  ['GET', `${base}/Stone`, `${tenant}/fhir/v2/{type}`],
  ['GET', `${base}/Stone/Ada`, `${tenant}/fhir/v2/{type}/{id}`],
  ['GET', `${base}/Patient/x/Stone`, `${tenant}/fhir/v2/Patient/{id}/{type}`],
  ['GET', `${base}/stone/ada/born/1970`, `${tenant}/fhir/v2/{unknown}`],
  ['GET', `${base}/.well-known/smart-configuration`, `${tenant}/fhir/v2/.well-known/smart-configuration`],
  ['GET', `/.well-known/oauth-protected-resource${base}`, `/.well-known/oauth-protected-resource${tenant}/fhir/v2`],
  ['POST', '/sandbox/firm/maple/pm/ws/oauth2/grant', `${tenant}/ws/oauth2/grant`],
  ['GET', '/sandbox/firm/maple/pm/ws/subscriptions', `${tenant}/ws/subscriptions`],
  ['GET', '/sandbox/firm/maple/pm/content/x', `${tenant}/content/{id}`],
  ['GET', '/auth/realms/sandbox/protocol/openid-connect/certs', '/auth/realms/{realm}/protocol/openid-connect/certs'],
  [
    'POST',
    '/auth/realms/stone/protocol/openid-connect/token/introspect',
    '/auth/realms/{realm}/protocol/openid-connect/token/introspect',
  ],
  [
    'GET',
    '/auth/realms/sandbox/.well-known/openid-configuration',
    '/auth/realms/{realm}/.well-known/openid-configuration',
  ],
  ['GET', '/admin/openapi.json', '/admin/openapi.json'],
  ['POST', '/admin/api/sessions', '/admin/api/sessions'],
  [
    'GET',
    '/admin/api/environments/sandbox/firms/stone/accounts',
    '/admin/api/environments/{environment}/firms/{firm}/accounts',
  ],
  ['GET', '/admin/api/stone', '/admin/{unknown}'],
  ['GET', '/admin/stone', '/admin/{unknown}'],
];

for (const [method, path, template] of templates)
  test(`${method} ${path} is logged as ${template}`, async () => {
    await wire.send({ method, path, headers: caller.headers, ...(method === 'POST' ? { body: '' } : {}) });
    const line = await takeLine();
    assert.equal('path' in line && line.path, template);
    assert.equal('method' in line && line.method, method);
  });

test('an environment that does not exist, and one that another host serves, is not told', async () => {
  await wire.send({ path: '/stone/firm/maple/pm/fhir/v2/Patient', headers: caller.headers });
  assert.equal('environment' in (await takeLine()), false);
  await wire.send({ path: '/sandbox/firm/maple/stone/fhir/v2/Patient', headers: caller.headers });
  assert.equal('environment' in (await takeLine()), false);
});

test('probes have a line only when something is wrong', async () => {
  for (const path of ['/health/live', '/health/ready']) assert.equal((await wire.send({ path })).status, 200);
  assert.equal((await wire.send({ method: 'POST', path: '/health/ready', body: '' })).status, 405);
  const line = await takeLine();
  assert.deepEqual('path' in line && [line.path, 'status' in line && line.status], ['/health/ready', 405]);
});

test('what is no request of HTTP has a line without any of its words', async () => {
  const raw = await openRaw(service.origin);
  raw.write('STONE /ada HTTP/1.1\r\nhost: x\r\n\r\n');
  assert.equal((await raw.answer()).status, 501);
  raw.destroy();
  const { requestId, ...line } = (await takeLine()) as { readonly requestId: string };
  assert.match(requestId, /^[0-9a-f-]{36}$/);
  assert.deepEqual(line, { ...info, route: 'other', path: '{unknown}', status: 501, code: 'method-unknown' });
});

test('a websocket has a line when it opens, and one when it is refused', async () => {
  const url = `${service.origin.replace('http', 'ws')}/sandbox/firm/maple/pm/ws/subscriptions`;
  await connect({ after }, url);
  const line = { ...info, method: 'GET', route: 'websocket', path: `${tenant}/ws/subscriptions` };
  assert.deepEqual(await takeLine(), { ...line, status: 101, environment: 'sandbox' });
  await refusalOf(url.replace('sandbox', 'stone'));
  assert.deepEqual(await takeLine(), { ...line, status: 404, code: 'path-unknown' });
});

test('no value that is planted anywhere in a request is in the log', async () => {
  const planted: string[] = [];
  const plant = (): string => {
    planted.push(`Zq${planted.length}Planted`);
    return planted.at(-1) ?? '';
  };
  const { authorization = '' } = caller.headers;
  const type = { 'content-type': 'application/fhir+json' };
  const resource = {
    ...patient(plant()),
    id: plant(),
    identifier: [{ system: `urn:${plant()}`, value: plant() }],
    telecom: [{ system: 'phone', value: plant() }],
  };
  const headers = {
    ...caller.headers,
    ...type,
    'user-agent': plant(),
    referer: `https://example.com/${plant()}`,
    cookie: plant(),
    'x-forwarded-for': plant(),
    'if-none-match': `W/"${plant()}"`,
    'idempotency-key': `"${plant()}"`,
    prefer: plant(),
  };
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const sent: readonly { method: string; path: string; headers: Record<string, string>; body?: string }[] = [
    { method: 'PUT', path: `${base}/Patient/${resource.id}`, headers, body: JSON.stringify(resource) },
    { method: 'PUT', path: `${base}/Patient?identifier=${plant()}`, headers, body: JSON.stringify(resource) },
    { method: 'GET', path: `${base}/Patient/${plant()}`, headers },
    { method: 'GET', path: `${base}/Patient/${plant()}/_history/${plant()}`, headers },
    { method: 'GET', path: `${base}/Patient?family=${plant()}&${plant()}=${plant()}#${plant()}`, headers },
    { method: 'POST', path: `${base}/Patient/_search`, headers: { ...headers, ...form }, body: `family=${plant()}` },
    { method: 'GET', path: `${base}/${plant()}/${plant()}`, headers },
    { method: 'GET', path: `${base}/Patient/x/$${plant()}`, headers },
    { method: 'GET', path: `${base}/Patient/x/${plant()}`, headers },
    { method: 'GET', path: `${base}/Patient?access_token=${plant()}`, headers },
    { method: 'GET', path: `${base}/Patient`, headers: { ...headers, authorization: `Bearer ${plant()}` } },
    { method: 'GET', path: `${base}/Patient`, headers: { ...headers, 'x-api-key': plant() } },
    { method: 'GET', path: `/sandbox/firm/${plant().toLowerCase()}/pm/fhir/v2/Patient`, headers },
    { method: 'GET', path: `/${plant().toLowerCase()}/firm/maple/pm/fhir/v2/Patient`, headers },
    { method: 'GET', path: `/sandbox/firm/maple/${plant().toLowerCase()}/fhir/v2/Patient`, headers },
    { method: 'GET', path: `/auth/realms/${plant().toLowerCase()}/protocol/openid-connect/certs`, headers },
    { method: 'GET', path: `/sandbox/firm/maple/pm/content/${plant()}?t=${plant()}`, headers },
    {
      method: 'POST',
      path: '/admin/api/sessions',
      headers,
      body: JSON.stringify({ username: plant(), password: plant() }),
    },
    { method: 'GET', path: `/admin/api/environments/${plant()}/firms/${plant()}`, headers: { authorization } },
    { method: 'GET', path: `/${plant()}`, headers },
    { method: plant().toUpperCase(), path: `/${plant()}`, headers: {} },
    {
      method: 'POST',
      path: base,
      headers,
      body: JSON.stringify({
        resourceType: 'Bundle',
        type: 'batch',
        entry: [{ request: { method: 'GET', url: `Patient/${plant()}` }, fullUrl: `urn:${plant()}` }],
      }),
    },
    { method: 'POST', path: `${base}/Patient`, headers, body: `{"${plant()}": ` },
  ];
  for (const request of sent) await wire.send(request).catch(() => undefined);
  await postForm(maple.legacyTokenUrl, { ...passwordForm(vendor, maple), password: plant() }, plant());
  await postForm(clientTokenUrl(service), { grant_type: plant(), client_id: plant(), client_secret: plant() }, plant());
  // A request id that is not well formed is a value; one that is comes back in the line, as docs/operate/monitor.md says.
  await wire.send({ path: `${base}/Patient`, headers: { ...headers, 'x-request-id': `${plant()} ${plant()}` } });
  await wire.send({ path: '/', headers: { 'x-request-id': 'the-last' } });
  while (!parse().some(({ requestId }) => requestId === 'the-last'))
    await new Promise((resolve) => setImmediate(resolve));
  assert.ok(parse().length > sent.length, `${parse().length} lines`);
  const all = lines.join('').toLowerCase();
  for (const value of planted) assert.ok(!all.includes(value.toLowerCase()), `${value}: ${all}`);
  for (const value of ['maple', vendor.clientId, vendor.clientKey, authorization.slice(7, 40)])
    assert.ok(!all.includes(value.toLowerCase()), value);
});

test('by default requests are not logged at info, and at debug they are', async (t) => {
  for (const level of ['info', 'debug'] as const) {
    const said: LogLine[] = [];
    const quiet = pino({ level, formatters: levels }, { write: (line: string) => void said.push(JSON.parse(line)) });
    const { origin } = await openTestService(t, {}, quiet);
    // The line of a request is written before the next one of its caller is answered.
    for (const path of ['/', '/nowhere']) await fetch(origin + path);
    const [first] = said.filter(({ msg }) => msg === 'request');
    assert.deepEqual([first?.level, first?.['path']], level === 'debug' ? ['debug', '/'] : [undefined, undefined]);
  }
});
