import assert from 'node:assert/strict';
import test from 'node:test';
import { openProgress, type ProgressBar } from '../../src/cli/progress.ts';

interface Watched {
  readonly progress: ProgressBar;
  readonly written: string[];
  advance(ms: number): void;
}

function watch(terminal: boolean): Watched {
  const written: string[] = [];
  let nowMs = 5000;
  const progress = openProgress({
    write: (text) => void written.push(text),
    terminal,
    noun: 'resources',
    nowMs: () => nowMs,
  });
  return {
    progress,
    written,
    advance(ms) {
      nowMs += ms;
    },
  };
}

test('into a file goes a line now and then, and nothing for what is quickly done', () => {
  const { progress, written, advance } = watch(false);
  for (let count = 1; count <= 10; count += 1) {
    advance(2900);
    progress.update(count * 100);
  }
  assert.deepEqual(written, []);
  advance(1000);
  progress.update(15_000, 0.25);
  assert.deepEqual(written, ['25 % 15,000 resources, 500/s\n']);
  progress.line('a.ndjson:1: broken');
  assert.equal(progress.end(30_000), '30.0 s, 1,000/s');
  assert.deepEqual(written.slice(1), ['a.ndjson:1: broken\n']);
});

test('on a terminal a bar is drawn over itself, and lines stand above it', () => {
  const { progress, written, advance } = watch(true);
  progress.update(1, 0.1);
  assert.deepEqual(written, []);
  advance(500);
  progress.update(600, 0.5);
  progress.line('a.ndjson:1: broken');
  advance(500);
  progress.update(700);
  assert.equal(progress.end(700), '1.0 s, 700/s');
  assert.deepEqual(written, [
    '\r\u001b[K[############............] 50 % 600 resources, 1,200/s',
    '\r\u001b[K',
    'a.ndjson:1: broken\n',
    '\r\u001b[K700 resources, 700/s',
    '\r\u001b[K',
  ]);
});
