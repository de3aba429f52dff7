/** What sessions and policies rely on of `lru-cache`. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { LRUCache } from 'lru-cache';

fc.configureGlobal({ seed: 20261121 });

test('an entry that is used stays, one that is not used is forgotten', () => {
  const map = new LRUCache<number, string>({ max: 10 });
  map.set(-1, 'used');
  map.set(-2, 'unused');
  for (let key = 0; key < 100; key++) {
    assert.equal(map.get(-1), 'used');
    map.set(key, 'filler');
  }
  assert.equal(map.get(-2), undefined);
  assert.equal(map.get(99), 'filler');
});

test('property: it never holds more than entriesMax, nor anything but what was set last and not deleted', () => {
  const operation = fc.tuple(fc.constantFrom('get', 'set', 'delete'), fc.nat(30));
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 20 }), fc.array(operation, { maxLength: 200 }), (entriesMax, operations) => {
      const map = new LRUCache<number, number>({ max: entriesMax });
      const model = new Map<number, number>();
      operations.forEach(([name, key], step) => {
        if (name === 'set') {
          map.set(key, step);
          model.set(key, step);
        } else if (name === 'delete') {
          map.delete(key);
          model.delete(key);
        } else {
          assert.ok([undefined, model.get(key)].includes(map.get(key)));
        }
      });
      const kept = Array.from({ length: 31 }, (_, key) => key).filter((key) => map.get(key) !== undefined);
      assert.ok(kept.length <= entriesMax, `${kept.length} of ${entriesMax}`);
    }),
  );
});
