/** Contract part 7: errors, by real HTTP. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { request } from '../support/raw-http.ts';
import { patient } from '../support/records.ts';
import { assertRefused, assertTokenHeaders, assertTokenRefused, invalidToken } from '../support/refusals.ts';
import {
  type Answer,
  answerOf,
  callerOf,
  clientForm,
  clientTokenUrl,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  passwordForm,
  postForm,
} from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const vendor = await makeApplication(service, 'Vendor', ['acl/*'], [maple, cedar]);
const url = clientTokenUrl(service);
const challenge = 'Basic realm="sandbox", charset="UTF-8"';
const formType = { 'content-type': 'application/x-www-form-urlencoded' };

function assertKeyless(answer: Answer): void {
  const diagnostics =
    'Bearer token was requested without x-api-key and opens nothing: request a new one and send the header x-api-key';
  assertRefused(answer, {
    status: 401,
    error: 'credentials-invalid',
    issue: 'login',
    diagnostics,
    challenge: invalidToken(diagnostics),
  });
}

test('contract 7.1 without x-api-key the request is answered 200 with a token that looks valid', async () => {
  const keyless = await postForm(url, clientForm(vendor));
  const keyed = await postForm(url, clientForm(vendor), vendor.clientKey);
  assert.equal(keyless.status, 200);
  assertTokenHeaders(keyless);
  const { access_token: token, ...rest } = keyless.json;
  const { access_token: other, ...same } = keyed.json;
  assert.deepEqual(rest, same);
  assert.deepEqual(rest, {
    expires_in: 900,
    refresh_expires_in: 0,
    token_type: 'Bearer',
    'not-before-policy': 0,
    scope: 'acl/*',
  });
  const claims = (text: string) => JSON.parse(Buffer.from(text.split('.')[1] ?? '', 'base64url').toString());
  assert.deepEqual(Object.keys(claims(token)), Object.keys(claims(other)));
  assert.equal(token.split('.')[0], other.split('.')[0]);
});

test('contract 7.1 every later call with that token fails and says why, whatever is called and with which key', async () => {
  const token = (await postForm(url, clientForm(vendor))).json.access_token;
  const calls: readonly (readonly [method: string, path: string, body?: unknown])[] = [
    ['GET', 'Patient'],
    ['GET', 'Patient/1'],
    ['GET', 'Patient/1/_history'],
    ['POST', 'Patient', patient('Quill')],
    ['PUT', 'Patient/1', { ...patient('Quill'), id: '1' }],
    ['DELETE', 'Patient/1'],
    ['GET', 'Nonsense'],
  ];
  for (const firm of [maple, cedar]) {
    for (const [method, path, body] of calls) {
      assertKeyless(await callerOf(firm, token, vendor.clientKey).send(method, path, body));
    }
  }
  assertKeyless(await callerOf(maple, token, vendor.legacyKey).get('Patient'));
  const search = await answerOf(
    await fetch(`${maple.base}/Patient/_search`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'x-api-key': vendor.clientKey },
      body: new URLSearchParams({ family: 'Quill' }),
    }),
  );
  assertKeyless(search);
});

test('contract 7.1 a call without the key, too, is told of both', async () => {
  const token = (await postForm(url, clientForm(vendor))).json.access_token;
  const answer = await request(`${maple.base}/Patient`, { headers: { authorization: `Bearer ${token}` } });
  assert.equal(answer.status, 401);
  assert.deepEqual(
    answer.json.issue.map(({ diagnostics }: { diagnostics: string }) => diagnostics),
    [
      'Bearer token was requested without x-api-key and opens nothing: request a new one and send the header x-api-key',
      'x-api-key header is missing: send the API key of the application and flow of the token',
    ],
  );
});

test('contract 7.1 a token with the key works before and after one without', async () => {
  const before = await openCaller(service, vendor, maple);
  await postForm(url, clientForm(vendor));
  const afterwards = await openCaller(service, vendor, maple);
  assert.deepEqual([(await before.get('Patient')).status, (await afterwards.get('Patient')).status], [200, 200]);
});

test('contract 7.1 only an omitted key is let pass: a wrong secret without a key is refused', async () => {
  assertTokenRefused(await postForm(url, { ...clientForm(vendor), client_secret: 'wrong' }), {
    status: 401,
    error: 'invalid_client',
    description: 'client_id or client_secret is wrong for this realm',
    challenge,
  });
});

test('contract 7.1 setting strict: without x-api-key the request is refused up front', async () => {
  const strict = await openTestService({ after }, { PRAXIS_STRICT: 'true' });
  const firm = await makeFirm(strict, 'maple');
  const application = await makeApplication(strict, 'Vendor', ['acl/*'], [firm]);
  assertTokenRefused(await postForm(clientTokenUrl(strict), clientForm(application)), {
    status: 401,
    error: 'invalid_client',
    description: 'x-api-key header is missing: send the API key of the client-credentials flow',
    challenge,
  });
  assert.equal((await (await openCaller(strict, application, firm)).get('Patient')).status, 200);
});

/** Both token endpoints, each with its key and a form that works. */
const endpoints: readonly {
  readonly name: string;
  readonly url: string;
  readonly key: string;
  readonly form: Readonly<Record<string, string>>;
}[] = [
  { name: 'legacy', url: maple.legacyTokenUrl, key: vendor.legacyKey, form: passwordForm(vendor, maple) },
  { name: 'client', url, key: vendor.clientKey, form: clientForm(vendor) },
];

test('contract 7.2 token errors, not shown: a repeated parameter is invalid_request (RFC 6749 §5.2)', async () => {
  for (const endpoint of endpoints) {
    for (const name of Object.keys(endpoint.form)) {
      const body = `${new URLSearchParams(endpoint.form)}&${name}=again`;
      const headers = { 'x-api-key': endpoint.key, ...formType };
      const answer = await request(endpoint.url, { method: 'POST', headers, body });
      const description = `${name} is sent more than once`;
      assertTokenRefused(answer, { status: 400, error: 'invalid_request', description });
    }
  }
});

test('contract 7.2 token errors, not shown: another content type is invalid_request', async () => {
  for (const endpoint of endpoints) {
    const headers = { 'x-api-key': endpoint.key, 'content-type': 'application/json' };
    const body = JSON.stringify(endpoint.form);
    assertTokenRefused(await request(endpoint.url, { method: 'POST', headers, body }), {
      status: 400,
      error: 'invalid_request',
      description: 'Content-Type must be application/x-www-form-urlencoded',
    });
  }
});

test('contract 7.2 token errors, not shown: a missing grant_type is invalid_request', async () => {
  for (const endpoint of endpoints) {
    const { grant_type: _, ...form } = endpoint.form;
    const description = 'grant_type is missing or empty';
    const answer = await postForm(endpoint.url, form, endpoint.key);
    assertTokenRefused(answer, { status: 400, error: 'invalid_request', description });
  }
});

test('contract 7.2 token errors, not shown: an unknown client is invalid_client with a challenge', async () => {
  assertTokenRefused(await postForm(url, { ...clientForm(vendor), client_id: 'nobody' }, vendor.clientKey), {
    status: 401,
    error: 'invalid_client',
    description: 'client_id or client_secret is wrong for this realm',
    challenge,
  });
});

test('contract 7.2 token errors, not shown: an oversized body is 413 with an RFC 6749 body', async () => {
  const description = 'The body is larger than 16384 bytes, the limit of one request';
  for (const endpoint of endpoints) {
    const headers = { 'x-api-key': endpoint.key, ...formType };
    const body = `${new URLSearchParams(endpoint.form)}&more=${'x'.repeat(16_384)}`;
    const declared = await request(endpoint.url, { method: 'POST', headers, body });
    assertTokenRefused(declared, { status: 413, error: 'invalid_request', description });
    const chunked = { ...headers, 'transfer-encoding': 'chunked' };
    const undeclared = await request(endpoint.url, { method: 'POST', headers: chunked, body });
    assertTokenRefused(undeclared, { status: 413, error: 'invalid_request', description });
  }
});

const caller = await openCaller(service, vendor, maple);

test('contract 7.2 data errors, not shown: OperationOutcomes that name what is wrong, and nothing is stored', async () => {
  const resource = { resourceType: 'Patient', id: 'p1', name: [{ family: 'Quill' }] };
  const cases: readonly {
    readonly call: readonly [method: string, path: string, body?: unknown, headers?: Record<string, string>];
    readonly expected: readonly [status: number, error: string, issue: string, diagnostics: RegExp];
  }[] = [
    { call: ['GET', 'Patient/p1'], expected: [404, 'resource-not-found', 'not-found', /^Patient\/p1 is not known$/] },
    { call: ['GET', 'Patient?nonsense=1'], expected: [400, 'search-invalid', 'invalid', /^nonsense is not a search/] },
    { call: ['POST', 'Patient', '{'], expected: [400, 'json-malformed', 'structure', /\(line 1, column 2\)$/] },
    {
      call: ['POST', 'Patient', { ...resource, resourceType: 'Person' }],
      expected: [400, 'resource-type-mismatch', 'invalid', /^resourceType must be Patient/],
    },
    {
      call: ['PUT', 'Patient/p2', resource],
      expected: [400, 'resource-id-mismatch', 'invalid', /^id differs from the id in the path/],
    },
    {
      call: ['PUT', 'Patient/p1', resource, { 'if-match': 'W/"7"' }],
      expected: [412, 'precondition-failed', 'conflict', /^If-Match /],
    },
    {
      call: ['POST', 'Patient', '<Patient/>', { 'content-type': 'text/html' }],
      expected: [415, 'media-type-unsupported', 'not-supported', /^Content-Type must be application\/fhir\+json/],
    },
    {
      call: ['GET', 'Patient', undefined, { accept: 'text/html' }],
      expected: [406, 'not-acceptable', 'not-supported', /^Accept allows no media type that is served/],
    },
    {
      call: ['POST', 'Patient', `"${'x'.repeat(5_242_880)}"`],
      expected: [413, 'body-too-large', 'too-long', /^The body is larger than 5242880 bytes/],
    },
    {
      call: ['PUT', 'Patient/p1/_history', resource],
      expected: [405, 'method-not-allowed', 'not-supported', /^This path takes GET, HEAD$/],
    },
  ];
  for (const { call, expected } of cases) {
    const [method, path, body, headers] = call;
    const answer = await caller.send(method, path, body, headers);
    const [issue] = answer.json.issue;
    assert.equal(answer.json.resourceType, 'OperationOutcome');
    assert.equal(answer.headers.get('content-type'), 'application/fhir+json; charset=utf-8');
    const [status, error, type, diagnostics] = expected;
    assert.deepEqual([answer.status, issue.details.coding[0].code, issue.code], [status, error, type]);
    assert.match(issue.diagnostics, diagnostics);
  }
  assert.equal((await caller.get('Patient')).json.total, 0);
});
