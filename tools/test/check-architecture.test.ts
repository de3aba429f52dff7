import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { checkArchitecture } from '../check-architecture.ts';
import { withBlocks } from '../docs/markers.ts';

/** A directory with these files, gone after the test. */
function rootWith(context: TestContext, files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'praxis-architecture-'));
  context.after(() => rmSync(root, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

const blocks = ['packages', 'tiers', 'importers', 'makers', 'files'];
const emptyDocument = blocks.map((name) => `<!-- generated:${name} -->\n<!-- /generated:${name} -->\n`).join('');

test('check: a file on disk that breaks a rule is reported with path and line', (context) => {
  const root = rootWith(context, {
    'docs/contribute/architecture.md': emptyDocument,
    'packages/fhir/package.json': '{ "dependencies": {} }',
    'packages/fhir/src/json.ts': "\nimport { readFileSync } from 'node:fs';\n",
  });
  assert.deepEqual(checkArchitecture(root, true), [
    'packages/fhir/src/json.ts:2 import of "node:fs": package "fhir" is pure and runs in browsers',
  ]);
});

test('check: a document that does not show the table is reported, and renewed on request', (context) => {
  const root = rootWith(context, { 'docs/contribute/architecture.md': `# Title\n${emptyDocument}End\n` });
  const stale = 'docs/contribute/architecture.md:1 differs from tools/architecture/table.ts: run "npm run docs"';
  assert.deepEqual(checkArchitecture(root, false), [stale]);
  assert.deepEqual(checkArchitecture(root, true), []);
  assert.deepEqual(checkArchitecture(root, false), []);
  const text = readFileSync(join(root, 'docs/contribute/architecture.md'), 'utf8');
  assert.match(text, /^# Title\n<!-- generated:packages -->\n\| Package \|/);
  assert.match(text, /\n<!-- \/generated:files -->\nEnd\n$/);
});

test('check: no document at all is reported', (context) => {
  assert.deepEqual(checkArchitecture(rootWith(context, {}), false), [
    'docs/contribute/architecture.md:1 does not exist',
  ]);
});

test('markers: a block without a place, without a maker or without an end is an error', () => {
  const block = new Map([['a', 'text']]);
  assert.throws(() => withBlocks('nothing', block), { message: 'no markers for the generated block a' });
  assert.throws(() => withBlocks('<!-- generated:a --><!-- /generated:a --><!-- generated:b -->', block), {
    message: 'nothing generates the block b',
  });
  assert.throws(() => withBlocks('<!-- generated:a -->', block), { message: 'the generated block a has no end' });
});
