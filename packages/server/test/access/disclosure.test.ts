/** Boxes of stored content: text and value belong together, and a value is parsed at most once. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { boxStored, copyUnparsed, getStoredText, parseStored } from '../../src/access/disclosure.ts';

const text = '{"resourceType":"Observation","id":"1","valueQuantity":{"value":1.00}}';

test('what is read from the database is parsed at the first question, once', () => {
  const box = boxStored(text);
  assert.equal(getStoredText(box), text);
  assert.equal(JSON.stringify(parseStored(box)), text);
  assert.equal(parseStored(box), parseStored(box));
});

test('a value that was just made is not parsed again', () => {
  const value = { resourceType: 'Observation', id: '1' };
  assert.equal(parseStored(boxStored('no JSON', value)), value);
});

test('after one look at a row its value is gone, and one that is known is used', () => {
  const row = boxStored(text);
  const looked = copyUnparsed(row);
  assert.notEqual(parseStored(looked), parseStored(copyUnparsed(row)));
  assert.equal(getStoredText(looked), text);
  const value = parseStored(row);
  assert.equal(parseStored(copyUnparsed(row)), value);
});

test('only an object is a resource', () => {
  for (const other of ['', '[]', '"Patient"', '1.00', 'null'])
    assert.throws(() => parseStored(boxStored(other)), other);
});

test('boxes are equal when their texts are', () => {
  const parsed = boxStored(text);
  parseStored(parsed);
  assert.deepEqual(parsed, boxStored(text));
  assert.notDeepEqual(parsed, boxStored('{}'));
});
