/** Contract 4.3: the client-credentials token request, by real HTTP. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { request } from '../support/raw-http.ts';
import { assertRefused, assertTokenHeaders, assertTokenRefused, invalidToken } from '../support/refusals.ts';
import {
  type Answer,
  callerOf,
  clientForm,
  clientToken,
  clientTokenUrl,
  makeApplication,
  makeFirm,
  openTestService,
  postForm,
} from '../support/service.ts';

const hosts = { PRAXIS_REALM_ORIGINS: 'sandbox=https://login.example.com,production=https://login.example.org' };

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const vendor = await makeApplication(service, 'Vendor', ['acl/enc_s'], [maple]);
const other = await makeApplication(service, 'Other', ['acl/enc_s'], [maple]);
const url = clientTokenUrl(service);
const form = clientForm(vendor);
const formType = { 'content-type': 'application/x-www-form-urlencoded' };
const challenge = 'Basic realm="sandbox", charset="UTF-8"';
const wrongClient = {
  status: 401,
  error: 'invalid_client',
  description: 'client_id or client_secret is wrong for this realm',
  challenge,
};

/** Sends a form as it is written, with the key of the application. */
function postText(body: string, headers: Readonly<Record<string, string | readonly string[]>> = {}): Promise<Answer> {
  return request(url, { method: 'POST', headers: { 'x-api-key': vendor.clientKey, ...formType, ...headers }, body });
}

const text = new URLSearchParams(form).toString();

test('contract 4.3 path: another shape or an unknown realm is unknown', async () => {
  const urls = [
    `${service.origin}/auth/realms/nowhere/protocol/openid-connect/token`,
    `${service.origin}/auth/realms/SANDBOX/protocol/openid-connect/token`,
    `${service.origin}/auth/realms/sandbox/protocol/openid-connect/token/`,
    `${service.origin}/auth/realms/sandbox/protocol/openid-connect`,
    `${service.origin}/auth/realms/production/../sandbox/protocol/openid-connect/token`,
    `${service.origin}/realms/sandbox/protocol/openid-connect/token`,
  ];
  for (const unknown of urls) {
    const headers = { 'x-api-key': vendor.clientKey, ...formType };
    const answer = await request(unknown, { method: 'POST', headers, body: text });
    assert.equal(answer.status, 404);
    assert.deepEqual(answer.json.issue[0].details.coding, [
      { system: 'https://praxis.health/fhir/CodeSystem/error', code: 'path-unknown' },
    ]);
  }
});

test('contract 4.3 path: the request is a POST of a form', async () => {
  const headers = { 'x-api-key': vendor.clientKey };
  assertRefused(await request(`${url}?${text}`, { headers }), {
    status: 405,
    error: 'method-not-allowed',
    issue: 'not-supported',
    diagnostics: 'A token endpoint takes POST',
    allow: 'POST',
  });
  for (const type of ['application/json', 'text/plain', ['application/x-www-form-urlencoded', 'text/plain']]) {
    const answer = await postText(text, { 'content-type': type });
    const description = 'Content-Type must be application/x-www-form-urlencoded';
    assertTokenRefused(answer, { status: 400, error: 'invalid_request', description });
  }
  const nothing = await postForm(`${url}?${text}`, {}, vendor.clientKey);
  const description = 'grant_type is missing or empty';
  assertTokenRefused(nothing, { status: 400, error: 'invalid_request', description });
});

test('contract 4.3 environments: two realms, clients and tokens of one are worthless in the other', async () => {
  const production = clientTokenUrl(service, 'production');
  const firm = await makeFirm(service, 'maple', 'prod');
  const there = await makeApplication(service, 'Vendor prod', ['acl/enc_s'], [firm]);
  assertTokenRefused(await postForm(production, form, vendor.clientKey), {
    ...wrongClient,
    challenge: 'Basic realm="production", charset="UTF-8"',
  });
  assertTokenRefused(await postForm(url, clientForm(there), there.clientKey), wrongClient);
  const token = await clientToken(service, there, 'production');
  const diagnostics = 'Bearer token was issued by realm production: environment sandbox takes tokens of realm sandbox';
  assertRefused(await callerOf(maple, token, vendor.clientKey).get('Encounter'), {
    status: 401,
    error: 'credentials-invalid',
    issue: 'login',
    diagnostics,
    challenge: invalidToken(diagnostics),
  });
  assert.equal((await callerOf(firm, token, there.clientKey).get('Encounter')).status, 200);
});

test('contract 4.3 environments: each realm answers on its own host only, where hosts are set', async () => {
  const hosted = await openTestService({ after }, hosts);
  const realms = [
    { realm: 'sandbox', environment: 'sandbox', host: 'login.example.com' },
    { realm: 'production', environment: 'prod', host: 'login.example.org' },
  ];
  for (const { realm, environment, host: own } of realms) {
    const firm = await makeFirm(hosted, 'maple', environment);
    const there = await makeApplication(hosted, `Vendor ${environment}`, ['acl/enc_s'], [firm]);
    const body = new URLSearchParams(clientForm(there)).toString();
    for (const { host } of realms) {
      const headers = { 'x-api-key': there.clientKey, ...formType, host };
      const answer = await request(clientTokenUrl(hosted, realm), { method: 'POST', headers, body });
      assert.equal(answer.status, host === own ? 200 : 404);
    }
    const documentUrl = `${hosted.origin}/auth/realms/${realm}/.well-known/openid-configuration`;
    const { json } = await request(documentUrl, { headers: { host: own } });
    assert.equal(json.token_endpoint, `https://${own}/auth/realms/${realm}/protocol/openid-connect/token`);
  }
});

test('contract 4.3 x-api-key is the key of the client-credentials flow: an empty, repeated, unknown or other one is refused', async () => {
  const cases: readonly (readonly [keys: readonly string[], description: string])[] = [
    [[''], 'x-api-key header is empty: an empty key is a wrong key'],
    [[vendor.clientKey, vendor.clientKey], 'x-api-key header is sent more than once: send one key'],
    [['unknown'], 'x-api-key is not a known API key'],
    [[vendor.legacyKey], 'x-api-key is a legacy key: this needs the client-credentials key of the application'],
    [[other.clientKey], 'x-api-key belongs to another application than the client'],
  ];
  for (const [keys, description] of cases) {
    const answer = await postText(text, { 'x-api-key': keys });
    assertTokenRefused(answer, { status: 401, error: 'invalid_client', description, challenge });
  }
});

test('contract 4.3 grant_type is required, once, and client_credentials only', async () => {
  const cases: readonly (readonly [body: string, error: string, description: string])[] = [
    [text.replace('grant_type=client_credentials', ''), 'invalid_request', 'grant_type is missing or empty'],
    [`${text}&grant_type=client_credentials`, 'invalid_request', 'grant_type is sent more than once'],
    [
      text.replace('client_credentials', 'password'),
      'unsupported_grant_type',
      'grant_type must be client_credentials at this endpoint',
    ],
    [
      text.replace('client_credentials', 'refresh_token'),
      'unsupported_grant_type',
      'grant_type must be client_credentials at this endpoint',
    ],
  ];
  for (const [body, error, description] of cases) {
    assertTokenRefused(await postText(body), { status: 400, error, description });
  }
});

test('contract 4.3 client_id is required, once, and must be known', async () => {
  const { client_id: _, ...without } = form;
  const missing = await postForm(url, without, vendor.clientKey);
  const lacking = 'client_id is missing or empty';
  assertTokenRefused(missing, { status: 400, error: 'invalid_request', description: lacking });
  const twice = await postText(`${text}&client_id=second`);
  const repeated = 'client_id is sent more than once';
  assertTokenRefused(twice, { status: 400, error: 'invalid_request', description: repeated });
  assertTokenRefused(await postForm(url, { ...form, client_id: 'nobody' }, vendor.clientKey), wrongClient);
  const swapped = { ...form, client_id: other.clientId };
  assertTokenRefused(await postForm(url, swapped, vendor.clientKey), wrongClient);
});

test('contract 4.3 client_secret is required, once, and must be right: a wrong one is answered like an unknown client', async () => {
  const { client_secret: _, ...without } = form;
  const missing = await postForm(url, without, vendor.clientKey);
  const lacking = 'client_secret is missing or empty';
  assertTokenRefused(missing, { status: 401, error: 'invalid_client', description: lacking, challenge });
  const twice = await postText(`${text}&client_secret=second`);
  const repeated = 'client_secret is sent more than once';
  assertTokenRefused(twice, { status: 400, error: 'invalid_request', description: repeated });
  const wrong = await postForm(url, { ...form, client_secret: 'wrong' }, vendor.clientKey);
  assertTokenRefused(wrong, wrongClient);
  const unknown = await postForm(url, { ...form, client_id: 'nobody', client_secret: 'wrong' }, vendor.clientKey);
  assert.equal(unknown.text, wrong.text);
});

test('contract 4.3 response: the six fields, no refresh_token', async () => {
  const answer = await postForm(url, form, vendor.clientKey);
  assert.equal(answer.status, 200);
  assertTokenHeaders(answer);
  assert.deepEqual(answer.json, {
    access_token: answer.json.access_token,
    expires_in: 900,
    refresh_expires_in: 0,
    token_type: 'Bearer',
    'not-before-policy': 0,
    scope: 'acl/enc_s',
  });
  assert.equal((await callerOf(maple, answer.json.access_token, vendor.clientKey).get('Encounter')).status, 200);
});

test('contract 4.3 response: the same by client_secret_basic', async () => {
  const basic = Buffer.from(`${form.client_id}:${form.client_secret}`).toString('base64');
  const only = { grant_type: 'client_credentials' };
  const both = await postForm(url, form, vendor.clientKey, { authorization: `Basic ${basic}` });
  const description = 'client_secret is sent twice: use the body or the Authorization header, not both';
  assertTokenRefused(both, { status: 400, error: 'invalid_request', description });
  const answer = await postForm(url, only, vendor.clientKey, { authorization: `Basic ${basic}` });
  assert.equal(answer.status, 200);
  assert.deepEqual(Object.keys(answer.json), [
    'access_token',
    'expires_in',
    'refresh_expires_in',
    'token_type',
    'not-before-policy',
    'scope',
  ]);
  assert.equal((await callerOf(maple, answer.json.access_token, vendor.clientKey).get('Encounter')).status, 200);
});
