/** The committed types are what the generator makes of the definitions. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { clientFiles } from '../../../tools/generate-client.ts';

test('the committed types are up to date: else run node tools/setup.mjs tools/generate-client.ts', () => {
  for (const [name, content] of clientFiles()) {
    const committed = readFileSync(new URL(`../src/generated/${name}`, import.meta.url), 'utf8');
    assert.ok(committed === content, `${name} differs from what the generator writes`);
  }
});
