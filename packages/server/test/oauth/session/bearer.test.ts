/** RFC 6750: where a Bearer token may be, and the challenge of a refusal. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { buildBearerChallenge, readBearer } from '../../../src/oauth/session/bearer.ts';

const refusals: readonly (readonly [
  name: string,
  values: readonly string[],
  kind: 'absent' | 'malformed',
  diagnostics: string,
])[] = [
  ['no header', [], 'absent', 'Bearer token is missing: send the header Authorization: Bearer <access token>'],
  ['an empty header', [''], 'absent', 'Bearer token is missing: send the header Authorization: Bearer <access token>'],
  ['another scheme', ['Basic abc'], 'absent', 'Bearer token is missing: the Authorization header has another scheme'],
  ['a token without scheme', ['abc'], 'absent', 'Bearer token is missing: the Authorization header has another scheme'],
  [
    'a longer scheme',
    ['BearerToken abc'],
    'absent',
    'Bearer token is missing: the Authorization header has another scheme',
  ],
  [
    'two headers',
    ['Bearer abc', 'Bearer abc'],
    'malformed',
    'Bearer token is sent more than once: send one Authorization header',
  ],
  [
    'a scheme without token',
    ['Bearer'],
    'malformed',
    'Bearer token is malformed: expected the header Authorization: Bearer <access token>',
  ],
  [
    'two tokens',
    ['Bearer abc def'],
    'malformed',
    'Bearer token is malformed: expected the header Authorization: Bearer <access token>',
  ],
  [
    'two tokens in one value',
    ['Bearer abc, Bearer abc'],
    'malformed',
    'Bearer token is malformed: expected the header Authorization: Bearer <access token>',
  ],
  [
    'a quoted token',
    ['Bearer "abc"'],
    'malformed',
    'Bearer token is malformed: expected the header Authorization: Bearer <access token>',
  ],
];
for (const [name, values, kind, diagnostics] of refusals) {
  test(`contract 5.1: ${name} is no Bearer token`, () => assert.deepEqual(readBearer(values), { kind, diagnostics }));
}

for (const place of ['query', 'body'] as const) {
  test(`contract 5.1: a token in the ${place} is refused, also beside one in the header`, () => {
    const diagnostics = `Bearer token in the ${place} is refused: send it in the Authorization header only`;
    for (const values of [[], ['Bearer abc']])
      assert.deepEqual(readBearer(values, place), { kind: 'malformed', diagnostics });
  });
}

test('RFC 6750 §2.1: the scheme is taken in any case, the token as it is', () => {
  for (const value of ['Bearer a.b-c_d~e+f/g==', 'bearer a.b-c_d~e+f/g==', 'BEARER   a.b-c_d~e+f/g== ']) {
    assert.deepEqual(readBearer([value]), { kind: 'sent', token: 'a.b-c_d~e+f/g==' });
  }
});

test('RFC 6750 §3: the challenge names no error when no token was sent, and only allowed characters', () => {
  assert.equal(buildBearerChallenge('sandbox'), 'Bearer realm="sandbox"');
  assert.equal(
    buildBearerChallenge('sandbox', 'a "b" \\ é'),
    'Bearer realm="sandbox", error="invalid_token", error_description="a ?b? ? ?"',
  );
});
