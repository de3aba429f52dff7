/**
 * Decision tables of the validator, as text: a line with a resource, then one indented line for each issue that is
 * expected, as `path | rule | code | diagnostics without the path`. Lines that begin with `#` are headings.
 */
import assert from 'node:assert/strict';
import { parseJson } from '../src/json.ts';
import { validateResource } from '../src/validate.ts';

export interface Decision {
  readonly input: string;
  readonly issues: readonly string[];
}

export function decisions(table: string): Decision[] {
  const rows: { input: string; issues: string[] }[] = [];
  for (const line of table.split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    if (line.startsWith(' ')) rows.at(-1)?.issues.push(line.trim());
    else rows.push({ input: line, issues: [] });
  }
  return rows;
}

/** Asserts that each resource has exactly the issues of the table, in their order, all of them errors. */
export function assertDecisions(table: string): void {
  for (const { input, issues } of decisions(table)) {
    const found = validateResource(parseJson(input));
    assert.deepEqual(
      found.map(({ path, rule, code, diagnostics }) => {
        assert.ok(diagnostics.startsWith(`${path}: `), diagnostics);
        return `${path} | ${rule} | ${code} | ${diagnostics.slice(path.length + 2)}`;
      }),
      issues,
      input,
    );
    assert.ok(found.every((issue) => issue.severity === 'error'));
  }
}
