/** Which test files there are, and which of them a person asked for. */
import { globSync } from 'node:fs';

const patterns = ['packages/*/test/**/*.test.ts', 'tools/test/**/*.test.ts'];

/**
 * Paths from `root` in order; with filters those that contain one of them (`search`, `fhir/test/json`). A line that
 * says what is wrong if there is no test, or none for a filter: what does not run must not look like it passed.
 */
export function testFiles(root: string, filters: readonly string[]): string[] | string {
  const all = patterns.flatMap((pattern) => globSync(pattern, { cwd: root })).map((path) => path.replaceAll('\\', '/'));
  const idle = filters.filter((filter) => !all.some((path) => path.includes(filter)));
  if (idle.length > 0) return `no test file has "${idle.join('" or "')}" in its path`;
  if (all.length === 0) return `there is no test file under ${root}`;
  return all.filter((path) => filters.length === 0 || filters.some((filter) => path.includes(filter))).sort();
}
