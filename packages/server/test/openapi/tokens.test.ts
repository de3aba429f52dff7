/**
 * What the OpenAPI document says of tokens is what is answered: introspection, revocation and the documents of discovery are
 * compared with their examples, member by member, and refusals as a whole.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import {
  type Answer,
  answerOf,
  clientForm,
  clientToken,
  clientTokenUrl,
  legacyToken,
  makeApplication,
  makeFirm,
  openTestService,
  postForm,
} from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const own = await makeApplication(service, 'Own', ['acl/enc_s', 'acl/pat_s_name_dob_gen'], [maple]);
const other = await makeApplication(service, 'Other', ['acl/pat_s'], [maple]);
const { json: document } = await answerOf(await fetch(`${service.origin}/openapi.json`));
const { examples, schemas } = document.components;
const urls = {
  introspect: `${clientTokenUrl(service)}/introspect`,
  revoke: clientTokenUrl(service).replace(/token$/, 'revoke'),
} as const;
type Endpoint = keyof typeof urls;

async function ask(endpoint: Endpoint, form: Readonly<Record<string, string>>): Promise<Answer> {
  const { client_id = '', client_secret = '' } = clientForm(own);
  return await postForm(urls[endpoint], { client_id, client_secret, ...form }, own.clientKey);
}

const described = { introspect: '/token/introspect', revoke: '/revoke' } as const;

for (const endpoint of ['introspect', 'revoke'] as const) {
  test(`${endpoint}: refusals are those of the examples`, async () => {
    const { responses } = document.paths[`/auth/realms/{realm}/protocol/openid-connect${described[endpoint]}`].post;
    const foreign = await clientToken(service, other);
    const provocations: Readonly<Record<string, Answer>> = {
      invalid_request: await ask(endpoint, { token: '' }),
      invalid_client: await ask(endpoint, { token: 'x', client_secret: 'wrong' }),
      ...(endpoint === 'revoke' ? { unauthorized_client: await ask(endpoint, { token: foreign }) } : {}),
    };
    for (const [code, { status, json, headers }] of Object.entries(provocations)) {
      assert.deepEqual(json, examples[`${endpoint}.${code}`].value);
      const { content, headers: named } = responses[status];
      assert.ok(Object.hasOwn(content['application/json'].examples, code), `${endpoint} ${code}`);
      assert.deepEqual(
        Object.keys(named).filter((name) => !headers.has(name)),
        [],
      );
    }
    const large = await ask(endpoint, { token: 'x'.repeat(70_000) });
    assert.equal(large.status, 413);
    assert.ok(responses[large.status].content['application/json'].examples[large.json.error] !== undefined);
    const answerable = [
      'invalid_request',
      'invalid_client',
      'too_many_attempts',
      'rate_exceeded',
      'temporarily_unavailable',
      'server_error',
    ];
    const told = Object.keys(examples).filter((name) => name.startsWith(`${endpoint}.`));
    const codes = endpoint === 'revoke' ? [...answerable, 'unauthorized_client'] : answerable;
    assert.deepEqual(told.sort(), codes.map((code) => `${endpoint}.${code}`).sort());
  });
}

test('introspection is answered with the members of its examples, and a revocation without a body', async () => {
  const token = await clientToken(service, own);
  const answers = {
    Introspection: await ask('introspect', { token }),
    'Introspection.legacy': await ask('introspect', { token: await legacyToken(own, maple) }),
    'Introspection.inactive': await ask('introspect', { token: 'none' }),
  };
  for (const [name, { status, json }] of Object.entries(answers)) {
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(json).sort(), Object.keys(examples[name].value).sort(), name);
    for (const member of Object.keys(json)) assert.ok(Object.hasOwn(schemas.Introspection.properties, member), member);
  }
  assert.deepEqual(answers['Introspection.inactive'].json, examples['Introspection.inactive'].value);
  const revoked = await ask('revoke', { token });
  assert.deepEqual([revoked.status, revoked.text], [200, '']);
  assert.equal((await ask('introspect', { token })).json.active, false);
});

const documents = {
  OpenIdConfiguration: '/auth/realms/sandbox/.well-known/openid-configuration',
  AuthorizationServerMetadata: '/.well-known/oauth-authorization-server/auth/realms/sandbox',
  SmartConfiguration: '/sandbox/firm/maple/pm/fhir/v2/.well-known/smart-configuration',
  ProtectedResourceMetadata: '/.well-known/oauth-protected-resource/sandbox/firm/maple/pm/fhir/v2',
} as const;

test('documents of discovery are answered as in the examples, but for origin, practice and most scopes', async () => {
  for (const [name, path] of Object.entries(documents)) {
    const { status, text, json } = await answerOf(await fetch(service.origin + path));
    assert.equal(status, 200, name);
    const expected = examples[name].value;
    const shown = JSON.parse(text.replaceAll(service.origin, 'https://example.com').replaceAll('maple', 'your-firm'));
    const { scopes_supported: scopes, ...rest } = shown;
    const { scopes_supported: some, ...others } = expected;
    assert.deepEqual(rest, others, name);
    assert.ok(some.length === 6 && some.every((scope: string) => scopes.includes(scope)), name);
    assert.deepEqual(Object.keys(json).sort(), schemas[name].required.toSorted(), name);
  }
});

test('keys are answered with the members of their example', async () => {
  const { json } = await answerOf(await fetch(`${service.origin}/auth/realms/sandbox/protocol/openid-connect/certs`));
  const { keys } = examples.JwkSet.value;
  assert.deepEqual(Object.keys(json.keys[0]).sort(), Object.keys(keys[0]).sort());
  assert.deepEqual(schemas.JwkSet.properties.keys.items.required.toSorted(), Object.keys(keys[0]).sort());
});
