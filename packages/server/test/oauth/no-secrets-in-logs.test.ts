/**
 * What is wrong at the token service and its administration, by HTTP: each is refused with the whole error that its RFC has,
 * is logged and noted in the audit ledger without anything secret that was sent, and changes nothing.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { setClientKeys } from '../../src/oauth/client-auth/client-keys.ts';
import { issueKeyedClient } from '../../src/oauth/client-auth/clients.ts';
import { ask, openAdministrator, password } from '../admin/world.ts';
import { captureLog } from '../support/captured-log.ts';
import { request } from '../support/raw-http.ts';
import {
  clientToken,
  clientTokenUrl,
  legacyToken,
  makeApplication,
  makeFirm,
  openTestService,
  passwordForm,
} from '../support/service.ts';
import { keySetOf, makeKeyPair, signAssertion } from './assertions.ts';
import { type Headers, type Send, traces } from './traces.ts';

const captured = captureLog();
const service = await openTestService({ after }, {}, captured.log);
const { database } = service.platform;
const maple = await makeFirm(service, 'maple');
const vendor = await makeApplication(service, 'Vendor', ['acl/pat_s', 'acl/enc_s'], [maple]);
const stranger = await makeApplication(service, 'Stranger', ['acl/pat_s'], [maple]);
const operator = await openAdministrator(service, 'operator', 'operator');
const [pair, unregistered] = [await makeKeyPair('ES384', 'first'), await makeKeyPair('ES384', 'first')];
const rsa = await makeKeyPair('RS384', 'second');
const keyedId = await issueKeyedClient(database, vendor.application);
await setClientKeys(database, vendor.application, keyedId, { jwks: keySetOf(pair, rsa) });

const issuer = `${service.origin}/auth/realms/sandbox`;
const tokenUrl = clientTokenUrl(service);
const introspectionUrl = `${tokenUrl}/introspect`;
const revocationUrl = tokenUrl.replace(/token$/, 'revoke');
const token = await clientToken(service, vendor);
const foreign = await clientToken(service, stranger);
const legacy = await legacyToken(vendor, maple);
const { password: accountPassword = '' } = passwordForm(vendor, maple);

let made = 0;

async function assertion(changes: Readonly<Record<string, unknown>> = {}, by = pair): Promise<string> {
  made += 1;
  const iat = service.clock.now() / 1000;
  const claims = { iss: keyedId, sub: keyedId, aud: issuer, jti: `jti-${made}`, iat, exp: iat + 60, ...changes };
  return await signAssertion(by, claims);
}

/** Texts that may stand in no log line, audit row or refusal; what a request makes is added by it. */
const secrets = new Set([
  ...[vendor, stranger].flatMap(({ clientKey, legacyKey, clientSecret }) => [clientKey, legacyKey, clientSecret]),
  ...[token, foreign, legacy].flatMap((each) => each.split('.')),
  ...[accountPassword, password, operator.token],
  ...[pair, unregistered, rsa].flatMap(({ privateJwk: { d = '', p = '', q = '', dp = '', dq = '', qi = '' } }) => [
    ...[d, p, q, dp, dq, qi].filter((member) => member !== ''),
  ]),
]);
// Each header of a token is the same for all and no secret.
for (const each of [token, legacy]) secrets.delete(each.split('.')[0] ?? '');

/** A value to send where a secret belongs, and to find nowhere. */
function secret(text: string): string {
  secrets.add(text);
  return text;
}

/** Where the assertion is: its claims and its signature are as good as a password for a minute. */
function secretParts(jwt: string): string {
  for (const part of jwt.split('.').slice(1)) secret(part);
  return jwt;
}

const { send } = traces(service, captured, secrets);

const form = 'application/x-www-form-urlencoded';

/** POSTs a form with `headers` beside the API key. */
function post(url: string, fields: Readonly<Record<string, string>>, headers: Headers = {}): Send {
  const body = new URLSearchParams(fields).toString();
  const key = { 'x-api-key': vendor.clientKey };
  return (id) => request(url, { method: 'POST', headers: { 'content-type': form, ...key, ...headers, ...id }, body });
}

/** Basic, as it is sent. */
function basic(id: string, secretText: string): string {
  return `Basic ${secret(Buffer.from(`${id}:${secretText}`).toString('base64'))}`;
}

const grant = { grant_type: 'client_credentials' };
const own = { client_id: vendor.clientId, client_secret: vendor.clientSecret };
const byAssertion = (text: string) => ({
  client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  client_assertion: secretParts(text),
});
const wrong = secret('a-wrong-secret-of-mine');
/** Where an access entry belongs, which a refusal repeats to the sender. */
const misplaced = secret('a-misplaced-secret-of-mine');
const wrongClient = 'client_id or client_secret is wrong for this realm';
const wrongKey = 'client_assertion is not signed with a key (kid, alg) of a client of this realm';

type Row = readonly [
  name: string,
  make: () => Send | Promise<Send>,
  status: number,
  error: string,
  description: string,
];

const refusals: readonly Row[] = [
  [
    'a secret as scope',
    () => post(tokenUrl, { ...grant, ...own, scope: misplaced }),
    400,
    'invalid_scope',
    `${misplaced} is not held by the application`,
  ],
  [
    'a scope that is no scope',
    () => post(tokenUrl, { ...grant, ...own, scope: 'acl/"\\' }),
    400,
    'invalid_scope',
    'scope is a list of entries separated by single spaces (RFC 6749, section 3.3)',
  ],
  [
    'a wrong secret',
    () => post(tokenUrl, { ...grant, ...own, client_secret: wrong }),
    401,
    'invalid_client',
    wrongClient,
  ],
  [
    'a wrong secret in the header',
    () => post(tokenUrl, grant, { authorization: basic(vendor.clientId, wrong) }),
    401,
    'invalid_client',
    wrongClient,
  ],
  [
    'the secret in both places',
    () => post(tokenUrl, { ...grant, ...own }, { authorization: basic(vendor.clientId, vendor.clientSecret) }),
    400,
    'invalid_request',
    'client_secret is sent twice: use the body or the Authorization header, not both',
  ],
  [
    'two Authorization headers',
    () => post(tokenUrl, grant, { authorization: [basic(vendor.clientId, wrong), basic(vendor.clientId, 'x')] }),
    400,
    'invalid_request',
    'Authorization header is sent more than once',
  ],
  [
    'a malformed Authorization header',
    () => post(tokenUrl, grant, { authorization: `Basic ${wrong}!` }),
    401,
    'invalid_client',
    'Authorization header is not Basic followed by base64',
  ],
  [
    'a secret as grant type',
    () => post(tokenUrl, { ...own, grant_type: wrong }),
    400,
    'unsupported_grant_type',
    'grant_type must be client_credentials at this endpoint',
  ],
  [
    'a malformed assertion',
    () => post(tokenUrl, { ...grant, ...byAssertion(`${wrong}.${wrong}.${wrong}`) }),
    401,
    'invalid_client',
    'client_assertion is malformed: it is not a JWT',
  ],
  [
    'an assertion of another key',
    async () => post(tokenUrl, { ...grant, ...byAssertion(await assertion({}, unregistered)) }),
    401,
    'invalid_client',
    wrongKey,
  ],
  [
    'an assertion whose claims are secrets',
    async () => post(tokenUrl, { ...grant, ...byAssertion(await assertion({ iss: wrong, sub: wrong })) }),
    401,
    'invalid_client',
    wrongKey,
  ],
  [
    'an assertion for another server',
    async () => post(tokenUrl, { ...grant, ...byAssertion(await assertion({ aud: wrong })) }),
    401,
    'invalid_client',
    `client_assertion aud must be ${issuer} or ${tokenUrl}, and nothing else`,
  ],
  [
    'an assertion beside a secret',
    async () => post(tokenUrl, { ...grant, ...own, ...byAssertion(await assertion()) }),
    400,
    'invalid_request',
    'client_assertion is sent beside a client secret: authenticate the client in one way, not in two',
  ],
  [
    'a wrong x-api-key',
    () => post(tokenUrl, { ...grant, ...own }, { 'x-api-key': wrong }),
    401,
    'invalid_client',
    'x-api-key is not a known API key',
  ],
  [
    'a doubled x-api-key',
    () => post(tokenUrl, { ...grant, ...own }, { 'x-api-key': [vendor.clientKey, vendor.clientKey] }),
    401,
    'invalid_client',
    'x-api-key header is sent more than once: send one key',
  ],
  [
    'the x-api-key of another application',
    () => post(tokenUrl, { ...grant, ...own }, { 'x-api-key': stranger.clientKey }),
    401,
    'invalid_client',
    'x-api-key belongs to another application than the client',
  ],
  [
    'an introspection with a wrong secret',
    () => post(introspectionUrl, { ...own, client_secret: wrong, token }),
    401,
    'invalid_client',
    wrongClient,
  ],
  [
    'an introspection of nothing',
    () => post(introspectionUrl, own),
    400,
    'invalid_request',
    'token is missing or empty',
  ],
  [
    'a revocation with a wrong assertion',
    async () => post(revocationUrl, { token, ...byAssertion(await assertion({}, unregistered)) }),
    401,
    'invalid_client',
    wrongKey,
  ],
  [
    'a revocation of the token of another',
    () => post(revocationUrl, { ...own, token: foreign }),
    400,
    'unauthorized_client',
    'token was issued to another client: only that one ends it',
  ],
  [
    'a wrong password of a legacy account',
    () =>
      post(
        maple.legacyTokenUrl,
        { ...passwordForm(vendor, maple), password: wrong },
        { 'x-api-key': vendor.legacyKey },
      ),
    400,
    'invalid_grant',
    'username or password is wrong for this firm',
  ],
  [
    'an access token as refresh token',
    () =>
      post(
        maple.legacyTokenUrl,
        { grant_type: 'refresh_token', refresh_token: legacy },
        { 'x-api-key': vendor.legacyKey },
      ),
    400,
    'invalid_grant',
    'refresh_token is an access token: send the refresh_token of the same answer',
  ],
];
for (const [name, make, status, error, description] of refusals) {
  test(`${name} is ${error}, logged and noted without what was sent, and changes nothing`, async () => {
    const { answer, changed, noted } = await send(await make(), misplaced);
    assert.equal(answer.status, status, answer.text);
    assert.deepEqual(answer.json, { error, error_description: description });
    assert.deepEqual(changed, []);
    assert.equal(noted.length, 1);
    assert.ok(noted[0]?.includes(error), noted[0]);
  });
}

test('an assertion that is sent again is refused and uses nothing up', async () => {
  const fields = { ...grant, ...byAssertion(await assertion()) };
  const first = await request(tokenUrl, {
    method: 'POST',
    headers: { 'content-type': form, 'x-api-key': vendor.clientKey },
    body: new URLSearchParams(fields).toString(),
  });
  assert.equal(first.status, 200);
  secretParts(first.json.access_token);
  const { answer, changed } = await send(post(tokenUrl, fields));
  assert.deepEqual(answer.json, {
    error: 'invalid_client',
    error_description: 'client_assertion was used before: make a new one, with a jti of its own, for each request',
  });
  assert.deepEqual(changed, []);
});

/** A request to the administration as the operator, or with another token. */
function administer(method: string, path: string, body: unknown, bearer: string | undefined = operator.token): Send {
  return (headers) => ask(service, bearer, method, path, body, { 'x-request-id': String(headers['x-request-id']) });
}

const keysPath = `/environments/sandbox/applications/Vendor/clients/${keyedId}/jwks`;
const broken = (field: string, detail: string) => ({
  type: 'about:blank',
  title: 'Unprocessable Entity',
  status: 422,
  detail,
  code: 'rule-broken',
  errors: [{ field, detail }],
});
const unauthorized = (detail: string) => ({
  type: 'about:blank',
  title: 'Unauthorized',
  status: 401,
  detail,
  code: 'credentials-invalid',
  errors: [],
});

const administration: readonly (readonly [name: string, make: () => Send, body: { readonly code: string }])[] = [
  [
    'a JWK Set with an elliptic private key',
    () => administer('PUT', keysPath, { jwks: { keys: [pair.publicJwk, pair.privateJwk] } }),
    broken('jwks', 'jwks: JWK Set keys[1] holds the private member d: register public keys only, and replace this one'),
  ],
  [
    'a JWK Set with an RSA private key',
    () => administer('PUT', keysPath, { jwks: { keys: [rsa.privateJwk] } }),
    broken('jwks', 'jwks: JWK Set keys[0] holds the private member d: register public keys only, and replace this one'),
  ],
  [
    'a JWK Set whose key is a secret',
    () => administer('PUT', keysPath, { jwks: { keys: [{ kty: 'oct', kid: 'x', k: secret('c2VjcmV0LWtleQ') }] } }),
    broken('jwks', 'jwks: JWK Set keys[0] holds the private member k: register public keys only, and replace this one'),
  ],
  [
    'a JWK Set with a secret for a number',
    () => administer('PUT', keysPath, { jwks: { keys: [{ ...rsa.publicJwk, n: wrong }] } }),
    broken('jwks', 'jwks: JWK Set keys[0] has an RSA modulus of 127 bits: 2048 to 8192 are taken'),
  ],
  [
    'an address of keys with a password',
    () => administer('PUT', keysPath, { jwksUri: `https://user:${wrong}@example.com/jwks` }),
    broken('jwksUri', 'jwksUri must have no user, password or fragment'),
  ],
  [
    'a secret as ACL code',
    () => administer('PUT', '/environments/sandbox/applications/Vendor/acl', { acl: ['acl/pat_s', misplaced] }),
    broken('acl', `"${misplaced}" is not an access entry: an access entry begins with "acl/" or "system/"`),
  ],
  [
    'a wrong password of an administrator',
    () => administer('POST', '/sessions', { username: 'operator', password: wrong }, undefined),
    unauthorized('username or password is wrong'),
  ],
  [
    'a token that is no administrator’s',
    () => administer('GET', '/me', undefined, token),
    unauthorized('Bearer token is not that of a live session or API token of an administrator: sign in'),
  ],
];
for (const [name, make, body] of administration) {
  test(`${name} is refused, logged and noted without what was sent, and changes nothing`, async () => {
    const { answer, changed, noted } = await send(make(), misplaced);
    assert.deepEqual(answer.json, body);
    assert.deepEqual(changed, []);
    assert.ok(
      noted.some((row) => row.includes(body.code)),
      noted.join('\n'),
    );
  });
}

/** A read of patients with the API key; `authorization` as given. */
function call(target: string, headers: Headers, body?: string): Send {
  const sent = { 'x-api-key': vendor.clientKey, ...(body === undefined ? {} : { 'content-type': form }), ...headers };
  const method = body === undefined ? 'GET' : 'POST';
  return (id) =>
    request(`${maple.base}/${target}`, {
      method,
      headers: { ...sent, ...id },
      ...(body === undefined ? {} : { body }),
    });
}

/** Sends calls one after another; none changes anything. Status and diagnostics of each. */
async function refusalsOf(calls: readonly Send[]): Promise<readonly (readonly [number, string])[]> {
  const told: (readonly [number, string])[] = [];
  for (const make of calls) {
    const { answer, changed, noted } = await send(make);
    assert.deepEqual(changed, []);
    assert.equal(noted.length, 1);
    told.push([answer.status, answer.json.issue[0].diagnostics]);
  }
  return told;
}

test('RFC 9700 §4.3: a token in query or body is refused, also beside a good one, and stands in no log', async () => {
  const authorization = `Bearer ${token}`;
  const field = `access_token=${token}`;
  const calls = [
    call(`Patient?${field}`, {}),
    call(`Patient?${field}`, { authorization }),
    call(`Patient?family=Stone&access%5Ftoken=${token}`, { authorization }),
    call('Patient/_search', {}, field),
    call('Patient/_search', { authorization }, field),
  ];
  const inQuery = [401, 'Bearer token in the query is refused: send it in the Authorization header only'];
  const isNone = [
    400,
    'access_token is not a search parameter of Patient; metadata lists those that are (Prefer: handling=lenient ignores unknown ones)',
  ];
  const missing = [401, 'Bearer token is missing: send the header Authorization: Bearer <access token>'];
  assert.deepEqual(await refusalsOf(calls), [inQuery, inQuery, inQuery, missing, isNone]);
});

test('calls with malformed headers are refused and logged without them', async () => {
  const authorization = `Bearer ${token}`;
  const calls = [
    call('Patient', { authorization: `${authorization}x` }),
    call('Patient', { authorization: token }),
    call('Patient', { authorization: [authorization, authorization] }),
    call('Patient', { authorization: basic(vendor.clientId, vendor.clientSecret) }),
    call('Patient', { authorization, 'x-api-key': wrong }),
    call('Patient', { authorization, 'x-api-key': [vendor.clientKey, vendor.clientKey] }),
  ];
  assert.deepEqual(await refusalsOf(calls), [
    [401, 'Bearer token is malformed: it is not a token of this service'],
    [401, 'Bearer token is missing: the Authorization header has another scheme'],
    [401, 'Bearer token is sent more than once: send one Authorization header'],
    [401, 'Bearer token is missing: the Authorization header has another scheme'],
    [401, 'x-api-key is not a known API key'],
    [401, 'x-api-key header is sent more than once: send one key'],
  ]);
});

test('an introspection leaves nothing but its row, a revocation the id of the token and a new epoch', async () => {
  const asked = await send(post(introspectionUrl, { ...own, token }));
  assert.deepEqual([asked.answer.json.active, asked.changed], [true, []]);
  const ended = await send(post(revocationUrl, { ...own, token }));
  assert.deepEqual([ended.answer.status, ended.answer.text], [200, '']);
  assert.deepEqual(ended.changed, ['access_epoch', 'revoked_token']);
});

test('what is told is found: in the log, in the ledger, in an answer', async () => {
  for (const [told, url] of [
    ['"route":"realm"', tokenUrl],
    ['invalid_client', tokenUrl],
    ['wrong for this realm', introspectionUrl],
  ] as const) {
    secrets.add(told);
    await assert.rejects(send(post(url, { ...grant, ...own, client_secret: wrong })), (error: Error) =>
      error.message.startsWith(`${told} in `),
    );
    secrets.delete(told);
  }
});
