import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { computeHmac } from '../../src/base/hmac.ts';

fc.configureGlobal({ seed: 20261124 });

test('it is what createHmac computes, whatever the key and the text', () => {
  const keys = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
  const texts = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary', maxLength: 5_000, size: 'max' }));
  fc.assert(
    fc.property(keys, fc.array(texts, { minLength: 1, maxLength: 4 }), (key, several) => {
      for (const text of several)
        assert.deepEqual(computeHmac(key, text), createHmac('sha256', key).update(text).digest());
    }),
  );
});

test('a text that is shorter than the one before leaves nothing of it', () => {
  const key = Buffer.alloc(32, 7);
  computeHmac(key, 'x'.repeat(600));
  assert.deepEqual(computeHmac(key, 'y'), createHmac('sha256', key).update('y').digest());
});
