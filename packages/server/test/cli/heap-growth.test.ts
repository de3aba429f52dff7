import assert from 'node:assert/strict';
import test from 'node:test';
import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';
import { collectGarbage, steerHeapGrowth } from '../../src/cli/serving/heap-growth.ts';

v8.setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** The most that the heap had, in MB, while what is held is replaced several times by as much. */
function findPeak(): number {
  const held: { text: string }[][] = [];
  const replace = (nth: number): void => {
    held[nth % 400] = Array.from({ length: 1_500 }, (_, index) => ({ text: `${nth} ${index}` }));
  };
  for (let nth = 0; nth < 400; nth += 1) replace(nth);
  collect();
  let most = 0;
  for (let nth = 0; nth < 4_000; nth += 1) {
    replace(nth);
    most = Math.max(most, v8.getHeapStatistics().used_heap_size);
  }
  held.length = 0;
  collect();
  return most / 1_000_000;
}

function look(times: number, loopUse: number): void {
  for (let nth = 0; nth < times; nth += 1) steerHeapGrowth(loopUse);
}

test('a heap grows further while the event loop is busy than while it is not', () => {
  steerHeapGrowth(0.89);
  const idle = findPeak();
  look(4, 0.9);
  const busy = findPeak();
  steerHeapGrowth(0);
  const idleAgain = findPeak();
  assert.ok(busy > 1.2 * idle, `${busy} MB, and ${idle} MB while there is time`);
  assert.ok(busy > 1.2 * idleAgain, `${busy} MB, and ${idleAgain} MB while there is time again`);
});

test('an event loop that is busy for less than four looks in a row lets no heap grow further', () => {
  look(4, 0.9);
  const busy = findPeak();
  look(1, 0.5);
  look(3, 0.9);
  const burst = findPeak();
  look(1, 0.5);
  look(3, 0.9);
  assert.ok(busy > 1.2 * burst, `${busy} MB, and ${burst} MB after three looks`);
  assert.ok(busy > 1.2 * findPeak(), 'looks before the pause do not count');
});

test('a collection takes all garbage', () => {
  const before = v8.getHeapStatistics().used_heap_size;
  let garbage: unknown[] | undefined = Array.from({ length: 1_000_000 }, (_, index) => ({ text: `garbage ${index}` }));
  assert.equal(garbage.length, 1_000_000);
  garbage = undefined;
  collectGarbage();
  const after = v8.getHeapStatistics().used_heap_size;
  assert.ok(after < before + 10_000_000, `${after} bytes, and ${before} before 1,000,000 objects were made`);
});
