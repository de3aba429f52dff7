/** Contract 4.1 and 4.2: the legacy token requests, by real HTTP. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { exchange, request } from '../support/raw-http.ts';
import { assertRefused, assertTokenHeaders, assertTokenRefused } from '../support/refusals.ts';
import {
  callerOf,
  makeApplication,
  makeFirm,
  openTestService,
  passwordForm,
  postForm,
  type TestApplication,
  type TestFirm,
} from '../support/service.ts';

const hosts = {
  PRAXIS_ENVIRONMENT_ORIGINS:
    'sandbox=https://sandbox.example.com,training=https://training.example.com,prod=https://api.example.com',
};

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const vendor = await makeApplication(service, 'Vendor', ['acl/enc_s'], [maple, cedar]);
const other = await makeApplication(service, 'Other', ['acl/enc_s'], [maple]);
const form = passwordForm(vendor, maple);
const challenge = 'ApiKey realm="sandbox", header="x-api-key"';

const unknownPath = {
  status: 404,
  error: 'path-unknown',
  issue: 'not-found',
  diagnostics:
    'No such path, environment, product or realm: FHIR is served at /{environment}/firm/{firm}/{product}/fhir/v2/{Type}, tokens at /auth/realms/{realm}/protocol/openid-connect/token, administration at /admin/api; all in the letters and case shown at /docs',
};

function withoutParameter(name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(form).filter(([key]) => key !== name));
}

/** The refresh form for a token got with the account of `application` at `firm`. */
async function refreshForm(application: TestApplication, firm: TestFirm): Promise<Record<string, string>> {
  const { json } = await postForm(firm.legacyTokenUrl, passwordForm(application, firm), application.legacyKey);
  return { grant_type: 'refresh_token', refresh_token: json.refresh_token };
}

test('contract 4 token requests are POST only', async () => {
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
    const headers = { 'x-api-key': vendor.legacyKey };
    assertRefused(await request(maple.legacyTokenUrl, { method, headers }), {
      status: 405,
      error: 'method-not-allowed',
      issue: 'not-supported',
      diagnostics: 'A token endpoint takes POST',
      allow: 'POST',
    });
  }
});

test('contract 4 token requests are application/x-www-form-urlencoded only', async () => {
  const description = 'Content-Type must be application/x-www-form-urlencoded';
  for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x', undefined]) {
    const headers = { 'x-api-key': vendor.legacyKey, ...(type === undefined ? {} : { 'content-type': type }) };
    const body = type === 'application/json' ? JSON.stringify(form) : new URLSearchParams(form).toString();
    const answer = await request(maple.legacyTokenUrl, { method: 'POST', headers, body });
    assertTokenRefused(answer, { status: 400, error: 'invalid_request', description });
  }
});

test('contract 4 token requests say grant_type once, and one that the endpoint offers', async () => {
  const cases: readonly (readonly [body: string, error: string, description: string])[] = [
    ['', 'invalid_request', 'grant_type is missing or empty'],
    ['grant_type=', 'invalid_request', 'grant_type is missing or empty'],
    ['username=a&password=b', 'invalid_request', 'grant_type is missing or empty'],
    ['grant_type=password&grant_type=password', 'invalid_request', 'grant_type is sent more than once'],
    [
      'grant_type=client_credentials',
      'unsupported_grant_type',
      'grant_type must be password or refresh_token at this endpoint',
    ],
  ];
  for (const [body, error, description] of cases) {
    const headers = { 'x-api-key': vendor.legacyKey, 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await request(maple.legacyTokenUrl, { method: 'POST', headers, body });
    assertTokenRefused(answer, { status: 400, error, description });
  }
});

test('contract 4.1 path: another shape is unknown', async () => {
  const root = `${service.origin}/sandbox/firm/maple/pm/ws/oauth2`;
  const urls = [
    `${root}/token`,
    `${root}/grant/`,
    `${root}/GRANT`,
    `${service.origin}/sandbox/firm/MAPLE/pm/ws/oauth2/grant`,
    `${service.origin}/staging/firm/maple/pm/ws/oauth2/grant`,
    `${service.origin}/sandbox/firm/maple/other/ws/oauth2/grant`,
    `${service.origin}/sandbox/firm/cedar/../maple/pm/ws/oauth2/grant`,
  ];
  for (const url of urls) {
    const body = new URLSearchParams(form).toString();
    const headers = { 'x-api-key': vendor.legacyKey, 'content-type': 'application/x-www-form-urlencoded' };
    const hint = /\/grant\/$|GRANT$/.test(url) ? ': did you mean /sandbox/firm/{firm}/pm/ws/oauth2/grant?' : ':';
    const diagnostics = unknownPath.diagnostics.replace(':', hint);
    assertRefused(await request(url, { method: 'POST', headers, body }), { ...unknownPath, diagnostics });
  }
});

test('contract 4.1 firm_url_prefix names the practice: the account of one is worthless at another', async () => {
  const description = 'username or password is wrong for this firm';
  for (const url of [cedar.legacyTokenUrl, maple.legacyTokenUrl.replace('maple', 'nowhere')]) {
    assertTokenRefused(await postForm(url, form, vendor.legacyKey), {
      status: 400,
      error: 'invalid_grant',
      description,
    });
  }
  assert.equal((await postForm(maple.legacyTokenUrl, form, vendor.legacyKey)).json.scope, 'maple');
});

test('contract 4.1 environments: three, each with a path segment and accounts of its own', async () => {
  for (const name of ['training', 'prod']) {
    const firm = await makeFirm(service, 'maple', name);
    const there = await makeApplication(service, `Vendor ${name}`, ['acl/enc_s'], [firm]);
    assertTokenRefused(await postForm(firm.legacyTokenUrl, form, vendor.legacyKey), {
      status: 401,
      error: 'invalid_client',
      description: 'x-api-key belongs to another environment',
      challenge: `ApiKey realm="${name}", header="x-api-key"`,
    });
    assert.equal((await postForm(firm.legacyTokenUrl, passwordForm(there, firm), there.legacyKey)).status, 200);
  }
});

test('contract 4.1 environments: each answers on its own host only, where hosts are set', async () => {
  const hosted = await openTestService({ after }, hosts);
  const names: readonly (readonly [environment: string, host: string])[] = [
    ['sandbox', 'sandbox.example.com'],
    ['training', 'training.example.com'],
    ['prod', 'api.example.com'],
  ];
  for (const [environment, own] of names) {
    const firm = await makeFirm(hosted, 'maple', environment);
    const there = await makeApplication(hosted, `Vendor ${environment}`, ['acl/enc_s'], [firm]);
    const body = new URLSearchParams(passwordForm(there, firm)).toString();
    const headers = { 'x-api-key': there.legacyKey, 'content-type': 'application/x-www-form-urlencoded' };
    for (const [, host] of names) {
      const answer = await request(firm.legacyTokenUrl, { method: 'POST', headers: { ...headers, host }, body });
      if (host === own) assert.equal(answer.status, 200);
      else assertRefused(answer, unknownPath);
    }
  }
});

test('contract 4.1 x-api-key is required: a missing, empty, repeated, unknown or other key is refused', async () => {
  const cases: readonly (readonly [keys: readonly string[], description: string])[] = [
    [[], 'x-api-key header is missing: send the API key of the legacy flow'],
    [[''], 'x-api-key header is empty: an empty key is a wrong key'],
    [[vendor.legacyKey, vendor.legacyKey], 'x-api-key header is sent more than once: send one key'],
    [['unknown'], 'x-api-key is not a known API key'],
    [[vendor.clientKey], 'x-api-key is a client-credentials key: this needs the legacy key of the application'],
    [[other.legacyKey], 'x-api-key belongs to another application than the account'],
  ];
  for (const [keys, description] of cases) {
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      ...(keys.length ? { 'x-api-key': keys } : {}),
    };
    const body = new URLSearchParams(form).toString();
    const answer = await request(maple.legacyTokenUrl, { method: 'POST', headers, body });
    assertTokenRefused(answer, { status: 401, error: 'invalid_client', description, challenge });
  }
});

test('contract 4.1 grant_type password is one of two that the endpoint takes', async () => {
  const answer = await postForm(maple.legacyTokenUrl, { ...form, grant_type: 'Password' }, vendor.legacyKey);
  const description = 'grant_type must be password or refresh_token at this endpoint';
  assertTokenRefused(answer, { status: 400, error: 'unsupported_grant_type', description });
});

test('contract 4.1 username is required, once, and must be right', async () => {
  const { legacyTokenUrl: url } = maple;
  const missing = await postForm(url, withoutParameter('username'), vendor.legacyKey);
  assertTokenRefused(missing, { status: 400, error: 'invalid_request', description: 'username is missing or empty' });
  const body = `${new URLSearchParams(form)}&username=second`;
  const headers = { 'x-api-key': vendor.legacyKey, 'content-type': 'application/x-www-form-urlencoded' };
  const twice = await request(url, { method: 'POST', headers, body });
  assertTokenRefused(twice, { status: 400, error: 'invalid_request', description: 'username is sent more than once' });
  const unknown = await postForm(url, { ...form, username: 'nobody' }, vendor.legacyKey);
  const description = 'username or password is wrong for this firm';
  assertTokenRefused(unknown, { status: 400, error: 'invalid_grant', description });
});

test('contract 4.1 password is required, once, and must be right: a wrong one is answered like an unknown user', async () => {
  const { legacyTokenUrl: url } = maple;
  const missing = await postForm(url, withoutParameter('password'), vendor.legacyKey);
  assertTokenRefused(missing, { status: 400, error: 'invalid_request', description: 'password is missing or empty' });
  const wrong = await postForm(url, { ...form, password: 'wrong' }, vendor.legacyKey);
  const unknown = await postForm(url, { ...form, username: 'nobody', password: 'wrong' }, vendor.legacyKey);
  const description = 'username or password is wrong for this firm';
  assertTokenRefused(wrong, { status: 400, error: 'invalid_grant', description });
  assert.equal(unknown.text, wrong.text);
  assert.equal(unknown.status, wrong.status);
});

test('contract 4.1 response: four fields, a refresh_token among them', async () => {
  const answer = await postForm(maple.legacyTokenUrl, form, vendor.legacyKey);
  assert.equal(answer.status, 200);
  assertTokenHeaders(answer);
  const { access_token, refresh_token, ...rest } = answer.json;
  assert.deepEqual(rest, { scope: 'maple', token_type: 'Bearer' });
  assert.notEqual(access_token, refresh_token);
  assert.equal((await callerOf(maple, access_token, vendor.legacyKey).get('Encounter')).status, 200);
});

test('contract 4.2 path and x-api-key are those of 4.1: at another practice or with another key it is refused', async () => {
  const refresh = await refreshForm(vendor, maple);
  assertTokenRefused(await postForm(cedar.legacyTokenUrl, refresh, vendor.legacyKey), {
    status: 400,
    error: 'invalid_grant',
    description: 'refresh_token was issued for another firm or environment',
  });
  const keys: readonly (readonly [key: string | undefined, description: string])[] = [
    [undefined, 'x-api-key header is missing: send the API key of the legacy flow'],
    ['', 'x-api-key header is empty: an empty key is a wrong key'],
    ['unknown', 'x-api-key is not a known API key'],
    [vendor.clientKey, 'x-api-key is a client-credentials key: this needs the legacy key of the application'],
    [other.legacyKey, 'x-api-key belongs to another application than the account'],
  ];
  for (const [key, description] of keys) {
    const answer = await postForm(maple.legacyTokenUrl, refresh, key);
    assertTokenRefused(answer, { status: 401, error: 'invalid_client', description, challenge });
  }
});

test('contract 4.2 grant_type refresh_token is the other that the endpoint takes', async () => {
  const { refresh_token = '' } = await refreshForm(vendor, maple);
  const wrong = await postForm(maple.legacyTokenUrl, { grant_type: 'refresh', refresh_token }, vendor.legacyKey);
  const description = 'grant_type must be password or refresh_token at this endpoint';
  assertTokenRefused(wrong, { status: 400, error: 'unsupported_grant_type', description });
  const right = await postForm(maple.legacyTokenUrl, { grant_type: 'refresh_token', refresh_token }, vendor.legacyKey);
  assert.equal(right.status, 200);
});

test('contract 4.2 refresh_token is required and must be one that was obtained here', async () => {
  const { legacyTokenUrl: url } = maple;
  const { json } = await postForm(url, form, vendor.legacyKey);
  const missing = await postForm(url, { grant_type: 'refresh_token' }, vendor.legacyKey);
  const lacking = 'refresh_token is missing or empty';
  assertTokenRefused(missing, { status: 400, error: 'invalid_request', description: lacking });
  const cases: readonly (readonly [token: string, description: string])[] = [
    ['garbage', 'refresh_token is not a token of this service'],
    [json.access_token, 'refresh_token is an access token: send the refresh_token of the same answer'],
    [`${json.refresh_token.slice(0, -4)}AAAA`, 'refresh_token has a wrong signature: it was altered or made elsewhere'],
  ];
  for (const [refresh_token, description] of cases) {
    const answer = await postForm(url, { grant_type: 'refresh_token', refresh_token }, vendor.legacyKey);
    assertTokenRefused(answer, { status: 400, error: 'invalid_grant', description });
  }
});

test('contract 4.2 response: a new access_token and the refresh_token that was sent', async () => {
  const first = (await postForm(maple.legacyTokenUrl, form, vendor.legacyKey)).json;
  const refresh = { grant_type: 'refresh_token', refresh_token: first.refresh_token };
  const answer = await postForm(maple.legacyTokenUrl, refresh, vendor.legacyKey);
  assert.equal(answer.status, 200);
  assertTokenHeaders(answer);
  const { access_token, ...rest } = answer.json;
  assert.deepEqual(rest, { scope: 'maple', token_type: 'Bearer', refresh_token: first.refresh_token });
  assert.notEqual(access_token, first.access_token);
  assert.equal((await callerOf(maple, access_token, vendor.legacyKey).get('Encounter')).status, 200);
});

test('contract 4.1 response: the names of headers and the media type are read in any case', async () => {
  const body = new URLSearchParams(form).toString();
  const { host, pathname } = new URL(maple.legacyTokenUrl);
  const head = [
    `POST ${pathname} HTTP/1.1`,
    `Host: ${host}`,
    `X-API-KEY: ${vendor.legacyKey}`,
    'CONTENT-TYPE: Application/X-WWW-Form-URLencoded; charset=UTF-8',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ].join('\r\n');
  const answer = await exchange(service.origin, `${head}\r\n\r\n${body}`);
  assert.equal(answer.status, 200);
  assert.equal(answer.json.scope, 'maple');
});
