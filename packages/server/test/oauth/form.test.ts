/** Form bodies of token requests (RFC 6749 §3.2, appendix B). */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { OAuthError } from '../../src/oauth/errors.ts';
import { type Form, formParametersMax, parseForm } from '../../src/oauth/form.ts';

fc.configureGlobal({ seed: 20261121 });

const formType = ['application/x-www-form-urlencoded'];

function parse(body: string | Uint8Array, contentType: readonly string[] = formType): Form {
  return parseForm(contentType, typeof body === 'string' ? Buffer.from(body, 'latin1') : body);
}

function assertRefused(run: () => unknown, description: string): void {
  assert.throws(run, (error) => {
    assert.ok(error instanceof OAuthError);
    assert.deepEqual(
      { code: error.code, status: error.status, description: error.description },
      { code: 'invalid_request', status: 400, description },
    );
    return true;
  });
}

const refusedTypes: readonly (readonly [name: string, values: readonly string[]])[] = [
  ['none', []],
  ['empty', ['']],
  ['JSON', ['application/json']],
  ['multipart', ['multipart/form-data; boundary=x']],
  ['a longer word', ['application/x-www-form-urlencoded-2']],
  ['sent twice', [...formType, ...formType]],
];
for (const [name, values] of refusedTypes) {
  test(`contract 4: Content-Type ${name} is refused as invalid_request`, () => {
    assertRefused(() => parse('grant_type=password', values), 'Content-Type must be application/x-www-form-urlencoded');
  });
}

test('a charset other than UTF-8 is refused as invalid_request', () => {
  for (const charset of ['utf-7', 'iso-8859-1', '"utf-16"', '', 'utf-80']) {
    const sent = [`application/x-www-form-urlencoded; Charset=${charset}`];
    assertRefused(() => parse('grant_type=password', sent), 'Content-Type must not name a charset other than UTF-8');
  }
});

test('contract 4: Content-Type may have parameters and any case', () => {
  for (const value of [
    'application/x-www-form-urlencoded;charset=UTF-8',
    'Application/X-WWW-Form-Urlencoded ; charset="utf8"',
    ' application/x-www-form-urlencoded ',
  ]) {
    assert.deepEqual(parse('a=1', [value]), new Map([['a', '1']]), value);
  }
});

const refusedBodies: readonly (readonly [name: string, body: string, description: string])[] = [
  ['a repeated parameter', 'username=a&username=b', 'username is sent more than once'],
  [
    'a repeated parameter of the same value',
    'grant_type=password&grant_type=password',
    'grant_type is sent more than once',
  ],
  ['a repeated parameter without a value', 'scope=&scope=acl/pat_r', 'scope is sent more than once'],
  ['a repeated name in two spellings', 'user%6Eame=a&username=b', 'username is sent more than once'],
  [
    'a repeated unknown parameter, whose name is not echoed',
    'Secret%20Word=1&Secret+Word=2',
    'A parameter is sent more than once',
  ],
  ['a broken percent-escape', 'password=%zz', 'password has a broken percent-escape or U+0000'],
  ['a cut percent-escape', 'password=%2', 'password has a broken percent-escape or U+0000'],
  ['an escape that is not UTF-8', 'password=%ff', 'password has a broken percent-escape or U+0000'],
  ['U+0000, which the database cannot take', 'username=a%00b', 'username has a broken percent-escape or U+0000'],
  ['a broken name', '%zz=1', 'A parameter name has a broken percent-escape or U+0000'],
  ['bytes that are not UTF-8', 'username=\xff', 'The body is not UTF-8'],
];
for (const [name, body, description] of refusedBodies) {
  test(`RFC 6749 §3.2: ${name} is refused as invalid_request`, () => assertRefused(() => parse(body), description));
}

test(`RFC 6749 §3.2: more than ${formParametersMax} parameters are refused`, () => {
  const body = (count: number): string => Array.from({ length: count }, (_, index) => `p${index}=1`).join('&');
  assert.equal(parse(body(formParametersMax)).size, formParametersMax);
  assertRefused(() => parse(body(formParametersMax + 1)), `More than ${formParametersMax} parameters`);
});

test('RFC 6749 §3.2: a parameter without a value is as if omitted', () => {
  assert.deepEqual(
    parse('scope=&client_id&grant_type=client_credentials&&'),
    new Map([['grant_type', 'client_credentials']]),
  );
  assert.deepEqual(parse(''), new Map());
});

test('RFC 6749 appendix B: plus and %20 are spaces, escapes and raw bytes are UTF-8', () => {
  assert.deepEqual(
    parse(Buffer.from('a=x+y%20z&b=%C3%A9é&c=%2B&d=k=v')),
    new Map([
      ['a', 'x y z'],
      ['b', 'éé'],
      ['c', '+'],
      ['d', 'k=v'],
    ]),
  );
});

const text = fc
  .string({ unit: 'grapheme', minLength: 1 })
  .filter((value) => !value.includes('\0') && value.isWellFormed());

test('property: what URLSearchParams writes is read back', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(text, text), { selector: ([name]) => name, maxLength: formParametersMax }),
      (parameters) => {
        const body = new URLSearchParams(parameters).toString();
        assert.deepEqual([...parse(body)], parameters);
      },
    ),
  );
});

test('property: any bytes give parameters or invalid_request, and no parameter is empty or holds U+0000', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (body) => {
      try {
        for (const value of parse(body).values()) assert.ok(value !== '' && !value.includes('\0'));
      } catch (error) {
        assert.ok(error instanceof OAuthError && error.code === 'invalid_request', String(error));
      }
    }),
  );
});
