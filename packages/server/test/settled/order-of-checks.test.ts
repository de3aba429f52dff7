/** docs/integrate/contract.md#order-of-checks: the first broken rule answers a request, by real HTTP. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { startService } from '../../src/app.ts';
import { request } from '../support/raw-http.ts';
import { patient } from '../support/records.ts';
import { assertRefused, insufficientScope, invalidToken } from '../support/refusals.ts';
import {
  type Answer,
  answerOf,
  type Caller,
  callerOf,
  clientToken,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  type TestApplication,
} from '../support/service.ts';

/** Enough for every test of this file; two applications use theirs up. */
const rateLimit = 200;

const service = await openTestService({ after }, { PRAXIS_RATE_LIMIT: String(rateLimit) });
const maple = await makeFirm(service, 'maple');
const birch = await makeFirm(service, 'birch');
const wide = await makeApplication(service, 'Wide', ['acl/*'], [maple]);
const narrow = await makeApplication(service, 'Narrow', ['acl/enc_s'], [maple]);
const busyWide = await makeApplication(service, 'Busy wide', ['acl/*'], [maple]);
const busyNarrow = await makeApplication(service, 'Busy narrow', ['acl/enc_s'], [maple]);
const tokens = new Map<TestApplication, string>();
for (const application of [wide, narrow, busyWide, busyNarrow]) {
  tokens.set(application, await clientToken(service, application));
}
const known = await (await openCaller(service, wide, maple)).send('POST', 'Patient', patient('Quill'));
for (const application of [busyWide, busyNarrow]) await useUp(application);

async function useUp(application: TestApplication): Promise<void> {
  const caller = callerOf(maple, tokens.get(application) ?? '', application.clientKey);
  for (let call = 1; call <= rateLimit; call += 1) await caller.get('Nonsense');
}

/** What is wrong with a request; nothing is when all are false. */
interface Faults {
  readonly path: boolean;
  readonly credentials: boolean;
  readonly firm: boolean;
  readonly rate: boolean;
  readonly type: boolean;
  readonly access: boolean;
  readonly media: boolean;
  readonly validation: boolean;
  readonly version: boolean;
}

/** The stages in their order, with the answer of each. */
const stages: readonly (readonly [fault: keyof Faults, status: number, error: string])[] = [
  ['path', 404, 'path-unknown'],
  ['credentials', 401, 'credentials-missing'],
  ['firm', 403, 'firm-forbidden'],
  ['rate', 429, 'rate-exceeded'],
  ['type', 404, 'type-unknown'],
  ['access', 403, 'access-denied'],
  ['media', 415, 'media-type-unsupported'],
  ['validation', 400, 'resource-invalid'],
  ['version', 412, 'precondition-failed'],
];

const noFaults: Faults = {
  path: false,
  credentials: false,
  firm: false,
  rate: false,
  type: false,
  access: false,
  media: false,
  validation: false,
  version: false,
};

/** Sends an update with these faults and no others. */
async function sendWith(faults: Faults): Promise<readonly [status: number, error: string | undefined]> {
  const application = faults.rate ? (faults.access ? busyNarrow : busyWide) : faults.access ? narrow : wide;
  const base = (faults.firm ? birch : maple).base;
  const url = `${faults.path ? base.replace('v2', 'v9') : base}/${faults.type ? 'Nonsense' : 'Patient'}/${known.json.id}`;
  const answer = await request(url, {
    method: 'PUT',
    headers: {
      'x-api-key': application.clientKey,
      ...(faults.credentials ? {} : { authorization: `Bearer ${tokens.get(application)}` }),
      'content-type': faults.media ? 'text/plain' : 'application/fhir+json',
      ...(faults.version ? { 'if-match': 'W/"99"' } : {}),
    },
    body: JSON.stringify({ ...known.json, ...(faults.validation ? { shoeSize: 43 } : {}) }),
  });
  return [answer.status, answer.json.issue?.[0].details.coding[0].code];
}

test('settled order-of-checks: each rule alone', async () => {
  for (const [fault, status, error] of stages) {
    assert.deepEqual(await sendWith({ ...noFaults, [fault]: true }), [status, error]);
  }
  assert.deepEqual(await sendWith(noFaults), [200, undefined]);
});

test('settled order-of-checks: of every two broken rules the first answers', async () => {
  for (const [index, [first, status, error]] of stages.entries()) {
    for (const [second] of stages.slice(index + 1)) {
      const answered = await sendWith({ ...noFaults, [first]: true, [second]: true });
      assert.deepEqual(answered, [status, error], `${first} before ${second}`);
    }
  }
});

test('settled order-of-checks: of all broken rules from one on, that one answers', async () => {
  for (const [index, [, status, error]] of stages.entries()) {
    const broken = Object.fromEntries(stages.slice(index).map(([fault]) => [fault, true]));
    assert.deepEqual(await sendWith({ ...noFaults, ...broken }), [status, error]);
  }
});

function caller(application: TestApplication): Caller {
  return callerOf(maple, tokens.get(application) ?? '', application.clientKey);
}

function errorOf({ status, json }: Answer): readonly [status: number, error: string] {
  return [status, json.issue[0].details.coding[0].code];
}

test('settled order-of-checks: realm and environment are credentials: 401 before the firm is looked at', async () => {
  const elsewhere = await makeFirm(service, 'maple', 'training');
  const diagnostics = 'Bearer token belongs to another environment';
  for (const base of [elsewhere.base, elsewhere.base.replace('maple', 'nowhere')]) {
    const answer = await request(`${base}/Patient`, { headers: caller(wide).headers });
    const refusal = { status: 401, error: 'credentials-invalid', issue: 'login', diagnostics };
    assertRefused(answer, { ...refusal, challenge: invalidToken(diagnostics) });
  }
});

test('settled order-of-checks: a method that does not apply is told before access entries and media types', async () => {
  const answer = await caller(narrow).send('PUT', 'Patient/1/_history', '[]', { 'content-type': 'text/plain' });
  assertRefused(answer, {
    status: 405,
    error: 'method-not-allowed',
    issue: 'not-supported',
    diagnostics: 'This path takes GET, HEAD',
    allow: 'GET, HEAD',
  });
});

test('settled order-of-checks: 406, 413, 415, malformed 400, in this order', async () => {
  const full = caller(wide);
  const big = `{${' '.repeat(5_242_880)}`;
  const html = { accept: 'text/html' };
  const text = { 'content-type': 'text/plain' };
  const put = (body: string, headers: Record<string, string>) => full.send('PUT', 'Patient/1', body, headers);
  assert.deepEqual(errorOf(await put(big, { ...html, ...text })), [406, 'not-acceptable']);
  assert.deepEqual(errorOf(await put(big, text)), [413, 'body-too-large']);
  assert.deepEqual(errorOf(await put('{', text)), [415, 'media-type-unsupported']);
  assert.deepEqual(errorOf(await put('{', {})), [400, 'json-malformed']);
});

test('settled order-of-checks: parameters and forms of a search are read after the access check', async () => {
  const refused = caller(narrow);
  const denied = [403, 'access-denied'];
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  assert.deepEqual(errorOf(await refused.get('Patient?family=%ZZ')), denied);
  assert.deepEqual(errorOf(await refused.get('Patient?birthdate=never')), denied);
  assert.deepEqual(errorOf(await refused.send('POST', 'Patient/_search', '{}')), denied);
  assert.deepEqual(errorOf(await refused.send('POST', 'Patient/_search', 'x'.repeat(5_242_881), form)), denied);
  const full = caller(wide);
  assert.deepEqual(errorOf(await full.get('Patient?family=%ZZ')), [400, 'search-invalid']);
  assert.deepEqual(errorOf(await full.get('Patient?family=%ZZ&_format=ttl')), [406, 'not-acceptable']);
  assert.deepEqual(errorOf(await full.send('POST', 'Patient/_search', '{}')), [415, 'media-type-unsupported']);
  assert.deepEqual(errorOf(await full.send('POST', 'Patient/_search', '_format=ttl', form)), [406, 'not-acceptable']);
});

test('settled order-of-checks: an unknown or deleted resource is told before its version', async () => {
  const application = await makeApplication(service, 'Updater', ['acl/pat_u', 'acl/pat_r', 'acl/pat_s'], [maple]);
  const updater = await openCaller(service, application, maple);
  const match = { 'if-match': 'W/"99"' };
  const body = (id: string) => ({ ...patient('Quill'), id });
  assert.deepEqual(errorOf(await updater.send('PUT', 'Patient/none', body('none'), match)), [
    404,
    'resource-not-found',
  ]);
  await caller(wide).send('PUT', 'Patient/gone', body('gone'));
  await caller(wide).send('DELETE', 'Patient/gone');
  assert.deepEqual(errorOf(await updater.send('PUT', 'Patient/gone', body('gone'), match)), [410, 'resource-deleted']);
  assert.deepEqual(errorOf(await updater.get('Patient/gone')), [410, 'resource-deleted']);
});

test('settled firm-refusal: an unknown and an unauthorised firm get the same 403, headers and body', async () => {
  const nowhere = birch.base.replace('birch', 'nowhere');
  const answers: object[] = [];
  for (const base of [birch.base, nowhere]) {
    const answer = await request(`${base}/Patient`, { headers: caller(wide).headers });
    const { date: _date, 'x-request-id': _id, ...headers } = Object.fromEntries(answer.headers);
    assertRefused(answer, {
      status: 403,
      error: 'firm-forbidden',
      issue: 'forbidden',
      diagnostics: 'Firm is not open to this application: no such firm has authorised it',
    });
    answers.push({ headers, text: answer.text });
  }
  assert.deepEqual(answers[1], answers[0]);
});

test('settled firm-refusal: an unknown environment or product is 404', async () => {
  for (const base of [maple.base.replace('sandbox', 'staging'), maple.base.replace('/pm/', '/ehr/')]) {
    const answer = await request(`${base}/Patient`, { headers: caller(wide).headers });
    assert.deepEqual(errorOf(answer), [404, 'path-unknown']);
  }
});

test('settled statuses 400: malformed JSON, unknown element, cardinality, type, required binding, search syntax', async () => {
  const full = caller(wide);
  const bodies: readonly (readonly [body: unknown, error: string, issue: string])[] = [
    ['{"resourceType":"Patient",}', 'json-malformed', 'structure'],
    ['{"resourceType":"Patient","active":true,"active":true}', 'json-malformed', 'structure'],
    ['{"resourceType":"Patient","__proto__":{}}', 'json-malformed', 'structure'],
    [patient('Quill', { shoeSize: 43 }), 'resource-invalid', 'structure'],
    [patient('Quill', { link: [{ type: 'refer' }] }), 'resource-invalid', 'required'],
    [patient('Quill', { birthDate: ['1980-01-01', '1981-01-01'] }), 'resource-invalid', 'structure'],
    [patient('Quill', { active: 'yes' }), 'resource-invalid', 'structure'],
    [patient('Quill', { birthDate: '1980-02-30' }), 'resource-invalid', 'value'],
    [patient('Quill', { gender: 'unclear' }), 'resource-invalid', 'code-invalid'],
  ];
  for (const [body, error, issue] of bodies) {
    const answer = await full.send('POST', 'Patient', body);
    assert.deepEqual([...errorOf(answer), answer.json.issue[0].code], [400, error, issue]);
  }
  for (const query of ['birthdate=never', 'birthdate=xx2020', 'family:nearly=Q', '_count=many', '_sort=shoeSize']) {
    assert.deepEqual(errorOf(await full.get(`Patient?${query}`)), [400, 'search-invalid']);
  }
});

test('settled statuses 422: an invariant between elements that are right by themselves', async () => {
  const contained = [{ resourceType: 'Organization', id: 'o1', name: 'Nobody refers to it' }];
  const answer = await caller(wide).send('POST', 'Patient', patient('Quill', { contained }));
  assertRefused(answer, {
    status: 422,
    error: 'invariant-broken',
    issue: 'invariant',
    diagnostics: answer.json.issue[0].diagnostics,
    expression: ['Patient.contained[0]'],
  });
  assert.match(answer.json.issue[0].diagnostics, /^Patient\.contained\[0\]: .*nothing refers to "#o1"/);
});

test('settled statuses 412: a failed If-Match changes nothing', async () => {
  const full = caller(wide);
  const created = await full.send('POST', 'Patient', patient('Reed'));
  const path = `Patient/${created.json.id}`;
  assertRefused(await full.send('PUT', path, { ...created.json, active: true }, { 'if-match': 'W/"2"' }), {
    status: 412,
    error: 'precondition-failed',
    issue: 'conflict',
    diagnostics: 'If-Match does not name the current version, which is W/"1": read it again and repeat the change',
    expression: ['If-Match'],
  });
  assert.deepEqual((await full.get(path)).json, created.json);
});

test('settled statuses 409: a change that others always overtake', async () => {
  const { platform } = service;
  const write = async () => ({ outcome: 'conflict' as const, currentVersion: 2 });
  const overtaken = await startService({ ...platform, store: { ...platform.store, write } });
  try {
    const body = JSON.stringify(known.json);
    const url = `${overtaken.origin}/sandbox/firm/maple/pm/fhir/v2/Patient/${known.json.id}`;
    const headers = { ...caller(wide).headers, 'content-type': 'application/fhir+json' };
    assertRefused(await answerOf(await fetch(url, { method: 'PUT', headers, body })), {
      status: 409,
      error: 'conflict',
      issue: 'conflict',
      diagnostics: `Patient/${known.json.id} is being changed by others: read it again and repeat the change with If-Match`,
    });
  } finally {
    await overtaken.drain();
  }
});

/** What is answered without credentials. */
const openPaths = [
  '/',
  '/health/live',
  '/health/ready',
  '/auth/realms/sandbox/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server/auth/realms/sandbox',
  '/auth/realms/sandbox/protocol/openid-connect/certs',
  '/sandbox/firm/maple/pm/fhir/v2/metadata',
  '/sandbox/firm/maple/pm/fhir/v2/.well-known/smart-configuration',
  '/.well-known/oauth-protected-resource/sandbox/firm/maple/pm/fhir/v2',
];

test('settled open-paths: metadata, discovery, health and the front page need no credentials', async () => {
  for (const path of openPaths) {
    const answer = await request(service.origin + path);
    assert.equal(answer.status, 200, path);
    const withWrong = { authorization: 'Bearer wrong', 'x-api-key': 'wrong' };
    assert.equal((await request(service.origin + path, { headers: withWrong })).status, 200, path);
  }
});

test('settled open-paths: metadata is the same for every well-formed firm, existing or not, but for its URL', async () => {
  for (const path of openPaths.filter((each) => each.includes('/firm/maple/'))) {
    const texts = await Promise.all(
      ['maple', 'birch', 'nowhere'].map(async (firm) => {
        const { status, text } = await request(service.origin + path.replace('/maple/', `/${firm}/`));
        return [status, text.replaceAll(`/firm/${firm}/`, '/firm/{firm}/')];
      }),
    );
    assert.equal(texts[0]?.[0], 200);
    assert.deepEqual(texts, [texts[0], texts[0], texts[0]]);
  }
});

test('settled open-paths: everything else needs both credentials', async () => {
  const paths = ['', '/', '/Patient', '/Patient/1', '/Patient/1/_history', '/Patient/1/_history/1', '/Patient/_search'];
  const { 'x-api-key': key, authorization } = caller(wide).headers;
  const halves: readonly Record<string, string>[] = [
    {},
    { 'x-api-key': `${key}` },
    { authorization: `${authorization}` },
  ];
  for (const path of [...paths, '/Nonsense', '/metadata/']) {
    for (const headers of halves) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        const { status } = await request(maple.base + path, { method, headers });
        assert.equal(status, path === '/metadata/' ? 404 : 401, `${method} ${path}`);
      }
    }
  }
  assert.equal((await request(`${maple.base}/Patient`, { headers: caller(wide).headers })).status, 200);
});

test('settled letters: a refusal for want of an access entry carries an insufficient_scope challenge', async () => {
  const answer = await caller(narrow).get('Patient/1');
  assertRefused(answer, {
    status: 403,
    error: 'access-denied',
    issue: 'forbidden',
    diagnostics:
      'Patient read needs acl/pat_r; the application does not hold it: the operator of the service adds it, then the practice grants it',
    challenge: insufficientScope,
  });
});
