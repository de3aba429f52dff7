/** RFC 7517: which JWK Sets of clients are taken, and what of them is kept. Denials first. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import test from 'node:test';
import { clientKeysMax, findKey, readKeySet } from '../../../src/oauth/client-auth/client-keys.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-384' });
const jwk: Record<string, unknown> = { ...rsa.publicKey.export({ format: 'jwk' }), kid: 'a' };
const ecJwk: Record<string, unknown> = { ...ec.publicKey.export({ format: 'jwk' }), kid: 'b' };
const small = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' });
const lowExponent = generateKeyPairSync('rsa', { modulusLength: 2048, publicExponent: 3 });

const noKeys = 'JWK Set has no key that verifies: RSA (RS*, PS*) or EC on P-256 or P-384 (ES*), use sig';
const refusals: readonly (readonly [name: string, value: unknown, problem: string])[] = [
  ['nothing', undefined, 'JWK Set must be an object with keys'],
  ['an array', [jwk], 'JWK Set must be an object with keys'],
  ['a single key', jwk, 'JWK Set must be an object with keys'],
  ['keys that are no array', { keys: { ...jwk } }, 'JWK Set must be an object with keys'],
  ['no key', { keys: [] }, noKeys],
  ['too many keys', { keys: Array.from({ length: clientKeysMax + 1 }, () => jwk) }, 'JWK Set has more than 20 keys'],
  ['a key that is no object', { keys: ['a'] }, 'JWK Set keys[0] is not an object'],
  [
    'a private key',
    { keys: [jwk, { ...ec.privateKey.export({ format: 'jwk' }), kid: 'p' }] },
    'JWK Set keys[1] holds the private member d: register public keys only, and replace this one',
  ],
  [
    'a symmetric key',
    { keys: [{ kty: 'oct', k: 'c2VjcmV0', kid: 's' }] },
    'JWK Set keys[0] holds the private member k: register public keys only, and replace this one',
  ],
  ['a key without kid', { keys: [{ ...jwk, kid: undefined }] }, 'JWK Set keys[0] needs a kid of 1 to 255 characters'],
  ['an empty kid', { keys: [{ ...jwk, kid: '' }] }, 'JWK Set keys[0] needs a kid of 1 to 255 characters'],
  ['a long kid', { keys: [{ ...jwk, kid: 'x'.repeat(256) }] }, 'JWK Set keys[0] needs a kid of 1 to 255 characters'],
  ['a kid that is no text', { keys: [{ ...jwk, kid: 1 }] }, 'JWK Set keys[0] needs a kid of 1 to 255 characters'],
  [
    'an RSA key without modulus',
    { keys: [{ ...jwk, n: undefined }] },
    'JWK Set keys[0] is no public key: its numbers are missing or wrong',
  ],
  [
    'a point that is not on the curve',
    { keys: [{ ...ecJwk, x: ecJwk['y'] }] },
    'JWK Set keys[0] is no public key: its numbers are missing or wrong',
  ],
  [
    'a short RSA key',
    { keys: [{ ...small, kid: 'c' }] },
    'JWK Set keys[0] has an RSA modulus of 1024 bits: 2048 to 8192 are taken',
  ],
  [
    'a low exponent',
    { keys: [{ ...lowExponent.publicKey.export({ format: 'jwk' }), kid: 'd' }] },
    'JWK Set keys[0] has a public exponent below 65537',
  ],
  [
    'keys for encryption only',
    {
      keys: [
        { ...jwk, use: 'enc' },
        { ...ecJwk, key_ops: ['deriveKey'] },
      ],
    },
    noKeys,
  ],
  [
    'keys of other kinds only',
    {
      keys: [
        { kty: 'OKP', crv: 'Ed25519', x: 'AA', kid: 'e' },
        { ...ecJwk, crv: 'P-521' },
      ],
    },
    noKeys,
  ],
  [
    'keys of other algorithms only',
    {
      keys: [
        { ...jwk, alg: 'RSA-OAEP' },
        { ...jwk, alg: 'toString' },
      ],
    },
    noKeys,
  ],
];
for (const [name, value, problem] of refusals) {
  test(`a JWK Set with ${name} is refused`, () => assert.deepEqual(readKeySet(value), { problem }));
}

test('RFC 7517 §5: of a set the keys that verify are kept, with their public members alone', () => {
  const set = readKeySet({
    keys: [
      { kty: 'OKP', crv: 'Ed25519', x: 'AA', kid: 'e' },
      { ...jwk, use: 'sig', key_ops: ['verify'], alg: 'PS384', x5c: ['AAAA'], note: 'x' },
      ecJwk,
    ],
  });
  const { kid, kty, n, e } = jwk;
  assert.deepEqual(set, { keys: [{ kid, kty, n, e, alg: 'PS384' }, { ...ecJwk }] });
});

test('a key is found by kid and by what it can verify', () => {
  const given = {
    keys: [
      { ...jwk, kid: 'same' },
      { ...ecJwk, kid: 'same' },
      { ...jwk, kid: 'bound', alg: 'RS256' },
    ],
  };
  const problem = 'JWK Set has two keys of one kid: an assertion would not say which has signed it';
  assert.deepEqual(readKeySet(given), { problem });
  const set = readKeySet(given, 'as stored');
  assert.ok('keys' in set);
  assert.equal(findKey(set, undefined, 'RS384'), undefined, 'several keys');
  const found = (kid: string, alg: string): string | undefined => findKey(set, kid, alg)?.kty;
  assert.deepEqual([found('same', 'RS384'), found('same', 'PS256'), found('same', 'ES384')], ['RSA', 'RSA', 'EC']);
  assert.deepEqual([found('bound', 'RS256'), found('bound', 'RS384')], ['RSA', undefined]);
  for (const [kid, alg] of [
    ['same', 'ES256'],
    ['same', 'none'],
    ['same', 'HS256'],
    ['same', 'constructor'],
    ['other', 'RS384'],
  ] as const)
    assert.equal(found(kid, alg), undefined, `${kid} ${alg}`);
});
