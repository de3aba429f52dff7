/** `praxis migrate`: bring the database schema up to date, for deployments that do so before starting new nodes. */
import type { Command } from '../../command.ts';

export const migrateCommands: readonly Command[] = [
  {
    name: 'migrate',
    summary: 'Migrate the database schema; serve does this at start',
    arguments: [],
    options: {},
    async run(context) {
      await context.platform();
      context.print('the schema is up to date');
    },
  },
];
