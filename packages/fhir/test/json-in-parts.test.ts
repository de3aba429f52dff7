/** JSON read and written in parts is what it is at once: the same values and texts, the same faults. */
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  isWrittenInParts,
  type JsonObject,
  type JsonValue,
  parseJson,
  parseJsonInParts,
  parseJsonObject,
  writeJsonInParts,
} from '../src/index.ts';

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

test('a text that is nested is read in many parts, wherever the nesting is', () => {
  const inner = `{"url":"x","extension":[${Array.from({ length: 5_000 }, () => '{"a":1.0,"b":[true,[]]}').join()}]}`;
  const text = `{"extension":[{"extension":[${inner},${inner}],"value":{"c":${inner}}}]}`;
  const { value, parts } = readInParts(text);
  assert.ok(parts > 4, `${parts} parts`);
  assert.equal(JSON.stringify(value), text);
});

function writeInParts(object: JsonObject): { readonly text: string; readonly parts: number } {
  const writing = writeJsonInParts(object);
  for (let parts = 1; ; parts++) {
    const { done, value } = writing.next();
    if (done === true) return { text: value, parts };
  }
}

test('objects are written in parts as they are at once, digits kept', () => {
  const long = Array.from({ length: 200 }, (_, number) => `{"value":${number}.50,"text":"\\"${number}\\""}`).join();
  const objects = [
    '{}',
    '{"a":[],"b":{"c":[1]},"d":null,"e":"\\u0000"}',
    `{"x":1,"entry":[${long}],"\\"":[2.0]}`,
    `{"entry":[${long}]}`,
  ];
  for (const object of objects.map((text) => parseJsonObject(text)))
    assert.equal(writeInParts(object).text, JSON.stringify(object));
  const [, small, large] = objects.map((text) => parseJsonObject(text));
  assert.deepEqual(
    [small, large].map((object) => object && isWrittenInParts(object)),
    [false, true],
  );
  assert.ok(large && writeInParts(large).parts > 3);
});
