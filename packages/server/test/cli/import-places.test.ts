/** What of a file is still to be imported, and how an import makes room for others. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { openPacing } from '../../src/cli/importing/pacing.ts';
import { comparePlaces, type DoneFileStretch, type FilePlace, findGaps } from '../../src/cli/importing/places.ts';

fc.configureGlobal({ seed: 20261126 });

test('of a file of which nothing is done all is to be done, and of an empty one nothing', () => {
  const begin = { byte: 0, entry: 0 };
  assert.deepEqual(findGaps([], 10), [{ from: begin, fromLine: 1, to: { byte: 10, entry: 0 } }]);
  assert.deepEqual(findGaps([], 0), []);
});

test('what is done and what is to be done make the file, in whatever order the parts were done', () => {
  // Lines of 10 bytes with 3 resources each: place n is the n-th of them.
  const placeOf = (n: number): FilePlace => ({ byte: Math.floor(n / 3) * 10, entry: n % 3 });
  const lineOf = (n: number): number => Math.floor(n / 3) + 1;
  const places = 30;
  const cuts = fc.uniqueArray(fc.integer({ min: 1, max: places - 1 }), { maxLength: 12 });
  fc.assert(
    fc.property(cuts, fc.array(fc.boolean(), { minLength: 13, maxLength: 13 }), (cut, isDone) => {
      const ends = [0, ...cut.toSorted((left, right) => left - right), places];
      const parts = ends.slice(1).map((to, index) => ({ from: ends[index] ?? 0, to, done: isDone[index] === true }));
      const done = parts
        .filter((part) => part.done)
        .map(({ from, to }): DoneFileStretch => ({ from: placeOf(from), to: placeOf(to), toLine: lineOf(to) }));
      const gaps = findGaps(done.toReversed(), 100);
      const covered = [...done, ...gaps].toSorted((left, right) => comparePlaces(left.from, right.from));
      assert.deepEqual(covered[0]?.from, placeOf(0));
      for (const [index, { to }] of covered.entries())
        assert.deepEqual(to, covered[index + 1]?.from ?? placeOf(places));
      for (const { from, fromLine } of gaps) assert.equal(fromLine, from.byte / 10 + 1);
    }),
  );
});

test('transactions that take long get smaller, and short ones larger, within bounds', () => {
  const slow = openPacing();
  for (let times = 0; times < 20; times += 1) slow.note(1_000, 100);
  assert.equal(slow.linesMax(), 50);
  const quick = openPacing();
  for (let times = 0; times < 20; times += 1) quick.note(10, 100);
  assert.equal(quick.linesMax(), 1_000);
});

test('an import rests only when its transactions take more than twice as long as the fastest quarter, and never for long', () => {
  const pacing = openPacing();
  for (let times = 0; times < 10; times += 1) assert.equal(pacing.note(100, 100), 0);
  assert.equal(pacing.note(200, 100), 0);
  assert.equal(pacing.note(300, 100), 300);
  assert.equal(pacing.note(5_000, 100), 500);
  assert.equal(pacing.note(5_000, 10), 0, 'too few resources to tell');
});
