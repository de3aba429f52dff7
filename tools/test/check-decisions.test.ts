import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { checkDecisions } from '../check-decisions.ts';
import { areas, decisionIndex } from '../docs/decisions.ts';

/** A directory with these decision records, gone after the test. */
function rootWith(context: TestContext, records: Readonly<Record<string, readonly string[]>>): string {
  const root = mkdtempSync(join(tmpdir(), 'praxis-decisions-'));
  context.after(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, 'docs/decisions'), { recursive: true });
  for (const [file, head] of Object.entries(records)) {
    writeFileSync(join(root, 'docs/decisions', file), `${head.join('\n')}\n\n## Question\n\n- Area: none\n`);
  }
  return root;
}

test('decisions: a head without title, status or known area is reported', (context) => {
  const root = rootWith(context, {
    '0000-template.md': ['# 0000 Title'],
    '0001-a.md': ['# 0002 Another number', '', '- Status: accepted', '- Area: search'],
    '0002-b.md': ['# 0002 No area', '', '- Status: accepted'],
    '0003-c.md': ['# 0003 Unknown area', '', '- Status: accepted', '- Area: Search'],
    '0004-d.md': ['# 0004 Other status', '', '- Status: replaced by 0001', '- Area: search'],
  });
  assert.deepEqual(checkDecisions(root), [
    'docs/decisions/0001-a.md:1 has no heading "# 0001 Subject: …"',
    'docs/decisions/0002-b.md:1 has no area',
    `docs/decisions/0003-c.md:1 has the area "Search"; the areas are ${areas.join(', ')}`,
    'docs/decisions/0004-d.md:1 has no status that begins with "accepted"',
  ]);
});

test('decisions: a status that names no record, or that the other record does not return, is reported', (context) => {
  const root = rootWith(context, {
    '0001-a.md': ['# 0001 A', '', '- Status: accepted; superseded by [0009](0009-z.md)', '- Area: search'],
    '0002-b.md': ['# 0002 B', '', '- Status: accepted; superseded by [0001](0003-c.md)', '- Area: search'],
    '0003-c.md': ['# 0003 C', '', '- Status: accepted; changes [0001](0001-a.md) (a part)', '- Area: search'],
    '0004-d.md': ['# 0004 D', '', '- Status: accepted; superseded by 0003', '- Area: search'],
    '0005-e.md': ['# 0005 E', '', '- Status: accepted; replaces [0001](0001-a.md)', '- Area: search'],
  });
  const form =
    'has a status with another form than "accepted; supersedes | superseded by | changes | changed by | extends | extended by [NNNN](file) (what)"';
  assert.deepEqual(checkDecisions(root), [
    'docs/decisions/0001-a.md:1 says "superseded by 0009" and links to 0009-z.md, which is not that record',
    'docs/decisions/0002-b.md:1 says "superseded by 0001" and links to 0003-c.md, which is not that record',
    'docs/decisions/0003-c.md:1 says "changes 0001", which does not say "changed by 0003"',
    `docs/decisions/0004-d.md:1 ${form}`,
    `docs/decisions/0005-e.md:1 ${form}`,
  ]);
});

test('decisions: an affected path that matches no file is reported, unless the record is superseded', (context) => {
  const root = rootWith(context, {
    '0001-a.md': [
      '# 0001 A',
      '',
      '- Status: accepted; superseded by [0002](0002-b.md)',
      '- Area: search',
      '- Affects: `search/gone.ts`',
    ],
    '0002-b.md': [
      '# 0002 B',
      '',
      '- Status: accepted; supersedes [0001](0001-a.md)',
      '- Area: search',
      '- Affects: `search/`, `search/*.ts`, `search/{a,b}.ts` (`walk`), `package.json`, `packages/server/src/search/a.ts`,',
      '  `PRAXIS_HTTP_PORT`, `npm run check`, `@aws-sdk/client-s3`, `Slot/$find`',
    ],
    '0003-c.md': [
      '# 0003 C',
      '',
      '- Status: accepted',
      '- Area: search',
      '- Affects: `search/b.ts`, `a.ts`, all tests,',
      '  `searching/*.ts`, `search/{b,c}.ts`, `sort/`',
    ],
  });
  mkdirSync(join(root, 'packages/server/src/search'), { recursive: true });
  writeFileSync(join(root, 'packages/server/src/search/a.ts'), '');
  writeFileSync(join(root, 'package.json'), '{}');
  const gone = ['search/b.ts', 'a.ts', 'searching/*.ts', 'search/{b,c}.ts', 'sort/'];
  const fault = 'which is no file below packages/server/src or the root';
  const lines = gone.map((path) => `docs/decisions/0003-c.md:1 affects ${path}, ${fault}`);
  assert.deepEqual(checkDecisions(root), lines);
});

test('decisions: the index lists records by area, and marks those that were superseded or changed', (context) => {
  const root = rootWith(context, {
    '0000-template.md': ['# 0000 Title', '', '- Status: accepted', '- Area: search'],
    '0001-a.md': [
      '# 0001 Paging: old',
      '',
      '- Status: accepted; superseded by [0003](0003-c.md); changed by',
      '  [0002](0002-b.md) (a part); extended by [0004](0004-d.md)',
      '- Area: search',
    ],
    '0002-b.md': ['# 0002 Tokens', '', '- Status: accepted; changes [0001](0001-a.md) (a part)', '- Area: OAuth'],
    '0003-c.md': ['# 0003 Paging: new', '', '- Status: accepted; supersedes [0001](0001-a.md)', '- Area: search'],
    '0004-d.md': ['# 0004 `_sort`', '', '- Status: accepted; extends [0001](0001-a.md)', '- Area: search'],
  });
  assert.deepEqual(checkDecisions(root), []);
  assert.equal(
    decisionIndex(root),
    [
      '## Search',
      '',
      '- 0001 [Paging: old](0001-a.md) (**superseded by [0003](0003-c.md); changed by [0002](0002-b.md)**)',
      '- 0003 [Paging: new](0003-c.md)',
      '- 0004 [`_sort`](0004-d.md)',
      '',
      '## OAuth',
      '',
      '- 0002 [Tokens](0002-b.md)',
    ].join('\n'),
  );
});
