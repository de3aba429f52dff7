/** Checks of docs/integrate/contract.md, and of the references that sources make to it. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { anchorsIn } from '../check-links.ts';
import type { Rule } from './rules.ts';

const pagePath = 'docs/integrate/contract.md';
const sourcePattern = 'packages/*/{src,test}/**/*.ts';

/** Lines that say which of `rules` the page under `root` lacks, repeats or does not know, and which references lead nowhere. */
export function checkContractPage(root: string, rules: readonly Rule[]): string[] {
  const file = join(root, pagePath);
  if (!existsSync(file)) return [`${pagePath}:1 does not exist`];
  const page = readFileSync(file, 'utf8');
  return [...pageProblems(page, rules), ...referenceProblems(root, anchorsIn(page), rules)];
}

function pageProblems(page: string, rules: readonly Rule[]): string[] {
  const rows = page.split('\n').flatMap((text, index) => {
    const [, id, said = ''] = /^\| `([^`]+)` \|(.*)\|$/.exec(text) ?? [];
    return id === undefined ? [] : [{ id, line: index + 1, said: said.trim() }];
  });
  const stated = new Set(rows.map(({ id }) => id));
  const missing = rules.filter(({ id }) => !stated.has(id)).map(({ id }) => `${pagePath}:1 has no row for "${id}"`);
  const wrong = rows.flatMap(({ id, line, said }, index) => {
    const at = `${pagePath}:${line} "${id}"`;
    if (!rules.some((rule) => rule.id === id)) return [`${at} is no rule of tools/interface/rules.ts`];
    if (rows.findIndex((row) => row.id === id) < index) return [`${at} has a row already`];
    return said === '' ? [`${at} does not say what holds`] : [];
  });
  return [...missing, ...wrong];
}

/** References are `contract.md#heading`, and `contract` with numbers: `contract 4.1, 4.3`. */
function referenceProblems(root: string, anchors: ReadonlySet<string>, rules: readonly Rule[]): string[] {
  return globSync(sourcePattern, { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
    .flatMap((path) =>
      readFileSync(join(root, path), 'utf8')
        .split('\n')
        .flatMap((line, index) => [
          ...[...line.matchAll(/contract\.md#([\w-]*)/g)]
            .filter(([, anchor = '']) => !anchors.has(anchor))
            .map(([reference]) => `${path}:${index + 1} ${reference} is no heading of ${pagePath}`),
          ...numbersIn(line)
            .filter((number) => !rules.some(({ id }) => isPartOf(id, number)))
            .map((number) => `${path}:${index + 1} contract ${number} is no rule of ${pagePath}`),
        ]),
    );
}

function numbersIn(line: string): readonly string[] {
  return [...line.matchAll(/\bcontract (\d[\d., to]*)/g)].flatMap(
    ([, list = '']) => list.match(/\d+(?:\.\d+)?/g) ?? [],
  );
}

/** Whether a rule has this number, or stands in the part that has it. */
function isPartOf(id: string, number: string): boolean {
  const [, start] = /^contract ([\d.]+)/.exec(id) ?? [];
  return start === number || start?.startsWith(`${number}.`) === true;
}
