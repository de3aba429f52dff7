/**
 * The path grammar against hostile and odd paths, by real HTTP and with credentials that open both firms: whatever is not
 * the path of a tenant exactly as documented is 404 with an OperationOutcome, and never the path of another tenant.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { patient } from '../support/records.ts';
import { assertRefused } from '../support/refusals.ts';
import { type Answer, makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { tenantRows } from '../support/tenant-rows.ts';
import { openRaw, openWire } from '../support/wire.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const operator = await makeApplication(service, 'Operator', ['acl/*'], [maple, cedar]);
const full = await openCaller(service, operator, maple);
const { headers } = full;
for (const firm of [maple, cedar]) {
  const caller = await openCaller(service, operator, firm);
  const stored = await caller.send('PUT', 'Patient/one', { ...patient(`Secret of ${firm.prefix}`), id: 'one' });
  assert.equal(stored.status, 201);
}
const wire = openWire(service.origin);
after(() => wire.close());

const base = '/sandbox/firm/maple/pm/fhir/v2';
const long = 'a'.repeat(300);

const unknownPath = {
  status: 404,
  error: 'path-unknown',
  issue: 'not-found',
  diagnostics:
    'No such path, environment, product or realm: FHIR is served at /{environment}/firm/{firm}/{product}/fhir/v2/{Type}, tokens at /auth/realms/{realm}/protocol/openid-connect/token, administration at /admin/api; all in the letters and case shown at /docs',
};

/** Name of the oddity → paths. */
const unknown: Readonly<Record<string, readonly string[]>> = {
  'dot segments': [
    '/sandbox/firm/maple/../cedar/pm/fhir/v2/Patient/one',
    '/sandbox/firm/./maple/pm/fhir/v2/Patient/one',
    `${base}/../v2/Patient/one`,
    `${base}/Patient/../Patient/one`,
    `${base}/Patient/..`,
    `${base}/Patient/.`,
    `${base}/Patient/...`,
    `${base}/Patient/one/..`,
    `${base}/..`,
    '/..',
    '/../../etc/passwd',
  ],
  'encoded dot segments': [
    '/sandbox/firm/maple/%2e%2e/cedar/pm/fhir/v2/Patient/one',
    '/sandbox/firm/maple/%2E%2E/cedar/pm/fhir/v2/Patient/one',
    '/sandbox/firm/maple/.%2e/cedar/pm/fhir/v2/Patient/one',
    '/sandbox/firm/maple/%252e%252e/cedar/pm/fhir/v2/Patient/one',
    `${base}/Patient/%2e%2e`,
    `${base}/%2e%2e/%2e%2e/Patient`,
  ],
  'dot segments with parameters and backslashes': [
    '/sandbox/firm/maple/..;/cedar/pm/fhir/v2/Patient/one',
    '/sandbox/firm/maple/..%5ccedar/pm/fhir/v2/Patient/one',
    '/sandbox/firm/maple/..\\cedar/pm/fhir/v2/Patient/one',
  ],
  'encoded slashes': [
    '/sandbox/firm/maple%2f..%2fcedar/pm/fhir/v2/Patient/one',
    '/sandbox/firm/maple%2Fpm/fhir/v2/Patient/one',
    '/sandbox%2ffirm%2fmaple%2fpm%2ffhir%2fv2%2fPatient',
    `${base}/Patient%2fone`,
    `${base}/Patient/one%2f_history`,
  ],
  'double slashes and empty segments': [
    `/${base}/Patient`,
    '/sandbox//firm/maple/pm/fhir/v2/Patient',
    '/sandbox/firm//pm/fhir/v2/Patient',
    '/sandbox/firm/maple//fhir/v2/Patient',
    '//firm/maple/pm/fhir/v2/Patient',
    `${base}//Patient`,
    `${base}//`,
    `${base}/Patient//`,
    `${base}/Patient//one`,
    `${base}/Patient/one/_history//1`,
  ],
  'trailing slashes': [`${base}/Patient/one/`, `${base}/Patient/_search/`, `${base}/metadata/`, '/health/live/'],
  'upper case': [
    '/SANDBOX/firm/maple/pm/fhir/v2/Patient',
    '/sandbox/FIRM/maple/pm/fhir/v2/Patient',
    '/sandbox/firm/Maple/pm/fhir/v2/Patient',
    '/sandbox/firm/maple/PM/fhir/v2/Patient',
    '/sandbox/firm/maple/pm/FHIR/v2/Patient',
    '/sandbox/firm/maple/pm/fhir/V2/Patient',
    `${base}/patient`,
    `${base}/metaData`,
    '/Health/live',
  ],
  'encoded letters': [
    '/sandbox/firm/%6daple/pm/fhir/v2/Patient',
    '/%73andbox/firm/maple/pm/fhir/v2/Patient',
    `${base}/%50atient`,
    `${base}/%6detadata`,
  ],
  unicode: [
    '/sandbox/firm/m%C3%A4ple/pm/fhir/v2/Patient',
    '/sandbox/firm/%EF%BD%8Daple/pm/fhir/v2/Patient',
    `${base}/Pat%C4%B1ent`,
    `${base}/Patient/%ff`,
  ],
  'NUL and control characters': [
    '/sandbox/firm/maple%00/pm/fhir/v2/Patient',
    `${base}/Patient%00`,
    `${base}/Patient/one%00`,
    `${base}/Patient/one%0d%0aX-Injected:%20yes`,
    `${base}/Patient/one%09`,
  ],
  'broken percent-escapes': [
    '/%zz',
    `${base}/Patient/%`,
    `${base}/Patient/%4`,
    '/sandbox/firm/maple%/pm/fhir/v2/Patient',
  ],
  'segments of 300 characters': [
    `/${long}/firm/maple/pm/fhir/v2/Patient`,
    `/sandbox/firm/${long}/pm/fhir/v2/Patient`,
    `/sandbox/firm/maple/${long}/fhir/v2/Patient`,
    `${base}/P${long}`,
    `/sandbox/firm/${'a'.repeat(64)}/pm/fhir/v2/Patient`,
  ],
  'hyphens at the ends of a name': [
    '/sandbox/firm/-maple/pm/fhir/v2/Patient',
    '/sandbox/firm/maple-/pm/fhir/v2/Patient',
    '/sandbox/firm/ma_ple/pm/fhir/v2/Patient',
  ],
  'matrix parameters, suffixes and fragments': [
    `${base}/Patient;x=1`,
    '/sandbox/firm/maple;x=1/pm/fhir/v2/Patient',
    `${base}/Patient.json`,
    `${base}/Patient#one`,
    `${base}/Patient/one#`,
  ],
  'shapes that R4 does not have': [
    `${base}/Patient/one/_history/1/2`,
    `${base}/Patient/one/two`,
    `${base}/Patient/_history/1/2`,
    `${base}/Patient/one/_search`,
    `${base}/metadata/x`,
    '/sandbox/firm/maple/pm/fhir/v3/Patient',
    '/sandbox/firm/maple/pm/fhir/v2x',
    '/sandbox/firm/maple/pm/fhir',
    '/sandbox/firm/maple/fhir/v2/Patient',
    '/sandbox/maple/pm/fhir/v2/Patient',
  ],
  'unknown environment and product': [
    '/nowhere/firm/maple/pm/fhir/v2/Patient',
    '/sandbox/firm/maple/nowhere/fhir/v2/Patient',
    '/nowhere/firm/maple/pm/fhir/v2/metadata',
    '/constructor/firm/maple/pm/fhir/v2/Patient',
    '/sandbox/firm/maple/constructor/fhir/v2/Patient',
  ],
  'absolute and other forms of the target': [
    'http://user@sandbox.example.com/sandbox/firm/maple/pm/fhir/v2/Patient',
    'http:///sandbox/firm/maple/pm/fhir/v2/Patient',
    'http://sandbox.example.com//sandbox/firm/maple/pm/fhir/v2/Patient',
    'http://sandbox.example.com/sandbox/firm/maple/../cedar/pm/fhir/v2/Patient',
    '*',
    '/__proto__',
    '/constructor',
    '/favicon.ico',
  ],
};

for (const [oddity, paths] of Object.entries(unknown)) {
  test(`${oddity}: 404, with credentials and without`, async () => {
    for (const path of paths) {
      for (const [name, credentials] of [
        ['with', headers],
        ['without', {}],
      ] as const) {
        const answer = await wire.send({ path, headers: credentials });
        assertRefusedAt(`${name} credentials: ${path.slice(0, 100)}`, answer);
      }
    }
  });
}

const wrongIds = [
  'abc_def',
  'CHG%7C1722',
  'CHG|1722',
  'a'.repeat(65),
  long,
  '%6fne',
  '%F0%9F%92%8A',
  'one%CC%81',
  'one,two',
  'urn:uuid:1',
];

test('what is no id of R4: 400 for those who may ask, in every place of an id', async () => {
  const narrow = await openCaller(service, await makeApplication(service, 'Narrow', ['acl/enc_s'], [maple]), maple);
  for (const id of wrongIds) {
    for (const path of [
      `Patient/${id}`,
      `Patient/${id}/_history`,
      `Patient/one/_history/${id}`,
      `Patient/${id}/Flag`,
    ]) {
      const anonymous = await wire.send({ path: `${base}/${path}` });
      assert.equal(anonymous.status, 401, path);
      assert.equal((await wire.send({ path: `${base}/${path}`, headers: narrow.headers })).status, 403, path);
      assertRefused(await wire.send({ path: `${base}/${path}`, headers }), {
        status: 400,
        error: 'id-invalid',
        issue: 'value',
        diagnostics: 'The id must be 1 to 64 characters of A–Z, a–z, 0–9, hyphen and dot',
        expression: ['id'],
      });
    }
  }
});

test('what is no id of R4 changes nothing, by whatever method, operation or entry', async () => {
  for (const [method, path, body] of [
    ['PUT', 'Patient/abc_def', { ...patient('New'), id: 'abc_def' }],
    ['PATCH', 'Patient/abc_def', []],
    ['DELETE', 'Patient/abc_def', undefined],
    ['POST', 'Patient/abc_def/$validate', { resourceType: 'Parameters' }],
    ['GET', 'Patient/abc_def/$everything', undefined],
    [
      'POST',
      '',
      {
        resourceType: 'Bundle',
        type: 'transaction',
        entry: [{ resource: { ...patient('New'), id: 'abc_def' }, request: { method: 'PUT', url: 'Patient/abc_def' } }],
      },
    ],
  ] as const) {
    const answer = await full.send(method, path, body);
    const [{ details }] = answer.json.issue;
    assert.deepEqual([answer.status, details.coding[0].code], [400, 'id-invalid'], `${method} ${path}: ${answer.text}`);
  }
  assert.equal((await full.get('Patient?_summary=count')).json.total, 1);
});

/** What may be suggested: the grammar with published names, and names of R4; never what the path says of a firm. */
const suggestions: ReadonlySet<string> = new Set([
  '/sandbox/firm/{firm}/pm/fhir/v2',
  '/sandbox/firm/{firm}/pm/fhir/v2/…',
  '/auth/realms/sandbox/protocol/openid-connect/token',
  '/health/live',
  'Patient',
  'metadata',
  '_history',
  '_search',
]);

function assertRefusedAt(name: string, answer: Answer): void {
  try {
    const text = String(answer.json?.issue?.[0]?.diagnostics);
    const [, hint, meant = ''] = /(: did you mean (.*?)\?)/.exec(text) ?? [];
    if (hint === undefined) return assertRefused(answer, unknownPath);
    assert.ok(suggestions.has(meant), meant);
    assertRefused(answer, { ...unknownPath, diagnostics: unknownPath.diagnostics.replace(':', hint) });
  } catch (cause) {
    throw new Error(`${name}: ${answer.status} ${answer.text.slice(0, 300)}`, { cause });
  }
  assert.equal(answer.headers.get('x-injected'), null);
}

test('paths of the token service are as strict', async () => {
  for (const path of [
    '/auth/realms/SANDBOX/protocol/openid-connect/token',
    '/auth/realms/sandbox/../production/protocol/openid-connect/token',
    '/auth/realms/sandbox%2f/protocol/openid-connect/token',
    '/auth/realms/sandbox/protocol/openid-connect/token/',
    '/auth/realms/nowhere/protocol/openid-connect/token',
    '/auth/realms//protocol/openid-connect/token',
    `/auth/realms/${long}/protocol/openid-connect/token`,
    '/auth/realms/nowhere/.well-known/openid-configuration',
    '/.well-known/oauth-authorization-server/auth/realms/nowhere',
    '/sandbox/firm/maple/../cedar/pm/ws/oauth2/grant',
    '/sandbox/firm/maple%00/pm/ws/oauth2/grant',
    '/nowhere/firm/maple/pm/ws/oauth2/grant',
    '/sandbox/firm/maple/nowhere/ws/oauth2/grant',
  ]) {
    const body = 'grant_type=client_credentials';
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    assertRefusedAt(path, await wire.send({ method: 'POST', path, headers: type, body }));
    assertRefusedAt(path, await wire.send({ path }));
  }
});

test('a type name that R4 does not have is 404 for callers, and told to nobody else', async () => {
  for (const [type, meant] of [
    ['PATIENT', 'Patient'],
    ['PatientX', 'Patient'],
    ['Patients', 'Patient'],
    ['METADATA'],
    ['Constructor'],
    ['Parameters'],
    ['Resource'],
  ]) {
    assertRefused(await wire.send({ path: `${base}/${type}`, headers }), {
      status: 404,
      error: 'type-unknown',
      issue: 'not-supported',
      diagnostics: `${type} is not a resource type with an endpoint in FHIR R4${meant === undefined ? '' : `: did you mean ${meant}?`}`,
    });
    assert.equal((await wire.send({ path: `${base}/${type}` })).status, 401);
  }
});

test('an id of R4 form that names nothing is 404 in words of the resource', async () => {
  for (const id of ['two', 'One', 'ONE', '-', '1.2.3', 'a'.repeat(64)]) {
    assertRefused(await wire.send({ path: `${base}/Patient/${id}`, headers }), {
      status: 404,
      error: 'resource-not-found',
      issue: 'not-found',
      diagnostics: `Patient/${id} is not known`,
      expression: ['Patient'],
    });
  }
  for (const version of ['0', '2', '01', '-1', '1e0', '9999999999', 'x']) {
    const answer = await wire.send({ path: `${base}/Patient/one/_history/${version}`, headers });
    assert.equal(answer.status, 404, version);
    assert.equal(answer.json.resourceType, 'OperationOutcome');
  }
});

test('one slash after a type is the type, of the same firm', async () => {
  const answer = await wire.send({ path: `${base}/Patient/`, headers });
  assert.equal(answer.status, 200);
  assert.deepEqual(
    answer.json.entry.map((entry: { resource: unknown }) => entry.resource),
    [(await wire.send({ path: `${base}/Patient/one`, headers })).json],
  );
});

test('a target that is longer than the limit is 414', async () => {
  assertRefused(await wire.send({ path: `${base}/Patient?name=${'x'.repeat(17_000)}`, headers }), {
    status: 414,
    error: 'uri-too-long',
    issue: 'too-long',
    diagnostics: 'The path and query are longer than 16384 bytes: search by POST to _search instead',
  });
});

test('what HTTP itself cannot read is 400 with an OperationOutcome, and the connection ends', async () => {
  for (const target of [
    `${base}/Patient/o ne`,
    `${base}/Patient?name=a b`,
    `${base}/Patient/\u00e9`,
    `${base}/Patient\u0000`,
    '/sandbox/firm/m\u00e4ple/pm/fhir/v2/Patient',
    'sandbox/firm/maple/pm/fhir/v2/Patient',
    '%2fsandbox/firm/maple/pm/fhir/v2/Patient',
    '\\sandbox\\firm\\maple\\pm\\fhir\\v2\\Patient',
    '',
  ]) {
    const raw = await openRaw(service.origin);
    raw.write(`GET ${target} HTTP/1.1\r\nhost: x\r\n\r\n`);
    const answer = await raw.answer();
    assert.equal(answer.status, 400, target);
    assert.equal(answer.headers.get('content-type'), 'application/fhir+json; charset=utf-8');
    assert.equal(answer.json.resourceType, 'OperationOutcome');
    assert.equal(answer.json.issue[0].details.coding[0].code, 'request-malformed');
    assert.match(answer.json.issue[0].diagnostics, /percent-encode/);
    await raw.closed;
    raw.destroy();
  }
});

test('nothing was written by odd paths, whatever the method', async () => {
  const before = await tenantRows(service.database.owner);
  const body = JSON.stringify({ ...patient('Intruder'), id: 'one' });
  const type = { 'content-type': 'application/fhir+json' };
  for (const path of Object.values(unknown).flat()) {
    for (const method of ['PUT', 'POST', 'DELETE']) {
      const answer = await wire.send({ method, path, headers: { ...headers, ...type }, body });
      assertRefusedAt(`${method} ${path}`, answer);
    }
  }
  assert.deepEqual(await tenantRows(service.database.owner), before);
});
