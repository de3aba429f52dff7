/** Bounds on what an XML text may cost: named limits, and time that grows with the length alone. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { parseXml, XmlError, type XmlRule } from '../src/index.ts';

const open = '<Patient xmlns="http://hl7.org/fhir">';
const close = '</Patient>';

test('limits are kept: nesting, repetitions, lengths, attributes', () => {
  const limits = { depthMax: 4, arrayLengthMax: 3, stringLengthMax: 40 };
  const rows: readonly (readonly [text: string, rule: XmlRule, problem: string])[] = [
    [`${open}<a><b><c><d><e/></d></c></b></a>${close}`, 'too-deep', 'elements may be nested 4 deep at most'],
    [
      `${open}<extension><extension><extension><extension><extension/></extension></extension></extension></extension>${close}`,
      'too-deep',
      'elements may be nested 4 deep at most',
    ],
    [`${open}${'<name/>'.repeat(4)}${close}`, 'too-long', 'an element may repeat 3 times at most'],
    [`${open}<id value="${'a'.repeat(41)}"/>${close}`, 'too-long', 'an attribute may have 40 characters at most'],
    [
      `${open}<text><div xmlns="http://www.w3.org/1999/xhtml">${'a'.repeat(41)}</div></text>${close}`,
      'too-long',
      'a narrative may have 40 characters at most',
    ],
    [
      `${open}<name ${Array.from({ length: 65 }, (_, index) => `a${index}="1"`).join(' ')}/>${close}`,
      'too-long',
      'an element may have 64 attributes at most',
    ],
  ];
  for (const [text, rule, problem] of rows) {
    const error = refusal(text, limits);
    assert.equal(error.rule, rule, text);
    assert.match(error.message, new RegExp(`${problem} \\(line 1, column \\d+\\)$`));
  }
  const atLimit = `${open}<a><b><c><d/></c></b></a>${'<name/>'.repeat(3)}${close}`;
  assert.deepEqual(parseXml(atLimit, limits), { resourceType: 'Patient', a: true, name: [{}, {}, {}] });
});

test('hostile texts are refused in time that grows with their length alone', () => {
  const million = 1_000_000;
  const texts: readonly string[] = [
    `${open}${'<a>'.repeat(million)}`,
    `${open}<text><status value="generated"/><div xmlns="http://www.w3.org/1999/xhtml">${'<b>'.repeat(million)}`,
    `${open}<name ${'a '.repeat(million)}/>`,
    `${open}<name ${'xmlns:a="b" '.repeat(million)}/>`,
    `${open}<name ${Array.from({ length: 100_000 }, (_, index) => `xmlns:a${index}="b"`).join(' ')}/>`,
    `${open}${'&#0'.repeat(million)}`,
    `${open}<active value="${'&amp;'.repeat(million)}&"/>`,
    `${open}<active value="&#${'0'.repeat(million)}"/>`,
    `${open}${'<!--'.repeat(million)}`,
    `${open}${'<!---->'.repeat(million)}`,
    `${open}${'<?a'.repeat(million)}`,
    `${open}${' '.repeat(million)}`,
    `<?xml ${' '.repeat(million)}`,
    `<?xml version="1.0"${' '.repeat(million)}`,
    `<!DOCTYPE a [${'<!ENTITY a "&a;&a;">'.repeat(million / 10)}]>${open}${close}`,
    `<${'a'.repeat(million)}`,
    `<${'\u00e9'.repeat(million)}`,
    `<a ${' '.repeat(million)}`,
  ];
  for (const text of texts) {
    const start = performance.now();
    refusal(text);
    const tookMs = performance.now() - start;
    assert.ok(tookMs < 2_000, `${text.slice(0, 80)}… took ${Math.round(tookMs)} ms`);
  }
});

function refusal(text: string, limits?: Parameters<typeof parseXml>[1]): XmlError {
  try {
    parseXml(text, limits);
  } catch (error) {
    if (error instanceof XmlError) return error;
    throw error;
  }
  return assert.fail(`accepted: ${text.slice(0, 200)}`);
}
