/**
 * Every command of `praxis`, one line each, in the order of the help.
 */
import type { Command } from './command.ts';
import { accountCommands } from './commands/accounts.ts';
import { applicationCommands } from './commands/applications.ts';
import { authorisationCommands } from './commands/authorisations.ts';
import { backupCommands } from './commands/backup.ts';
import { clientCommands } from './commands/clients.ts';
import { entryCommands } from './commands/entries.ts';
import { environmentCommands } from './commands/environments.ts';
import { exportCommands } from './commands/export.ts';
import { firmCommands } from './commands/firms.ts';
import { importCommands } from './commands/import.ts';
import { keyCommands } from './commands/keys.ts';
import { migrateCommands } from './commands/migrate.ts';
import { sandboxCommands } from './commands/sandbox.ts';
import { serveCommands } from './commands/serve.ts';
import { syntheticCommands } from './commands/synthetic.ts';

export const commands: readonly Command[] = [
  ...serveCommands,
  ...migrateCommands,
  ...environmentCommands,
  ...firmCommands,
  ...applicationCommands,
  ...keyCommands,
  ...clientCommands,
  ...accountCommands,
  ...authorisationCommands,
  ...entryCommands,
  ...importCommands,
  ...exportCommands,
  ...syntheticCommands,
  ...sandboxCommands,
  ...backupCommands,
];
