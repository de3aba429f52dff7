/** The table of docs/practice/value-sets.md. */
import { firmValueSets, type GovernedElement } from '../../packages/server/src/practice/value-sets/firm-value-sets.ts';
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

function governed({ expression, strength }: GovernedElement): string {
  return `${code(expression)} (${strength})`;
}
