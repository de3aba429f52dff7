/** Which test files there are, and which of them a person asked for. */
import { globSync } from 'node:fs';
import { isSlow } from './lanes.ts';

const patterns = ['packages/*/test/**/*.test.ts', 'tools/test/**/*.test.ts'];

/** Paths of all test files from `root`, in order. */
export function findTestFiles(root: string): string[] {
  return patterns
    .flatMap((pattern) => globSync(pattern, { cwd: root }))
    .map((path) => path.replaceAll('\\', '/'))
    .sort();
}

/**
 * Those of `all` that contain one of the filters (`search`, `fhir/test/json`); without filters all but the slow ones. A
 * line that says what is wrong if there is none for a filter: what does not run must not look like it passed.
 */
export function filterTestFiles(all: readonly string[], filters: readonly string[]): string[] | string {
  const idle = filters.filter((filter) => !all.some((path) => path.includes(filter)));
  if (idle.length > 0) return `no test file has "${idle.join('" or "')}" in its path`;
  return all.filter((path) => (filters.length === 0 ? !isSlow(path) : filters.some((filter) => path.includes(filter))));
}
