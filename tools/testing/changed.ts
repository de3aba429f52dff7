/**
 * The tests of what differs from a base: those near to it, by imports and by folder. The application imports everything, and
 * nearly every test starts it; who reaches a file through it alone is left to the whole run
 * (docs/decisions/0269-changed-tests-are-near.md).
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { findImporters, type ImportGraph } from './import-graph.ts';
import { isSlow, isUnit } from './lanes.ts';

export interface Difference {
  /** What was compared with, in words. */
  readonly base: string;
  /** Paths from the root, of removed files too. */
  readonly files: readonly string[];
}

export interface Selection {
  readonly tests: readonly string[];
  /** Why, how many were left, and by which rule. */
  readonly lines: readonly string[];
}

/** Doors to the whole service: who imports them is near to nothing behind them. */
const isDoor = (path: string): boolean =>
  path === 'packages/server/src/app.ts' || path.startsWith('packages/server/test/support/');
const isTest = (path: string): boolean => path.endsWith('.test.ts');
const isOfTests = (path: string): boolean => /^(packages\/[^/]+|tools)\/test\//.test(path);
/** What these say concerns every test. */
const isForAll = (path: string): boolean => /^(package(-lock)?\.json|tsconfig\.json)$/.test(path);

/**
 * Committed and uncommitted work since `ref`; without a name since the branch left main. A line that says what is wrong if
 * there is no such base.
 */
export function findDifference(root: string, ref: string): Difference | string {
  const git = (...words: string[]): string =>
    execFileSync('git', words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  const tried = ref === '' ? ['origin/main', 'main'] : [ref];
  for (const name of tried) {
    try {
      const base = git('merge-base', 'HEAD', name);
      const paths = [
        git('diff', '--name-only', '--no-renames', '-z', base),
        git('ls-files', '--others', '--exclude-standard', '-z'),
      ];
      const files = new Set(paths.flatMap((text) => text.split('\0')).filter((path) => path !== ''));
      return {
        base: `${git('rev-parse', '--short', base)} (where this branch left ${name})`,
        files: [...files].sort(),
      };
    } catch {
      // The next name, if there is one.
    }
  }
  return `git knows no base "${tried.join('" or "')}": name one with --changed=REF`;
}

/** The tests near to what differs. */
export function selectTests(
  root: string,
  graph: ImportGraph,
  all: readonly string[],
  { base, files }: Difference,
): Selection {
  const rules: readonly (readonly [string, (path: string) => Iterable<string>])[] = [
    ['differ themselves', (path) => [path]],
    ['use what differs of the tests', (path) => (isOfTests(path) ? findImporters(graph, [path], isSource) : [])],
    ['import what differs, in two steps at most', (path) => (isOfTests(path) ? [] : nearImporters(graph, path))],
    ['lie in its folder', (path) => mirrored(path, all)],
    ['need no database and reach it', (path) => unitTestsThatReach(graph, path)],
    ['name it', (path) => testsThatName(root, graph, path)],
  ];
  const chosen = new Set<string>();
  const counts = rules.map(([words, find]) => {
    const before = chosen.size;
    for (const path of files)
      for (const test of find(path))
        if (all.includes(test) && (!isSlow(test) || files.includes(test))) chosen.add(test);
    return { words, count: chosen.size - before };
  });
  const reached = files.some(isForAll)
    ? all
    : [...findImporters(graph, files, () => false)].filter((path) => all.includes(path));
  const left = reached.filter((path) => !chosen.has(path));
  const slow = left.filter(isSlow).length;
  return {
    tests: [...chosen].sort(),
    lines: [
      `${countOf(files.length, 'file')} ${files.length === 1 ? 'differs' : 'differ'} from ${base}`,
      `${countOf(chosen.size, 'test file')} of ${all.length} selected${because(counts)}`,
      `left to npm test: ${left.length - slow}, which reach a change through the application or from further away`,
      ...(slow > 0 ? [`left to npm run test:slow: ${slow}`] : []),
      ...files.filter(isForAll).map((path) => `${path} concerns every test: run them all`),
    ],
  };
}

const isSource = (path: string): boolean => !isOfTests(path);

/** Importers in two steps; of test files all that use a module of tests among them. */
function nearImporters(graph: ImportGraph, path: string): Iterable<string> {
  const first = directImporters(graph, [path]);
  const sources = first.filter((file) => isSource(file) && !isDoor(file));
  const ofTests = [...first, ...directImporters(graph, sources)].filter((file) => isOfTests(file) && !isDoor(file));
  return findImporters(graph, ofTests, (file) => isSource(file) || isDoor(file));
}

function directImporters(graph: ImportGraph, targets: readonly string[]): string[] {
  const wanted = new Set(targets.flatMap((path) => [path, posix.dirname(path)]));
  return [...graph]
    .filter(([, links]) => links.some(({ to, isType }) => !isType && wanted.has(to)))
    .map(([path]) => path);
}

/** The tests in the folder of tests that has the name of the folder of a source; else of the one above it that has tests. */
function mirrored(path: string, all: readonly string[]): readonly string[] {
  const [, top, inner] = /^(packages\/[^/]+)\/src\/(.*)$/.exec(path) ?? /^(tools)\/(?!test\/)(.*)$/.exec(path) ?? [];
  if (top === undefined || inner === undefined) return [];
  for (let folder = posix.dirname(inner); ; folder = posix.dirname(folder)) {
    const tests = all.filter((test) => posix.dirname(test) === posix.join(top, 'test', folder));
    if (tests.length > 0 || folder === '.') return tests;
  }
}

function unitTestsThatReach(graph: ImportGraph, path: string): readonly string[] {
  return [...findImporters(graph, [path], () => false)].filter((file) => isTest(file) && isUnit(file, graph));
}

/**
 * For documents and data: the tests that open them, or use a module of tests that does. A text in quotes begins with the path, is
 * the path without its first folder and ending, or names the folder: words and comments do not count.
 */
function testsThatName(root: string, graph: ImportGraph, path: string): Iterable<string> {
  if (graph.has(path) || path.endsWith('.sql') || isForAll(path)) return [];
  const pattern = buildNamePattern(path);
  const naming = [...graph.keys()].filter(
    (file) => isOfTests(file) && existsSync(join(root, file)) && pattern.test(readFileSync(join(root, file), 'utf8')),
  );
  return findImporters(graph, naming, (file) => isSource(file) || isDoor(file));
}

function buildNamePattern(path: string): RegExp {
  const folders = path.split('/').slice(0, -1);
  const folder = RegExp.escape(folders.join('/'));
  const above = folders.map((_, depth) => RegExp.escape(folders.slice(0, depth + 1).join('/')));
  const [, inner] = /^[^/]+\/(.+)\.[a-z]+$/.exec(path) ?? [];
  const names = [
    RegExp.escape(path),
    ...(inner === undefined ? [] : [`${RegExp.escape(inner)}(?=['"\`])`]),
    ...(folder === '' ? [] : [`${folder}/?(?=['"\`*$])`, `(?:${above.join('|')})/\\*\\*`]),
  ];
  return new RegExp(`['"\`](?:\\.{1,2}/)*(?:${names.join('|')})`);
}

function countOf(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function because(counts: readonly { readonly words: string; readonly count: number }[]): string {
  const parts = counts.filter(({ count }) => count > 0).map(({ words, count }) => `${count} that ${words}`);
  return parts.length === 0 ? '' : `: ${parts.join(', ')}`;
}
