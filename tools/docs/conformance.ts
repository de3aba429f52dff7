/**
 * The tables of docs/integrate/conformance.md: the clauses of R4's pages and what became of them. They are printed from the rows
 * that the tests run; a case that fails is a test that fails, so a row with a case says that it passes.
 */
import type { Clause, Page } from '../../packages/server/test/conformance/clause.ts';
import { pages } from '../../packages/server/test/conformance/pages.ts';
import { code, table } from './markdown.ts';

/** Block → what generates it: the counts of all pages, and a table of each. */
export const conformanceBlocks: Readonly<Record<string, () => string>> = {
  'conformance-summary': summary,
  ...Object.fromEntries(
    pages.map((page): [string, () => string] => [`conformance-${page.name}`, () => clauseTable(page)]),
  ),
};

type Outcome = 'pass' | 'departs' | 'does not apply';

function outcomeOf({ check }: Clause): Outcome {
  if (typeof check === 'function') return 'pass';
  return 'departs' in check ? 'departs' : 'does not apply';
}

function summary(): string {
  const count = ({ clauses }: Page, outcome: Outcome) =>
    String(clauses.filter((clause) => outcomeOf(clause) === outcome).length);
  const rows = pages.map((page) => [
    `[${page.title}](${page.url})`,
    String(page.clauses.length),
    count(page, 'pass'),
    count(page, 'departs'),
    count(page, 'does not apply'),
    `[${page.name}.ts](../../packages/server/test/conformance/${page.name}.ts)`,
  ]);
  return table(['Page', 'Clauses', 'Pass', 'Departures', 'Do not apply', 'Cases'], rows);
}

function clauseTable({ clauses, url }: Page): string {
  const rows = clauses.map((clause) => [
    code(clause.id),
    linkTo(url, clause),
    clause.level,
    clause.rule,
    resultOf(clause),
  ]);
  return table(['Case', 'Section', 'Level', 'Rule', 'Result'], rows);
}

/** To the section of the page, or of a page of the guide. */
function linkTo(url: string, { section }: Clause): string {
  return section.includes('#') ? `[${section}](${url}${section})` : `[#${section}](${url}#${section})`;
}

function resultOf({ check }: Clause): string {
  if (typeof check === 'function') return 'pass';
  return 'departs' in check ? `departs on purpose: ${check.departs}` : `does not apply: ${check.notApplicable}`;
}
