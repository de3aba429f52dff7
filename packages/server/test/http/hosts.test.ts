/**
 * Hosts of environments and realms (contract 4.1, 4.3): each answers at its own, and no header of a request ever reaches a
 * link, a Location or an issuer.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { patient } from '../support/records.ts';
import { type Answer, makeApplication, makeFirm, openTestService, type TestService } from '../support/service.ts';
import { openWire, type Wire } from '../support/wire.ts';

const sandboxOrigin = 'https://sandbox.example.com';
const prodOrigin = 'https://api.example.com:8443';
const loginOrigin = 'https://login.example.com';
const prodLoginOrigin = 'https://login.example.org';

const service = await openTestService(
  { after },
  {
    PRAXIS_ENVIRONMENT_ORIGINS: `sandbox=${sandboxOrigin},prod=${prodOrigin}`,
    PRAXIS_REALM_ORIGINS: `sandbox=${loginOrigin},production=${prodLoginOrigin}`,
  },
);
const wire = openWire(service.origin);
after(() => wire.close());
const maple = await makeFirm(service, 'maple');
const prodMaple = await makeFirm(service, 'maple', 'prod');
const sandboxApplication = await makeApplication(service, 'Vendor', ['acl/*'], [maple]);
const prodApplication = await makeApplication(service, 'Vendor', ['acl/*'], [prodMaple]);

const form = 'application/x-www-form-urlencoded';
const fhirJson = 'application/fhir+json';
const sandboxBase = '/sandbox/firm/maple/pm/fhir/v2';
const prodBase = '/prod/firm/maple/pm/fhir/v2';

async function tokenAt(to: Wire, host: string, realm: string, application: typeof sandboxApplication): Promise<Answer> {
  const { clientId, clientSecret, clientKey } = application;
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
  });
  return to.send({
    method: 'POST',
    path: `/auth/realms/${realm}/protocol/openid-connect/token`,
    headers: { host, 'content-type': form, 'x-api-key': clientKey },
    body: body.toString(),
  });
}

function claimsOf(token: string): Readonly<Record<string, unknown>> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}

async function callerAt(to: Wire, host: string, realm: string, application: typeof sandboxApplication) {
  const token = (await tokenAt(to, host, realm, application)).json.access_token;
  return { authorization: `Bearer ${token}`, 'x-api-key': application.clientKey };
}

const sandboxCaller = await callerAt(wire, 'login.example.com', 'sandbox', sandboxApplication);
const prodCaller = await callerAt(wire, 'login.example.org', 'production', prodApplication);

function assertUnknownPath(answer: Answer, name: string): void {
  assert.equal(answer.status, 404, name);
  assert.equal(answer.json.issue[0].details.coding[0].code, 'path-unknown', name);
}

test('an environment with a host of its own answers at no other', async () => {
  for (const host of [
    'api.example.com:8443',
    'login.example.com',
    'evil.example',
    '127.0.0.1',
    'sandbox.example.com:8080',
    'sandbox.example.com.',
    'xsandbox.example.com',
    '',
  ]) {
    for (const path of [
      `${sandboxBase}/Patient`,
      `${sandboxBase}/metadata`,
      '/sandbox/firm/maple/pm/ws/oauth2/grant',
    ]) {
      assertUnknownPath(await wire.send({ path, headers: { ...sandboxCaller, host } }), `${host} ${path}`);
    }
  }
  for (const host of ['sandbox.example.com', 'api.example.com', 'api.example.com:443', 'login.example.org']) {
    assertUnknownPath(await wire.send({ path: `${prodBase}/Patient`, headers: { ...prodCaller, host } }), host);
  }
});

test('a realm with a host of its own answers at no other', async () => {
  for (const host of ['login.example.org', 'sandbox.example.com', 'evil.example', 'login.example.com:8443']) {
    assertUnknownPath(await tokenAt(wire, host, 'sandbox', sandboxApplication), host);
    for (const path of [
      '/auth/realms/sandbox/protocol/openid-connect/certs',
      '/auth/realms/sandbox/.well-known/openid-configuration',
      '/.well-known/oauth-authorization-server/auth/realms/sandbox',
    ]) {
      assertUnknownPath(await wire.send({ path, headers: { host } }), `${host} ${path}`);
    }
  }
});

test('at its own host, in any case and with the default port, the environment answers', async () => {
  for (const host of ['sandbox.example.com', 'SANDBOX.Example.com', 'sandbox.example.com:443']) {
    const answer = await wire.send({ path: `${sandboxBase}/Patient`, headers: { ...sandboxCaller, host } });
    assert.equal(answer.status, 200, host);
    assert.deepEqual(answer.json.link, [{ relation: 'self', url: `${sandboxOrigin}${sandboxBase}/Patient` }]);
  }
  const host = 'api.example.com:8443';
  assert.equal((await wire.send({ path: `${prodBase}/Patient`, headers: { ...prodCaller, host } })).status, 200);
});

test('the absolute form of a target is taken, and its host instead of the Host header', async () => {
  const patients = `${sandboxBase}/Patient?_count=1`;
  const send = (path: string, host: string) => wire.send({ path, headers: { ...sandboxCaller, host } });
  const plain = await send(patients, 'sandbox.example.com');
  assert.equal(plain.status, 200);
  for (const target of [
    `https://sandbox.example.com${patients}`,
    `HTTP://SANDBOX.example.com${patients}`,
    `http://sandbox.example.com:443${patients}`,
  ]) {
    const answer = await send(target, 'evil.example');
    assert.deepEqual([answer.status, answer.json.link], [200, plain.json.link], target);
  }
  for (const target of [
    `https://evil.example${patients}`,
    `https://user@sandbox.example.com${patients}`,
    `https://${patients}`,
    `ftp://sandbox.example.com${patients}`,
    `https://sandbox.example.com${patients}#part`,
    `https://sandbox.example.com/${patients}`,
  ]) {
    assertUnknownPath(await send(target, 'sandbox.example.com'), target);
  }
  const front = await wire.send({ path: 'http://sandbox.example.com' });
  assert.deepEqual([front.status, front.headers.get('content-type')], [200, 'text/plain; charset=utf-8']);
});

test('an environment without a host of its own answers at any, and links to where the service listens', async () => {
  const path = '/training/firm/maple/pm/fhir/v2/metadata';
  for (const host of ['sandbox.example.com', 'evil.example']) {
    const { status, json } = await wire.send({ path, headers: { host } });
    assert.equal(status, 200);
    assert.equal(json.implementation.url, `${service.origin}/training/firm/maple/pm/fhir/v2`);
  }
});

test('the issuer is the origin of the realm, and a token of one realm opens nothing in the other', async () => {
  const { json } = await tokenAt(wire, 'login.example.com', 'sandbox', sandboxApplication);
  assert.equal(claimsOf(json.access_token)['iss'], `${loginOrigin}/auth/realms/sandbox`);
  const discovery = await wire.send({
    path: '/auth/realms/production/.well-known/openid-configuration',
    headers: { host: 'login.example.org' },
  });
  assert.equal(discovery.json.issuer, `${prodLoginOrigin}/auth/realms/production`);
  assert.equal(
    discovery.json.token_endpoint,
    `${prodLoginOrigin}/auth/realms/production/protocol/openid-connect/token`,
  );
  const crossed = await wire.send({
    path: `${prodBase}/Patient`,
    headers: { ...sandboxCaller, host: 'api.example.com:8443' },
  });
  assert.equal(crossed.status, 401);
  assert.match(crossed.json.issue[0].diagnostics, /issued by realm sandbox/);
});

/** Headers by which a proxy, or an attacker, says where the request came from. */
const forged = {
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'gopher',
  'x-forwarded-port': '666',
  'x-forwarded-for': '203.0.113.66',
  'x-forwarded-prefix': '/evil',
  'x-original-host': 'evil.example',
  'x-host': 'evil.example',
  'x-real-ip': '203.0.113.66',
  forwarded: 'for=203.0.113.66;host=evil.example;proto=gopher',
  'x-original-url': '/evil',
  'x-rewrite-url': '/evil',
  origin: 'https://evil.example',
  referer: 'https://evil.example/',
};

/** Answers of every kind that holds a link, to requests with the forged headers. */
async function linkedAnswers(
  to: Wire,
  base: string,
  host: string,
  caller: Readonly<Record<string, string>>,
): Promise<Answer[]> {
  const send = (
    method: string,
    path: string,
    more: Readonly<Record<string, string>> = {},
    body?: string,
  ): Promise<Answer> =>
    to.send({
      method,
      path,
      headers: { ...forged, ...caller, host, ...more },
      ...(body === undefined ? {} : { body }),
    });
  const create = await send('POST', `${base}/Patient`, { 'content-type': fhirJson }, JSON.stringify(patient('Stone')));
  assert.equal(create.status, 201, create.text);
  await send('POST', `${base}/Patient`, { 'content-type': fhirJson }, JSON.stringify(patient('Stone')));
  const { id } = create.json;
  return [
    create,
    await send(
      'PUT',
      `${base}/Patient/${id}`,
      { 'content-type': fhirJson },
      JSON.stringify({ ...patient('Stone'), id }),
    ),
    await send('GET', `${base}/Patient/${id}`),
    await send('GET', `${base}/Patient/${id}/_history?_count=1`),
    await send('GET', `${base}/Patient?_count=1`),
    await send('POST', `${base}/Patient/_search`, { 'content-type': form }, '_count=1'),
    await send('GET', `${base}/Patient?_summary=count`),
    await send('GET', `${base}/metadata`),
    await send('GET', `${base}/Patient/unknown`),
    await send('GET', `${base}/Patient?nonsense=1`),
  ];
}

function assertUntouched(answers: readonly Answer[], origin: string): void {
  for (const answer of answers) {
    const all = `${answer.text}\n${[...answer.headers].map((header) => header.join(': ')).join('\n')}`;
    assert.ok(!/evil|gopher|:666|203\.0\.113/.test(all), all);
    // Every URL of the service in the answer is below the origin of the settings.
    for (const [url] of all.matchAll(/https?:\/\/[^"\s]*\/fhir\/v2[^"\s]*/g))
      assert.ok(url.startsWith(`${origin}/`), url);
  }
}

test('forged headers reach neither link nor Location nor issuer', async () => {
  const answers = await linkedAnswers(wire, sandboxBase, 'sandbox.example.com', sandboxCaller);
  assertUntouched(answers, sandboxOrigin);
  assert.match(
    answers[0]?.headers.get('location') ?? '',
    /^https:\/\/sandbox\.example\.com\/sandbox\/firm\/maple\/pm\/fhir\/v2\/Patient\/[^/]+\/_history\/1$/,
  );
  assert.deepEqual(
    answers[4]?.json.link.map(({ relation }: { relation: string }) => relation),
    ['self', 'first', 'next'],
  );
});

test('forged headers choose no door either', async () => {
  const headers = {
    ...sandboxCaller,
    host: 'evil.example',
    'x-forwarded-host': 'sandbox.example.com',
    forwarded: 'host=sandbox.example.com',
  };
  assertUnknownPath(await wire.send({ path: `${sandboxBase}/Patient`, headers }), 'X-Forwarded-Host of a stranger');
});

test('without any origin in the settings a forged Host reaches no link', async (t) => {
  const plain: TestService = await openTestService(t);
  const to = openWire(plain.origin);
  t.after(async () => to.close());
  const firm = await makeFirm(plain, 'maple');
  const application = await makeApplication(plain, 'Vendor', ['acl/*'], [firm]);
  const caller = await callerAt(to, 'evil.example', 'sandbox', application);
  const answers = await linkedAnswers(to, sandboxBase, 'evil.example:666', caller);
  const { json } = await tokenAt(to, 'evil.example', 'sandbox', application);
  assert.equal(claimsOf(json.access_token)['iss'], `${plain.origin}/auth/realms/sandbox`);
  assertUntouched(answers, plain.origin);
});

test('PRAXIS_BASE_URL is the origin of all links', async (t) => {
  const plain = await openTestService(t, { PRAXIS_BASE_URL: 'https://fhir.example.net' });
  const to = openWire(plain.origin);
  t.after(async () => to.close());
  const firm = await makeFirm(plain, 'maple');
  const application = await makeApplication(plain, 'Vendor', ['acl/*'], [firm]);
  const caller = await callerAt(to, 'anything.example', 'sandbox', application);
  assertUntouched(await linkedAnswers(to, sandboxBase, 'anything.example', caller), 'https://fhir.example.net');
});

test('a trusted proxy names the door, a stranger does not', async (t) => {
  const origins = { PRAXIS_ENVIRONMENT_ORIGINS: `sandbox=${sandboxOrigin}` };
  const path = `${sandboxBase}/metadata`;
  const headers = {
    host: 'internal:8080',
    'x-forwarded-host': 'sandbox.example.com',
    'x-forwarded-for': '203.0.113.66',
  };
  for (const [proxies, status] of [
    ['10.0.0.1,127.0.0.0/8', 200],
    ['10.0.0.0/8,203.0.113.66', 404],
  ] as const) {
    const behind = await openTestService(t, { ...origins, PRAXIS_TRUSTED_PROXIES: proxies });
    const to = openWire(behind.origin);
    t.after(async () => to.close());
    const answer = await to.send({ path, headers });
    assert.equal(answer.status, status, proxies);
    if (status === 200) assert.equal(answer.json.implementation.url, `${sandboxOrigin}${sandboxBase}`);
    // The proxy's word is about the door alone: links come from the settings.
    const evil = await to.send({ path, headers: { host: 'sandbox.example.com', 'x-forwarded-host': 'evil.example' } });
    assert.equal(evil.status, status === 200 ? 404 : 200, proxies);
  }
});
