/** JSON → XML → JSON changes nothing: every official example, and what fast-check makes up. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import {
  isRawDecimal,
  type JsonObject,
  type JsonValue,
  parseJson,
  parseXml,
  parseXmlInParts,
  toXml,
  XmlError,
} from '../src/index.ts';
import { examples } from './examples.ts';

fc.configureGlobal({ seed: 20261121 });

test('each official example survives JSON → XML → JSON, decimals digit by digit', () => {
  let count = 0;
  for (const { file, resource } of examples()) {
    const text = toXml(resource, { pretty: count % 2 === 1 });
    assert.ok(isSame(parseXml(text), resource), file);
    count++;
  }
  assert.equal(count, 746);
});

function readInParts(text: string): { readonly value: JsonObject; readonly parts: number } {
  const reading = parseXmlInParts(text);
  for (let parts = 1; ; parts++) {
    const { done, value } = reading.next();
    if (done === true) return { value, parts };
  }
}

test('read in parts, the official examples that have several are what they are at once', () => {
  let divided = 0;
  for (const { file, resource } of examples(300_000)) {
    const text = toXml(resource, { pretty: true });
    if (text.length < 16_384) continue;
    const { value, parts } = readInParts(text);
    if (parts === 1) continue;
    assert.deepEqual(value, parseXml(text), file);
    divided += 1;
  }
  assert.ok(divided > 10, `${divided} in several parts`);
});

test('each cut of a text is refused', () => {
  const whole = toXml(patient('a', ['b', null], '1.0'), { pretty: true }).trimEnd();
  for (let length = 0; length < whole.length; length++) {
    const cut = whole.slice(0, length);
    assert.throws(() => parseXml(cut), XmlError, cut);
    assert.throws(() => readInParts(cut), XmlError, cut);
  }
});

const xmlText = fc
  .string({ unit: 'grapheme', maxLength: 40 })
  .map((text) => text.replace(/[\ufffe\uffff\0-\x08\x0b\x0c\x0e-\x1f]/g, ''));
const decimal = fc.stringMatching(/^-?(?:0|[1-9][0-9]{0,20})(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,3})?$/);

test('any strings, gaps and decimals survive', () => {
  fc.assert(
    fc.property(
      xmlText,
      fc.array(fc.option(xmlText), { maxLength: 5 }),
      decimal,
      fc.boolean(),
      (text, given, digits, pretty) => {
        const resource = patient(text, given, digits);
        assert.ok(isSame(parseXml(toXml(resource, { pretty })), resource));
      },
    ),
    { numRuns: 500 },
  );
});

test('any change of one character ends in an XmlError or in a resource, never in another error', () => {
  const whole = toXml(patient('a&b', ['c', null], '1.50'));
  const change = fc.record({
    at: fc.nat(whole.length),
    removed: fc.nat(3),
    inserted: fc.oneof(
      fc.string({ unit: 'binary', maxLength: 3 }),
      fc.constantFrom('<', '>', '&', '"', '/', '<!--', '<![CDATA[', ']]>', '<?', 'xmlns=""', '__proto__', ':'),
    ),
  });
  fc.assert(
    fc.property(change, ({ at, removed, inserted }) => {
      const text = whole.slice(0, at) + inserted + whole.slice(at + removed);
      try {
        const resource = parseXml(text);
        assert.equal(Object.getPrototypeOf(resource), Object.prototype);
      } catch (error) {
        if (!(error instanceof XmlError)) throw error;
      }
    }),
    { numRuns: 3_000 },
  );
});

test('characters that XML does not have become U+FFFD', () => {
  const text = toXml({ resourceType: 'Patient', name: [{ text: 'a\uffffb\ufffec\u0000' }] });
  assert.deepEqual(parseXml(text), { resourceType: 'Patient', name: [{ text: 'a\ufffdb\ufffdc\ufffd' }] });
});

test('elements are written in the order of the definitions, on lines of their own when pretty', () => {
  const resource: JsonObject = {
    birthDate: '1980',
    name: [{ given: ['A'], _given: [{ id: 'g' }], family: '"<&\n' }],
    _active: { extension: [{ valueCode: 'unknown', url: 'u' }] },
    id: 'p',
    contained: [{ resourceType: 'Basic', id: 'b' }],
    resourceType: 'Patient',
  };
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<Patient xmlns="http://hl7.org/fhir">',
    '  <id value="p"/>',
    '  <contained>',
    '    <Basic>',
    '      <id value="b"/>',
    '    </Basic>',
    '  </contained>',
    '  <active>',
    '    <extension url="u">',
    '      <valueCode value="unknown"/>',
    '    </extension>',
    '  </active>',
    '  <name>',
    '    <family value="&quot;&lt;&amp;&#10;"/>',
    '    <given id="g" value="A"/>',
    '  </name>',
    '  <birthDate value="1980"/>',
    '</Patient>',
  ];
  assert.equal(toXml(resource, { pretty: true }), `${lines.join('\n')}\n`);
  assert.equal(toXml(resource), lines.map((line) => line.trim()).join(''));
});

test('what the definitions do not have is not lost in silence', () => {
  const rows: readonly (readonly [resource: JsonObject, problem: RegExp])[] = [
    [{ resourceType: 'Foo' }, /Foo is no resource type/],
    [{ resourceType: 'Patient', foo: 1 }, /Patient has no element foo/],
    [{ resourceType: 'Patient', _name: [{ id: 'a' }] }, /Patient has no element _name/],
    [{ resourceType: 'Patient', name: { text: 'a' } }, /name must be an array/],
    [{ resourceType: 'Patient', birthDate: { a: 1 } }, /birthDate must be a primitive value/],
    [{ resourceType: 'Patient', maritalStatus: 'a' }, /maritalStatus must be an object/],
  ];
  for (const [resource, problem] of rows) assert.throws(() => toXml(resource), problem);
});

/** A Patient with a text, given names of which some are extensions alone, and a decimal of chosen digits. */
function patient(text: string, given: readonly (string | null)[], digits: string): JsonObject {
  const extension = [{ url: 'http://example.org/decimal', valueDecimal: parseJson(digits) }];
  const gaps = given.map((name) => (name === null ? { extension } : null));
  const valued = given.some((name) => name !== null);
  return {
    resourceType: 'Patient',
    extension,
    name: [
      {
        family: text,
        ...(valued ? { given: [...given] } : {}),
        ...(gaps.some((gap) => gap !== null) ? { _given: gaps } : {}),
        period: { _start: { id: 's', extension } },
      },
    ],
  };
}

/** Whether two values are equal, whatever the order of keys; numbers as they were written. */
function isSame(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  if (typeof one !== 'object' || one === null) return one === other;
  if (typeof other !== 'object' || other === null) return false;
  if (isRawDecimal(one) || isRawDecimal(other)) return JSON.stringify(one) === JSON.stringify(other);
  if (Array.isArray(one)) {
    return (
      Array.isArray(other) && one.length === other.length && one.every((value, index) => isSame(value, other[index]))
    );
  }
  if (Array.isArray(other)) return false;
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => isSame(one[key], other[key]));
}
