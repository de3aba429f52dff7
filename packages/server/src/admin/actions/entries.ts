/** `praxis entries`: the access entries that exist. */
import { entryAreas, listEntries } from '../../access/registry.ts';
import { list, roles } from '../../actions/schema.ts';
import { defineAdminAction } from '../context.ts';

export const entryActions = [
  defineAdminAction({
    name: 'entries',
    method: 'GET',
    path: '/entries',
    summary: 'List the access entries and what they mean',
    roles,
    output: list({
      entry: { kind: 'text', description: 'The entry as written in an acl.' },
      means: { kind: 'text', label: 'meaning', description: 'What the code allows.' },
    }),
    run: async () =>
      entryAreas.flatMap((area) =>
        area.entries.flatMap((row) => listEntries(row).map((entry) => ({ entry, means: row.means }))),
      ),
  }),
];
