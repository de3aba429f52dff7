/** Runs the cases of a page as tests. */
import { after, test } from 'node:test';
import type { Case, Clause, Page } from './clause.ts';
import { openWorld } from './world.ts';

/** One test a clause that has a case, named by its id and rule. */
export async function runPage({ clauses }: Page): Promise<void> {
  const world = await openWorld({ after });
  for (const clause of clauses) {
    const run = caseOf(clause);
    if (run !== undefined) test(`${clause.id}: ${clause.rule}`, () => run(world));
  }
}

/** The case of a clause; undefined when the clause does not apply. */
export function caseOf({ check }: Clause): Case | undefined {
  if (typeof check === 'function') return check;
  return 'case' in check ? check.case : undefined;
}
