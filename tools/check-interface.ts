/**
 * Checks that docs/contribute/interface.md accounts for every rule of tools/interface/rules.ts, that each test it names exists, and
 * that it names every test of the interface; and that docs/integrate/contract.md says each rule of the contract.
 *
 *     node tools/check-interface.ts
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkContractPage } from './interface/contract-page.ts';
import { type RecordRow, rowsOf, testNamesOf } from './interface/record.ts';
import { clientRules, contractRules, type Rule, settledRules } from './interface/rules.ts';

const documentPath = 'docs/contribute/interface.md';

/** Test files whose tests are those of the interface: each begins its name with a rule and is named in the document. */
const interfaceTests = ['contract', 'settled', 'clients'].map((area) => `packages/server/test/${area}/*.test.ts`);

/** Lines that say what is missing or wrong under `root`; none if all is well. */
export function checkInterface(
  root: string,
  rules: readonly Rule[] = [...contractRules, ...settledRules, ...clientRules],
): string[] {
  const file = join(root, documentPath);
  if (!existsSync(file)) return [`${documentPath}:1 does not exist`];
  const rows = rowsOf(readFileSync(file, 'utf8'));
  const names = testNames(root);
  return [
    ...missingRows(rules, rows),
    ...rows.flatMap((row) => rowProblems(row, rows, rules, names)),
    ...strayTests(root, rules, rows, names),
    ...checkContractPage(
      root,
      rules.filter((rule) => !clientRules.includes(rule)),
    ),
  ];
}

/** Reads a test file once: its test names, undefined when there is no such file. */
type TestNames = (path: string) => readonly string[] | undefined;

function testNames(root: string): TestNames {
  const known = new Map<string, readonly string[] | undefined>();
  return (path) => {
    const file = join(root, path);
    if (!known.has(path)) known.set(path, existsSync(file) ? testNamesOf(readFileSync(file, 'utf8')) : undefined);
    return known.get(path);
  };
}

function missingRows(rules: readonly Rule[], rows: readonly RecordRow[]): string[] {
  const present = new Set(rows.map(({ rule }) => rule));
  return rules.filter(({ id }) => !present.has(id)).map(({ id }) => `${documentPath}:1 has no row for "${id}"`);
}

function rowProblems(row: RecordRow, rows: readonly RecordRow[], rules: readonly Rule[], names: TestNames): string[] {
  const at = `${documentPath}:${row.line} "${row.rule}"`;
  if (!rules.some(({ id }) => id === row.rule)) return [`${at} is no rule of tools/interface/rules.ts`];
  if (rows.find((other) => other.rule === row.rule) !== row) return [`${at} has a row already`];
  const problems = row.said.length > 0 && row.said.every(Boolean) ? [] : [`${at} does not say what was decided`];
  if (row.tests.length === 0) return [...problems, `${at} names no test`];
  const missing = row.tests.flatMap(({ file, name }) => {
    const known = names(file);
    if (!known) return [`${at} names ${file}, which does not exist`];
    return known.includes(name) ? [] : [`${at}: ${file} has no test "${name}"`];
  });
  return [...problems, ...missing];
}

/** Tests of the interface that no row names, or whose name does not begin with a rule. */
function strayTests(root: string, rules: readonly Rule[], rows: readonly RecordRow[], names: TestNames): string[] {
  const named = new Set(rows.flatMap(({ tests }) => tests.map(({ file, name }) => `${file} › ${name}`)));
  const files = interfaceTests
    .flatMap((pattern) => globSync(pattern, { cwd: root }))
    .map((path) => path.replaceAll('\\', '/'));
  return files.sort().flatMap((file) =>
    (names(file) ?? []).flatMap((name) => {
      if (!rules.some(({ id }) => name.startsWith(id))) return [`${file}:1 test "${name}" does not begin with a rule`];
      return named.has(`${file} › ${name}`) ? [] : [`${file}:1 test "${name}" is not named in ${documentPath}`];
    }),
  );
}

if (import.meta.main) {
  const lines = checkInterface(join(import.meta.dirname, '..'));
  for (const line of lines) console.error(line);
  process.exitCode = lines.length === 0 ? 0 : 1;
}
