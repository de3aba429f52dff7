import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import {
  arrayLengthMaxDefault,
  depthMaxDefault,
  formatDecimal,
  isRawDecimal,
  JsonError,
  type JsonRule,
  type JsonValue,
  jsonLimitsDefault,
  parseJson,
} from '../src/json.ts';

fc.configureGlobal({ seed: 20261121 });

const tight = { depthMax: 3, arrayLengthMax: 3, stringLengthMax: 8 };

/** text → rule, path, line:column, and the message without path and position */
const refusals: readonly [text: string, rule: JsonRule, path: string, position: string, problem: string][] = [
  ['', 'syntax', '', '1:1', 'a JSON value is expected, not the end of the text'],
  ['  \n ', 'syntax', '', '2:2', 'a JSON value is expected, not the end of the text'],
  ['\ufeff{}', 'syntax', '', '1:1', 'byte order mark before the JSON text'],
  ['{} x', 'syntax', '', '1:4', 'text after the JSON value: "x"'],
  ['{}{}', 'syntax', '', '1:3', 'text after the JSON value: "{"'],
  ['1 2', 'syntax', '', '1:3', 'text after the JSON value: "2"'],
  ['{', 'syntax', '', '1:2', 'a key in double quotes is expected, not the end of the text'],
  ['{"a"', 'syntax', 'a', '1:5', '":" is expected after a key, not the end of the text'],
  ['{"a" 1}', 'syntax', 'a', '1:6', '":" is expected after a key, not "1"'],
  ['{"a":', 'syntax', 'a', '1:6', 'a JSON value is expected, not the end of the text'],
  ['{"a":1', 'syntax', 'a', '1:7', '"," or "}" is expected, not the end of the text'],
  ['{"a":1,}', 'syntax', '', '1:8', 'a key in double quotes is expected, not "}"'],
  ['{"a":1 "b":2}', 'syntax', 'a', '1:8', '"," or "}" is expected, not """'],
  ["{'a':1}", 'syntax', '', '1:2', 'a key in double quotes is expected, not "\'"'],
  ['{a:1}', 'syntax', '', '1:2', 'a key in double quotes is expected, not "a"'],
  ['[1,]', 'syntax', '[1]', '1:4', 'a JSON value is expected, not "]"'],
  ['[1 2]', 'syntax', '[0]', '1:4', '"," or "]" is expected, not "2"'],
  ['[', 'syntax', '[0]', '1:2', 'a JSON value is expected, not the end of the text'],
  ['[}', 'syntax', '[0]', '1:2', 'a JSON value is expected, not "}"'],
  ['/* no */ 1', 'syntax', '', '1:1', 'a JSON value is expected, not "/"'],
  ['\u00a01', 'syntax', '', '1:1', 'a JSON value is expected, not U+00A0'],
  ['nul', 'syntax', '', '1:1', 'a JSON value is expected, not "n"'],
  ['True', 'syntax', '', '1:1', 'a JSON value is expected, not "T"'],
  ['truex', 'syntax', '', '1:5', 'text after the JSON value: "x"'],
  ['NaN', 'syntax', '', '1:1', 'a JSON value is expected, not "N"'],
  ['-Infinity', 'syntax', '', '1:2', 'a digit is expected, not "I"'],
  ['01', 'syntax', '', '1:1', 'a number may not begin with a superfluous 0'],
  ['-00', 'syntax', '', '1:2', 'a number may not begin with a superfluous 0'],
  ['+1', 'syntax', '', '1:1', 'a JSON value is expected, not "+"'],
  ['.5', 'syntax', '', '1:1', 'a JSON value is expected, not "."'],
  ['1.', 'syntax', '', '1:3', 'a digit is expected, not the end of the text'],
  ['1.e3', 'syntax', '', '1:3', 'a digit is expected, not "e"'],
  ['1e', 'syntax', '', '1:3', 'a digit is expected, not the end of the text'],
  ['1e+', 'syntax', '', '1:4', 'a digit is expected, not the end of the text'],
  ['-', 'syntax', '', '1:2', 'a digit is expected, not the end of the text'],
  ['0x10', 'syntax', '', '1:2', 'text after the JSON value: "x"'],
  ['"abc', 'syntax', '', '1:5', 'a string is not closed: found the end of the text'],
  ['"abc\\"', 'syntax', '', '1:7', 'a string is not closed: found the end of the text'],
  [
    '{"resourceType":"Patient","name":[{"family":"A\nB"}]}',
    'syntax',
    'Patient.name[0].family',
    '1:47',
    'a control character (U+000A) must be escaped inside a string',
  ],
  ['{"a\tb":1}', 'syntax', '', '1:4', 'a control character (U+0009) must be escaped inside a string'],
  ['"\u0000"', 'syntax', '', '1:2', 'a control character (U+0000) must be escaped inside a string'],
  ['"\\x41"', 'syntax', '', '1:2', 'a backslash must be followed by one of "\\/bfnrtu'],
  ['"\\', 'syntax', '', '1:2', 'a backslash must be followed by one of "\\/bfnrtu'],
  ['"\\u12G4"', 'syntax', '', '1:2', '"\\u" must be followed by four hexadecimal digits'],
  ['"\\u12', 'syntax', '', '1:2', '"\\u" must be followed by four hexadecimal digits'],
  ['{"a":"\\ud800"}', 'syntax', 'a', '1:6', 'a string has half of a surrogate pair (\\uD800 to \\uDFFF) alone'],
  ['["\\udc00\\ud800"]', 'syntax', '[0]', '1:2', 'a string has half of a surrogate pair (\\uD800 to \\uDFFF) alone'],
  ['["\ud83d!"]', 'syntax', '[0]', '1:3', 'half of a surrogate pair stands alone: the text is not valid Unicode'],
  ['["\ude00"]', 'syntax', '[0]', '1:3', 'half of a surrogate pair stands alone: the text is not valid Unicode'],
  ['{"a":1,"a":2}', 'duplicate-key', 'a', '1:8', 'the key "a" occurs twice in one object'],
  ['{"a":1,"\\u0061":2}', 'duplicate-key', 'a', '1:8', 'the key "a" occurs twice in one object'],
  [
    '{"constructor":1,"constructor":2}',
    'duplicate-key',
    'constructor',
    '1:18',
    'the key "constructor" occurs twice in one object',
  ],
  ['{"":1,"":2}', 'duplicate-key', '``', '1:7', 'the key "" occurs twice in one object'],
  [
    '{"resourceType":"Patient",\n "name":[{"family":"A"},\r\n  {"family":"B",\r"family":"B"}]}',
    'duplicate-key',
    'Patient.name[1].family',
    '4:1',
    'the key "family" occurs twice in one object',
  ],
  [
    '{"resourceType":"Patient","we ird":{"x":1,"x":1}}',
    'duplicate-key',
    'Patient.`we ird`.x',
    '1:43',
    'the key "x" occurs twice in one object',
  ],
  ['{"__proto__":{"admin":true}}', 'forbidden-key', '__proto__', '1:2', 'the key "__proto__" is not accepted'],
  [
    '{"resourceType":"Patient","name":[{"\\u005f_proto__":[]}]}',
    'forbidden-key',
    'Patient.name[0].__proto__',
    '1:36',
    'the key "__proto__" is not accepted',
  ],
];

test('each malformed or dangerous text is refused with rule, path, line and column', () => {
  for (const [text, rule, path, position, problem] of refusals)
    assertRefused(text, undefined, rule, path, position, problem);
});

test('depth, array length and string length are limited', () => {
  assertRefused('[[[[1]]]]', tight, 'too-deep', '[0][0][0]', '1:4', 'objects and arrays may be nested 3 deep at most');
  assertRefused(
    '{"a":{"b":[{}]}}',
    tight,
    'too-deep',
    'a.b[0]',
    '1:12',
    'objects and arrays may be nested 3 deep at most',
  );
  assertRefused('{"a":[1,2,3,4]}', tight, 'too-long', 'a[3]', '1:13', 'an array may have 3 entries at most');
  const members = (count: number) => `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join()}}`;
  assert.equal(Object.keys(parseJson(members(1_000)) ?? {}).length, 1_000);
  assert.throws(() => parseJson(members(1_001)), /an object may have 1000 members at most/);
  assertRefused('{"a":"123456789"}', tight, 'too-long', 'a', '1:6', 'a string may have 8 characters at most');
  assertRefused(
    '{"123456789":1}',
    { ...tight, stringLengthMax: 8 },
    'too-long',
    '',
    '1:2',
    'a string may have 8 characters at most',
  );
  assert.deepEqual(parseJson('[[[1,2,3]],"12345678"]', tight), [[[1, 2, 3]], '12345678']);
  assert.deepEqual(parseJson('[[[]],[[]],{"a":[]}]', tight), [[[]], [[]], { a: [] }]);
});

test('the default limits refuse one more and accept the maximum', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  parseJson(nested(depthMaxDefault));
  assert.throws(() => parseJson(nested(depthMaxDefault + 1)), { rule: 'too-deep' });
  assert.throws(() => parseJson(nested(1_000_000)), { rule: 'too-deep' });
  parseJson(`[${'0,'.repeat(arrayLengthMaxDefault - 1)}0]`);
  assert.throws(() => parseJson(`[${'0,'.repeat(arrayLengthMaxDefault)}0]`), { rule: 'too-long' });
});

test('a number that JavaScript would write differently keeps its text', () => {
  const kept = [
    '1.00',
    '0.1e1',
    '1E+2',
    '1e2',
    '-0',
    '-0.0',
    '0.0',
    '100.0',
    '1.10',
    '12345678901234567890',
    '0.1234567890123456789',
    '3.14159265358979323846264338327950288',
    '1e400',
    '-1E-400',
    '9007199254740993',
    '1e21',
    '0.0000001',
  ];
  for (const text of kept) {
    const value = parseJson(text);
    assert.ok(isRawDecimal(value), text);
    assert.equal(formatDecimal(value), text);
    assert.equal(JSON.stringify(value), text);
    assert.equal(JSON.stringify(parseJson(`{"a":[${text}]}`)), `{"a":[${text}]}`);
  }
});

test('a number that JavaScript writes the same is a number', () => {
  for (const text of [
    '0',
    '1',
    '-1',
    '1.5',
    '-0.25',
    '0.1',
    '123456789012345',
    '9007199254740991',
    '1e+21',
    '1e-7',
    '185',
  ]) {
    const value = parseJson(text);
    assert.equal(value, Number(text));
    assert.equal(formatDecimal(Number(text)), text);
  }
});

test('an object that looks like a raw decimal is an object', () => {
  const value = parseJson('{"rawJSON":"1"}');
  assert.equal(isRawDecimal(value), false);
  assert.deepEqual(value, { rawJSON: '1' });
});

test('keys that name members of Object.prototype are plain own keys', () => {
  const text = '{"constructor":1,"prototype":{"toString":2},"hasOwnProperty":3,"valueOf":4,"__defineGetter__":5}';
  const value = parseJson(text);
  assert.equal(JSON.stringify(value), text);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
  assert.equal(typeof {}.hasOwnProperty, 'function');
});

test('strings: escapes, all planes, long ones', () => {
  assert.equal(parseJson('"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00é😀\\u0000"'), '"\\/\b\f\n\r\té😀é😀\0');
  const long = 'x'.repeat(1_000_000);
  assert.equal(parseJson(`"${long}"`), long);
  assert.deepEqual(parseJson(`{"${long}":1}`), { [long]: 1 });
});

test('many keys in one object: none lost, the last duplicate found', () => {
  const keys = Array.from({ length: 900 }, (_, index) => `key${index}`);
  const text = `{${keys.map((key) => `"${key}":"${key}"`).join(',')}}`;
  assert.deepEqual(Object.keys(parseJson(text) as object), keys);
  assert.throws(() => parseJson(text.replace(/}$/, ',"key471":0}')), { rule: 'duplicate-key', path: 'key471' });
});

test('a key is known again after keys with the same hash', () => {
  const keys = Array.from({ length: 20_000 }, (_, index) => `k${(index * 7919) % 20_000}`);
  for (const key of [...keys, ...keys]) assert.deepEqual(parseJson(`{"${key}":1}`), { [key]: 1 });
});

test('property: what JSON.stringify writes is read back as JSON.parse reads it', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom(undefined, 1, '\t'), (canonical, indent) => {
      if (canonical.includes('"__proto__"')) return;
      const text = JSON.stringify(JSON.parse(canonical), null, indent);
      assert.deepEqual(parseJson(text), JSON.parse(text));
      assert.equal(JSON.stringify(parseJson(text)), JSON.stringify(JSON.parse(text)));
    }),
    { numRuns: 500 },
  );
});

test('property: parse and stringify keep the text of every number', () => {
  const digits = (minLength: number) => fc.stringMatching(new RegExp(`^[0-9]{${minLength},25}$`));
  const number = fc
    .tuple(
      fc.constantFrom('', '-'),
      fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9][0-9]{0,24}$/)),
      fc.option(digits(1), { nil: undefined }),
      fc.option(fc.stringMatching(/^[eE][+-]?[0-9]{1,3}$/), { nil: undefined }),
    )
    .map(
      ([sign, whole, fraction, exponent]) =>
        `${sign}${whole}${fraction === undefined ? '' : `.${fraction}`}${exponent ?? ''}`,
    );
  fc.assert(
    fc.property(fc.array(number), (numbers) => {
      const text = `{"value":[${numbers.join(',')}]}`;
      assert.equal(JSON.stringify(parseJson(text)), text);
    }),
    { numRuns: 500 },
  );
});

test('property: a text is refused exactly when JSON.parse refuses it, our own rules aside', () => {
  const fragments = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '"a"',
    '"b"',
    '1',
    '-',
    '.',
    'e',
    '0',
    'true',
    'null',
    ' ',
    '\n',
    '\\u00',
    'é',
  );
  fc.assert(
    fc.property(fc.array(fragments, { maxLength: 9 }), (parts) => {
      const text = parts.join('');
      const [ours, native] = [attempt(() => parseJson(text)), attempt(() => JSON.parse(text))];
      if (ours instanceof JsonError && ours.rule === 'duplicate-key') return;
      assert.equal(ours instanceof Error, native instanceof Error, JSON.stringify(text));
      if (!(ours instanceof Error)) assert.deepEqual(JSON.parse(JSON.stringify(ours)), native);
    }),
    { numRuns: 20_000 },
  );
});

function attempt(work: () => JsonValue): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

function assertRefused(
  text: string,
  limits: typeof tight | undefined,
  rule: JsonRule,
  path: string,
  position: string,
  problem: string,
): void {
  const error = attempt(() => parseJson(text, limits ?? jsonLimitsDefault));
  assert.ok(error instanceof JsonError, `accepted: ${JSON.stringify(text)}`);
  const [line, column] = position.split(':');
  assert.deepEqual(
    { rule: error.rule, path: error.path, position: `${error.line}:${error.column}`, message: error.message },
    { rule, path, position, message: `${path === '' ? '' : `${path}: `}${problem} (line ${line}, column ${column})` },
    JSON.stringify(text),
  );
}
