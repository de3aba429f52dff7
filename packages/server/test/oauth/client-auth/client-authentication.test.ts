/** RFC 6749 §2.3: client_secret_post and client_secret_basic, one of them. Denials first. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { assertionType, readClientCredentials } from '../../../src/oauth/client-auth/client-authentication.ts';
import { OAuthError } from '../../../src/oauth/errors.ts';

fc.configureGlobal({ seed: 20261121 });

function basic(text: string): string {
  return `Basic ${Buffer.from(text).toString('base64')}`;
}

const assertion = { client_assertion: 'a.b.c', client_assertion_type: assertionType };
const both = { client_id: 'id', client_secret: 'secret' };
const refusals: readonly (readonly [
  name: string,
  authorization: readonly string[],
  form: Record<string, string>,
  code: string,
  description: string,
])[] = [
  ['nothing', [], {}, 'invalid_client', 'client_id and client_secret are missing'],
  ['only a Bearer token', ['Bearer abc'], {}, 'invalid_client', 'client_id and client_secret are missing'],
  ['no client_id', [], { client_secret: 'secret' }, 'invalid_request', 'client_id is missing or empty'],
  ['no client_secret', [], { client_id: 'id' }, 'invalid_client', 'client_secret is missing or empty'],
  [
    'both methods',
    [basic('id:secret')],
    both,
    'invalid_request',
    'client_secret is sent twice: use the body or the Authorization header, not both',
  ],
  [
    'both methods, the header empty',
    ['Basic'],
    both,
    'invalid_request',
    'client_secret is sent twice: use the body or the Authorization header, not both',
  ],
  [
    'two headers',
    [basic('id:secret'), basic('id:secret')],
    {},
    'invalid_request',
    'Authorization header is sent more than once',
  ],
  [
    'two client ids',
    [basic('id:secret')],
    { client_id: 'other' },
    'invalid_request',
    'client_id differs from the one in the Authorization header',
  ],
  [
    'an assertion and a secret in the body',
    [],
    { ...assertion, client_secret: 'secret' },
    'invalid_request',
    'client_assertion is sent beside a client secret: authenticate the client in one way, not in two',
  ],
  [
    'an assertion and a secret in the header',
    [basic('id:secret')],
    assertion,
    'invalid_request',
    'client_assertion is sent beside a client secret: authenticate the client in one way, not in two',
  ],
  [
    'the type of an assertion beside a secret',
    [basic('id:secret')],
    { client_assertion_type: assertionType },
    'invalid_request',
    'client_assertion is sent beside a client secret: authenticate the client in one way, not in two',
  ],
  [
    'an assertion without its type',
    [],
    { client_assertion: 'a.b.c' },
    'invalid_request',
    `client_assertion_type must be ${assertionType}`,
  ],
  [
    'an assertion of another type',
    [],
    { ...assertion, client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:saml2-bearer' },
    'invalid_request',
    `client_assertion_type must be ${assertionType}`,
  ],
  [
    'the type without an assertion',
    [],
    { client_assertion_type: assertionType },
    'invalid_request',
    'client_assertion is missing or empty',
  ],
  ['Basic without a value', ['Basic'], {}, 'invalid_client', 'Authorization header is not Basic followed by base64'],
  [
    'Basic that is not base64',
    ['Basic %%%'],
    {},
    'invalid_client',
    'Authorization header is not Basic followed by base64',
  ],
  [
    'Basic without a colon',
    [basic('id')],
    {},
    'invalid_client',
    'Authorization header holds no client_id:client_secret',
  ],
  [
    'Basic without an id',
    [basic(':secret')],
    {},
    'invalid_client',
    'Authorization header needs form-encoded client_id and client_secret, neither empty',
  ],
  [
    'Basic without a secret',
    [basic('id:')],
    {},
    'invalid_client',
    'Authorization header needs form-encoded client_id and client_secret, neither empty',
  ],
  [
    'Basic with a broken escape',
    [basic('id:%zz')],
    {},
    'invalid_client',
    'Authorization header needs form-encoded client_id and client_secret, neither empty',
  ],
];
for (const [name, authorization, form, code, description] of refusals) {
  test(`RFC 6749 §2.3: ${name} is ${code}`, () => {
    assert.throws(
      () => readClientCredentials(authorization, new Map(Object.entries(form))),
      (error) => {
        assert.ok(error instanceof OAuthError);
        assert.deepEqual({ code: error.code, description: error.description }, { code, description });
        return true;
      },
    );
  });
}

const accepted: readonly (readonly [name: string, authorization: readonly string[], form: Record<string, string>])[] = [
  ['client_secret_post', [], both],
  ['client_secret_post beside a header of another scheme', ['Bearer abc'], both],
  ['client_secret_basic', [basic('id:secret')], {}],
  ['client_secret_basic in any case', [basic('id:secret').replace('Basic', 'bASIC')], {}],
  ['client_secret_basic with the same client_id in the body', [basic('id:secret')], { client_id: 'id' }],
];
for (const [name, authorization, form] of accepted) {
  test(`contract 4.3: ${name} is read`, () => {
    assert.deepEqual(readClientCredentials(authorization, new Map(Object.entries(form))), {
      clientId: 'id',
      clientSecret: 'secret',
    });
  });
}

test('RFC 7523 §2.2: an assertion is read, with the client_id beside it', () => {
  assert.deepEqual(readClientCredentials([], new Map(Object.entries(assertion))), { assertion: 'a.b.c' });
  assert.deepEqual(readClientCredentials(['Bearer abc'], new Map(Object.entries({ ...assertion, client_id: 'id' }))), {
    assertion: 'a.b.c',
    clientId: 'id',
  });
});

test('property: settled basic-decoding: client_secret_basic values are form-decoded', () => {
  const value = fc
    .string({ unit: 'grapheme', minLength: 1 })
    .filter((text) => !text.includes('\0') && text.isWellFormed());
  const encode = (text: string): string => new URLSearchParams({ v: text }).toString().slice(2);
  fc.assert(
    fc.property(value, value, (clientId, clientSecret) => {
      const header = basic(`${encode(clientId)}:${encode(clientSecret)}`);
      assert.deepEqual(readClientCredentials([header], new Map()), { clientId, clientSecret });
    }),
  );
});
