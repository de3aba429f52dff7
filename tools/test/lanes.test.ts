/** Which tests run together: what is slow says why, and what shares a process needs no database. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { type ImportGraph, readImportGraph } from '../testing/import-graph.ts';
import { awaitsAtTop, isSlow, isUnit } from '../testing/lanes.ts';
import { filterTestFiles, findTestFiles } from '../testing/test-files.ts';

const root = join(import.meta.dirname, '../..');
const slowMax = 40;
const sources = readImportGraph(root);

test('at most 40 test files are slow, and the head comment of each says why', () => {
  const slow = findTestFiles(root).filter(isSlow);
  assert.ok(slow.length > 0 && slow.length <= slowMax, `${slow.length} files`);
  for (const path of slow) {
    const [head = ''] = /^(?:\/\*\*[\s\S]*?\*\/|(?:\/\/.*\n)+)/.exec(readFileSync(join(root, path), 'utf8')) ?? [];
    assert.match(head, /\bSlow: \S/, `${path}: say why in its head comment, as "Slow: …"`);
  }
});

test('the tests that need no database are told by their imports: some of them are known', () => {
  const units = new Set(findTestFiles(root).filter((path) => isUnit(path, sources)));
  for (const path of [
    'packages/fhir/test/json.test.ts',
    'packages/server/test/access/mask.test.ts',
    'tools/test/lanes.test.ts',
  ])
    assert.ok(units.has(path), path);
  for (const path of ['packages/server/test/storage/versions.test.ts', 'tools/test/test-runner.test.ts'])
    assert.ok(!units.has(path), path);
});

test('a test is a unit unless it reaches the database or a module of tests that starts processes; types do not count', () => {
  const link = (to: string, isType = false) => ({ to, isType });
  const folder = 'packages/server';
  const graph: ImportGraph = new Map([
    [`${folder}/test/own.test.ts`, [link('node:child_process')]],
    [`${folder}/test/spawning.test.ts`, [link(`${folder}/test/spawn.ts`)]],
    [`${folder}/test/spawn.ts`, [link('node:child_process')]],
    [
      `${folder}/test/source.test.ts`,
      [link(`${folder}/src/start.ts`), link(`${folder}/test/support/cluster.ts`, true)],
    ],
    [`${folder}/src/start.ts`, [link('node:child_process')]],
    [`${folder}/test/stored.test.ts`, [link(`${folder}/test/world.ts`)]],
    [`${folder}/test/world.ts`, [link(`${folder}/test/support/cluster.ts`)]],
    [`${folder}/test/long.slow.test.ts`, []],
  ]);
  const units = [...graph.keys()].filter((path) => path.endsWith('.test.ts') && isUnit(path, graph));
  assert.deepEqual(units, [`${folder}/test/source.test.ts`]);
});

test('random tests have a seed that stays, so that none fails for a change it has nothing to do with', () => {
  const random = findTestFiles(root).filter((path) => importsFastCheck(path));
  assert.ok(random.length > 0);
  for (const path of random)
    assert.match(readFileSync(join(root, path), 'utf8'), /\bseed\b/, `${path}: fc.configureGlobal({ seed: … })`);
});

function importsFastCheck(path: string): boolean {
  return (sources.get(path) ?? []).some(({ to }) => to === 'fast-check');
}

test('slow tests run when their path is asked for, and not without a filter', () => {
  const all = ['a/kill.slow.test.ts', 'a/read.test.ts'];
  assert.deepEqual(filterTestFiles(all, []), ['a/read.test.ts']);
  assert.deepEqual(filterTestFiles(all, ['kill']), ['a/kill.slow.test.ts']);
});

test('what awaits at the top of a file is seen, what awaits inside functions is not', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'praxis-await-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const sees = (text: string): boolean => {
    writeFileSync(join(folder, 'a.test.ts'), text);
    return awaitsAtTop(folder, 'a.test.ts');
  };
  assert.equal(sees("const world = await open('await');\n"), true);
  assert.equal(sees("// await\ntest('await', async () => { await work(); });\n"), false);
});
