/**
 * Every command of `praxis`, one line each, in the order of the help.
 */
import type { Command } from './command.ts';
import { accessCommands } from './commands/access.ts';
import { accountCommands } from './commands/accounts.ts';
import { administratorCommands } from './commands/administrators.ts';
import { applicationCommands } from './commands/applications.ts';
import { auditCommands } from './commands/audit.ts';
import { authorisationCommands } from './commands/authorisations.ts';
import { backupCommands } from './commands/backup.ts';
import { clientCredentialCommands } from './commands/client-credentials.ts';
import { clientCommands } from './commands/clients.ts';
import { entryCommands } from './commands/entries.ts';
import { environmentCommands } from './commands/environments.ts';
import { exportCommands } from './commands/export.ts';
import { firmCommands } from './commands/firms.ts';
import { importCommands } from './commands/import.ts';
import { keyCommands } from './commands/keys.ts';
import { legacyCommands } from './commands/legacy.ts';
import { legacySunsetCommands } from './commands/legacy-sunset.ts';
import { migrateCommands } from './commands/migrate.ts';
import { sandboxCommands } from './commands/sandbox.ts';
import { serveCommands } from './commands/serve.ts';
import { signingKeyCommands } from './commands/signing-keys.ts';
import { syntheticCommands } from './commands/synthetic.ts';

export const commands: readonly Command[] = [
  ...serveCommands,
  ...migrateCommands,
  ...administratorCommands,
  ...environmentCommands,
  ...firmCommands,
  ...applicationCommands,
  ...keyCommands,
  ...clientCommands,
  ...clientCredentialCommands,
  ...accountCommands,
  ...legacyCommands,
  ...legacySunsetCommands,
  ...authorisationCommands,
  ...accessCommands,
  ...entryCommands,
  ...signingKeyCommands,
  ...importCommands,
  ...exportCommands,
  ...syntheticCommands,
  ...sandboxCommands,
  ...backupCommands,
  ...auditCommands,
];
