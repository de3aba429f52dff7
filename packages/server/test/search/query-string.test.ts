/** Query strings and form bodies: https://url.spec.whatwg.org/#urlencoded-parsing, and what existing clients send besides. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { parseParameters } from '../../src/search/query/query-string.ts';

test('names and values are those of the URL standard', () => {
  for (const text of ['', 'a=1&b=2&a=3', '&&a=1&', '=x', 'a=', '_a', 'a=b=c', 'a+b=c+d%2B', 'date=%C3%A4&%C3%A4=1']) {
    assert.deepEqual(parseParameters(text), [...new URLSearchParams(text)], text);
  }
});

test('a part without = goes on with the value before it, unless it begins as a result parameter does', () => {
  assert.deepEqual(parseParameters('name=Smith & Sons'), [['name', 'Smith & Sons']]);
  assert.deepEqual(parseParameters('name=Smith&_summary'), [
    ['name', 'Smith'],
    ['_summary', ''],
  ]);
});

test('more parts than a search takes parameters are refused before they are split, empty ones as well', () => {
  const refusal = {
    code: 'too-costly',
    details: {
      diagnostics:
        'The query has more than 10000 parameters, the limit of one request. Nothing was changed. To make it cheaper: name fewer parameters',
    },
  };
  assert.deepEqual(parseParameters('&'.repeat(9_999)), []);
  for (const text of ['&'.repeat(10_000), 'a=1&'.repeat(10_000)])
    assert.throws(() => parseParameters(text), refusal, text.slice(0, 4));
});
