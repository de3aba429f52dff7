/** The table of docs/practice/value-sets.md. */
import { type BoundElement, firmValueSets } from '../../packages/server/src/practice/value-sets/table.ts';
import { code, table } from './markdown.ts';

/** One row per set. */
export function valueSetTable(): string {
  const rows = firmValueSets.map(({ id, title, governs, defaults }) => [
    code(id),
    title,
    governs.map(governed).join('<br>'),
    defaults.map((each) => code(each.code)).join(' '),
  ]);
  return table(['Set', 'What it lists', 'Elements', 'Begins with'], rows);
}

function governed({ expression, strength }: BoundElement): string {
  return `${code(expression)} (${strength})`;
}
