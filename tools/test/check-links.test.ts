import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { checkLinks } from '../check-links.ts';

/** A directory with these files, gone after the test. */
function rootWith(context: TestContext, files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'praxis-links-'));
  context.after(() => rmSync(root, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

test('links: a link to no file, or to no heading, is reported with path and line', (context) => {
  const root = rootWith(context, {
    'README.md': '# Title\n[a](docs/a.md) [b](docs/b.md)\n[c](docs/a.md#its-part) [d](docs/a.md#other)\n[e](#titel)\n',
    'docs/a.md': '# A\n\n## It’s part\n[up](../README.md) [beside](b.md)\n',
    'changes/0001-a.md': '[gone](docs/a.md)\n',
  });
  assert.deepEqual(checkLinks(root), [
    'README.md:2 links to docs/b.md, which does not exist',
    'README.md:3 links to docs/a.md#other, which is no heading there',
    'README.md:4 links to README.md#titel, which is no heading there',
    'changes/0001-a.md:1 links to changes/docs/a.md, which does not exist',
    'docs/a.md:4 links to docs/b.md, which does not exist',
  ]);
});

test('links: a page that the map of the documentation leaves out is reported, a decision is not', (context) => {
  const root = rootWith(context, {
    'docs/README.md': '[a](integrate/a.md)\n',
    'docs/integrate/a.md': '[b](b.md)\n',
    'docs/integrate/b.md': '# B\n',
    'docs/decisions/0001-a.md': '# A\n',
  });
  assert.deepEqual(checkLinks(root), ['docs/README.md has no link to docs/integrate/b.md']);
});

test('links: other sites, directories, code and headings with punctuation are no fault', (context) => {
  const root = rootWith(context, {
    'README.md': [
      '# A title, with `code` & more',
      '[site](https://example.com/a.md#b) [docs](docs/) [self](#a-title-with-code--more) `[a](none.md)`',
      '```md',
      '[b](none.md)',
      '```',
    ].join('\n'),
    'docs/a.md': '',
  });
  assert.deepEqual(checkLinks(root), []);
});
