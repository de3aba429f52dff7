/** JSON Web Tokens: what is not exactly one of ours is not taken apart or not verified (RFC 7515, RFC 8725). */
import assert from 'node:assert/strict';
import { createSecretKey, generateKeyPairSync } from 'node:crypto';
import test from 'node:test';
import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { jwtVerify } from 'jose';
import {
  decodeJwt,
  jwtCharactersMax,
  readDateClaim,
  readTextClaim,
  signHs256,
  signRs256,
  verifyHs256,
  verifyRs256,
} from '../../../src/oauth/signing/jwt.ts';

fc.configureGlobal({ seed: 20261121 });

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const secret = Buffer.alloc(32, 7);
const rs256 = await signRs256({ alg: 'RS256', typ: 'JWT', kid: 'k' }, { sub: 's' }, privateKey);
const hs256 = signHs256({ alg: 'HS256', typ: 'JWT' }, { sub: 's' }, secret);

function segment(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
}

const malformed: readonly (readonly [name: string, token: string])[] = [
  ['no text', ''],
  ['a word', 'garbage'],
  ['two parts', rs256.split('.').slice(0, 2).join('.')],
  ['four parts', `${rs256}.x`],
  ['an empty signature', `${rs256.split('.').slice(0, 2).join('.')}.`],
  ['a header that is not JSON', `${segment('{')}.${segment({})}.AA`],
  ['a header that is an array', `${segment([])}.${segment({})}.AA`],
  ['a header without alg', `${segment({ typ: 'JWT' })}.${segment({})}.AA`],
  ['a header with crit', `${segment({ alg: 'RS256', crit: ['b64'], b64: false })}.${segment({})}.AA`],
  ['claims that are text', `${segment({ alg: 'RS256' })}.${segment('"x"')}.AA`],
  ['claims that are null', `${segment({ alg: 'RS256' })}.${segment('null')}.AA`],
  ['base64 instead of base64url', `${segment({ alg: 'RS256' })}.${segment({})}.+/==`],
  ['a space at its end', `${rs256} `],
  ['an encrypted token', `${segment({ alg: 'dir', enc: 'A256GCM', zip: 'DEF' })}..${segment('iv')}.AA.AA`],
  [
    'a compressed token',
    await signRs256({ alg: 'RS256' }, {}, privateKey).then((token) => {
      const [, payload = '', signature = ''] = token.split('.');
      const deflated = deflateRawSync(Buffer.from(payload, 'base64url')).toString('base64url');
      return `${segment({ alg: 'RS256', zip: 'DEF' })}.${deflated}.${signature}`;
    }),
  ],
  ['too many characters', `${segment({ alg: 'RS256' })}.${segment({ x: 'x'.repeat(jwtCharactersMax) })}.AA`],
];
for (const [name, token] of malformed) {
  test(`RFC 7515: ${name} is no token`, () => assert.equal(decodeJwt(token), undefined));
}

test('RFC 8725 §3.1: a token is verified with the algorithm of its kind only', () => {
  const rs = decodeJwt(rs256);
  const hs = decodeJwt(hs256);
  assert.ok(rs && hs);
  assert.deepEqual([verifyRs256(rs, publicKey), verifyHs256(hs, secret)], [true, true]);
  assert.deepEqual([verifyRs256(hs, publicKey), verifyHs256(rs, secret)], [false, false]);
  const confused = decodeJwt(
    signHs256({ alg: 'HS256', kid: 'k' }, { sub: 's' }, publicKey.export({ type: 'spki', format: 'der' })),
  );
  assert.ok(confused);
  assert.equal(verifyRs256(confused, publicKey), false, 'HMAC with the public key as secret');
  const renamed = decodeJwt(`${segment({ alg: 'RS256' })}.${hs256.split('.').slice(1).join('.')}`);
  assert.ok(renamed);
  assert.equal(verifyHs256(renamed, secret), false);
  const none = decodeJwt(`${segment({ alg: 'none' })}.${segment({})}.AA`);
  assert.ok(none);
  assert.deepEqual([verifyRs256(none, publicKey), verifyHs256(none, secret)], [false, false]);
});

test('RFC 8725 §3.1: a right signature under a header that names another algorithm is refused', async () => {
  for (const alg of ['none', 'RS512', 'PS256', 'HS256', 'rs256']) {
    const jwt = decodeJwt(await signRs256({ alg }, { sub: 's' }, privateKey));
    assert.ok(jwt);
    assert.equal(verifyRs256(jwt, publicKey), false, alg);
  }
  for (const alg of ['none', 'HS512', 'RS256', 'hs256']) {
    const jwt = decodeJwt(signHs256({ alg }, { sub: 's' }, secret));
    assert.ok(jwt);
    assert.equal(verifyHs256(jwt, secret), false, alg);
  }
});

test('property: a token with any character changed is malformed or has a wrong signature', () => {
  for (const [token, verify] of [
    [rs256, (jwt) => verifyRs256(jwt, publicKey)],
    [hs256, (jwt) => verifyHs256(jwt, secret)],
  ] as const satisfies readonly (readonly [string, (jwt: NonNullable<ReturnType<typeof decodeJwt>>) => boolean])[]) {
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.constantFrom(...'AZaz09-_.=+'), (at, character) => {
        fc.pre(token[at] !== character);
        const jwt = decodeJwt(token.slice(0, at) + character + token.slice(at + 1));
        assert.ok(jwt === undefined || !verify(jwt));
      }),
    );
    // The last character holds unused bits: each other spelling of the same bytes is refused.
    for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_') {
      if (token.endsWith(character)) continue;
      const jwt = decodeJwt(token.slice(0, -1) + character);
      assert.ok(jwt === undefined || !verify(jwt), `last character ${character}`);
    }
  }
});

test('contract 5.9: another implementation verifies our RS256 and HS256', async () => {
  assert.deepEqual((await jwtVerify(rs256, publicKey, { algorithms: ['RS256'] })).payload, { sub: 's' });
  assert.deepEqual((await jwtVerify(hs256, createSecretKey(secret), { algorithms: ['HS256'] })).payload, { sub: 's' });
});

test('RFC 8725 §3.7: header and claims are UTF-8, or it is no token', () => {
  const segment = (bytes: readonly number[]): string => Buffer.from(bytes).toString('base64url');
  const [open, close] = [[...Buffer.from('{"alg":"HS256","a":"')], [...Buffer.from('"}')]];
  const good = segment([...open, 0xc3, 0xa9, ...close]);
  assert.equal(decodeJwt(`${good}.${good}.AAAA`)?.claims['a'], 'é');
  for (const wrong of [[0xe9], [0xc0, 0xaf], [0xed, 0xa0, 0x80]]) {
    const bad = segment([...open, ...wrong, ...close]);
    assert.deepEqual([decodeJwt(`${bad}.${good}.AAAA`), decodeJwt(`${good}.${bad}.AAAA`)], [undefined, undefined]);
  }
  const marked = segment([0xef, 0xbb, 0xbf, ...Buffer.from('{"alg":"HS256"}')]);
  assert.equal(decodeJwt(`${marked}.${good}.AAAA`), undefined, 'a byte order mark');
});

test('RFC 7519 §4: claims of the wrong type are as if absent', () => {
  const claims = { text: 'a', empty: '', number: 5, date: 1.5, wrong: Number.NaN, flag: true };
  assert.deepEqual(
    ['text', 'empty', 'number', 'missing'].map((name) => readTextClaim(claims, name)),
    ['a', undefined, undefined, undefined],
  );
  assert.deepEqual(
    ['date', 'number', 'wrong', 'text', 'missing'].map((name) => readDateClaim(claims, name)),
    [1500, 5000, undefined, undefined, undefined],
  );
});
