/** Boxes of stored content: text and value belong together, and a value is parsed at most once. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { contentOf, forOneLook, parseStored, stored } from '../../src/access/disclosure.ts';

const text = '{"resourceType":"Observation","id":"1","valueQuantity":{"value":1.00}}';

test('what is read from the database is parsed at the first question, once', () => {
  const box = stored(text);
  assert.equal(contentOf(box), text);
  assert.equal(JSON.stringify(parseStored(box)), text);
  assert.equal(parseStored(box), parseStored(box));
});

test('a value that was just made is not parsed again', () => {
  const value = { resourceType: 'Observation', id: '1' };
  assert.equal(parseStored(stored('no JSON', value)), value);
});

test('after one look at a row its value is gone, and one that is known is used', () => {
  const row = stored(text);
  const looked = forOneLook(row);
  assert.notEqual(parseStored(looked), parseStored(forOneLook(row)));
  assert.equal(contentOf(looked), text);
  const value = parseStored(row);
  assert.equal(parseStored(forOneLook(row)), value);
});

test('only an object is a resource', () => {
  for (const other of ['', '[]', '"Patient"', '1.00', 'null']) assert.throws(() => parseStored(stored(other)), other);
});

test('boxes are equal when their texts are', () => {
  const parsed = stored(text);
  parseStored(parsed);
  assert.deepEqual(parsed, stored(text));
  assert.notDeepEqual(parsed, stored('{}'));
});
