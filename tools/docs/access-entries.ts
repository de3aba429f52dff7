/** The tables of docs/integrate/access-entries.md: every published access entry and what it grants. */
import type { EntryDefinition } from '../../packages/server/src/access/entries/definition.ts';
import { entryAreas, listEntries } from '../../packages/server/src/access/registry.ts';
import { code, table } from './markdown.ts';

/** One table per area of the registry. */
export function accessEntryTables(): string {
  return entryAreas
    .map(({ title, entries }) => {
      const rows = entries.map((row) => [row.means, reachOf(row), listEntries(row).map(code).join(' ')]);
      return `### ${title}\n\n${table(['What', 'Reaches', 'Entries'], rows)}`;
    })
    .join('\n\n');
}

/** Resource type and rows, as far as the published vocabulary tells them. */
function reachOf(row: EntryDefinition): string {
  const needsOperator = row.kind === 'opaque' || (row.kind === 'resource' && row.needsOperatorRow === true);
  const named = row.kind === 'bundle' ? row.payload : 'type' in row ? row.type : undefined;
  const type = named === undefined ? [] : [code(named)];
  const criteria = 'rows' in row ? (row.rows ?? []) : [];
  const rows = criteria.map(({ parameter, values }) => `${code(parameter)} = ${values.map(code).join(' or ')}`);
  return [...type, ...rows, ...fieldsOf(row), ...(needsOperator ? ['nothing, until an operator says what'] : [])].join(
    '; ',
  );
}

/** What the words after a letter open. */
function fieldsOf(row: EntryDefinition): readonly string[] {
  if (row.kind !== 'resource' || row.fields === undefined) return [];
  return Object.entries(row.fields).flatMap(([field, elements]) =>
    elements.length === 0 ? [] : [`${code(field)}: ${elements.map(code).join(', ')}`],
  );
}
