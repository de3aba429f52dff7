/** JSON read in parts is what JSON read at once is: the same values, the same faults. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { type JsonValue, parseJson, parseJsonInParts } from '../src/index.ts';

function readInParts(text: string): { readonly value: JsonValue; readonly parts: number } {
  const reading = parseJsonInParts(text);
  for (let parts = 1; ; parts++) {
    const { done, value } = reading.next();
    if (done === true) return { value, parts };
  }
}

function faultOf(read: () => unknown): unknown {
  try {
    read();
  } catch (error) {
    return error;
  }
  return assert.fail('nothing was thrown');
}

test('faults are found as they are at once', () => {
  const members = Array.from({ length: 1_001 }, (_, number) => `"${number}":[]`).join();
  const texts = [
    '',
    '{',
    '{"a"',
    '{"a":',
    '{"a":[',
    '{"a":[1',
    '{"a":[1,',
    '{"a":[1,]}',
    '{"a":[1 2]}',
    '{"a":[1]',
    '{"a":[1],}',
    '{"a":[1] "b":2}',
    '{"a":[1]}{}',
    '{a:1}',
    '{"a":[],"b":1,"a":[]}',
    '{"__proto__":[]}',
    '{"a":["\\ud800"]}',
    '\ufeff{}',
    `{${members}}`,
    `{"a":[${'0,'.repeat(100_000)}0]}`,
    `{"a":${'['.repeat(64)}${']'.repeat(64)}}`,
  ];
  for (const text of texts)
    assert.deepEqual(
      faultOf(() => readInParts(text)),
      faultOf(() => parseJson(text)),
      text.slice(0, 40),
    );
});

test('small texts are read in one part', () => {
  const texts = [
    '1.00',
    '"a"',
    'null',
    '[1,[2]]',
    '{}',
    ' { "a" : [ ] , "b" : [ 1.50 , {"c":[2]} ] , "d" : {"e":[]} } ',
  ];
  for (const text of texts) {
    const { value, parts } = readInParts(text);
    assert.equal(parts, 1);
    assert.equal(JSON.stringify(value), JSON.stringify(parseJson(text)));
  }
});

test('a large text is read in many parts, digits kept', () => {
  const entry = `{"a":[1.00,{"b":"${'x'.repeat(1_000)}"}],"_a":null}`;
  const text = `{"type":"x","entry":[${Array.from({ length: 1_000 }, () => entry).join()}],"end":["y"]}`;
  const { value, parts } = readInParts(text);
  assert.ok(parts > 10, `${parts} parts`);
  assert.equal(JSON.stringify(value), text);
});
