import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { checkInterface } from '../check-interface.ts';
import { testNamesOf } from '../interface/record.ts';
import { clientRules, contractRules, type Rule, settledRules } from '../interface/rules.ts';

const rules: readonly Rule[] = [{ id: 'contract 1' }, { id: 'contract 2 (x) y' }, { id: 'settled z' }];
const testFile = 'packages/server/test/contract/a.test.ts';
const source = `import test from 'node:test';
test('contract 1 it\\'s so', () => undefined);
test(
  "contract 2 (x) y with a | in \\"it\\"",
  () => undefined,
);
`;
const rows = [
  `| \`contract 1\` | Said | \`${testFile}\` › contract 1 it's so |`,
  `| \`contract 2 (x) y\` | Said \\| so | Source | \`${testFile}\` › contract 1 it's so<br>\`${testFile}\` › contract 2 (x) y with a \\| in "it" |`,
  `| \`settled z\` | Said | \`${testFile}\` › contract 1 it's so |`,
];

const page = ['## 2 Fields', '| `contract 1` | Holds |', '| `contract 2 (x) y` | Holds |', '| `settled z` | Holds |'];

/** What the check says of these rows, this test file and this page. */
function problems(
  context: TestContext,
  document: readonly string[],
  testSource = source,
  contract: readonly string[] = page,
): string[] {
  const root = mkdtempSync(join(tmpdir(), 'praxis-interface-'));
  context.after(() => rmSync(root, { recursive: true }));
  const files = {
    'docs/contribute/interface.md': document.join('\n'),
    'docs/integrate/contract.md': contract.join('\n'),
    [testFile]: testSource,
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return checkInterface(root, rules);
}

const faults: readonly (readonly [what: string, document: readonly string[], problem: string])[] = [
  ['a rule without a row', rows.slice(0, 2), 'docs/contribute/interface.md:1 has no row for "settled z"'],
  [
    'a row of no rule',
    [...rows, '| `contract 9` | Said | none |'],
    'docs/contribute/interface.md:4 "contract 9" is no rule of tools/interface/rules.ts',
  ],
  ['a second row', [...rows, rows[2] ?? ''], 'docs/contribute/interface.md:4 "settled z" has a row already'],
  [
    'a row that says nothing',
    [rows[0]?.replace('Said', '') ?? '', ...rows.slice(1)],
    'docs/contribute/interface.md:1 "contract 1" does not say what was decided',
  ],
  [
    'a row without a test',
    ['| `contract 1` | Said | none |', ...rows.slice(1)],
    'docs/contribute/interface.md:1 "contract 1" names no test',
  ],
];

for (const [what, document, problem] of faults) {
  test(`interface: ${what} is reported`, (context) => {
    assert.deepEqual(problems(context, document).slice(0, 1), [problem]);
  });
}

test('interface: a test or a file that does not exist is reported', (context) => {
  const other = rows[0]?.replaceAll('a.test.ts', 'b.test.ts') ?? '';
  const document = [`${other.slice(0, -2)}<br>\`${testFile}\` › contract 1 it's not |`, ...rows.slice(1)];
  assert.deepEqual(problems(context, document), [
    'docs/contribute/interface.md:1 "contract 1" names packages/server/test/contract/b.test.ts, which does not exist',
    `docs/contribute/interface.md:1 "contract 1": ${testFile} has no test "contract 1 it's not"`,
  ]);
});

test('interface: a test that no row names, or that begins with no rule, is reported', (context) => {
  const more = `${source}test('contract 1 more', () => undefined);\ntest('something', () => undefined);\n`;
  assert.deepEqual(problems(context, rows, more), [
    `${testFile}:1 test "contract 1 more" is not named in docs/contribute/interface.md`,
    `${testFile}:1 test "something" does not begin with a rule`,
  ]);
});

test('interface: a rule that the contract lacks, repeats, does not know or leaves empty is reported', (context) => {
  const contract = [
    ...page.slice(0, 2),
    '| `contract 2 (x) y` | |',
    '| `contract 1` | Holds again |',
    '| `settled a` | Holds |',
  ];
  assert.deepEqual(problems(context, rows, source, contract), [
    'docs/integrate/contract.md:1 has no row for "settled z"',
    'docs/integrate/contract.md:3 "contract 2 (x) y" does not say what holds',
    'docs/integrate/contract.md:4 "contract 1" has a row already',
    'docs/integrate/contract.md:5 "settled a" is no rule of tools/interface/rules.ts',
  ]);
});

test('interface: a reference of a source to what the contract does not have is reported', (context) => {
  const comments = [
    '// contract 1, 2, 3.1: of these the last is none, and contract 20 is none',
    '// docs/integrate/contract.md#2-fields is one, docs/integrate/contract.md#fields is none',
  ];
  assert.deepEqual(problems(context, rows, [...comments, source].join('\n')), [
    `${testFile}:1 contract 3.1 is no rule of docs/integrate/contract.md`,
    `${testFile}:1 contract 20 is no rule of docs/integrate/contract.md`,
    `${testFile}:2 contract.md#fields is no heading of docs/integrate/contract.md`,
  ]);
});

test('interface: a complete document is fine, a missing one is not', (context) => {
  assert.deepEqual(problems(context, rows), []);
  assert.deepEqual(checkInterface(tmpdir()), ['docs/contribute/interface.md:1 does not exist']);
});

test('interface: names of tests are read as they are written', () => {
  const written = ["test('a');", 't.test(`b ${x}`, f);', 'test("c \\"d\\"", f);', 'test(name, f);'].join('\n');
  assert.deepEqual(testNamesOf(written), ['a', 'b ${x}', 'c "d"']);
});

test('interface: every rule has a name of its own', () => {
  const ids = [...contractRules, ...settledRules, ...clientRules].map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
});
