/** `npm test -- --changed`: which tests are near to what differs. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { findDifference, selectTests } from '../testing/changed.ts';
import { readImportGraph } from '../testing/import-graph.ts';
import { findTestFiles } from '../testing/test-files.ts';

const server = 'packages/server';
const files: Readonly<Record<string, string>> = {
  'package.json': '{}',
  'packages/fhir/package.json': '{"name": "@praxis/fhir"}',
  'packages/fhir/src/index.ts': "export { parse } from './json.ts';\nexport { print } from './xml.ts';\n",
  'packages/fhir/src/json.ts': 'export const parse = 1;\n',
  'packages/fhir/src/xml.ts': 'export const print = 1;\n',
  'packages/fhir/test/json.test.ts': "import '../src/json.ts';\n",
  [`${server}/src/app.ts`]: "import './visits/visit.ts';\nimport './database/migrate.ts';\n",
  [`${server}/src/visits/visit.ts`]: "import { rule } from './rule.ts';\nimport type { Row } from './row.ts';\n",
  [`${server}/src/visits/rule.ts`]: "import { parse } from '@praxis/fhir';\nexport const rule = parse;\n",
  [`${server}/src/visits/row.ts`]: 'export interface Row {}\n',
  [`${server}/src/database/migrate.ts`]: "const folder = new URL('./migrations/', import.meta.url);\n",
  [`${server}/src/database/migrations/0001-first.sql`]: 'SELECT 1;\n',
  [`${server}/test/support/cluster.ts`]: '',
  [`${server}/test/support/service.ts`]: "import '../../src/app.ts';\nimport './cluster.ts';\n",
  [`${server}/test/visits/visit.test.ts`]: "import '../support/service.ts';\n",
  [`${server}/test/visits/kill.slow.test.ts`]: "import '../support/service.ts';\n",
  [`${server}/test/http/far.test.ts`]: "import './world.ts';\nconst page = 'visits/guide';\n",
  [`${server}/test/http/all.test.ts`]: "const pages = globSync('docs/**/*.md');\n",
  [`${server}/test/http/word.test.ts`]: "// docs/visits/guide.md\ntest('what guide and docs say of visits/guide');\n",
  [`${server}/test/http/world.ts`]: "import '../support/service.ts';\n",
  [`${server}/test/rules/near.test.ts`]: "import '../support/service.ts';\nimport '../../src/visits/visit.ts';\n",
  [`${server}/test/database/migrate.test.ts`]:
    "import '../support/cluster.ts';\nimport '../../src/database/migrate.ts';\n",
  [`${server}/test/rules/unit.test.ts`]: "import './deep.ts';\n",
  [`${server}/test/rules/deep.ts`]: "import '../../src/visits/visit.ts';\n",
  'docs/visits/guide.md': '# Guide\n',
};

/** A repository of these files on main. */
function repository(context: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'praxis-changed-'));
  context.after(() => rmSync(root, { recursive: true }));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const git = (...words: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...words], {
      cwd: root,
      encoding: 'utf8',
    });
  for (const [path, text] of Object.entries(files)) write(path, text);
  git('init', '--quiet', '--initial-branch=main');
  git('add', '.');
  git('commit', '--quiet', '--message=first');
  return { root, write, git };
}

/** What is selected when `path` gets another text, without the folder of the server's tests, and what is said of it. */
function selectFor(context: TestContext, path: string) {
  const { root, write } = repository(context);
  write(path, `${files[path] ?? ''}\n`);
  const difference = findDifference(root, '');
  if (typeof difference === 'string') throw new Error(difference);
  assert.deepEqual(difference.files, [path]);
  const { tests, lines } = selectTests(root, readImportGraph(root), findTestFiles(root), difference);
  return { tests: tests.map((test) => test.replace(`${server}/test/`, '')), lines };
}

test('changed: a source selects who imports it in two steps, its folder, and units at any distance; not who starts the service', (context) => {
  const { tests, lines } = selectFor(context, `${server}/src/visits/rule.ts`);
  assert.deepEqual(tests, ['rules/near.test.ts', 'rules/unit.test.ts', 'visits/visit.test.ts']);
  assert.match(lines[0] ?? '', /^1 file differs from [0-9a-f]+ \(where this branch left main\)$/);
  assert.deepEqual(lines.slice(1), [
    '3 test files of 9 selected: 2 that import what differs, in two steps at most, 1 that lie in its folder',
    'left to npm test: 1, which reach a change through the application or from further away',
    'left to npm run test:slow: 1',
  ]);
});

test('changed: a name exported by an index selects those of its file, not all that use the index', (context) => {
  assert.deepEqual(selectFor(context, 'packages/fhir/src/xml.ts').tests, ['packages/fhir/test/json.test.ts']);
  const { tests } = selectFor(context, 'packages/fhir/src/json.ts');
  assert.deepEqual(tests, ['packages/fhir/test/json.test.ts', 'rules/unit.test.ts']);
});

test('changed: a file of types alone selects its folder: nothing of it runs', (context) => {
  assert.deepEqual(selectFor(context, `${server}/src/visits/row.ts`).tests, ['visits/visit.test.ts']);
});

test('changed: a migration selects who reads its folder', (context) => {
  const { tests } = selectFor(context, `${server}/src/database/migrations/0001-first.sql`);
  assert.deepEqual(tests, ['database/migrate.test.ts']);
});

test('changed: a document selects the tests that name it', (context) => {
  assert.deepEqual(selectFor(context, 'docs/visits/guide.md').tests, ['http/all.test.ts', 'http/far.test.ts']);
});

test('changed: a word of a test is not the name of a folder', (context) => {
  assert.deepEqual(selectFor(context, 'guide/visits.md').tests, []);
});

test('changed: a module of tests selects all that use it, a test file itself, be it slow', (context) => {
  assert.deepEqual(selectFor(context, `${server}/test/http/world.ts`).tests, ['http/far.test.ts']);
  const support = selectFor(context, `${server}/test/support/service.ts`);
  assert.deepEqual(support.tests, ['http/far.test.ts', 'rules/near.test.ts', 'visits/visit.test.ts']);
  assert.deepEqual(selectFor(context, `${server}/test/visits/kill.slow.test.ts`).tests, ['visits/kill.slow.test.ts']);
});

test('changed: what is installed concerns all, which is said', (context) => {
  const { tests, lines } = selectFor(context, 'package.json');
  assert.deepEqual(tests, []);
  assert.deepEqual(lines.slice(2), [
    'left to npm test: 8, which reach a change through the application or from further away',
    'left to npm run test:slow: 1',
    'package.json concerns every test: run them all',
  ]);
});

test('changed: committed work since main counts with what is not committed, or since the named base; removed files too', (context) => {
  const { root, write, git } = repository(context);
  git('switch', '--quiet', '--create=work');
  rmSync(join(root, `${server}/test/http/world.ts`));
  git('commit', '--quiet', '--all', '--message=second');
  write('new.md', '# New\n');
  const filesSince = (ref: string) => {
    const difference = findDifference(root, ref);
    return typeof difference === 'string' ? difference : difference.files;
  };
  assert.deepEqual(filesSince(''), ['new.md', `${server}/test/http/world.ts`]);
  assert.deepEqual(filesSince('HEAD'), ['new.md']);
  assert.equal(filesSince('gone'), 'git knows no base "gone": name one with --changed=REF');
});
