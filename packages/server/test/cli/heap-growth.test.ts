/** How far the heap of a worker grows between two collections, by how busy it is (docs/decisions/0305). */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

const module = new URL('../../src/cli/serving/heap-growth.ts', import.meta.url).href;

/** Prints how often the whole heap is collected while the same is allocated: in calm times, in busy ones, and in calm ones again. */
const program = `
  import { constants, PerformanceObserver } from 'node:perf_hooks';
  import { openHeapGrowth } from ${JSON.stringify(module)};
  let nowMs = 0;
  let collections = 0;
  const observer = new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries()) if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) collections += 1;
  });
  observer.observe({ entryTypes: ['gc'] });
  const kept = Array.from({ length: 60_000 }, (_, index) => [index, new Array(20).fill(index)]);
  async function allocate() {
    collections = 0;
    for (let turn = 0; turn < 150; turn += 1) {
      for (let at = 0; at < 6_000; at += 1) kept[(turn * 6_000 + at * 7) % kept.length] = [at, new Array(20).fill(turn)];
      await new Promise((resolve) => setImmediate(resolve));
    }
    return collections;
  }
  const growth = openHeapGrowth(() => nowMs);
  await allocate();
  const calm = await allocate();
  growth.note(0.95);
  await allocate();
  const busy = await allocate();
  nowMs = 4_999;
  growth.note(0.2);
  const soon = await allocate();
  nowMs = 5_000;
  growth.note(0.2);
  await allocate();
  const calmAgain = await allocate();
  console.log(JSON.stringify({ calm, busy, soon, calmAgain }));
`;

test('a calm worker collects earlier than a busy one, and a busy one becomes calm after five seconds', async () => {
  const args = ['--max-semi-space-size=1', '--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const { calm, busy, soon, calmAgain } = JSON.parse(stdout);
  assert.ok(calm > busy, stdout);
  assert.ok(soon < calm, stdout);
  assert.ok(calmAgain > busy, stdout);
});
