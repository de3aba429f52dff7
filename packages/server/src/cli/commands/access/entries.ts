/** `praxis entries`: the access entries that exist. */
import { entryAreas, publishedEntries } from '../../../access/registry.ts';
import type { Command } from '../../command.ts';
import { printTable } from '../../options.ts';

export const entryCommands: readonly Command[] = [
  {
    name: 'entries',
    summary: 'List the access entries and what they mean',
    arguments: [],
    options: {},
    async run(context) {
      const rows = entryAreas.flatMap((area) =>
        area.entries.flatMap((row) => publishedEntries(row).map((entry) => [entry, row.means])),
      );
      printTable(context, ['ENTRY', 'MEANING'], rows);
    },
  },
];
