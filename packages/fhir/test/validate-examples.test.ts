/** Every official R4 example: accepted, or refused for a listed defect; and read back as it was written. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { parseJson } from '../src/json.ts';
import { examples, findingsOf, listedFindings, read } from './findings.ts';
import { rejectedExamples } from './rejected-examples.ts';

test('each of the 746 example instances is valid or has a listed defect', () => {
  assert.equal(examples.length, 746);
  assert.deepEqual(findingsOf(examples), listedFindings(rejectedExamples));
});

test('each example instance reads back equal, decimals digit by digit', () => {
  let decimals = 0;
  for (const name of examples) {
    const text = read(name);
    const written = JSON.stringify(parseJson(text));
    // As texts: to compare the values one by one takes longer than to make them.
    assert.ok(JSON.stringify(JSON.parse(written)) === JSON.stringify(JSON.parse(text)), name);
    const numbers = numbersOf(text);
    assert.deepEqual(numbersOf(written), numbers, name);
    decimals += numbers.filter((number) => String(Number(number)) !== number).length;
  }
  assert.ok(decimals > 100, `only ${decimals} decimals would have lost digits`);
});

/** The numbers of a JSON text, as they are written. */
function numbersOf(text: string): string[] {
  return text.match(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g)?.filter((token) => !token.startsWith('"')) ?? [];
}
